"""What passes between a simulation and a planner: `Command` out, `Observation` in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import UsageError

__all__ = ["Command", "Observation"]


@dataclass(frozen=True, slots=True)
class Command:
    """What a driver asks of a vehicle; held until the next command.

    | field | meaning | minimum | maximum |
    |---|---|---|---|
    | throttle | drive (> 0) or brake (< 0), fraction of full | −1 | 1 |
    | steering | steering wheel, left positive, fraction of full (conventional wheels) | −1 | 1 |
    | levers | left and right track speed, fraction of full (skid wheels); None: straight on | −1 | 1 |
    | reverse | throttle drives backwards | | |
    | handbrake | full brake, whatever the throttle | | |

    Raises
    ------
    UsageError
        If a number is outside its range or not finite.
    """

    throttle: float = 0.0
    steering: float = 0.0
    levers: tuple[float, float] | None = None
    reverse: bool = False
    handbrake: bool = False

    def __post_init__(self) -> None:
        left, right = self.levers or (0.0, 0.0)
        for name, value in (
            ("throttle", self.throttle),
            ("steering", self.steering),
            ("left lever", left),
            ("right lever", right),
        ):
            if not isinstance(value, int | float | np.floating) or not math.isfinite(value) or abs(value) > 1.0:
                raise UsageError(f"command: {name} is {value!r}, expected a number from -1 to 1")

    def row(self) -> tuple[float, float, float, float, float, float]:
        """Return the numbers as the `command` column of a Snapshot holds them."""
        left, right = self.levers if self.levers is not None else (1.0, 1.0)
        return (self.throttle, self.steering, left, right, float(self.reverse), float(self.handbrake))


@dataclass(frozen=True, slots=True)
class Observation:
    """What a planner knows at a decision.

    Attributes
    ----------
    time : float
        Simulated time [s].
    position : ndarray, shape (3,)
        Body centre [m], x east, y north, z up.
    heading, speed, yaw_rate : float
        [rad] 0 = north, CCW positive; [m/s] forward positive; [rad/s].
    scans : mapping
        Newest scan of each of the bot's lasers, by `<object name>/<conf file stem>`.
    """

    time: float
    position: NDArray[np.float64]
    heading: float
    speed: float
    yaw_rate: float
    scans: Mapping[str, Any] = field(default_factory=dict)
