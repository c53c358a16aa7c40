"""`Function`: a row of the table of functions, and conversion of arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cbsim.arrays import Floats
from cbsim.formats.irit.script.values import LARGEST, Trouble, Value, kind_of, xyz_of
from cbsim.spec.objects import Triple

if TYPE_CHECKING:
    from cbsim.formats.irit.script.machine import Machine

__all__ = ["Arguments", "Function", "flag", "number", "place", "text", "triple"]

Arguments = Sequence[Value]


class Function(NamedTuple):
    """One row of the table.

    Attributes
    ----------
    name : str
        In lower case.
    call : callable
        Takes the machine and the arguments, gives a value or None.
    counts : (int, int)
        Least and largest number of arguments.
    usage : str
        For messages and the page.
    """

    name: str
    call: Callable[[Machine, Arguments], Value | None]
    counts: tuple[int, int]
    usage: str


def number(arguments: Arguments, k: int) -> float:
    """Take argument k, from 0, as a number."""
    data = arguments[k].data
    if not isinstance(data, float):
        raise Trouble("E063", f"argument {k + 1} is a {kind_of(data)}, expected a number")
    if not abs(data) <= LARGEST:
        raise Trouble("E063", f"argument {k + 1} is {data:g}, which is beyond ±{LARGEST:g}")
    return data


def flag(arguments: Arguments, k: int, default: float) -> float:
    """Take argument k as a number, where it is there."""
    return number(arguments, k) if len(arguments) > k else default


def text(arguments: Arguments, k: int) -> str:
    """Take argument k as a text."""
    data = arguments[k].data
    if not isinstance(data, str):
        raise Trouble("E063", f"argument {k + 1} is a {kind_of(data)}, expected a text")
    return data


def place(arguments: Arguments, k: int) -> Floats:
    """Take argument k as a point or vector (3,)."""
    found = xyz_of(arguments[k].data)
    if found is None:
        raise Trouble("E063", f"argument {k + 1} is a {kind_of(arguments[k].data)}, expected a vector or point")
    return found


def triple(values: Floats) -> Triple:
    """Three numbers as files have them."""
    return Triple(*(float(v) for v in values))
