"""Interface of planners: `Observation` in, `Command` out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import UsageError

__all__ = ["Command", "ControlledModel", "Observation", "ObservedObjects", "Vehicle", "command_of"]


@dataclass(frozen=True, slots=True)
class Command:
    """Command to a vehicle; held until the next one.

    | field | meaning | minimum | maximum |
    |---|---|---|---|
    | throttle | drive (> 0) or brake (< 0), fraction of full | −1 | 1 |
    | steering | steering wheel, left positive, fraction of full (conventional wheels) | −1 | 1 |
    | levers | left and right track speed, fraction of full (skid wheels); None: straight on | −1 | 1 |
    | reverse | throttle drives backwards | | |
    | handbrake | locks the rear wheels (skid: all; drives without slip: full brake), whatever the throttle | | |

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
        throttle, steering = self.throttle, self.steering
        plain = self.levers is None and type(throttle) is float and type(steering) is float
        if plain and -1.0 <= throttle <= 1.0 and -1.0 <= steering <= 1.0:  # in a third of the time of what follows
            return
        left, right = self.levers or (0.0, 0.0)
        given: tuple[tuple[str, object], ...] = (
            ("throttle", self.throttle),
            ("steering", self.steering),
            ("left lever", left),
            ("right lever", right),
        )
        for name, value in given:
            if not isinstance(value, Real) or not abs(float(value)) <= 1.0:
                raise UsageError(f"command: {name} is {value!r}, expected a number from -1 to 1")

    def row(self) -> tuple[float, ...]:
        """Return the numbers as the `command` column of a Snapshot holds them."""
        throttle, steering, reverse, handbrake = self.throttle, self.steering, self.reverse, self.handbrake
        plain = self.levers is None and type(throttle) is float and type(steering) is float
        if plain and type(reverse) is bool and type(handbrake) is bool:  # in half of the time of what follows
            return throttle, steering, 1.0, 1.0, 1.0 if reverse else 0.0, 1.0 if handbrake else 0.0
        left, right = self.levers if self.levers is not None else (1.0, 1.0)
        numbers = (self.throttle, self.steering, left, right, self.reverse, self.handbrake)
        return tuple(map(float, numbers))


def command_of(row: tuple[float, ...]) -> Command:
    """Make a command of its row."""
    throttle, steering, left, right, reverse, handbrake = row
    return Command(throttle, steering, (left, right), bool(reverse), bool(handbrake))


@dataclass(frozen=True, slots=True)
class Vehicle:
    """Description of a vehicle for its planner.

    Attributes
    ----------
    name : str
        Of the object.
    skid : bool
        Skid wheels: steered by levers; else by a steering wheel.
    width, length, height : float
        Of the body [m].
    wheelbase, track : float
        Distance of the axles, and of left and right wheels [m].
    max_steer : float
        Steering angle at full steering [rad].
    throttle_rate, lever_rate : float
        Slew limits [full scale per second].
    max_acceleration, max_deceleration, max_speed : float
        [m/s²], [m/s²], [m/s].
    mass : float
        [kg].
    friction : float
        Of the tyres on the ground; with `max_deceleration` it tells how hard the vehicle can brake and corner.
    wheel_radius : float
        [m].
    drive : str
        Name of the plant model (`cbsim.spec.drives.DRIVES`).
    """

    name: str
    skid: bool
    width: float
    length: float
    height: float
    wheelbase: float
    track: float
    max_steer: float
    throttle_rate: float
    lever_rate: float
    max_acceleration: float
    max_deceleration: float
    max_speed: float
    mass: float
    friction: float
    wheel_radius: float
    drive: str


