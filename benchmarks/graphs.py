"""Other forms of the MiniLM graph, and other runtimes for it, to measure against the packaged one.

Needs the package ``onnx`` to make graphs, and ``openvino`` for the second runtime; the project itself
needs neither. What isn't installed is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from clew.algo.encoder import SentenceEncoder, mean_pool, pad, unit
from clew.embedders import minilm
from clew.types import Floats

HEADS, LAYERS = 12, 6
MICROSOFT = "com.microsoft"
Run = Callable[[Sequence[Sequence[int]]], Floats]  # token ids of a batch → unit vectors
Arrays = dict[str, Any]


def forms(work: Path, threads: int = 1) -> dict[str, Callable[[], Run]]:
    """Return for each form a function that loads it; graphs are written to ``work``."""
    packaged = minilm._locate(*minilm.GRAPH)
    made: dict[str, Callable[[], Run]] = {"packaged: 8-bit weights": partial(_onnx, packaged, threads)}
    paths = graphs(packaged, work) if find_spec("onnx") else {}
    made |= {name: partial(_onnx, path, threads) for name, path in paths.items()}
    if find_spec("openvino"):
        made["OpenVINO, packaged"] = partial(_openvino, packaged, threads)
        if "plain, float32" in paths:
            made["OpenVINO, plain, float32"] = partial(_openvino, paths["plain, float32"], threads)
    return made


def _onnx(path: Path, threads: int) -> Run:
    encoder = SentenceEncoder(path, threads=threads)
    encoder.load()
    return encoder.vectors


def _openvino(path: Path, threads: int) -> Run:
    import openvino

    # Without the hint it calculates in bfloat16 where the processor can: another model.
    config = {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
    }
    request = openvino.Core().compile_model(str(path), "CPU", config).create_infer_request()

    def run(ids: Sequence[Sequence[int]]) -> Floats:
        tokens, mask = pad(ids)
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        hidden = np.array(next(iter(request.infer(given).values())))
        return unit(mean_pool(hidden, mask))

    return run


def graphs(packaged: Path, work: Path) -> dict[str, Path]:
    """Write the float32, fused and quantised graphs; return their paths by name."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    work.mkdir(parents=True, exist_ok=True)
    model = onnx.load(str(packaged))
    names = {
        "plain, float32": work / "plain.onnx",
        "fused, float32": work / "fused.onnx",
        "plain, dynamic 8 bits": work / "plain-8.onnx",
        "fused, dynamic 8 bits": work / "fused-8.onnx",
        "fused, dynamic 8 bits, reduced range": work / "fused-7.onnx",
    }
    arrays = weights(model.graph)
    onnx.save(fused(model.graph, arrays), str(names["fused, float32"]))
    onnx.save(plain(model, arrays), str(names["plain, float32"]))
    for name, source, reduced in (
        ("plain, dynamic 8 bits", "plain", False),
        ("fused, dynamic 8 bits", "fused", False),
        ("fused, dynamic 8 bits, reduced range", "fused", True),
    ):
        quantize_dynamic(
            names[f"{source}, float32"],
            names[name],
            per_channel=True,
            reduce_range=reduced,
            weight_type=QuantType.QInt8,
            extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
        )
    return names


def weights(graph: Any) -> Arrays:
    """Return all initialisers by name, those in 8 bits multiplied out to float32."""
    from onnx import numpy_helper

    found = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    for name in [name for name in found if name.endswith("_q")]:
        base = name.removesuffix("_q")
        found[base] = found[name].astype(np.float32) * found[f"{base}_scale"]
    return found


def plain(model: Any, arrays: Arrays) -> Any:
    """Return the packaged graph with float32 weights: the same nodes, without those that multiply out."""
    import onnx
    from onnx import numpy_helper

    made = onnx.ModelProto()
    made.CopyFrom(model)
    graph = made.graph
    whole = {name.removesuffix("_q") for name in arrays if name.endswith("_q")}
    gone = whole | {f"{name}_f" for name in whole}
    nodes = [node for node in graph.node if not set(node.output) & gone]
    kept = [one for one in graph.initializer if not one.name.endswith(("_q", "_scale"))]
    for field, values in ((graph.node, nodes), (graph.initializer, kept)):
        copies = [type(value).FromString(value.SerializeToString()) for value in values]
        del field[:]
        field.extend(copies)
    graph.initializer.extend(numpy_helper.from_array(arrays[name], name) for name in sorted(whole))
    return made


