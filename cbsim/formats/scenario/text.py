"""Writer of scenarios as YAML: values that differ from the defaults, angles in degrees."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import yaml

from cbsim.formats.objects.values import PARAMETERS
from cbsim.formats.scenario.events import event_text
from cbsim.formats.scenario.fields import degrees_of
from cbsim.formats.scenario.mission import mission_text
from cbsim.formats.scenario.parameters import escaped
from cbsim.formats.scenario.people import person_text
from cbsim.formats.scenario.planner import planner_text
from cbsim.formats.scenario.same_names import changed, plain_of
from cbsim.formats.scenario.spec import DEFAULT_SIZE
from cbsim.formats.scenario.sweep import sweep_text
from cbsim.formats.scenario.traffic_text import driver_text, pool_text
from cbsim.formats.yaml_tree import typed
from cbsim.spec.objects import ZERO, Controller, Kind, MeshFile, SensorMount, ShapeKind, Steering, TrafficObject, Wheels
from cbsim.spec.scenario import Addition, Expectation, ModelAddition, Placement, Scenario, Score, Term
from cbsim.units import DEGREE

__all__ = ["scenario_text"]


def scenario_text(spec: Scenario) -> str:
    """Write a scenario; reading the text gives an equal spec."""
    default = Scenario()
    whole = changed(
        default,
        spec,
        (
            "description",
            "network",
            "mission",
            "objects",
            "offset_frame",
            "script_angle",
            "seed",
            "step",
            "duration",
            "deadline",
            "profile",
        ),
    )
    if spec.mission is not None:
        whole["mission"] = mission_text(spec.mission, spec.clock)
    whole |= _given(
        ("origin", None if spec.origin is None else dict(spec.origin._asdict())),
        ("models", [_model(one) for one in spec.models]),
        ("add", [_addition(one) for one in spec.add]),
        ("place", {name: _placement(one) for name, one in spec.place}),
        ("traffic", [pool_text(one) for one in spec.traffic]),
        ("drivers", {one.name: driver_text(one) for one in spec.drivers}),
        ("lights", {one.light: [list(phase) for phase in one.phases] for one in spec.lights}),
        ("people", [person_text(one) for one in spec.people]),
        ("events", [event_text(one, number) for number, one in enumerate(spec.events)]),
        ("record", {"traffic": spec.record.traffic} if spec.record.traffic else {}),
        ("planner", _planners(spec)),
        ("expect", [_expectation(one) for one in spec.expect]),
        ("score", _score(spec.score)),
        ("sweep", sweep_text(spec.sweep)),
    )
    text = {key: _escaped(value) for key, value in whole.items()}
    text |= _given(("parameters", {name: plain_of(value) for name, value in spec.parameters}))
    return yaml.dump(text, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120) if text else "{}\n"


class _Dumper(yaml.SafeDumper):
    """YAML writer with lists of scalars on one line, and without anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        """Write equal parts out again."""
        return True

    def _float(self, data: float) -> yaml.Node:
        return self.represent_float(float(data))

    def _text(self, data: str) -> yaml.Node:
        """Quote texts that would be read as a number, a word or several lines."""
        plain = isinstance(typed(data), str) and data.isprintable()
        return self.represent_scalar("tag:yaml.org,2002:str", data, None if plain else '"')

    def _list(self, data: list[Any]) -> yaml.Node:
        flat = not any(isinstance(item, list | dict) for item in data)
        return self.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=flat)

    def _mapping(self, data: dict[str, Any]) -> yaml.Node:
        return self.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=False)


_Dumper.add_multi_representer(float, _Dumper._float)
_Dumper.add_representer(str, _Dumper._text)
_Dumper.add_representer(list, _Dumper._list)
_Dumper.add_representer(dict, _Dumper._mapping)


