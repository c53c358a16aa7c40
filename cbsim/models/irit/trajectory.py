"""Trajectory of a walker: turn and stride of each step, until it reaches its flag.

Source: the mathematical description of the trajectory: stepAngle = min(dirAngle / 5, minStepAngle), stepDist =
bodyLength / N · coefStepRotate where dirAngle is above 45°, coefStepWalk otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from cbsim.geometry import elementary as math

__all__ = ["Course", "Stride"]

SHARE = 5.0  # of the angle to the flag that is left, one part is turned in a step, unless that is too much
ASIDE = 0.25 * math.pi  # angle to the flag above which it turns, rather than walks [rad]


class Stride(NamedTuple):
    """One step of the body.

    Attributes
    ----------
    turn : float
        Counter-clockwise, before it advances [rad].
    distance : float
        Along the new heading [m].
    """

    turn: float
    distance: float


@dataclass(frozen=True)
class Course:
    """Course of a walker to its flag.

    Attributes
    ----------
    walk, rotate : float
        Length of a step while it walks, and while it turns [m].
    angle : float
        Largest turn in a step [rad].
    """

    walk: float
    rotate: float
    angle: float

    @property
    def near(self) -> float:
        """Distance at which the flag counts as reached [m]."""
        return max(0.5 * self.walk, 1e-9)

    def stride(self, x: float, y: float, heading: float, flag: tuple[float, float]) -> Stride | None:
        """Choose the next step at a place [m] with a heading [rad, 0 = +y]; None at the flag. Without one: towards +y.

        Within a turning circle of a flag that it would miss, it turns on the spot, or it would circle around the flag
        for ever; and it does not walk beyond the flag.
        """
        if math.isnan(flag[0]) or math.isnan(flag[1]):
            far, aside = math.inf, -heading
        else:
            east, north = flag[0] - x, flag[1] - y
            far, aside = math.hypot(east, north), math.atan2(-east, north) - heading
        if far <= self.near:
            return None
        aside -= 2.0 * math.pi * round(aside / (2.0 * math.pi))
        turn = math.copysign(min(abs(aside) / SHARE, self.angle), aside)
        distance = self.rotate if abs(aside) > ASIDE else self.walk
        circle = distance / (2.0 * math.sin(0.5 * self.angle))
        left = min(abs(aside - turn), 0.5 * math.pi)
        passes_by = abs(aside) > ASIDE or far * math.sin(left) > self.near
        return Stride(turn, 0.0 if far <= circle and passes_by else min(distance, far))

    @staticmethod
    def after(x: float, y: float, heading: float, stride: Stride, share: float = 1.0) -> tuple[float, float, float]:
        """Place and heading after a share of a step."""
        direction = heading + stride.turn
        distance = share * stride.distance
        return x - distance * math.sin(direction), y + distance * math.cos(direction), heading + share * stride.turn