def _dense(graph: Any, arrays: Arrays) -> dict[str, tuple[Any, Any]]:
    """Return each dense layer's weight and bias by the bias's name: the weights' own names say nothing."""
    added = {name: node for node in graph.node if node.op_type == "Add" for name in node.input}
    found = {}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in arrays:
            bias = next(name for name in added[node.output[0]].input if name in arrays)
            found[bias.removesuffix(".bias").removeprefix("inner.")] = arrays[node.input[1]], arrays[bias]
    return found


def fused(graph: Any, arrays: Arrays) -> Any:
    """Return the same transformer of ONNX Runtime's fused operators: attention, skip + norm, bias + GELU."""
    from onnx import TensorProto, helper, numpy_helper

    epsilon = next(
        attribute.f
        for node in graph.node
        if node.op_type == "LayerNormalization"
        for attribute in node.attribute
        if attribute.name == "epsilon"
    )
    dense = _dense(graph, arrays)
    nodes: list[Any] = []
    held: dict[str, Any] = {}

    def hold(name: str, array: Any) -> str:
        held[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def add(kind: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        domain = "" if kind in ("Cast", "MatMul") else MICROSOFT
        outputs = [output, f"{output}.mask"] if kind == "EmbedLayerNormalization" else [output]
        nodes.append(helper.make_node(kind, inputs, outputs, output, domain=domain, **attributes))
        return output

    ids, mask, types = (
        add("Cast", [name], f"{name}.int32", to=TensorProto.INT32)
        for name in ("input_ids", "attention_mask", "token_type_ids")
    )
    tables = ["word_embeddings.weight", "position_embeddings.weight", "token_type_embeddings.weight"]
    parts = [hold(name, arrays[f"inner.embeddings.{name}"]) for name in [*tables, *_norm("")]]
    hidden = add("EmbedLayerNormalization", [ids, types, *parts], "embedded", epsilon=epsilon)
    for number in range(LAYERS):
        at = f"encoder.layer.{number}."
        joined = [dense[f"{at}attention.self.{part}"] for part in ("query", "key", "value")]
        weight = hold(f"{at}qkv.weight", np.concatenate([one[0] for one in joined], axis=1))
        bias = hold(f"{at}qkv.bias", np.concatenate([one[1] for one in joined]))
        seen = add("Attention", [hidden, weight, bias, mask], f"{at}attention", num_heads=HEADS)
        hidden = _layer(add, hold, arrays, dense[f"{at}attention.output.dense"], seen, hidden,
                        f"{at}attention.output.", epsilon)  # fmt: skip
        up = dense[f"{at}intermediate.dense"]
        wide = add("MatMul", [hidden, hold(f"{at}up.weight", up[0])], f"{at}up")
        wide = add("BiasGelu", [wide, hold(f"{at}up.bias", up[1])], f"{at}gelu")
        hidden = _layer(add, hold, arrays, dense[f"{at}output.dense"], wide, hidden, f"{at}output.", epsilon)
    shape = [("input_ids",), ("attention_mask",), ("token_type_ids",)]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "n"]) for (name,) in shape]
    output = helper.make_tensor_value_info(hidden, TensorProto.FLOAT, ["b", "n", "d"])
    made = helper.make_graph(nodes, "fused", inputs, [output], list(held.values()))
    domains = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(made, opset_imports=domains, ir_version=8, producer_name="onnx.quantize")


def _norm(at: str) -> list[str]:
    return [f"{at}LayerNorm.weight", f"{at}LayerNorm.bias"]


def _layer(
    add: Callable[..., str],
    hold: Callable[[str, Any], str],
    arrays: Mapping[str, Any],
    weights: tuple[Any, Any],
    given: str,
    skip: str,
    at: str,
    epsilon: float,
) -> str:
    """Add a dense layer, its bias, the way around it and the normalisation; return the output's name."""
    product = add("MatMul", [given, hold(f"{at}weight", weights[0])], f"{at}product")
    norm = [hold(name, arrays[f"inner.{name}"]) for name in _norm(at)]
    inputs = [product, skip, *norm, hold(f"{at}bias", weights[1])]
    return add("SkipLayerNormalization", inputs, f"{at}normal", epsilon=epsilon)
