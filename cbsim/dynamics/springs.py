"""Stability of explicit springs: h² k / m of each, and of the fastest vibration of all together.

An explicit spring, evaluated at the beginning of a step, is unstable for h² k / m above 4 (the bound of leapfrog). For
a whole mechanism the criterion is the largest eigenvalue of h² K against the mass, to which strong dampers and implicit
springs add: A = M + h (D − 2 E)/2 + h² Kᵢ/2, E being the dampers' shares after a step
(`cbsim.dynamics.kernels.dampers`). The analysis holds in one state; effective masses change as joints
turn.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.dynamics.compile import Compiled
from cbsim.dynamics.effective_mass import EffectiveMasses, orthonormal
from cbsim.dynamics.kernels import columns as c
from cbsim.geometry.elementary import square
from cbsim.geometry.linear import cholesky, norm, substitute, times
from cbsim.spec.mechanism.description import MechanismSpec

__all__ = ["SPRING_LIMIT", "SpringDiagnosis", "diagnose_springs", "stiff_springs"]

SPRING_LIMIT = 3.6  # of h² k / m: nine tenths of the stability bound, since effective masses change during a step
N_ROT = 200  # of the power method


class SpringDiagnosis(NamedTuple):
    """The spring of a joint in steps of a mechanism.

    Attributes
    ----------
    joint : str
        Name of the joint.
    implicit : bool
        Whether it is evaluated at the end of a step, and so stable.
    stiffness : float
        Largest h² k / m of its coordinates, with m the effective mass, all other joints free.
    together : float
        The same for the fastest vibration of all springs and dampers in which it has a share of at least a tenth, else
        0. Explicit springs need less than 4.
    step : float
        Length of a step [s] at which explicit springs are stable, with a margin of a tenth of `together`.
    """

    joint: str
    implicit: bool
    stiffness: float
    together: float
    step: float


def diagnose_springs(spec: MechanismSpec, compiled: Compiled, z: Floats) -> tuple[SpringDiagnosis, ...]:
    """Diagnose every spring in steps from a state (bodies, 13) with closed loops."""
    if not any(joint.spring for joint in spec.joints):
        return ()
    found: dict[int, SpringDiagnosis] = {}
    masses = EffectiveMasses(compiled, z)
    for label in masses.labels:
        found |= _of_part(spec, compiled, masses, label)
    return tuple(found[j] for j in sorted(found))


def stiff_springs(diagnoses: tuple[SpringDiagnosis, ...], timestep: float) -> str | None:
    """Describe the unstable explicit springs and a remedy; None if all are stable."""
    stiff = [one for one in diagnoses if not one.implicit and one.together > SPRING_LIMIT]
    if not stiff:
        return None
    worst = max(stiff, key=lambda one: one.together)
    names = ", ".join(f"'{one.joint}'" for one in stiff[:3]) + (f" and {len(stiff) - 3} more" if len(stiff) > 3 else "")
    one = "springs" if len(stiff) > 1 else "the spring"
    return (
        f"{one} of {names}: h²k/m is {worst.together:.3g} in steps of {timestep:g} s, and explicit springs are stable "
        f"below 4; take steps of {worst.step:.2g} s, or implicit_spring=True"
    )


def _of_part(
    spec: MechanismSpec, compiled: Compiled, masses: EffectiveMasses, label: int
) -> dict[int, SpringDiagnosis]:
    """Springs of connected joints, by the numbers of the joints."""
    model, h = compiled.model, spec.timestep
    rows = [row for row, j in enumerate(compiled.rows) if masses.label_of(row) == label and spec.joints[j].dof]
    sprung = [row for row in rows if model.link[row, c.FLAGS] & c.SPRUNG]
    if not sprung:
        return {}
    slopes = {row: masses.coordinate_slopes(row) for row in rows}  # (coordinates, size), in the inertia's metric
    owner = np.array([row for row in sprung for _ in slopes[row]])
    ways = np.concatenate([slopes[row] for row in sprung])
    implicit = model.joint[owner, c.IMPLICIT] > 0.0
    pull = h * np.sqrt(model.joint[owner, c.SPRING])[:, None] * ways
    held = masses.held(label)
    alone = _rest(pull, held)
    more = [np.sqrt(_added(model.joint[row], h, is_tree=row < model.links)) * slopes[row] for row in rows]
    stiffer = np.concatenate(more)
    lower = cholesky(np.eye(ways.shape[1]) + times(stiffer.T, stiffer))
    both = substitute(lower, pull.T).T
    both = _rest(both, orthonormal(substitute(lower, held)))
    fastest, part = _fastest(both)
    slowest, _ = _fastest(alone[~implicit])
    step = h * math.sqrt(SPRING_LIMIT / slowest) if slowest > 0.0 else math.inf
    found = {}
    for row in sprung:
        mine = owner == row
        has_part = float(square(part[mine]).sum()) >= 0.1
        found[compiled.rows[row]] = SpringDiagnosis(
            spec.joints[compiled.rows[row]].name, bool(implicit[mine].any()),
            float(square(alone[mine]).sum(axis=1).max()), fastest if has_part else 0.0, step,
        )  # fmt: skip
    return found


def _added(joint: Floats, h: float, *, is_tree: bool) -> float:
    """Mass that a joint's damper and implicit spring add to its coordinates."""
    mass, damper = float(joint[c.LEAST_MASS]), float(joint[c.DAMPER])
    after = min(0.5 * damper, 0.5 * mass / h) if mass > 0.0 and is_tree else 0.0
    return 0.5 * h * (damper - 2.0 * after + h * float(joint[c.IMPLICIT]))


def _rest(ways: Floats, held: Floats) -> Floats:
    """Project directions (rows) onto those that loops allow."""
    return ways - times(times(ways, held), held.T) if held.shape[1] else ways


def _fastest(ways: Floats) -> tuple[float, Floats]:
    """Largest eigenvalue of W Wᵀ of rows W, and its vector, by the power method."""
    value, vector = 0.0, np.zeros(len(ways))
    if len(ways):
        vector = np.sqrt((ways * ways).sum(axis=1)) + 1e-3 * np.arange(1, len(ways) + 1) / len(ways)
        for _ in range(N_ROT):
            vector = vector / (norm(vector) or 1.0)
            vector = times(ways, times(ways.T, vector))
            value = float(norm(vector))
        vector = vector / (value or 1.0)
    return value, vector
