"""Tables of a World packed into two blocks, which frequently called kernels take whole and slice themselves.

Each array that Python passes to a kernel costs a tenth of a microsecond, and a World has a hundred of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pack", "pack"]

Pack = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]
"""Real numbers, whole numbers, and of every value where in its block it begins and ends (values, 2)."""


def pack(values: Sequence[object]) -> Pack:
    """Copy numbers and arrays into two read-only blocks, one after another."""
    parts: dict[bool, list[NDArray[np.generic]]] = {True: [], False: []}
    ends, spans = {True: 0, False: 0}, []
    for value in values:
        array = np.asarray(value)
        is_real = array.dtype.kind == "f"
        parts[is_real].append(array.reshape(-1))
        spans.append((ends[is_real], ends[is_real] + array.size))
        ends[is_real] += array.size
    blocks = (
        np.concatenate([np.zeros(0), *parts[True]]),
        np.concatenate([np.zeros(0, np.int64), *parts[False]], dtype=np.int64),
        np.array(spans, np.int64).reshape(-1, 2),
    )
    for block in blocks:
        block.flags.writeable = False
    return blocks
