"""Models of a scenario YAML for validation and JSON Schema: one class per mapping, one line per key.

Angles are degrees here and radians once validated; lengths are metres, speeds metres per second, times seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator

from cbsim.formats.objects.values import RADIUS, WIDTH
from cbsim.formats.scenario.events import EventModel
from cbsim.formats.scenario.fields import (
    Angle,
    Contradiction,
    FileName,
    LaneName,
    Length,
    Model,
    Name,
    Number,
    Offset,
    ParameterField,
    ParameterName,
    Positive,
    SettingField,
    SettingName,
    ShortForm,
    Size,
    Speed,
    Time,
    Turn,
    Waypoint,
    about,
    as_list,
    wrong,
)
from cbsim.formats.scenario.mission import MissionModel, names_of_clock
from cbsim.formats.scenario.people import PersonModel
from cbsim.formats.scenario.planner import PlannerModel
from cbsim.formats.scenario.rule import one_of
from cbsim.formats.scenario.rules import RULES, ExpectationModel
from cbsim.formats.scenario.score import ScoreModel
from cbsim.formats.scenario.sweep import SweepModel
from cbsim.formats.scenario.traffic import DriverModel, LightName, PhaseModel, PoolModel, RecordModel
from cbsim.formats.scenario.vehicle import VehicleParameters
from cbsim.formats.yaml_tree import shown
from cbsim.spec.drives import DRIVES, drives_on
from cbsim.spec.objects import WheelType
from cbsim.spec.profiles import DEFAULT_PROFILE
from cbsim.spec.scenario import OFFSET_FRAMES, SCRIPT_ANGLES

__all__ = ["RULES", "AdditionModel", "ModelModel", "PlacementModel", "ScenarioModel"]

STRING = {"type": "string"}
WAYPOINT = {"type": "string", "examples": ["1.1.2"]}


class AtModel(Model):
    """A place on a lane."""

    short = "waypoint"

    waypoint: Waypoint = about("the waypoint, perimeter point or spot point", example="1.1.2")
    station: Number = about("how far along the lane from the waypoint", 0.0, unit="m", example=3.0)
    offset: Number = about("how far to the left of the lane's middle", 0.0, unit="m", example=-0.5)


At = Annotated[AtModel, ShortForm(**WAYPOINT)]


class PlacementModel(Model):
    """Place of an object in place of its anchor; the object's own offsets still apply."""

    short = "at"

    at: At | None = about("on a lane, with the lane's heading", None, example="1.1.2")
    position: Offset | None = about(
        "on the map: x east, y north, z height above ground", None, unit="m", example=[10.0, -4.0, 0.0]
    )
    heading: Angle | None = about(
        "on the map, 0 north, counter-clockwise; by default the lane's, or north at a position",
        None,
        unit="deg",
        example=90.0,
    )

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Exactly one place."""
        yield from one_of(data, "at", "position", needed=cls is PlacementModel)


class GoalModel(Model):
    """A goal."""

    waypoint: Waypoint | None = about("the waypoint to reach", None, example="1.1.5")
    lane: LaneName | None = about("instead of a waypoint: every remaining waypoint of that lane", None, example="1.1")
    speed: Speed | None = about(
        "speed on the way there; needed but for reactive objects", None, unit="m/s", example=5.0
    )
    pause: Time = about("wait after arriving", 0.0, unit="s", example=2.0)

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Either a waypoint or a lane."""
        yield from one_of(data, "waypoint", "lane")


class ScriptModel(Model):
    """Turn to a heading, drive a distance, wait."""

    speed: Speed = about("speed of the drive", unit="m/s", example=3.0)
    pause: Time = about("wait after the drive", 0.0, unit="s")
    distance: Length = about("length of the drive", unit="m", example=25.0)
    angle: Number = about("heading on the map, read as 'script_angle' says", unit="deg", example=90.0)


class SensorModel(Model):
    """A sensor of a bot."""

    short = "conf"

    conf: FileName = about("its conf file, looked for as in object files", example="onboard/scan_gp_driver_0.conf")
    type: int | None = about("type code of version 1 object files", None, ge=0, le=2**31 - 1)
    description: str | None = about("free text", None)


