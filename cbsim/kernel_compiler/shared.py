"""Machine code of shared device functions: compiled once, found by the name of its cache entry, called by its symbol.

Code in a cache may not contain addresses. A caller is linked with shared functions by the names of their symbols, so
they have to be loaded before it: its own entry lists theirs, and counts as missing where one of them is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from numba.core import config, types
from numba.core.compiler import compile_result

from cbsim.kernel_compiler.calls import callable_by_kernels
from cbsim.kernel_compiler.codegen import target_context
from cbsim.kernel_compiler.deferred import Unit, note_units
from cbsim.kernel_compiler.entries import READ_ONLY, read_entry
from cbsim.kernel_compiler.libraries import SharedLibrary

__all__ = ["Place", "are_loaded", "load", "needs_of", "reduced", "register"]

Place: TypeAlias = tuple[str, str]
"""Folder of a kernel's entries, and file of an entry."""
Needs: TypeAlias = tuple[list[Place], list[Unit]]
"""What machine code calls: shared and deferred functions."""

_LOADED: dict[Place, Any] = {}


class Descriptor(NamedTuple):
    """What callers have to know of a function."""

    mangled_name: str
    restype: types.Type
    argtypes: tuple[types.Type, ...]


def load(place: Place) -> Any:
    """Load a shared function and those that it calls, once per process.

    Returns
    -------
    made : CompileResult or None
        None if one of them is not in the cache.
    """
    if place not in _LOADED:
        folders = [*READ_ONLY, Path(config.CACHE_DIR)]  # type: ignore[attr-defined]
        found = (read_entry(folder / place[0] / place[1]) for folder in folders)
        entry = next((each for each in found if each is not None), None)
        made = None if entry is None else _rebuilt(place, *entry[1])
        if made is None:
            return None
        _LOADED[place] = made
    return _LOADED[place]


def are_loaded(needs: Needs) -> bool:
    """Load shared functions, and note deferred ones; False if a shared one is not in the cache."""
    places, units = needs
    note_units(units)
    return all(load(each) is not None for each in places)


def needs_of(library: Any) -> Needs:
    """List the entries of the shared functions that the code of a library calls, and the deferred functions."""
    return [each.place for each in getattr(library, "shared", ())], getattr(library, "units", [])


def register(place: Place, made: Any) -> None:
    """Note a shared function that was compiled."""
    made.library.place = place
    _LOADED[place] = made


def reduced(made: Any) -> tuple[Any, ...]:
    """Return the content of an entry."""
    library, descriptor = made.library, made.fndesc
    known = Descriptor(descriptor.mangled_name, descriptor.restype, descriptor.argtypes)
    convention = library.raises, library.counts, library.usage
    return needs_of(library), library.serialize_using_object_code(), convention, known, made.signature


def _rebuilt(place: Place, needed: Needs, code: Any, convention: Any, known: Descriptor, signature: Any) -> Any:
    """Load the machine code of an entry and register it with callers."""
    if not are_loaded(needed):
        return None
    context = target_context()
    library = SharedLibrary.loaded(context.codegen(), code)
    library.place = place
    library.raises, library.counts, library.usage = convention
    return compile_result(
        signature=signature, fndesc=known, library=library, entry_point=callable_by_kernels(context, known, library),
        objectmode=False,
    )  # fmt: skip
