"""`Scene`: a scenario with all files read, the input of `compile_world`.

`cbsim.loading.load` makes it from files; tests and programs may make it by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import Location
from cbsim.road.roadmap import RoadMap
from cbsim.spec.brief import brief
from cbsim.spec.events import Event
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mission import Mission
from cbsim.spec.mission_clock import MissionClock
from cbsim.spec.objects import Goal, TrafficObject
from cbsim.spec.people import Person
from cbsim.spec.planner import Seat
from cbsim.spec.scenario import NO_SCORE, Expectation, Placement, Score
from cbsim.spec.sensor import SensorConf
from cbsim.spec.traffic import Driver, LightProgram, Pool

__all__ = ["Actor", "Model", "Scene", "Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a run.

    Attributes
    ----------
    step : float
        Length of a step [s].
    seed : int
        Seed of every random stream.
    duration : float
        Default duration of a run [s].
    offset_frame : str
        ``lane``: position offsets are in the anchor's frame; ``map``: east and north.
    script_angle : str
        Sense of v1 script angles: ``ccw_north``, ``cw_north`` or ``ccw_east``.
    planners : tuple of (str, str)
        Object name (empty for the first autonomous object) and ``module:Class``.
    deadline : float
        Wall-clock limit of a planner for one decision [s]; a run that keeps it has the same bits.
    record_traffic : str
        Which traffic is recorded: ``all``, ``near`` or ``none``; empty for the default, which depends on how many
        there are. It changes no bit of a run.
    seats : tuple of Seat
        How planners are asked, where the scenario says so, whoever they are.
    forks : int
        How many forks a chain of them may have (`cbsim.world.forks`); 0 for a World that is not to be forked.
    """

    step: float = 0.05
    seed: int = 1
    duration: float = 60.0
    offset_frame: str = "lane"
    script_angle: str = "ccw_north"
    planners: tuple[tuple[str, str], ...] = ()
    deadline: float = 5.0
    record_traffic: str = ""
    seats: tuple[Seat, ...] = ()
    forks: int = 0


@dataclass(frozen=True, slots=True)
class Actor:
    """An object with everything its file refers to.

    Attributes
    ----------
    item : TrafficObject
        What the file says.
    placement : Placement or None
        Replaces the item's anchor; its offsets still apply.
    goals : tuple of Goal
        The item's goals, expanded: each has a waypoint.
    confs : tuple of (str, SensorConf)
        Stem and contents of the conf file of each sensor.
    mesh : (ndarray, ndarray) or None
        Vertices (n, 3) [m] and triangles (m, 3) of a mesh object.
    person : Person or None
        Person, if it is a pedestrian.
    """

    item: TrafficObject
    placement: Placement | None = None
    goals: tuple[Goal, ...] = ()
    confs: tuple[tuple[str, SensorConf], ...] = ()
    mesh: tuple[NDArray[np.float64], NDArray[np.int64]] | None = None
    person: Person | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """A mechanism in a World.

    Attributes
    ----------
    name : str
        Of the model.
    description : ModelDescription
        Its mechanism, gravity, own step and start.
    steps : int
        Steps of the model per step of the World.
    controls : mapping
        Name of a control of its behaviour or motion → value at the start, where it is not the default.
    placement : Placement or None
        Place of its origin, its y axis along the heading; None for the World's origin.
    scale : float
        Metres per unit of the model.
    mass : float or None
        Of all of its bodies together [kg]; by default its density is kept, so that masses grow with the cube of scale.
    location : Location
        Of the entry that places it.
    """

    name: str
    description: ModelDescription
    steps: int = 1
    controls: Mapping[str, float] = field(default_factory=dict)
    placement: Placement | None = None
    scale: float = 1.0
    mass: float | None = None
    location: Location = field(default=Location(""))

    @property
    def own_step(self) -> float:
        """Length of its own step [s]."""
        return self.description.spec.timestep


@dataclass(frozen=True, slots=True, repr=False)
class Scene:
    """Everything a World is compiled from.

    Attributes
    ----------
    name : str
        Of the scenario.
    actors : tuple of Actor
        In file order, which is the order of rows.
    roadmap : RoadMap or None
        The network in its local plane.
    mission : Mission or None
        Checkpoints and speed limits.
    settings : Settings
        Settings of the run.
    expectations : tuple of Expectation
        Checks of the scenario.
    sources : mapping
        Path → bytes of every file that was read, for the recording.
    request : mapping
        Arguments of the request, for replays.
    models : tuple of Model
        Their bodies take the rows after those of the actors and of pools.
    pools : tuple of Pool
        Reactive cars; their bodies take the rows after those of the actors.
    drivers : tuple of Driver
        Drivers that pools name.
    lights : tuple of LightProgram
        Programs of traffic lights.
    events : tuple of Event
        What happens in the run.
    clock : MissionClock or None
        When the mission starts, and where it begins anew; None for RUN from the start.
    score : Score
        Of the whole run; without gates and terms there is none.
    """

    name: str
    actors: tuple[Actor, ...]
    roadmap: RoadMap | None = None
    mission: Mission | None = None
    settings: Settings = Settings()
    expectations: tuple[Expectation, ...] = ()
    sources: Mapping[str, bytes] = field(default_factory=dict)
    request: Mapping[str, object] = field(default_factory=dict)
    models: tuple[Model, ...] = ()
    pools: tuple[Pool, ...] = ()
    drivers: tuple[Driver, ...] = ()
    lights: tuple[LightProgram, ...] = ()
    events: tuple[Event, ...] = ()
    clock: MissionClock | None = None
    score: Score = NO_SCORE

    __repr__ = brief

    @property
    def alone(self) -> bool:
        """Whether the scene is a single model without a scenario, whose bodies keep their own names."""
        return not self.actors and len(self.models) == 1 and self.models[0].placement is None