class WheelsModel(Model):
    """Wheels of a bot."""

    type: Literal["skid", "conventional"] = about("steered by two levers or by a steering wheel", "conventional")
    radius: float = about("radius", 0.38, unit="m", ge=RADIUS.least, le=RADIUS.most)
    width: float = about("width", 0.20, unit="m", ge=WIDTH.least, le=WIDTH.most)


class SteeringModel(Model):
    """Rates of a bot's actuators."""

    throttle_rate: Length = about("slew limit of the throttle", 2.0, unit="full scale/s")
    lever_rate: Length = about("slew limit of the levers or the steering wheel", 0.5, unit="full scale/s")


class MeshModel(Model):
    """A vertices or indices file."""

    short = "path"

    path: FileName = about("the file", example="meshes/ramp_vertices.txt")
    mode: Literal["base", "full"] = about("base: looked for beside the scenario too; full: as it is", "base")


MeshName = Annotated[MeshModel, ShortForm(**STRING)]

REACTIVE = {"reactive"}
MOVING = {"controller", "initial_pause", "goals", "script", "drive", "parameters"}
DRIVEN = {"wheels", "steering", "sensors"}
SOLID = {"shape", "size"}
MESH = {"vertices", "indices", "drivable"}
KEYS_OF_KIND = {
    "autonomous": MOVING | DRIVEN | SOLID | REACTIVE,
    "dynamic": MOVING | SOLID | REACTIVE,
    "static": SOLID,
    "mesh": MESH,
}
CONTROLLER_OF = {"goals": "waypoint", "script": "script"}


