"""The walk on small graphs whose mass is known."""

import numpy as np
from scipy.sparse import csr_array

from clew.algo.walk import Links, walk


def links(table):
    forward = csr_array(np.array(table, dtype=np.float32))
    return Links(forward, forward.T.tocsr())


def vector(*values):
    return np.array(values, dtype=np.float32)


def test_mass_is_kept():
    graph = links([[1, 1], [0, 1], [1, 0]])
    result = walk(graph, vector(1, 0, 0), vector(0, 1), vector(0, 0, 0))
    assert abs(float(result.chunks.sum() + result.nodes.sum()) - 1) < 1e-5
    assert (result.chunks >= 0).all()


def test_it_solves_the_fixed_point():
    graph = links([[2, 1], [0, 1]])
    d, result = 0.7, walk(graph, vector(0, 0), vector(1, 0), vector(0, 0), steps=200)
    to_node = np.array([[2 / 3, 1 / 3], [0, 1]]).T @ result.chunks
    to_chunk = np.array([[1, 1 / 2], [0, 1 / 2]]) @ result.nodes
    np.testing.assert_allclose(result.nodes, d * to_node + (1 - d) * vector(1, 0), atol=1e-5)
    np.testing.assert_allclose(result.chunks, d * to_chunk, atol=1e-5)


def test_the_gate_prefers_relevant_chunks():
    graph = links([[1], [1]])
    plain = walk(graph, vector(0, 0), vector(1), vector(0, 1), gate=0.0).chunks
    gated = walk(graph, vector(0, 0), vector(1), vector(0, 1), gate=4.0).chunks
    assert plain[0] == plain[1]
    assert gated[1] > 10 * gated[0]


def test_without_links_or_mass_nothing_moves():
    empty = links(np.zeros((2, 1)))
    assert walk(empty, vector(2, 0), vector(0), vector(0, 0)).chunks.tolist() == [1, 0]
    assert walk(links([[1]]), vector(0), vector(0), vector(0)).chunks.tolist() == [0]
