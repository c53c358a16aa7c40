"""Deferred device functions: compiled when they are first called, in the middle of the kernel that calls them.

Much of the code of a step serves what a World may not have: events, people, car parks, rare moves of cars. Callers link
a stub in place of such a function (`cbsim.kernel_compiler.stubs`). The stub keeps a pointer, which is null at first.
Then it asks `_resolve` for the address of the function, by name: from a table, from the cache, or by compiling it. From
then on a call is one through the pointer. Whether a World, or a Snapshot, comes to need a function is decided nowhere
but in the code that calls it.

`_resolve` is called without the interpreter lock, which `ctypes` takes for it. If it fails, for lack of memory or
because it is interrupted, the stub returns `FAILED`, all kernels return at once, and `failure` says why.
"""

from __future__ import annotations

import ctypes
import pickle
import threading
from collections.abc import Iterable
from importlib import import_module
from typing import NamedTuple

from llvmlite import binding

__all__ = ["FAILED", "RESOLVER", "Unit", "compile_deferred", "failure", "note_units"]

FAILED = -4  # return code that numba does not use: Python gets a SystemError
RESOLVER = "cbsim.resolve"  # symbol of `_resolve`


class Unit(NamedTuple):
    """A deferred function, for the types of its arguments.

    Attributes
    ----------
    symbol : str
        Its name in machine code, by which stubs ask for it.
    module, name : str
        Where the function stands.
    kinds : bytes
        Types of its arguments, pickled: they are many, and most starts never look at them.
    """

    symbol: str
    module: str
    name: str
    kinds: bytes


_UNITS: dict[str, Unit] = {}
_ADDRESSES: dict[str, int] = {}
_FAILURES: dict[int, BaseException] = {}
"""Thread → why a function that it called is not there."""


def note_units(units: Iterable[Unit]) -> None:
    """Note deferred functions that code may call which is about to be loaded."""
    for unit in units:
        if not _UNITS:
            binding.add_symbol(RESOLVER, ctypes.cast(_CALLBACK, ctypes.c_void_p).value)
        _UNITS[unit.symbol] = unit


def compile_deferred() -> None:
    """Compile the deferred functions that kernels of this process may call, and those that these may call in turn."""
    while todo := [symbol for symbol in _UNITS if symbol not in _ADDRESSES]:
        for symbol in todo:
            _address_of(symbol)


def failure() -> BaseException | None:
    """Return why a deferred function is not there that a kernel of this thread called; None the next time."""
    return _FAILURES.pop(threading.get_ident(), None)


def _address_of(symbol: str) -> int:
    """Return the address of a deferred function; compile it if need be."""
    if symbol not in _ADDRESSES:
        unit = _UNITS[symbol]
        function = getattr(import_module(unit.module), unit.name)
        _ADDRESSES[symbol] = function.address(pickle.loads(unit.kinds))
    return _ADDRESSES[symbol]


def _resolve(name: bytes) -> int:
    """Return the address of a deferred function to a stub; 0 if it cannot be had, as nothing may be raised here."""
    try:
        return _address_of(name.decode())
    except BaseException as reason:  # an interruption, too, ends the kernel
        _FAILURES[threading.get_ident()] = reason
        return 0


_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)(_resolve)