class AdditionModel(PlacementModel):
    """An object described in the scenario itself, as an object file would describe it."""

    short = ""

    name: Name = about("name, unique in the scenario", example="Truck")
    kind: Literal["autonomous", "dynamic", "static", "mesh"] = about("kind of object", "static")
    id: int | None = about("identifier of version 1 object files", None, ge=0, le=2**31 - 1)
    shape: Literal["box", "sphere", "cylinder", "wheel"] = about("outline", "box")
    size: Size | None = about(
        "width, length, height; by default 1, 1, 1, and 1.8, 4.5, 1.5 for what moves",
        None,
        unit="m",
        example=[2, 4, 1.5],
    )
    position_offset: Offset | None = about(
        "from the place: x right of the lane, y along it, z height of the bottom", None, unit="m", example=[3.5, 0, 0]
    )
    orientation_offset: Turn | None = about(
        "about the body axes: pitch, roll, yaw, on top of the place's heading", None, unit="deg", example=[0, 0, 90]
    )
    controller: Literal["sensor", "manual", "script", "waypoint"] | None = about(
        "who moves it; by default 'script' or 'waypoint' where those are given, else 'sensor' for a bot", None
    )
    initial_pause: Time = about("wait before the first goal", 0.0, unit="s")
    goals: list[GoalModel] = about("where it drives", [])
    script: list[ScriptModel] = about("how it drives, without waypoints", [])
    wheels: WheelsModel | None = about("wheels of a bot", None)
    steering: SteeringModel | None = about("actuators of a bot", None)
    sensors: list[Annotated[SensorModel, ShortForm(**STRING)]] = about("sensors of a bot", [])
    vertices: MeshName | None = about("vertices of a mesh: one 'x y z' per line [m]", None)
    indices: MeshName | None = about("triangles of a mesh: three indices per line", None)
    reactive: bool = about(
        "it drives to its goals among others, by the limits and rules; a bot drives its vehicle so", False
    )
    drivable: bool = about("a mesh that is ground for wheels", False)
    drive: Literal["kinematic", "delayed", "dynamic", "skid-kinematic", "skid"] | None = about(
        "vehicle model; by default 'dynamic' on conventional wheels and 'skid' on skid wheels", None
    )
    parameters: VehicleParameters | None = about(  # type: ignore[valid-type]
        "vehicle parameters other than the defaults", None, example={"wheelbase": 2.4}
    )

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Keys that the kind lacks, and controllers that contradict other keys."""
        yield from super().contradictions(data)
        kind = data.get("kind", "static")
        if kind not in list(KEYS_OF_KIND):
            return
        for key in data:
            kinds = [name for name, keys in KEYS_OF_KIND.items() if key in keys]
            if kinds and kind not in kinds and data[key] is not None:
                yield (key,), f"a {kind} object has no '{key}'; {' and '.join(kinds)} objects have"
        for key in ("vertices", "indices"):
            if kind == "mesh" and data.get(key) is None:
                yield (), f"a mesh needs '{key}'"
        yield from _controllers(data)
        yield from _goal_speeds(data)
        wheels = data.get("wheels")
        kind_of_wheels = wheels.get("type", "conventional") if isinstance(wheels, dict) else "conventional"
        fitting = drives_on(WheelType.SKID if kind_of_wheels == "skid" else WheelType.CONVENTIONAL)
        if data.get("drive") in list(DRIVES) and data["drive"] not in fitting:
            text = f"the drive '{data['drive']}' does not run on {kind_of_wheels} wheels"
            yield ("drive",), f"{text}; {' and '.join(fitting)} do"


def _controllers(data: Mapping[str, Any]) -> Iterator[Contradiction]:
    given = [key for key in CONTROLLER_OF if data.get(key)]
    if len(given) == 2:
        yield ("script",), "'goals' and 'script' exclude each other"
    for key in given:
        controller = data.get("controller")
        if controller is not None and controller != CONTROLLER_OF[key] and len(given) == 1:
            yield ("controller",), f"'{key}' needs the controller '{CONTROLLER_OF[key]}', not {shown(controller)}"


def _goal_speeds(data: Mapping[str, Any]) -> Iterator[Contradiction]:
    """Literal goals need a speed."""
    if data.get("reactive") is True:
        return
    goals = data.get("goals")
    for number, goal in enumerate(goals if isinstance(goals, list) else []):
        if isinstance(goal, dict) and goal.get("speed") is None:
            yield ("goals", str(number)), "a goal needs 'speed', or the object 'reactive: true'"


class ModelModel(PlacementModel):
    """A model file that is in the scenario."""

    short = ""

    file: FileName = about("the model file", example="walker.jm")
    name: Name | None = about("name of this copy; by default the file's name without its ending", None)
    scale: float = about(
        "metres per unit of the model, on top of the units that its file declares", 1.0, ge=1e-6, le=1e6
    )
    mass: float | None = about(
        "of the whole model; by default it grows with the cube of 'scale'", None, unit="kg", ge=1e-6, le=1e9
    )
    settings: dict[SettingName, SettingField] = about(
        "options of its format and controls, as --set gives them to a model alone", {}, example={"joystick1.y": -1.0}
    )


class OriginModel(Model):
    """Tangent point of the local plane on the earth."""

    latitude: float = about("north positive", unit="deg", ge=-90, le=90, allow_inf_nan=False, example=30.2)
    longitude: float = about("east positive", unit="deg", ge=-180, le=180, allow_inf_nan=False, example=-92.0)


PHASE = {"type": "array", "minItems": 2, "maxItems": 2}


def _cycle(phases: list[PhaseModel]) -> list[PhaseModel]:
    if math.fsum(phase.duration for phase in phases) <= 0.0:
        raise wrong("the phases of this light sum to 0 s, expected more")
    return phases


Phases = Annotated[list[Annotated[PhaseModel, ShortForm(**PHASE)]], AfterValidator(_cycle)]


def _planners(value: Any) -> Any:
    return {"": value} if isinstance(value, str) else value


Mission = Annotated[MissionModel, ShortForm(**STRING)]
FileList = Annotated[list[FileName], BeforeValidator(as_list), ShortForm(**STRING)]
Planner = Annotated[PlannerModel, ShortForm(**STRING)]
Planners = Annotated[dict[str, Planner], BeforeValidator(_planners), ShortForm(**STRING)]


class ScenarioModel(Model):
    """A scenario of cbsim: a road network, what stands and drives on it, the clock, and what is expected."""

    description: str = about("free text", "", example="A truck waits at the four-way stop.")
    network: FileName | None = about(
        "the road network: a shipped name, or a path relative to this file", None, example="four_way_stop"
    )
    mission: Mission | None = about("the mission, named likewise, or with its clock", None, example="four_way_stop.mdf")
    objects: FileList = about("object files, one or several", [], example="objects/four_way_stop.xml")
    add: list[AdditionModel] = about("objects described here", [])
    place: dict[Name, Annotated[PlacementModel, ShortForm(**WAYPOINT)]] = about(
        "objects of the object files that stand elsewhere, by name", {}, example={"Box": {"at": "1.1.2"}}
    )
    models: list[ModelModel] = about("model files that stand in the scenario", [])
    origin: OriginModel | None = about(
        "where the local plane touches the earth; by default at the network's first waypoint", None
    )
    offset_frame: Literal["lane", "map"] = about("axes of position_offset at a waypoint", OFFSET_FRAMES[0])
    script_angle: Literal["ccw_north", "cw_north", "ccw_east"] = about(
        "zero and sense of script angles", SCRIPT_ANGLES[0]
    )
    seed: int = about("seed of every random stream", 1, ge=0, le=2**63 - 1)
    step: float = about("length of a step", 0.05, unit="s", ge=1e-6, le=1.0, allow_inf_nan=False)
    duration: Positive | None = about("length of a run", None, unit="s", example=60.0)
    deadline: Positive = about(
        "wall-clock time that a planner may take for one decision, and twelve times as long to start",
        5.0,
        unit="s",
        example=1.0,
    )
    traffic: list[PoolModel] = about("cars that react to each other", [], example=[{"name": "town", "count": 40}])
    drivers: dict[Name, DriverModel] = about(
        "drivers that traffic names", {}, example={"calm": {"time_headway": 1.8, "desired_speed": 0.9}}
    )
    lights: dict[LightName, Phases] = about(
        "programs of traffic lights, by intersection.light: phases as [state, seconds], again and again; lights "
        "without one have green in turn, group by group",
        {},
        example={"2.1": [["green", 20.0], ["yellow", 3.0], ["red", 25.0]]},
    )
    people: list[PersonModel] = about("who walks", [], example=[{"name": "Ann", "path": [[4, 0], [4, 30], [-4, 30]]}])
    events: list[EventModel] = about(
        "what happens when a condition comes true",
        [],
        example=[{"when": {"time": 5.0}, "do": {"run_state": {"object": "Bot", "state": "PAUSE"}}}],
    )
    record: RecordModel | None = about("what a recording holds", None, example={"traffic": "near"})
    planner: Planners = about(
        "module:Class of the first bot's planner, or a mapping from bots to planners", {}, example="my_planner:Planner"
    )
    profile: Literal["darpa2006", "darpa2007"] = about(
        "whose numbers rules have that give none: those of DARPA's rules of 2006, or criteria of 2007", DEFAULT_PROFILE
    )
    expect: list[ExpectationModel] = about(  # type: ignore[valid-type]
        "what must come true", [], example=[{"reach": {"object": "Truck", "waypoint": "1.1.5", "before": 30.0}}]
    )
    score: ScoreModel | None = about(
        "a number from 0 to 1 for the whole run: the product of gates, times a weighted mean",
        None,
        example={"gates": [{"collision": {"object": "Bot"}}]},
    )
    sweep: SweepModel | None = about(
        "what 'cbsim sweep' varies: parameters and key paths, each with its values",
        None,
        example={"gap": {"range": [4, 20, 1]}, "seed": {"count": 100}},
    )
    parameters: dict[ParameterName, ParameterField] = about(
        "names for values, used as ${name} anywhere else; --set changes them", {}, example={"gap": 10.0}
    )

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Duplicate names."""
        yield from _repeated(data.get("add"), "add")
        yield from _repeated(data.get("models"), "models")
        yield from _repeated(data.get("traffic"), "traffic")
        yield from _repeated(data.get("events"), "events")
        yield from _repeated(data.get("people"), "people")
        yield from names_of_clock(data)


def _repeated(entries: Any, key: str) -> Iterator[Contradiction]:
    seen: set[str] = set()
    for number, entry in enumerate(entries if isinstance(entries, list) else []):
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str) and name in seen:
            yield (key, str(number), "name"), f"the name '{name}' stands twice"
        seen.update([name] if isinstance(name, str) else [])
