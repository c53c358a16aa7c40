"""Dispatchers of entry points and device functions, which numba sees in place of Python functions."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from numba.core import event, types
from numba.core.caching import NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

from cbsim.collector import collector_at_rest
from cbsim.kernel_compiler import plain, shared
from cbsim.kernel_compiler.cache import SharedCache, cache_of
from cbsim.kernel_compiler.codegen import target_context
from cbsim.kernel_compiler.lowering import (
    DeferredLowering,
    DeviceLowering,
    EntryLowering,
    InlinedLowering,
    ScalarLowering,
    SharedLowering,
    VectorizedLowering,
    ViewLowering,
    pipeline,
)
from cbsim.kernel_compiler.messages import HOOK_MISSING, warn_once
from cbsim.kernel_compiler.shortcuts import shortcuts
from cbsim.kernel_compiler.stubs import stub_of

__all__ = [
    "Deferred",
    "DeviceDispatcher",
    "DeviceFunction",
    "EntryPoint",
    "Inlined",
    "ScalarEntryPoint",
    "Shared",
    "Vectorized",
    "View",
]

OPTIONS = {
    "nopython": True,
    "fastmath": False,
    "error_model": "numpy",
    "nogil": True,
    "boundscheck": None,
    "no_cfunc_wrapper": True,  # nothing calls kernels through a C function pointer, and the wrapper costs compile time
}


class Fallback:
    """Whether a hook of numba has turned out to be missing, so that kernels are compiled without any of them."""

    active = False


class DeviceDispatcher(CPUDispatcher):
    """Dispatcher of a device function: a kernel that only kernels call."""

    compiler_class = pipeline(DeviceLowering)
    returns_views = False

    def __init__(self, py_func: Callable[..., Any], *_: Any, **__: Any) -> None:
        super().__init__(py_func, targetoptions=dict(OPTIONS), pipeline_class=self.compiler_class)
        self.targetctx = target_context()

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Resolve a call by its types, ignoring literal values."""
        named = {name: types.unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(map(types.unliteral, args)), named)

    def compile(self, sig: Any) -> Any:
        """Lower the function for the types of a call, without the timers that numba runs for every call of LLVM."""
        arguments, returned = normalize_signature(sig)
        known, compiler = tuple(arguments), vars(self)["_compiler"]
        details = {"dispatcher": self, "args": arguments, "return_type": returned}
        with global_compiler_lock:
            if known not in self.overloads:
                with self._compiling_counter, event.trigger_event("numba:compile", data=details):
                    self.add_overload(compiler.compile(arguments, returned))
        made: Any = self.overloads[known]
        return made.entry_point

    def add_overload(self, cres: Any) -> None:
        """Register lowered code for callers; there is no code that Python could run."""
        self.overloads[tuple(cres.signature.args)] = cres


class InlinedDispatcher(DeviceDispatcher):
    """Dispatcher of a device function that is inlined wherever it is called."""

    compiler_class = pipeline(InlinedLowering)


class ViewDispatcher(DeviceDispatcher):
    """Dispatcher of a device function that returns views of its arguments."""

    compiler_class = pipeline(ViewLowering)
    returns_views = True


class SharedDispatcher(DeviceDispatcher):
    """Dispatcher of a device function whose machine code is generated once and kept in the cache."""

    compiler_class = pipeline(SharedLowering)

    def compile(self, sig: Any) -> Any:
        """Load machine code for the types of a call from the cache, or compile it."""
        known = tuple(normalize_signature(sig)[0])
        with global_compiler_lock:
            if known not in self.overloads:
                cache = cache_of(self.py_func, SharedCache)
                place = cache.place(known, self.targetctx) if cache else ("", f"{self.py_func}{known}")
                found = shared.load(place)
                if found is not None:
                    self.add_overload(found)
                else:
                    super().compile(sig)
                    shared.register(place, self.overloads[known])
                    if cache:
                        cache.save_overload(known, self.overloads[known])
        made: Any = self.overloads[known]
        return made.entry_point


class DeferredDispatcher(SharedDispatcher):
    """Dispatcher of a deferred device function, as it is compiled at its first call."""

    compiler_class = pipeline(DeferredLowering)


class StubDispatcher(DeviceDispatcher):
    """Dispatcher of a deferred device function, as its callers are compiled with it."""

    returns: Any

    def compile(self, sig: Any) -> Any:
        """Make a stub for the types of a call."""
        known = tuple(normalize_signature(sig)[0])
        with global_compiler_lock:
            if known not in self.overloads:
                self.add_overload(stub_of(self.py_func, known, self.returns(*known)))
        made: Any = self.overloads[known]
        return made.entry_point


class VectorizedDispatcher(DeviceDispatcher):
    """Dispatcher of a device function whose loops are vectorised."""

    compiler_class = pipeline(VectorizedLowering)


@contextmanager
def _existing_directory() -> Iterator[None]:
    """Change to an existing directory if the working directory was deleted: numba asks for it."""
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
def _compiling() -> Iterator[None]:
    """Prepare for compilation, and keep other threads from it."""
    with global_compiler_lock, _existing_directory(), collector_at_rest(), shortcuts():
        yield


