"""How numba is asked to compile kernels: what only kernels call is a part, optimised once, where it ends up.

Left to itself, numba optimises every function, makes machine code of it, and does both again in each function that
calls it, level by level. Here a part is only lowered, and whatever Python calls gathers its parts, all levels of them,
each once, makes them private to itself, and has the whole optimised and translated together.

Five more things cost most of the time in front of that, and are left out:

- A part is compiled for types, not for the values of literals that numba sees in its callers first.
- A part that neither allocates nor returns arrays borrows them from its caller, and counts no references.
- The compiler's options are looked up for every call and every operator: they compare by what is set.
- What an operator gives for two types is found out once, not wherever it stands.
- Garbage is not collected while a kernel is compiled.

This leans on numba's inside: its `code library`_ and its pipeline, which a project may customise.

.. _code library: https://numba.readthedocs.io/en/stable/developer/architecture.html
"""

from __future__ import annotations

from cbsim.parts.dispatch import Door, Inlined, Inside, NarrowDoor, Wide

__all__ = ["Door", "Inlined", "Inside", "NarrowDoor", "Wide"]
