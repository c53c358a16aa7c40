"""People as a scenario describes them: they walk along points, beside roads and across them."""

from __future__ import annotations

from dataclasses import dataclass, field

from cbsim.errors import Location
from cbsim.spec.events import Place

__all__ = ["WALKING_SPEED", "Person"]

WALKING_SPEED = 1.4  # [m/s]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody on foot.

    Attributes
    ----------
    name : str
    path : tuple of Place
        Where they walk, at least two points.
    speed : float
        [m/s]
    initial_pause : float
        Wait before they set off [s].
    bold : bool
        True for who crosses at once, without waiting for a gap.
    """

    name: str
    path: tuple[Place, ...]
    speed: float = WALKING_SPEED
    initial_pause: float = 0.0
    bold: bool = False
    location: Location = field(default=Location(""), compare=False)
