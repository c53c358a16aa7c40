"""Contents of a scenario file: network, objects, models, clock, planners and expectations.

The YAML spells angles in degrees; here they are radians like everywhere. Latitude and longitude stay in degrees, as in
`cbsim.spec.road`. Every value is plain and frozen; `Scenario.at` finds the line that asked for something.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from cbsim.errors import Location
from cbsim.spec.brief import brief
from cbsim.spec.events import Event
from cbsim.spec.mission_clock import MissionClock
from cbsim.spec.objects import TrafficObject, Triple
from cbsim.spec.people import Person
from cbsim.spec.planner import Seat
from cbsim.spec.profiles import DEFAULT_PROFILE
from cbsim.spec.road import PointId
from cbsim.spec.sweep import NO_SWEEP, SweepSpec
from cbsim.spec.traffic import Driver, LightProgram, Pool

__all__ = [
    "NO_SCORE",
    "OFFSET_FRAMES",
    "RECORDED_TRAFFIC",
    "SCRIPT_ANGLES",
    "Addition",
    "Argument",
    "Expectation",
    "ModelAddition",
    "Origin",
    "ParameterValue",
    "Placement",
    "Record",
    "Scenario",
    "Score",
    "Term",
]

OFFSET_FRAMES = ("lane", "map")  # which axes position_offset of an anchored object follows (D18)
RECORDED_TRAFFIC = ("all", "near", "none")  # whose motion a recording holds
SCRIPT_ANGLES = ("ccw_north", "cw_north", "ccw_east")  # what the angle of a script entry is measured from (D9)

Scalar = str | int | float | bool | None
ParameterValue = Scalar | tuple[Scalar, ...]
Argument = str | float | bool | PointId | Triple | None


class Record(NamedTuple):
    """What a recording holds of traffic: one of `RECORDED_TRAFFIC`; empty where the file does not say."""

    traffic: str = ""


NOT_SAID = Record()


class Origin(NamedTuple):
    """Where the local plane touches the earth: degrees north and east."""

    latitude: float
    longitude: float


@dataclass(frozen=True, slots=True)
class Placement:
    """Where something stands; it takes the place of an object's anchor, so the object's own offsets still apply.

    Exactly one of `waypoint` and `position` is given.

    Attributes
    ----------
    waypoint : PointId or None
        The anchor; its frame is the lane's: x to the right, y along.
    station, offset : float
        [m] further along the lane from the waypoint, and to the left of it.
    position : Triple or None
        [m] in map axes: x east, y north, z height above ground.
    heading : float or None
        [rad] on the map, 0 north, counter-clockwise positive; None is the lane's heading, or north at a position.
    """

    waypoint: PointId | None = None
    station: float = 0.0
    offset: float = 0.0
    position: Triple | None = None
    heading: float | None = None
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class Addition:
    """An object described in the scenario itself.

    Attributes
    ----------
    object : TrafficObject
        As an object file would describe it; its anchor is the placement's waypoint, from which open goals expand.
    placement : Placement
        Where it stands; the map's origin if the file does not say.
    """

    object: TrafficObject
    placement: Placement
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class ModelAddition:
    """A model file (walker, mechanism, robot) that is in the scenario.

    Attributes
    ----------
    file, name : str
        The file, and the name its copy goes by.
    scale : float
        Metres per unit of the file, on top of the units that the file declares.
    mass : float or None
        Of the whole model [kg]; None keeps its density.
    settings : tuple of (str, str)
        Settings of the model, as `--set` gives them to a model that runs alone.
    """

    file: str
    name: str
    placement: Placement
    scale: float = 1.0
    mass: float | None = None
    settings: tuple[tuple[str, str], ...] = ()
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class Expectation:
    """One rule to be checked, with every argument of the rule, defaults filled in, spelled as in the file.

    Attributes
    ----------
    rule : str
    arguments : tuple of (str, value)
        None where the file does not say.
    location : Location
    profile : str
        One of `cbsim.spec.profiles.PROFILES`, which has numbers for arguments that are None.
    """

    rule: str
    arguments: tuple[tuple[str, Argument], ...]
    location: Location = field(default=Location(""), compare=False)
    profile: str = DEFAULT_PROFILE

    def __getitem__(self, name: str) -> Argument:
        """Value of one argument, None if it is not given; times in seconds, lengths in metres."""
        return dict(self.arguments).get(name)


class Term(NamedTuple):
    """A term of a score: whether a rule holds, or how good a metric is.

    Attributes
    ----------
    expectation : Expectation
        The rule, or the one that measures the metric.
    metric : str
        Empty for a rule.
    worst, best : float
        Values of the metric that count as 0 and as 1; between them it is interpolated.
    weight : float
    """

    expectation: Expectation
    metric: str = ""
    worst: float = 0.0
    best: float = 1.0
    weight: float = 1.0


class Score(NamedTuple):
    """A number from 0 to 1: the product of all gates, times the weighted mean of all terms."""

    gates: tuple[Expectation, ...] = ()
    mean: tuple[Term, ...] = ()

    @property
    def expectations(self) -> tuple[Expectation, ...]:
        """All rules of it."""
        return *self.gates, *(term.expectation for term in self.mean)


NO_SCORE = Score()


@dataclass(frozen=True, slots=True, repr=False)
class Scenario:
    """A whole scenario file.

    Attributes
    ----------
    description : str
        Free text.
    network, mission : str or None
        Shipped name, or path relative to the scenario.
    clock : MissionClock or None
        When the mission starts and is paused; None for RUN from the start.
    objects : tuple of str
        Object files, named likewise.
    add : tuple of Addition
        Objects described inline.
    place : tuple of (str, Placement)
        Objects of the object files that stand elsewhere than their file says.
    models : tuple of ModelAddition
        Model files.
    origin : Origin or None
        Where the local plane touches the earth; None for the network's first waypoint.
    offset_frame, script_angle : str
        Readings of object files: one of `OFFSET_FRAMES`, one of `SCRIPT_ANGLES`.
    seed : int
        Of every random stream, 0 to 2⁶³ − 1.
    step, duration : float
        [s]; a duration of None leaves it to the run.
    deadline : float
        Wall-clock time that a planner may take for one decision [s].
    traffic : tuple of Pool
        Cars that react to each other.
    drivers : tuple of Driver
        Drivers that pools name.
    lights : tuple of LightProgram
        Programs of traffic lights.
    people : tuple of Person
        Who walks.
    events : tuple of Event
        What happens in the run.
    record : Record
        What a recording holds.
    planner : tuple of (str, str)
        Name of an autonomous object, empty for the first one, and ``module:Class``.
    seats : tuple of Seat
        How planners are asked, where the file says so.
    profile : str
        Whose numbers rules have that give none: one of `cbsim.spec.profiles.PROFILES`.
    expect : tuple of Expectation
        What must come true.
    score : Score
        A number for the whole run; without gates and terms there is none.
    sweep : SweepSpec
        What `cbsim sweep` varies.
    parameters : tuple of (str, value)
        Declared names with the values used, overrides included; they are already replaced everywhere.
    places : mapping
        Key path such as ``objects.0`` → its place in the file.
    """

    description: str = ""
    network: str | None = None
    mission: str | None = None
    clock: MissionClock | None = None
    objects: tuple[str, ...] = ()
    add: tuple[Addition, ...] = ()
    place: tuple[tuple[str, Placement], ...] = ()
    models: tuple[ModelAddition, ...] = ()
    origin: Origin | None = None
    offset_frame: str = "lane"
    script_angle: str = "ccw_north"
    seed: int = 1
    step: float = 0.05
    duration: float | None = None
    deadline: float = 5.0
    traffic: tuple[Pool, ...] = ()
    drivers: tuple[Driver, ...] = ()
    lights: tuple[LightProgram, ...] = ()
    people: tuple[Person, ...] = ()
    events: tuple[Event, ...] = ()
    record: Record = NOT_SAID
    planner: tuple[tuple[str, str], ...] = ()
    seats: tuple[Seat, ...] = ()
    profile: str = DEFAULT_PROFILE
    expect: tuple[Expectation, ...] = ()
    score: Score = NO_SCORE
    sweep: SweepSpec = NO_SWEEP
    parameters: tuple[tuple[str, ParameterValue], ...] = ()
    places: Mapping[str, Location] = field(default_factory=dict, compare=False, repr=False)
    location: Location = field(default=Location(""), compare=False)

    __repr__ = brief

    @property
    def judged(self) -> tuple[Expectation, ...]:
        """Rules of the expectations and of the score."""
        return *self.expect, *self.score.expectations

    def at(self, key: str) -> Location:
        """Place of a key path such as ``network`` or ``objects.0``; the whole file where it is not in it."""
        return self.places.get(key, self.location)
