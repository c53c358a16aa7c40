"""Drives: motors and dry friction, bounded forces along one coordinate of a joint that depend on its velocity."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cbsim.errors import ModelError
from cbsim.spec.mechanism.values import number, whole

__all__ = ["Drive", "DryFriction", "Motor", "drives_of", "softness_of"]


@dataclass(frozen=True)
class Drive:
    """A bounded force along one coordinate of a joint that brings its velocity to a target.

    The velocity is that of the step, so the force is implicit: v = target − cfm · force where the force is inside its
    limit, force = ± limit with the sign of target − v elsewhere (a bounded row, as in ODE).

    Parameters
    ----------
    max_force : float
        Largest force or torque, at least 0 [N or N m].
    coordinate : int
        Index of a free direction of the joint, translations first. A rotation must be the only one of its joint.
    cfm : float
        Compliance of the velocity to the force, at least 0 [m/(N s) or rad/(N m s)]; the inverse of a damping.
    target : float
        Target velocity [m/s or rad/s].
    """

    max_force: float
    coordinate: int = field(default=0, kw_only=True)
    cfm: float = field(default=0.0, kw_only=True)
    target: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        who = type(self).__name__
        object.__setattr__(self, "coordinate", whole(self.coordinate, who, "coordinate", least=0))
        object.__setattr__(self, "cfm", number(self.cfm, who, "cfm", least=0.0))
        object.__setattr__(self, "target", number(self.target, who, "target"))
        if isinstance(self.max_force, (float, np.floating)) and self.max_force == np.inf:
            if self.cfm == 0.0:
                raise ModelError("has neither a limit nor cfm: nothing would say how large its force is", subject=who)
            object.__setattr__(self, "max_force", np.inf)
        else:
            object.__setattr__(self, "max_force", number(self.max_force, who, "max_force", least=0.0))

    @property
    def is_fed(self) -> bool:
        """Whether the input of its coordinate is its target velocity."""
        return False


@dataclass(frozen=True)
class Motor(Drive):
    """A drive whose target velocity is the input of its coordinate, in place of a force; NaN releases it.

    Parameters
    ----------
    max_force, coordinate, cfm
        As `Drive` has them; ``max_force`` 0 lets the joint move freely.

    Examples
    --------
    >>> from cbsim.multibody import Box, Mechanism, Origin, Revolute, step_minimal_coordinates
    >>> origin, wheel = Origin(), Box(1, 1, 1, mass=1.0).body()
    >>> turntable = Mechanism(origin, [wheel], [Revolute(origin, wheel, (0, 0, 1), drives=[Motor(2.0)])])
    >>> x = step_minimal_coordinates(turntable, (0.0, 0.0), [5.0])  # 2 N m on 1/6 kg m² for 0.01 s
    >>> round(float(x[1]), 6)
    0.12
    """

    target: float = field(default=0.0, init=False)

    @property
    def is_fed(self) -> bool:
        """Whether the input of its coordinate is its target velocity."""
        return True


@dataclass(frozen=True)
class DryFriction(Drive):
    """Friction of a joint: a force up to ``max_force`` that holds it still, and that much against its motion.

    Parameters
    ----------
    max_force, coordinate
        As `Drive` has them. The input of the coordinate stays a force.
    """

    cfm: float = field(default=0.0, init=False)
    target: float = field(default=0.0, init=False)


def drives_of(value: Any, slides: int, turns: int, who: str) -> tuple[Drive, ...]:
    """Return the drives of a joint with that many free translations and rotations, checked."""
    given = (value,) if isinstance(value, Drive) else value
    try:
        drives = tuple(given)
    except TypeError:
        raise ModelError(f"drives are {value!r}, expected a sequence of Drive", subject=who) from None
    for drive in drives:
        if not isinstance(drive, Drive):
            raise ModelError(f"drives hold {drive!r}, expected a Drive", subject=who)
        if drive.coordinate >= slides + turns:
            raise ModelError(
                f"a {type(drive).__name__} is on coordinate {drive.coordinate}, but it has {slides + turns}: "
                "they count from 0, translations first",
                subject=who,
            )
        if drive.coordinate >= slides and turns > 1:
            raise ModelError(
                f"a {type(drive).__name__} is on one of {turns} free rotations: it can be on a translation, or on the "
                "rotation of a joint that has one",
                subject=who,
            )
    fed = [drive.coordinate for drive in drives if drive.is_fed]
    for coordinate in fed:
        if fed.count(coordinate) > 1:
            raise ModelError(f"coordinate {coordinate} has {fed.count(coordinate)} motors, expected one", subject=who)
    return drives


def softness_of(value: Any, who: str, what: str) -> tuple[float, float]:
    """Return (erp, cfm), the share of an error that a step takes away, and the compliance, checked."""
    try:
        erp, cfm = value
    except (TypeError, ValueError):
        raise ModelError(f"{what} is {value!r}, expected (erp, cfm)", subject=who) from None
    share, soft = number(erp, who, f"erp of {what}"), number(cfm, who, f"cfm of {what}", least=0.0)
    if not 0.0 < share <= 1.0:
        raise ModelError(f"erp of {what} is {share:g}, expected more than 0 and at most 1", subject=who)
    return share, soft
