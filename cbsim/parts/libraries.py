"""Libraries of code: of a part, left as it was lowered, and of what Python calls, which has its parts inside."""

from __future__ import annotations

from typing import Any

from llvmlite.binding import parse_assembly
from numba.core.codegen import JITCodeLibrary
from numba.core.environment import lookup_environment

__all__ = ["DoorLibrary", "NarrowLibrary", "PartLibrary", "WideLibrary"]

ENVIRONMENT = "_ZN08NumbaEnv"  # how the names of its variables begin


class Gatherer(JITCodeLibrary):
    """Code with all the parts that it needs, at any remove, each once."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._gathered: set[int] = set()

    def add_linking_library(self, library: Any) -> None:
        """Take a library along, and what a part needs in its turn."""
        if id(library) in self._gathered:
            return
        self._gathered.add(id(library))
        super().add_linking_library(library)
        if isinstance(library, PartLibrary):
            for needed in library._linking_libraries:
                self.add_linking_library(needed)


def optimise(library: Any, *, loop_vectorize: bool) -> None:
    """Optimise the code of a library in one go: numba's first of two gathers counts of references for the second."""
    manager, builder = library._codegen._module_pass_manager(opt=2, loop_vectorize=loop_vectorize, slp_vectorize=False)
    manager.run(library._final_module, builder)


class PartLibrary(Gatherer):
    """Code of a part as it was lowered: nothing is linked, and there is no machine code."""

    def finalize(self) -> None:
        """Leave it as it is."""
        self._raise_if_finalized()
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        # numba would mark functions to be dropped unless what is there already calls them; whoever does may come later
        return self._final_module


class WideLibrary(PartLibrary):
    """Code of a part whose loops run several rounds at a time."""

    def finalize(self) -> None:
        """Optimise it by itself, before it is among others."""
        optimise(self, loop_vectorize=True)
        super().finalize()


class DoorLibrary(Gatherer):
    """Machine code of what Python calls, with its parts inside."""

    def finalize(self) -> None:
        """Link the parts before what numba brings, of which only what has been called by then is taken."""
        self._linking_libraries = sorted(self._linking_libraries, key=lambda each: not isinstance(each, PartLibrary))
        super().finalize()

    def _optimize_final_module(self) -> None:
        parts = [library._final_module for library in self._linking_libraries if isinstance(library, PartLibrary)]
        inside = {function.name for part in parts for function in part.functions if not function.is_declaration}
        for function in self._final_module.functions:
            if function.name in inside and not function.is_declaration:
                function.linkage = "internal"  # so that nothing is kept of what has been inlined
        self.optimise()

    def optimise(self) -> None:
        """Optimise all of it, as numba does."""
        super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        super()._finalize_final_module()
        codegen: Any = self._codegen
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name) if variable.name.startswith(ENVIRONMENT) else None
            if environment is not None:
                codegen.set_env(variable.name, environment)

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Give machine code to be kept on disk, and in place of what callers link, which they never do, its names."""
        self._ensure_finalized()
        names = (each.name for each in self._final_module.functions if not each.is_declaration)
        stubs = "".join(f'define void @"{name}"() {{ ret void }}\n' for name in names)
        return self.name, "object", (self._get_compiled_object(), parse_assembly(stubs).as_bitcode())


class NarrowLibrary(DoorLibrary):
    """Machine code whose loops run a round at a time: those over three or six numbers are no slower, and small."""

    def optimise(self) -> None:
        """Optimise all of it."""
        optimise(self, loop_vectorize=False)
