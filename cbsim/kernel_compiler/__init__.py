"""Compilation of kernels by numba: device functions are lowered once and optimised within each entry point.

By default numba optimises every function and generates machine code for it, then does both again in each caller, level
by level. Here a device function (one that only kernels call) is lowered to LLVM IR and no further. An entry point (a
kernel that Python calls) links all the device functions that it reaches, each once, makes them internal to its module,
and has the module optimised and translated as a whole.

Most of the remaining time is spent in numba's front end. These things are avoided there:

- A device function is compiled for types, never for the literal values that numba tries first.
- A device function that neither allocates nor returns arrays borrows its arguments and counts no references.
- Arrays are passed without what follows from their type and shape, and calls of functions that never raise are not
  checked (`calls`).
- Of a tuple, a function is passed the fields that it or its callees use (`usage`).
- A row of a table in a named tuple has a constant length where the field is annotated with it (`rows`).
- No index is looked at: only a negative constant counts from the end. ``CBSIM_CHECK_INDICES=1`` has kernels end the
  process at an index out of range, with its line.
- Elements of arrays are read and written directly, variables are kept out of memory (`instructions`), and no references
  to arrays that the caller keeps are counted (`kept`).
- Loops over ranges whose step is 1 or -1 can't raise, and take ten instructions rather than fifty (`loops`); ``min``,
  ``max`` and ``int`` of numbers are no calls (`extremes`). What nothing uses of the descriptor of an array is not made
  (`builder`).
- A device function that several entry points link may be compiled for all of them, and called by its name (`shared`).
- A device function that few Worlds need may be compiled when it is first called (`deferred`).
- What is asked again and again is kept or asked more quickly: signatures of calls, attributes, hashes of types, types
  of constants, variables of statements, new entries of registries (`shortcuts`).
- Passes run without events and timers, and nothing is prepared for warnings before each of the constraints on types.
- Names of functions are short (`codegen`).
- Compiler flags are looked up for every call and every operator; here they compare by the flags that are set.
- The type of an operator for given operand types is resolved once per process, and not anew for each literal.
- Lifetimes of variables are analysed where a pass needs them, not after every pass (`shortcuts`); passes for closures
  and for expressions of whole arrays are left out of functions that have none (`passes`).
- Garbage collection is paused while a kernel compiles, and LLVM IR is freed when it has been parsed, without it.

All of this relies on numba's internals: its `code library`_ and its compiler pipeline, which a project may customise.
Where a version of numba lacks one of them, and with ``CBSIM_PLAIN_NUMBA=1``, `plain` compiles every kernel by
`numba.njit` instead, to the same bits.

.. _code library: https://numba.readthedocs.io/en/stable/developer/architecture.html
"""

from __future__ import annotations

import os
from typing import Any

from cbsim.kernel_compiler.messages import HOOK_MISSING, warn_once

if os.environ.get("CBSIM_PLAIN_NUMBA", "0") not in ("", "0"):
    from cbsim.kernel_compiler import plain as implementation
else:
    try:
        from cbsim.kernel_compiler import dispatch as implementation  # type: ignore[no-redef]
    except (ImportError, AttributeError, TypeError) as reason:
        warn_once(f"{HOOK_MISSING} ({reason})")
        from cbsim.kernel_compiler import plain as implementation

__all__ = [
    "IS_PLAIN",
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

Deferred: Any = implementation.Deferred
DeviceDispatcher: Any = implementation.DeviceDispatcher
DeviceFunction: Any = implementation.DeviceFunction
EntryPoint: Any = implementation.EntryPoint
Inlined: Any = implementation.Inlined
ScalarEntryPoint: Any = implementation.ScalarEntryPoint
Shared: Any = implementation.Shared
Vectorized: Any = implementation.Vectorized
View: Any = implementation.View
IS_PLAIN = implementation.__name__.endswith("plain")