def _given(*pairs: tuple[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in pairs if value is not None and value not in ([], {})}


def _planners(spec: Scenario) -> Any:
    seats = {seat.name: seat for seat in spec.seats}
    texts = {name: planner_text(planner, seats.get(name)) for name, planner in spec.planner}
    return texts[""] if list(texts) == [""] and "" not in seats else texts


def _escaped(value: Any) -> Any:
    """Escape ``${…}`` in texts, so that it is not read as a parameter."""
    if isinstance(value, dict):
        return {key: _escaped(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_escaped(child) for child in value]
    return escaped(value) if isinstance(value, str) else value


def _placement(spec: Placement) -> dict[str, Any]:
    at = changed(Placement(), spec, ("waypoint", "station", "offset")) if spec.waypoint is not None else {}
    position = None if at else plain_of(spec.position)
    heading = None if spec.heading is None else degrees_of(spec.heading)
    return _given(("at", at["waypoint"] if len(at) == 1 else at), ("position", position), ("heading", heading))


def _model(spec: ModelAddition) -> dict[str, Any]:
    stem = PurePosixPath(spec.file).stem
    default = ModelAddition("", stem, Placement())
    settings = {key: _setting(text) for key, text in spec.settings}
    size = changed(default, spec, ("scale", "mass")) | _given(("settings", settings))
    return changed(default, spec, ("file", "name")) | _placement(spec.placement) | size


def _setting(text: str) -> Any:
    """Return the plain value of a setting, if that reads back as the same text."""
    value = typed(text)
    if isinstance(value, bool):
        return value if text in ("true", "false") else text
    plain = float(value) if isinstance(value, float) else value
    return plain if isinstance(plain, int | float) and str(plain) == text else text


def _addition(spec: Addition) -> dict[str, Any]:
    item = spec.object
    shape = None if item.shape in (ShapeKind.BOX, ShapeKind.MESH) else item.shape.name.lower()
    size = None if item.size == DEFAULT_SIZE[item.kind] else list(item.size)
    turn = item.orientation_offset
    head = _given(
        ("name", item.name),
        ("kind", None if item.kind is Kind.STATIC else item.kind.value),
        ("id", item.identifier),
        ("shape", shape),
        ("size", size),
    )
    offsets = _given(
        ("position_offset", None if item.position_offset == ZERO else plain_of(item.position_offset)),
        ("orientation_offset", None if turn == ZERO else [degrees_of(angle) for angle in turn]),
    )
    return head | _placement(spec.placement) | offsets | _equipment(item) | _motion(item)


def _equipment(item: TrafficObject) -> dict[str, Any]:
    wheels = None if item.wheels is None else changed(Wheels(), item.wheels, ("type", "radius", "width"))
    if wheels and "type" in wheels:
        wheels["type"] = wheels["type"].name.lower()
    steering = item.steering and changed(Steering(), item.steering, ("throttle_rate", "lever_rate"))
    return _given(
        ("wheels", wheels),
        ("steering", steering),
        ("sensors", [_sensor(one) for one in item.sensors]),
        ("vertices", _mesh_file(item.vertices)),
        ("indices", _mesh_file(item.indices)),
        ("drivable", item.drivable or None),
        ("drive", item.drive),
        ("parameters", {name: _parameter(name, value) for name, value in item.parameters}),
    )


def _parameter(name: str, value: float) -> float:
    return degrees_of(value) if PARAMETERS[name].factor == DEGREE else value


def _sensor(spec: SensorMount) -> Any:
    details = _given(("type", spec.type_code), ("description", spec.description))
    return {"conf": spec.conf, **details} if details else spec.conf


def _mesh_file(spec: MeshFile | None) -> Any:
    if spec is None:
        return None
    return spec.path if spec.mode == "base" else {"path": spec.path, "mode": spec.mode}


def _motion(item: TrafficObject) -> dict[str, Any]:
    controller = item.controller
    usual = Controller.SCRIPT if item.script else Controller.WAYPOINT
    if item.kind is Kind.AUTONOMOUS and not item.goals and not item.script:
        usual = Controller.SENSOR
    literal = not item.reactive  # a reactive object chooses its speed itself
    goals = [
        _given(
            ("waypoint" if one.waypoint is not None else "lane", _goal_place(one)),
            ("speed", one.speed if literal else None),
        )
        | ({"pause": one.pause} if one.pause else {})
        for one in item.goals
    ]
    script = [
        {"speed": one.speed, "pause": one.pause, "distance": one.distance, "angle": degrees_of(one.angle)}
        for one in item.script
    ]
    return _given(
        ("controller", None if controller in (None, usual) else controller.name.lower()),
        ("reactive", item.reactive or None),
        ("initial_pause", item.initial_pause or None),
        ("goals", goals),
        ("script", script),
    )


def _goal_place(goal: Any) -> str:
    lane = f"{goal.segment}.{goal.lane}"
    return lane if goal.waypoint is None else f"{lane}.{goal.waypoint}"


def _score(spec: Score) -> dict[str, Any]:
    return _given(("gates", [_expectation(one) for one in spec.gates]), ("mean", [_term(one) for one in spec.mean]))


def _term(spec: Term) -> dict[str, Any]:
    weight = changed(Term(spec.expectation), spec, ("weight",))
    if not spec.metric:
        return {"rule": _expectation(spec.expectation), **weight}
    measured = {"metric": spec.metric, "object": spec.expectation["object"]}
    return {**measured, "worst": spec.worst, "best": spec.best, **weight}


def _expectation(spec: Expectation) -> dict[str, Any]:
    return {spec.rule: _given(*((name, plain_of(value)) for name, value in spec.arguments))}
