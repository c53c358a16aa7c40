"""Linear algebra in a fixed order: the same bits whatever BLAS and LAPACK numpy was built with.

``@``, `numpy.dot` and `numpy.linalg` hand their work to a BLAS, which picks kernels for the CPU it finds and sums in
another order on each. What makes a World or a step uses these functions instead: `numpy.einsum` without a path sums in
loops of numpy's own, and all else is elementwise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["cholesky", "norm", "substitute", "times"]

Array = NDArray[np.float64]


def times(a: ArrayLike, b: ArrayLike) -> Array:
    """Multiply as ``a @ b`` does: vectors (n,), matrices (..., n, m), and both, broadcasting.

    >>> times([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0])
    array([21., 43.])
    """
    left, right = np.asarray(a, float), np.asarray(b, float)
    rows, columns = "i" * (left.ndim > 1), "k" * (right.ndim > 1)
    paths = f"...{rows}j,...j{columns}->...{rows}{columns}"
    return np.asarray(np.einsum(paths, left, right))


def norm(a: ArrayLike, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Euclidean length along an axis, or of all numbers; as large as `numpy.linalg.norm` has it, in one order.

    >>> float(norm([3.0, 4.0]))
    5.0
    """
    given = np.asarray(a, float)
    return np.asarray(np.sqrt((given * given).sum(axis=axis, keepdims=keepdims)))


def cholesky(a: Array, least: float = 0.0) -> Array:
    """Factor a symmetric matrix (n, n) as L Lᵀ with L lower triangular.

    A pivot not above `least` times its diagonal number makes a column of zeros: that direction is left out.
    """
    left, out = np.array(a, float), np.zeros_like(a)
    for k in range(len(left)):
        if left[k, k] > least * a[k, k]:
            out[k:, k] = left[k:, k] / np.sqrt(left[k, k])
            left[k:, k:] -= out[k:, k, None] * out[k:, k]
    return out


def substitute(lower: Array, right: Array) -> Array:
    """Solve L x = right (n, m) for a factor L of `cholesky`; directions that it left out are zero."""
    out = np.array(right, float)
    for k in range(len(lower)):
        pivot = lower[k, k]
        out[k] = out[k] / pivot if pivot else 0.0
        out[k + 1 :] -= lower[k + 1 :, k, None] * out[k]
    return out
