"""Tables of a World packed into two blocks, which frequently called kernels take whole and slice themselves.

Each array that Python passes to a kernel costs a tenth of a microsecond, and a World has a hundred of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pack", "aligned", "pack"]

Pack = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Real numbers; of every value where in its block it begins and ends (2 · values), and whole numbers."""


LINE = 8  # words in a line of the cache


def pack(values: Sequence[object], writeable: bool = False) -> Pack:
    """Copy numbers and arrays into two blocks, one after another; tables begin at lines of the cache.

    Parameters
    ----------
    values : sequence
        Numbers and arrays.
    writeable : bool
        Whether kernels may write to the blocks: those of scratch arrays.
    """
    arrays = [np.asarray(value) for value in values]
    ends, spans = {True: 0, False: 2 * len(arrays)}, []
    for array in arrays:
        is_real = array.dtype.kind == "f"
        begin = ends[is_real] if array.ndim < 2 else -(-ends[is_real] // LINE) * LINE
        spans.append((begin, begin + array.size))
        ends[is_real] = begin + array.size
    reals, whole = aligned(ends[True], np.float64), aligned(ends[False], np.int64)
    for array, (begin, end) in zip(arrays, spans, strict=True):
        (reals if array.dtype.kind == "f" else whole)[begin:end] = array.reshape(-1)
    whole[: 2 * len(arrays)] = np.array(spans, np.int64).reshape(-1)
    for block in () if writeable else (reals, whole):
        block.flags.writeable = False
    return reals, whole


def aligned(size: int, kind: type) -> NDArray[Any]:
    """Make an array of zeros that begins at a line of the cache."""
    block: NDArray[Any] = np.zeros(size + LINE, kind)
    first = -(block.ctypes.data // 8) % LINE
    return block[first : first + size]
