"""Diagnostics of a mechanism before it is simulated: stability of springs and dampers."""

from __future__ import annotations

from typing import NamedTuple

from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.springs import SpringDiagnosis, diagnose_springs
from cbsim.multibody.mechanism import Mechanism

__all__ = ["DamperDiagnosis", "Diagnostics", "SpringDiagnosis", "diagnostics"]


class DamperDiagnosis(NamedTuple):
    """The damper of a joint in steps of a mechanism.

    Attributes
    ----------
    joint : str
        Name of the joint.
    strength : float
        h d / m, with m the mass that it moves at least, wherever bodies are; inf where there is no such bound.
    order : int
        Of its steps: 2 up to a strength of 1, beyond that 1, the more implicit the stronger it is.
    """

    joint: str
    strength: float
    order: int


class Diagnostics(NamedTuple):
    """What `diagnostics` finds.

    Attributes
    ----------
    springs : tuple of SpringDiagnosis
        One for each joint with a spring, in the order of the joints.
    dampers : tuple of DamperDiagnosis
        One for each joint with a damper.
    """

    springs: tuple[SpringDiagnosis, ...]
    dampers: tuple[DamperDiagnosis, ...]


def diagnostics(mechanism: Mechanism) -> Diagnostics:
    """Tell how stiff the springs of a mechanism are in its own state, and of which order its dampers are.

    Examples
    --------
    >>> from cbsim.multibody import Box, Mechanism, Origin, Prismatic, diagnostics
    >>> origin, box = Origin(), Box(1, 1, 1, mass=2.0).body(name="box")
    >>> rail = Prismatic(origin, box, (0, 0, 1), spring=2e4, damper=1.0, name="rail")
    >>> found = diagnostics(Mechanism(origin, [box], [rail], timestep=0.01))
    >>> round(found.springs[0].stiffness, 6), found.springs[0].implicit, found.dampers[0].order
    (1.0, False, 2)
    """
    compiled, h = mechanism.compiled, mechanism.timestep
    dampers = {}
    for j, row in zip(compiled.rows, compiled.model.joint, strict=True):
        damper, mass = float(row[c.DAMPER]), float(row[c.LEAST_MASS])
        if damper > 0.0 and mechanism.joints[j].dof:
            strength = h * damper / mass if mass > 0.0 else float("inf")
            dampers[j] = DamperDiagnosis(mechanism.joints[j].name, strength, 2 if strength <= 1.0 else 1)
    springs = diagnose_springs(mechanism.spec, compiled, mechanism.pose)
    return Diagnostics(springs, tuple(dampers[j] for j in sorted(dampers)))
