"""What numba sees in place of a function: a part, or a door with its parts behind it."""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from numba.core import types
from numba.core.caching import NullCache
from numba.core.registry import CPUDispatcher

from cbsim.parts.cache import cache_of
from cbsim.parts.lowering import DoorLowering, InlinedLowering, NarrowLowering, PartLowering, WideLowering, pipeline

__all__ = ["Door", "Inlined", "Inside", "NarrowDoor", "Wide"]

OPTIONS = {
    "nopython": True,
    "fastmath": False,
    "error_model": "numpy",
    "nogil": True,
    "boundscheck": None,
    "no_cfunc_wrapper": True,  # nobody calls kernels from C, and the door costs time to compile
}


class Part(CPUDispatcher):
    """A kernel that only kernels call."""

    compiler_class = pipeline(PartLowering)

    def __init__(self, py_func: Callable[..., Any], *_: Any, **__: Any) -> None:
        super().__init__(py_func, targetoptions=dict(OPTIONS), pipeline_class=self.compiler_class)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Find the code for the types of a call, whatever is known of its values."""
        named = {name: types.unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(map(types.unliteral, args)), named)

    def add_overload(self, cres: Any) -> None:
        """Keep compiled code for callers; there is none that Python could run."""
        self.overloads[tuple(cres.signature.args)] = cres


class InlinedPart(Part):
    """A part that is put wherever it is called."""

    compiler_class = pipeline(InlinedLowering)


class WidePart(Part):
    """A part whose loops run several rounds at a time."""

    compiler_class = pipeline(WideLowering)


@contextmanager
def _somewhere() -> Iterator[None]:
    """Stand in a folder that exists: numba asks where it is, and a working directory may have been deleted."""
    try:
        Path.cwd()
    except OSError:
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(tempfile.gettempdir())
            yield
        finally:
            os.fchdir(here)
            os.close(here)
    else:
        yield


@contextmanager
def _uncollected() -> Iterator[None]:
    """Leave garbage lying meanwhile: looking through the compiler's tables for it again and again takes a fifth."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class Door(CPUDispatcher):
    """A kernel that Python calls; kernels that call it as well take it as a part."""

    compiler_class = pipeline(DoorLowering)

    def __init__(self, py_func: Callable[..., Any], *_: Any, **__: Any) -> None:
        super().__init__(py_func, targetoptions=dict(OPTIONS), pipeline_class=self.compiler_class)
        self.inside = Inside(py_func)

    def compile(self, sig: Any) -> Any:
        """Make machine code for a call by Python, or find it on disk."""
        if isinstance(vars(self)["_cache"], NullCache):
            self._cache = (
                cache_of(self.py_func) or NullCache()
            )  # not before: it tries whether the folder can be written
        with _somewhere(), _uncollected():
            return super().compile(sig)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Find the code for a call by a kernel."""
        return self.inside.part.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Find the code that a kernel has chosen."""
        return self.inside.part.get_overload(sig)


class NarrowDoor(Door):
    """A kernel that Python calls, whose loops run a round at a time."""

    compiler_class = pipeline(NarrowLowering)


class Inside:
    """What only kernels call: a `Part` once one does, for there are hundreds of them and a start uses none."""

    part_class = Part

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function

    @cached_property
    def part(self) -> Any:
        """The `Part`, which is what numba knows."""
        return self.part_class(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        return self.part._numba_type_

    def __call__(self, *_: Any) -> Any:
        """Refuse."""
        raise TypeError(f"{self.py_func.__name__} is called by kernels alone")


class Wide(Inside):
    """What only kernels call, with loops that run several rounds at a time."""

    part_class = WidePart


class Inlined(Inside):
    """What is put wherever kernels call it; Python may call it too."""

    part_class = InlinedPart

    @cached_property
    def door(self) -> Door:
        """What Python calls."""
        return Door(self.py_func)

    def __call__(self, *arguments: Any) -> Any:
        """Call the door."""
        return self.door(*arguments)