class EntryPoint(CPUDispatcher):
    """A kernel that Python calls; kernels that call it too link it as a device function."""

    compiler_class = pipeline(EntryLowering)

    def __init__(self, py_func: Callable[..., Any], *_: Any, **__: Any) -> None:
        super().__init__(py_func, targetoptions=dict(OPTIONS), pipeline_class=self.compiler_class)
        self.targetctx = target_context()
        self.device = DeviceFunction(py_func)

    def compile(self, sig: Any) -> Any:
        """Load machine code for a call by Python from the cache, or compile it."""
        if isinstance(vars(self)["_cache"], NullCache):
            # opened as late as this because opening tests whether the folder is writable
            self._cache = cache_of(self.py_func) or NullCache()
        with global_compiler_lock, _existing_directory(), collector_at_rest():  # a fifth of the time otherwise
            if not Fallback.active:
                try:
                    with shortcuts():
                        return super().compile(sig)
                except Exception as reason:
                    return self._compile_plainly(sig, reason)
            return self._register(sig)

    def _compile_plainly(self, sig: Any, reason: Exception) -> Any:
        """Compile without numba's internals; if that fails too, the kernel is at fault: raise the first error."""
        Fallback.active = True
        try:
            made = self._register(sig)
        except Exception:
            Fallback.active = False
            raise reason from None
        warn_once(f"{HOOK_MISSING} ({type(reason).__name__}: {reason})")
        return made

    def _register(self, sig: Any) -> Any:
        """Compile by plain numba, and take the result as an overload of this dispatcher."""
        arguments, _ = normalize_signature(sig)
        dispatcher = self.device.dispatcher
        dispatcher.compile(sig)
        result = dispatcher.overloads[tuple(arguments)]
        self.add_overload(result)
        return result.entry_point

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Resolve a call by another kernel."""
        return self.device.dispatcher.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Return the code for a signature that another kernel resolved."""
        return self.device.dispatcher.get_overload(sig)


class ScalarEntryPoint(EntryPoint):
    """An entry point whose loops are not vectorised."""

    compiler_class = pipeline(ScalarLowering)


class DeviceFunction:
    """A function that only kernels call; its dispatcher is made on first use, since most starts need none of them."""

    dispatcher_class = DeviceDispatcher
    plain_class = plain.DeviceFunction

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function

    @property
    def dispatcher(self) -> Any:
        """The `DeviceDispatcher`, made on first use; in fallback mode the dispatcher of plain numba."""
        return self._plain if Fallback.active else self._own

    @cached_property
    def _own(self) -> Any:
        return self.dispatcher_class(self.py_func)

    @cached_property
    def _plain(self) -> Any:
        return self.plain_class(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        return self.dispatcher._numba_type_

    def __call__(self, *_: Any) -> Any:
        """Raise TypeError: there is no machine code to call from Python."""
        raise TypeError(f"{self.py_func.__name__} is a device function: only kernels can call it")


class Vectorized(DeviceFunction):
    """A device function with vectorised loops."""

    dispatcher_class = VectorizedDispatcher


class Shared(DeviceFunction):
    """A device function whose machine code several entry points call."""

    dispatcher_class = SharedDispatcher


class Deferred(DeviceFunction):
    """A device function that is compiled when it is first called.

    Parameters
    ----------
    function : callable
    returns : str or callable
        Name of the type that it returns, or what gives that type for those of the arguments.
    """

    def __init__(self, function: Callable[..., Any], returns: str | Callable[..., Any]) -> None:
        super().__init__(function)
        self._given = returns

    def returns(self, *kinds: Any) -> Any:
        """Return the type that the function returns for types of its arguments."""
        return getattr(types, self._given) if isinstance(self._given, str) else self._given(*kinds)

    @cached_property
    def _own(self) -> Any:
        made = StubDispatcher(self.py_func)
        made.returns = self.returns
        return made

    @cached_property
    def _deferred(self) -> Any:
        return DeferredDispatcher(self.py_func)

    def address(self, kinds: tuple[Any, ...]) -> int:
        """Return the address of the function for types of its arguments; compile it if it is not in the cache."""
        with _compiling():
            self._deferred.compile(self.returns(*kinds)(*kinds))
            made = self._deferred.overloads[kinds]
        return int(made.library.get_pointer_to_function(made.fndesc.mangled_name))


class View(DeviceFunction):
    """A device function that returns views of its arguments, which outlive them."""

    dispatcher_class = ViewDispatcher


class Inlined(DeviceFunction):
    """A device function that is inlined into its callers; Python may call it too."""

    dispatcher_class = InlinedDispatcher
    plain_class = plain.Inlined

    @cached_property
    def entry_point(self) -> EntryPoint:
        """The entry point for calls by Python, made on first use."""
        return EntryPoint(self.py_func)

    def __call__(self, *arguments: Any) -> Any:
        """Call the entry point."""
        return self.entry_point(*arguments)
