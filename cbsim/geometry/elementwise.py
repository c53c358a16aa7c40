"""`elementwise`: lets a function of numbers take arrays too; small ones number by number, large ones in parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats

__all__ = ["Binary", "Unary", "elementwise"]

BLOCK = 1 << 15  # numbers of an array that are computed together
FEW = 16  # arrays up to this size are computed number by number, which is faster


class Unary(Protocol):
    """Function of a number or an array."""

    @overload
    def __call__(self, x: float, /) -> float: ...
    @overload
    def __call__(self, x: NDArray[Any], /) -> Floats: ...


class Binary(Protocol):
    """Function of two numbers or arrays."""

    @overload
    def __call__(self, x: float, y: float, /) -> float: ...
    @overload
    def __call__(self, x: NDArray[Any], y: NDArray[Any] | float, /) -> Floats: ...
    @overload
    def __call__(self, x: float, y: NDArray[Any], /) -> Floats: ...


def elementwise(function: Callable[..., Any], number: Callable[..., float] | None = None) -> Any:
    """Let a function take numbers, which it gets as Python's, or arrays, which it gets as float64 of one shape.

    `number`, if given, has the same bits for a number of Python as `function`, in less time.
    """
    fast = number or function

    @wraps(function)
    def call(x: Any, *others: Any) -> Any:
        if type(x) is float and (not others or type(others[0]) is float):
            return fast(x, *others)
        arguments = x, *others
        if all(type(each) is float or type(each) is int for each in arguments):
            return fast(*map(float, arguments))
        if all(np.ndim(each) == 0 for each in arguments):  # numbers of NumPy, which can be indexed
            return np.float64(fast(*map(float, arguments)))
        arrays = [np.asarray(each, np.float64) for each in arguments]
        if len(arrays) > 1:
            arrays = list(np.broadcast_arrays(*arrays))
        if arrays[0].size <= FEW:
            numbers = zip(*(each.ravel().tolist() for each in arrays), strict=True)
            return np.array([fast(*each) for each in numbers], np.float64).reshape(arrays[0].shape)
        with np.errstate(all="ignore"):
            return function(*arrays) if arrays[0].size <= BLOCK else _in_blocks(function, arrays)

    return call


def _in_blocks(function: Callable[..., Any], arrays: list[NDArray[Any]]) -> Floats:
    """Apply a function to parts of large arrays, whose intermediate results stay in the processor's cache."""
    out = np.empty(arrays[0].shape)
    flat, parts = out.reshape(-1), [each.reshape(-1) for each in arrays]
    for begin in range(0, out.size, BLOCK):
        flat[begin : begin + BLOCK] = function(*(each[begin : begin + BLOCK] for each in parts))
    return out