@dataclass(frozen=True, slots=True)
class ControlledModel:
    """Description of a model for its controller.

    Attributes
    ----------
    name : str
        Of the model.
    bodies : tuple of str
        Names of its bodies, in the order of `Observation.state`.
    controls : mapping
        Name of a control → its value at the start.
    """

    name: str
    bodies: tuple[str, ...]
    controls: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ObservedObjects:
    """Objects about a bot, as its seat's `fidelity` lets its planner know them; at the time of the observation.

    Attributes
    ----------
    ids : (n,) int64
        Who it is: a number that it keeps through the run, also while it is not seen.
    positions : (n, 3) [m]
        Centres, x east, y north, z up.
    headings : (n,) [rad]
        0 = north, counter-clockwise positive.
    velocities : (n, 3) [m/s]
        In the world.
    sizes : (n, 3) [m]
        Width, length, height.
    """

    ids: NDArray[np.int64]
    positions: NDArray[np.float64]
    headings: NDArray[np.float64]
    velocities: NDArray[np.float64]
    sizes: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, ids: NDArray[np.int64], rows: NDArray[np.float64], count: int) -> ObservedObjects:
        """Make it of the first `count` of some rows (n, 10) of position, heading, velocity and size."""
        rows = rows[:count]
        return cls(ids[:count], rows[:, :3], rows[:, 3], rows[:, 4:7], rows[:, 7:])


NO_OBJECTS = ObservedObjects.of(np.zeros(0, np.int64), np.zeros((0, 10)), 0)
for _array in (getattr(NO_OBJECTS, _name) for _name in ("ids", "positions", "headings", "velocities", "sizes")):
    _array.flags.writeable = False


@dataclass(frozen=True)  # without slots, so that `of` can give all values at once
class Observation:
    """Input of a planner's decision.

    Attributes
    ----------
    time : float
        Simulated time [s].
    position : ndarray, shape (3,)
        Body centre [m], x east, y north, z up; of a model, that of its first body, as are the next three.
    heading, speed, yaw_rate : float
        [rad] 0 = north, CCW positive; [m/s] forward positive; [rad/s]. Ground truth, unless the seat says
        `truth: false`: then what its receiver and wheels say, nan where they say nothing.
    scans : mapping
        Newest scan of each of the bot's lasers, by `<object name>/<conf file stem>`.
    readings : mapping
        Newest `Fix`, `Odometry` or `ObjectList` of each of its other sensors (`cbsim.sensing`). Silent sensors are
        absent.
    state : ndarray, shape (bodies, 13)
        Of a model: position [m], velocity [m/s], orientation, angular velocity [rad/s] of each body.
    controls : mapping
        Of a model: name of a control → its value now.
    run_state : str
        Emergency stop: ``RUN``, ``PAUSE`` or ``DISABLE``; commands take effect in ``RUN`` only.
    alarm : float
        Time that is left of the alarm after the mission's RUN, in which the vehicle may not move yet [s]; else 0.
    mission_time : float
        Time since the start of the mission, which is RUN and the alarm, without pauses [s].
    restarts : int
        How many times the vehicle has been set to where another part of the mission begins.
    checkpoints : int
        Checkpoints of the mission that the vehicle has passed, in their order: the next one is
        ``mission.checkpoints[checkpoints]``, if there is another.
    objects : ObservedObjects
        Objects within 200 m, as the seat's `fidelity` says; none where it says nothing.
    """

    time: float
    position: NDArray[np.float64]
    heading: float
    speed: float
    yaw_rate: float
    scans: Mapping[str, Any] = field(default_factory=dict)
    readings: Mapping[str, Any] = field(default_factory=dict)
    state: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 13)))
    controls: Mapping[str, float] = field(default_factory=dict)
    run_state: str = "RUN"
    alarm: float = 0.0
    mission_time: float = 0.0
    restarts: int = 0
    checkpoints: int = 0
    objects: ObservedObjects = NO_OBJECTS

    @classmethod
    def of(cls, **values: Any) -> Observation:
        """Make it of all its values, in a third of the time that its constructor takes."""
        made = object.__new__(cls)
        object.__setattr__(made, "__dict__", values)
        return made
