"""Conversion and checks of arrays in descriptions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.geometry.linear import norm

__all__ = ["array", "floats", "number", "quaternion", "unit", "vector", "whole"]

HUGE = 1e150  # numbers whose squares are beyond what can be written


def floats(value: Any, subject: str, what: str, expected: str = "numbers") -> Floats:
    """Return a float array of whatever shape, whatever numbers it holds.

    Raises
    ------
    ModelError
        Naming the subject, if it is none.
    """
    try:
        return np.array(value, float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what} is {value!r}, expected {expected}", subject=subject) from None


def array(value: ArrayLike, shape: tuple[int, ...], subject: str, what: str) -> Floats:
    """Return a read-only float array of a shape; a number stands for an array full of it.

    Raises
    ------
    ModelError
        Naming the subject, if the shape is another, or a number is missing or not finite.
    """
    given = floats(value, subject, what, _expected(shape))
    if given.ndim == 0:
        given = np.full(shape, float(given))
    if given.shape != shape:
        raise ModelError(f"{what} has the shape {given.shape}, expected {_expected(shape)}", subject=subject)
    if not np.isfinite(given).all():
        raise ModelError(f"{what} is {value!r}, expected finite numbers", subject=subject)
    given.flags.writeable = False
    return given


def vector(value: ArrayLike | None, subject: str, what: str, length: int = 3) -> Floats:
    """Return a read-only vector; None and a lone 0 stand for zeros."""
    return array(0.0 if value is None else value, (length,), subject, what)


def unit(value: ArrayLike, subject: str, what: str) -> Floats:
    """Return a direction (3,), scaled to length one."""
    given = array(value, (3,), subject, what)
    if np.abs(given).max() > HUGE:
        given = given / np.abs(given).max()
    length = float(norm(given))
    if np.ndim(value) == 0 or length < 1e-12:
        raise ModelError(f"{what} is {value!r}, expected a direction: three numbers, not all zero", subject=subject)
    scaled = given / length
    scaled.flags.writeable = False
    return scaled


def quaternion(value: ArrayLike | None, subject: str, what: str) -> Floats:
    """Return a unit quaternion (4,), scalar first; None stands for no rotation."""
    given = array((1.0, 0.0, 0.0, 0.0) if value is None else value, (4,), subject, what)
    length = float(norm(given))
    if abs(length - 1.0) > 1e-3:
        raise ModelError(f"{what} has the length {length:.6g}, expected a unit quaternion", subject=subject)
    scaled = given / length
    scaled.flags.writeable = False
    return scaled


def number(value: object, subject: str, what: str, *, least: float = -np.inf) -> float:
    """Return a finite number, at least ``least``."""
    try:
        given = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what} is {value!r}, expected a number", subject=subject) from None
    if not np.isfinite(given) or given < least:
        bound = "" if least == -np.inf else f" of at least {least:g}"
        raise ModelError(f"{what} is {given!r}, expected a finite number{bound}", subject=subject)
    return given


def whole(value: object, subject: str, what: str, *, least: int) -> int:
    """Return a whole number, at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ModelError(f"{what} is {value!r}, expected a whole number of at least {least}", subject=subject)
    return int(value)


def _expected(shape: tuple[int, ...]) -> str:
    return "a number" if shape == () else f"{' x '.join(map(str, shape))} numbers"
