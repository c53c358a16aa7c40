"""Reactive traffic as a scenario describes it: drivers, classes of vehicles, and pools of cars."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from cbsim.errors import Location
from cbsim.spec.road import PointId

__all__ = ["CLASSES", "DEFAULT_DRIVER", "Driver", "FollowingModel", "LightProgram", "Pool", "Spread", "VehicleClass"]


class FollowingModel(IntEnum):
    """Car-following models, one file each in `cbsim.traffic.kernels.following`."""

    IDM = 0
    KRAUSS = 1


class Spread(NamedTuple):
    """Normal distribution of a driver's value, cut at three deviations; a number has deviation 0."""

    mean: float
    deviation: float = 0.0


class VehicleClass(NamedTuple):
    """Size and acceleration of a class of vehicles.

    Attributes
    ----------
    width, length, height : float
        [m]
    max_acceleration : float
        Upper bound of what its drivers ask for [m/s²].
    """

    width: float
    length: float
    height: float
    max_acceleration: float


CLASSES = {
    "car": VehicleClass(1.8, 4.5, 1.5, 3.0),
    "truck": VehicleClass(2.5, 8.0, 3.2, 1.1),
    "bus": VehicleClass(2.5, 12.0, 3.2, 1.2),
    "motorcycle": VehicleClass(0.8, 2.2, 1.4, 5.0),
}
"""Classes of vehicles; widths within the 2.5 m that conflict areas are made for."""


ALL_OF_LIMIT, HEADWAY, GAP = Spread(1.0), Spread(1.5), Spread(2.0)
ACCELERATION, DECELERATION = Spread(1.4), Spread(2.0)


@dataclass(frozen=True, slots=True)
class LightProgram:
    """Phases of a traffic light, ``2.1`` for light 1 of intersection 2: state and duration [s], again and again."""

    light: str
    phases: tuple[tuple[str, float], ...]
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class Driver:
    """How a driver follows, and which mistakes it makes.

    The defaults are those of Kesting, Treiber and Helbing (2010), Enhanced intelligent driver model to access the
    impact of driving strategies on traffic capacity, Phil. Trans. R. Soc. A 368, Table 1.

    Attributes
    ----------
    name : str
    model : FollowingModel
    desired_speed : Spread
        Share of the speed limit.
    speed : Spread or None
        In place of it: a speed [m/s], whatever the limit.
    time_headway : Spread
        [s]
    minimum_gap : Spread
        Distance kept from a standing leader [m].
    max_acceleration, comfortable_deceleration : Spread
        [m/s²]
    critical_gap : Spread
        Gap in the traffic that it yields to that it takes, as a share of the usual one of its movement.
    runs_stops, ignores_right_of_way, tailgates : float
        Probability that a driver, at a stop line, at a junction, or throughout, makes that mistake.
    brakes_hard : float
        Rate at which it brakes hard without cause [1/s].
    """

    name: str
    model: FollowingModel = FollowingModel.IDM
    desired_speed: Spread = ALL_OF_LIMIT
    speed: Spread | None = None
    time_headway: Spread = HEADWAY
    minimum_gap: Spread = GAP
    max_acceleration: Spread = ACCELERATION
    comfortable_deceleration: Spread = DECELERATION
    critical_gap: Spread = ALL_OF_LIMIT
    runs_stops: float = 0.0
    ignores_right_of_way: float = 0.0
    tailgates: float = 0.0
    brakes_hard: float = 0.0
    location: Location = field(default=Location(""), compare=False)


DEFAULT_DRIVER = Driver("default")


@dataclass(frozen=True, slots=True)
class Pool:
    """Cars that are there from the start (`count`), or appear and leave (`flow`).

    Attributes
    ----------
    name : str
        Its cars are ``west 1``, ``west 2`` …
    count : int
        Cars at the start; 0 for a flow.
    lanes : tuple of (int, int)
        Segment and lane on which they are spread; empty for all lanes.
    is_random : bool
        True to spread them at random, else evenly.
    flow : float
        Vehicles per hour; 0 for a count.
    origin : PointId or None
        Where cars of a flow appear.
    destinations : tuple of (PointId, float)
        Where cars of a flow go, with shares that add up to 1.
    begin, until : float
        When the flow begins and ends [s].
    is_even : bool
        True for evenly spaced arrivals, else a Poisson process.
    at_most : int
        Cars of a flow that are there at once; 0 for the room of the lanes that it can reach.
    drivers : tuple of (str, float)
        Names of drivers, with shares that add up to 1; empty for the default.
    vehicle_class : str
        One of `CLASSES`.
    parked : tuple of int
        Zones in whose spots the cars of a count stand at the start.
    pause : float
        For how long they, or those who come to a spot, park [s].
    thens : tuple of (PointId, float)
        Where they go after that, with shares that add up to 1; empty to wander.
    """

    name: str
    count: int = 0
    lanes: tuple[tuple[int, int], ...] = ()
    is_random: bool = False
    flow: float = 0.0
    origin: PointId | None = None
    destinations: tuple[tuple[PointId, float], ...] = ()
    begin: float = 0.0
    until: float = 1e12
    is_even: bool = False
    at_most: int = 0
    drivers: tuple[tuple[str, float], ...] = ()
    vehicle_class: str = "car"
    location: Location = field(default=Location(""), compare=False)
    parked: tuple[int, ...] = field(default=(), repr=False)
    pause: float = field(default=math.inf, repr=False)
    thens: tuple[tuple[PointId, float], ...] = field(default=(), repr=False)
