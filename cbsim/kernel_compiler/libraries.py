"""Code libraries of device functions, which stay as lowered, and of entry points, which link them in."""

from __future__ import annotations

from typing import Any

from llvmlite.binding import parse_assembly, parse_bitcode
from numba.core.codegen import JITCodeLibrary
from numba.core.environment import lookup_environment

from cbsim.kernel_compiler.usage import Usage

__all__ = [
    "DeferredLibrary",
    "DeviceLibrary",
    "EntryLibrary",
    "ScalarLibrary",
    "SharedLibrary",
    "VectorizedLibrary",
]

ENVIRONMENT = "_ZN08NumbaEnv"  # prefix of the names of numba's environment variables


class LinkOnceLibrary(JITCodeLibrary):
    """A library that links every device function that it reaches, directly or not, exactly once."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._gathered: set[int] = set()
        self.defined: list[str] = []  # names of its own functions
        self.shared: list[Any] = []  # libraries of shared functions that it calls
        self.units: list[Any] = []  # deferred functions that it calls, as `cbsim.kernel_compiler.deferred` has them

    def add_linking_library(self, library: Any) -> None:
        """Link a library and, if it is a device function's, everything that it needs in turn."""
        if id(library) in self._gathered:
            return
        self._gathered.add(id(library))
        if isinstance(library, SharedLibrary):
            self.shared.append(library)
            return
        super().add_linking_library(library)
        if isinstance(library, DeviceLibrary):
            if library.unit is not None:
                self.units.append(library.unit)
            for needed in (*library._linking_libraries, *library.shared):
                self.add_linking_library(needed)

    def add_ir_module(self, ir_module: Any) -> None:
        """Parse a module, then break its reference cycles: the garbage collector would take longer to find them."""
        super().add_ir_module(ir_module)
        self.defined += [function.name for function in ir_module.functions if function.blocks]
        for function in ir_module.functions:
            for block in function.blocks:
                block.instructions.clear()
                block.terminator = None
            function.blocks.clear()
        ir_module.globals.clear()

    def _optimize_functions(self, ll_module: Any) -> None:
        """Optimise each function for itself, as numba does, which prepares its passes for declarations too."""
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                manager, builder = self._codegen._function_pass_manager()
                manager.run(function, builder)


def optimise(library: Any, *, loop_vectorize: bool) -> None:
    """Optimise a library in one pass; numba's other pass only collects reference counts for a second one."""
    manager, builder = library._codegen._module_pass_manager(opt=2, loop_vectorize=loop_vectorize, slp_vectorize=False)
    manager.run(library._final_module, builder)


def joined(modules: list[Any]) -> Any:
    """Link modules, neighbours first: LLVM looks through all of a module whenever it links one to it.

    All are used up but the first, which is returned.
    """
    while len(modules) > 1:
        pairs = list(zip(modules[::2], modules[1::2], strict=False))
        for one, other in pairs:
            one.link_in(other)
        modules = [*(one for one, _ in pairs), *modules[2 * len(pairs) :]]
    return modules[0]


class DeviceLibrary(LinkOnceLibrary):
    """LLVM IR of a device function as it was lowered: nothing is linked and no machine code is generated."""

    raises = True  # whether it can return an error
    counts = True  # whether arrays are passed to it with their reference counts
    usage: tuple[Usage, ...] | None = None  # what is passed to it of its arguments; None for everything
    packer: Any = None  # of its arguments
    unit: Any = None  # the deferred function, of its stub

    def finalize(self) -> None:
        """Mark the library as final without optimising it."""
        self._raise_if_finalized()
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        # numba marks functions to be dropped unless existing code calls them, but callers may be linked later
        return self._final_module


class VectorizedLibrary(DeviceLibrary):
    """LLVM IR of a device function whose loops are vectorised."""

    def finalize(self) -> None:
        """Optimise the function alone, before it is linked into an entry point."""
        optimise(self, loop_vectorize=True)
        super().finalize()


class EntryLibrary(LinkOnceLibrary):
    """Machine code of an entry point with all its device functions."""

    def finalize(self) -> None:
        """Link device functions before numba's own libraries, of which only functions already referenced are taken."""
        libraries = self._linking_libraries
        device = [each for each in libraries if isinstance(each, DeviceLibrary)]
        if device:
            self._final_module.link_in(joined([each._get_module_for_linking().clone() for each in device]))
        for name in {name for each in device for name in each.defined}:
            self._final_module.get_function(name).linkage = "internal"  # so that those inlined everywhere are dropped
        self._linking_libraries = [each for each in libraries if not isinstance(each, DeviceLibrary)]
        super().finalize()

    def _optimize_final_module(self) -> None:
        self.optimise()

    def optimise(self) -> None:
        """Optimise the whole module."""
        optimise(self, loop_vectorize=True)

    def _finalize_final_module(self) -> None:
        super()._finalize_final_module()
        codegen: Any = self._codegen
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name) if variable.name.startswith(ENVIRONMENT) else None
            if environment is not None:
                codegen.set_env(variable.name, environment)

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Return the machine code to cache, with stubs in place of LLVM IR: cached kernels are not linked again."""
        self._ensure_finalized()
        names = (each.name for each in self._final_module.functions if not each.is_declaration)
        stubs = "".join(f'define void @"{name}"() {{ ret void }}\n' for name in names)
        return self.name, "object", (self._get_compiled_object(), parse_assembly(stubs).as_bitcode())


class ScalarLibrary(EntryLibrary):
    """Machine code without loop vectorisation: loops over three or six numbers run as fast and compile smaller."""

    def optimise(self) -> None:
        """Optimise the whole module without vectorising its loops."""
        optimise(self, loop_vectorize=False)


class SharedLibrary(ScalarLibrary):
    """Machine code of a shared device function, of which callers link the name only."""

    raises, counts, usage, packer = (
        DeviceLibrary.raises,
        DeviceLibrary.counts,
        DeviceLibrary.usage,
        DeviceLibrary.packer,
    )
    place: tuple[str, str]  # of its cache entry

    @classmethod
    def loaded(cls, codegen: Any, state: tuple[Any, ...]) -> SharedLibrary:
        """Load machine code, as numba does for its own class of libraries."""
        name, _, (code, stubs) = state
        made: Any = cls(codegen, name)
        made.enable_object_caching()
        made._set_compiled_object(code)
        made._shared_module = parse_bitcode(stubs)
        made._finalize_final_module()
        codegen._engine._load_defined_symbols(made._shared_module)
        return made  # type: ignore[no-any-return]


class DeferredLibrary(SharedLibrary):
    """Machine code of a deferred device function, optimised as that of an entry point is."""

    def optimise(self) -> None:
        """Optimise the whole module, and vectorise its loops."""
        EntryLibrary.optimise(self)
