"""2N-legged walker of an IRIT file: a body, N legs on each side, and a gait."""

from __future__ import annotations

from dataclasses import dataclass

from cbsim.errors import Location
from cbsim.spec.irit.objects import IritObject
from cbsim.spec.objects import Triple

__all__ = ["GAITS", "Leg", "Walker"]

GAITS = ("cross", "parallel")
"""Types of step: legs of a side alternate and the sides are opposite, or both legs of a pair move together."""


@dataclass(frozen=True, slots=True)
class Leg:
    """``list(objHip, objShin, coorLeg, coorKnee, coorFoot)``, in the file's axes: x ahead, y to the left.

    Attributes
    ----------
    name : str
        ``left 1`` … ``right N``.
    hip, shin : IritObject
        Their geometry.
    root, knee, foot : Triple
        Points where the leg begins, bends and stands.
    location : Location
        Of the list.
    """

    name: str
    hip: IritObject
    shin: IritObject
    root: Triple
    knee: Triple
    foot: Triple
    location: Location


@dataclass(frozen=True, slots=True)
class Walker:
    """``list(objBody, objLegs, coefStepRotate, coefStepWalk, minStepAngle, stepType)``.

    Attributes
    ----------
    body : IritObject
        Its geometry.
    legs : tuple of Leg
        Those of the left side from front to back as the file has them, then those of the right side.
    rotate, walk : float
        Length of a step while turning, and while walking, as a share of body length per pair of legs.
    angle : float
        Largest turn in a step [degrees].
    gait : str
        One of `GAITS`.
    location : Location
        Of the list.
    """

    body: IritObject
    legs: tuple[Leg, ...]
    rotate: float
    walk: float
    angle: float
    gait: str
    location: Location

    @property
    def pairs(self) -> int:
        """N: legs on a side."""
        return len(self.legs) // 2
