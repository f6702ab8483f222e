"""What a question of structure is limited to: which nodes it lists, which edges it walks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Limits:
    """The allowed nodes (N,) and edges (E,); None allows all."""

    nodes: Mask | None = None
    edges: Mask | None = None
