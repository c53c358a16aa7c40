"""Scenario YAML: every mistake at its line, parameters, settings, round trips, and no input that breaks the reader."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from cbsim.errors import Problems
from cbsim.formats import read_file, recognise
from cbsim.formats.objects.values import HEIGHT, PARAMETERS
from cbsim.formats.reader import Source
from cbsim.formats.scenario import RULES, count, find_named, read, read_with, schema, write
from cbsim.lint.scenario import lint_scenario
from cbsim.paths import Files
from cbsim.spec.drives import drives_on
from cbsim.spec.objects import (
    Controller,
    Goal,
    Kind,
    MeshFile,
    ScriptEntry,
    SensorMount,
    ShapeKind,
    Steering,
    TrafficObject,
    Triple,
    Wheels,
    WheelType,
)
from cbsim.spec.planner import Seat
from cbsim.spec.road import PointId
from cbsim.spec.scenario import Addition, ModelAddition, Origin, Placement, Scenario
from cbsim.spec.traffic import Spread
from cbsim.units import DEGREE
from tests.common import ROOT

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "scenario"

FULL = """\
description: |
  Everything once.
network: four_way_stop
mission: four_way_stop.mdf
objects: [one.xml, two.obj]
parameters: {gap: 10.5, who: Truck, lane: 3.10, spot: [1, 2, 0.5]}
add:
  - &truck
    name: ${who}
    kind: dynamic
    at: {waypoint: 1.1.2, station: "${gap}", offset: -0.5}
    size: {x: 2, y: 4, z: 1.5}
    orientation_offset: [0, 0, 90]
    initial_pause: 1e1
    goals:
      - {lane: "${lane}", speed: 3}
      - {lane: 3.20, speed: 3}
      - {waypoint: 1.1.5, speed: 2.5, pause: 1}
  - <<: *truck
    name: Second ${who}
  - name: Bot
    kind: autonomous
    at: 14.0.3
    sensors: [onboard/a.conf, {conf: b.conf, type: 1, description: rear}]
    wheels: {type: skid}
    parameters: {wheelbase: 2.4}
  - {name: Cone, shape: cylinder, position: "${spot}", heading: -90}
  - {name: Ramp, kind: mesh, vertices: v.txt, indices: {path: i.txt, mode: full}, drivable: true}
  - {name: Robot, kind: dynamic, script: [{speed: 1, distance: 5, angle: 45}]}
place:
  Box: 1.1.3
  Traffic: {position: [1, 2, 0], heading: 45}
models:
  - {file: walker.jm, at: 1.1.4, scale: 0.5}
  - {file: walker.jm, name: Other, position: [0, 0, 1]}
origin: {latitude: 30.2, longitude: -92}
offset_frame: map
script_angle: cw_north
seed: 9223372036854775807
step: 0.01
duration: 60
planner: {Bot: my.module:Planner}
expect:
  - reach: {object: Truck, waypoint: 1.1.5, radius: 2, after: 3, before: 40}
  - reach: {object: Cone, position: [1, 2, 0]}
  - travel: {object: Truck, at_least: 10}
  - rest: {object: Truck, from: 50}
"""


def parse(text: str, overrides: dict[str, str] | None = None) -> tuple[Scenario | None, Problems]:
    problems = Problems()
    data = text.encode("utf-8", "surrogatepass")
    return read_with(Source("s.yaml", text, data), problems, overrides or {}), problems


def good(text: str, overrides: dict[str, str] | None = None) -> Scenario:
    spec, problems = parse(text, overrides)
    assert not problems.errors, [str(p) for p in problems.errors]
    assert spec is not None
    return spec


def complaints(text: str, overrides: dict[str, str] | None = None) -> list[tuple[int | None, str]]:
    spec, problems = parse(text, overrides)
    assert spec is None or not problems.errors
    return [(p.location.line, p.code) for p in problems]


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.yaml")), ids=lambda p: p.stem)
def test_corpus_file_gives_exactly_the_complaints_it_names(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    wanted = [
        (number, code)
        for number, line in enumerate(text.splitlines(), 1)
        for code in re.findall(r"[EWI]\d{3}", line.partition("# expect:")[2])
    ]
    wanted = {"empty": [(1, "E801")], "bomb": [(1, "E023")]}.get(path.stem, wanted)
    assert sorted(complaints(text)) == sorted(wanted)


def test_every_key_arrives_in_the_spec_in_si_units() -> None:
    spec = good(FULL)
    truck, second, bot, cone, ramp, robot = (one.object for one in spec.add)
    assert (spec.network, spec.mission, spec.objects) == ("four_way_stop", "four_way_stop.mdf", ("one.xml", "two.obj"))
    assert spec.add[0].placement == Placement(PointId(1, 1, 2), 10.5, -0.5)
    assert truck.anchor == PointId(1, 1, 2)
    assert truck.orientation_offset.z == pytest.approx(math.pi / 2)
    assert truck.size == Triple(2.0, 4.0, 1.5)
    assert truck.initial_pause == 10.0
    assert [(g.lane, g.waypoint, g.speed, g.pause) for g in truck.goals] == [
        (10, None, 3.0, 0.0),
        (20, None, 3.0, 0.0),
        (1, 5, 2.5, 1.0),
    ]
    assert (second.name, second.goals, second.controller) == ("Second Truck", truck.goals, Controller.WAYPOINT)
    assert (bot.kind, bot.controller, bot.anchor) == (Kind.AUTONOMOUS, Controller.SENSOR, PointId(14, 0, 3))
    assert (bot.wheels, bot.steering) == (Wheels(WheelType.SKID), Steering())
    assert [(s.conf, s.type_code, s.description) for s in bot.sensors] == [
        ("onboard/a.conf", None, None),
        ("b.conf", 1, "rear"),
    ]
    assert bot.parameters == (("wheelbase", 2.4),)
    assert (cone.shape, cone.controller) == (ShapeKind.CYLINDER, None)
    assert spec.add[3].placement.position == Triple(1.0, 2.0, 0.5)
    assert spec.add[3].placement.heading == pytest.approx(-math.pi / 2)
    assert (ramp.shape, ramp.vertices, ramp.indices) == (ShapeKind.MESH, MeshFile("v.txt"), MeshFile("i.txt", "full"))
    assert ramp.drivable
    assert spec.add[4].placement == Placement(position=Triple(0.0, 0.0, 0.0))
    assert (robot.controller, robot.script[0].angle) == (Controller.SCRIPT, pytest.approx(math.pi / 4))
    assert dict(spec.place)["Box"].waypoint == PointId(1, 1, 3)
    assert [(m.name, m.scale) for m in spec.models] == [("walker", 0.5), ("Other", 1.0)]
    assert spec.origin == Origin(30.2, -92.0)
    assert (spec.offset_frame, spec.script_angle, spec.seed) == ("map", "cw_north", 2**63 - 1)
    assert (spec.step, spec.duration, spec.planner) == (0.01, 60.0, (("Bot", "my.module:Planner"),))
    assert [e.rule for e in spec.expect] == ["reach", "reach", "travel", "rest"]
    assert (spec.expect[0]["waypoint"], spec.expect[1]["position"]) == (PointId(1, 1, 5), Triple(1.0, 2.0, 0.0))
    assert (spec.expect[1]["radius"], spec.expect[2]["at_most"], spec.expect[3]["from"]) == (1.0, None, 50.0)
    assert spec.parameters == (("gap", 10.5), ("who", "Truck"), ("lane", 3.1), ("spot", (1, 2, 0.5)))
    assert count(spec) == {"objects": 6, "models": 2, "expectations": 4}


def test_places_of_what_a_linter_complains_about_are_the_lines_of_the_file() -> None:
    spec = good(FULL)
    line = {text.split(":")[0].strip(): n for n, text in enumerate(FULL.splitlines(), 1)}
    assert spec.at("network").line == line["network"]
    assert spec.at("objects.1").line == line["objects"]
    assert spec.at("place.Traffic").line == line["Traffic"]
    assert spec.add[0].object.goals[1].location.line == 17
    assert spec.add[0].placement.location.line == 11
    assert spec.at("nothing of the kind") == spec.location


def test_what_is_written_reads_back_equal() -> None:
    spec = good(FULL)
    again = good(write(spec))
    assert again == spec
    assert write(again) == write(spec)


def test_nothing_but_defaults_is_written_as_an_empty_mapping() -> None:
    assert write(Scenario()) == "{}\n"
    assert good("{}\n") == Scenario()


def test_a_text_with_a_dollar_brace_survives_a_round_trip() -> None:
    spec = good("description: it costs $${gap} and $$${gap}\n")
    assert spec.description == "it costs ${gap} and $${gap}"
    assert good(write(spec)) == spec


def test_one_value_stands_for_a_list_and_one_planner_for_the_first_bot() -> None:
    spec = good("objects: a.xml\nplanner: a.b:C\n")
    assert (spec.objects, spec.planner) == (("a.xml",), (("", "a.b:C"),))
    assert good(write(spec)) == spec


def test_numbers_follow_yaml_1_2() -> None:
    spec = good("seed: 010\nduration: 1e2\nstep: .5\n")
    assert (spec.seed, spec.duration, spec.step) == (10, 100.0, 0.5)
    assert complaints("description: no\n") == []
    assert good("seed: 0x10\n").seed == 16
    assert good("description: !!str 5\n").description == "5"


def test_an_empty_document_at_the_end_of_a_file_is_told_at_its_last_line() -> None:
    assert complaints("# nothing but a comment\n---") == [(2, "E801")]
    assert complaints("# nothing but a comment\r\n---") == [(2, "E801")]


def test_a_mesh_whose_file_is_null_has_none() -> None:
    assert complaints("add: [{name: Rock, kind: mesh, position: [0, 0, 0], vertices: v.txt, indices: }]\n") == [
        (1, "E806")
    ]


def test_a_long_controller_is_told_in_a_short_message() -> None:
    text = f"add: [{{name: A, kind: dynamic, controller: {'sensor ' * 500}, goals: [{{waypoint: 1.1.1}}]}}]\n"
    assert [len(str(problem)) < 300 for problem in parse(text)[1]] == [True] * len(parse(text)[1])
    assert (1, "E806") in complaints(text)


def test_switches_and_numbers_are_not_mixed_up() -> None:
    assert complaints("seed: true\n") == [(1, "E805")]
    assert complaints("seed: 1.5\n") == [(1, "E805")]
    assert complaints('seed: "5"\n') == [(1, "E805")]
    assert complaints("add: [{name: a, kind: mesh, vertices: v, indices: i, drivable: 1}]\n") == [(1, "E805")]


def test_unknown_key_is_answered_with_the_nearest_one() -> None:
    _, problems = parse("add:\n  - {name: a, postion: [1, 2, 3]}\n")
    assert [p.hint for p in problems] == ["did you mean 'position'?"]


def test_complaint_names_the_key_path_and_the_value() -> None:
    _, problems = parse("expect:\n  - rest: {object: a, from: soon}\n")
    assert [str(p) for p in problems] == ["s.yaml:2: error: 'expect.0.rest.from' is 'soon', expected a number [E805]"]


def test_parameter_in_braces_without_quotes_is_explained() -> None:
    _, problems = parse("parameters: {v: 3}\nadd: [{name: a, size: ${v}}]\n")
    assert [(p.code, p.hint) for p in problems] == [("E020", "inside { } or [ ], put ${name} in quotes")]


def test_alone_a_parameter_keeps_its_type_and_in_a_text_it_is_spliced() -> None:
    text = "parameters: {n: 3, flag: true}\nseed: ${n}\nduration: 1${n}\ndescription: n=${n}, ${flag}\n"
    spec = good(text)
    assert (spec.seed, spec.duration, spec.description) == (3, 13.0, "n=3, true")


def test_setting_changes_parameters_and_fields() -> None:
    spec = good(FULL, {"gap": "7", "add.0.size.x": "2.5", "seed": "4", "add.2.wheels.radius": "0.5"})
    assert spec.add[0].placement.station == 7.0
    assert spec.add[0].object.size == Triple(2.5, 4.0, 1.5)
    assert spec.add[1].object.size == Triple(2.0, 4.0, 1.5), "what an alias shares stays as it was"
    assert spec.seed == 4
    assert spec.add[2].object.wheels == Wheels(WheelType.SKID, 0.5)


def test_setting_reaches_into_short_forms_and_adds_what_is_not_there() -> None:
    spec = good(
        FULL, {"place.Box.heading": "90", "add.2.at.station": "1", "planner.Other": "m:C", "place.New": "1.1.1"}
    )
    assert dict(spec.place)["Box"] == Placement(PointId(1, 1, 3), heading=math.pi / 2)
    assert dict(spec.place)["New"].waypoint == PointId(1, 1, 1)
    assert spec.add[2].placement == Placement(PointId(14, 0, 3), 1.0)
    assert spec.planner == (("Bot", "my.module:Planner"), ("Other", "m:C"))
    (seat,) = good(FULL, {"planner.Bot.rate": "5", "planner.Bot.latency": "0.1"}).seats
    assert seat == Seat("Bot", 5.0, Spread(0.1))
    assert good(FULL.replace("{Bot: my.module:Planner}", "m:D"), {"planner.Bot": "m:C"}).planner == (
        ("", "m:D"),
        ("Bot", "m:C"),
    )


def test_setting_takes_whole_lists() -> None:
    assert good(FULL, {"spot": "[4, 5, 6]"}).add[3].placement.position == Triple(4.0, 5.0, 6.0)


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("sed", "did you mean 'seed'?"),
        ("gpa", "did you mean 'gap'?"),
        ("add.0.sise", "did you mean 'size'?"),
        ("add.9.name", "the list has no such entry; they are counted from 0"),
        ("seed.x", "it has no parts"),
        ("parameters.new", "declared are gap, who, lane, spot"),
    ],
)
def test_setting_an_unknown_key_says_what_there_is(key: str, hint: str) -> None:
    _, problems = parse(FULL, {key: "1"})
    assert [(p.code, p.location.path, p.hint) for p in problems.errors] == [("E809", f"--set {key}", hint)]


def test_setting_a_key_that_resembles_nothing_lists_parameters_and_fields() -> None:
    _, problems = parse(FULL, {"qqq": "1"})
    assert "parameters: gap, who, lane, spot; fields: description, network," in problems.errors[0].hint


def test_setting_a_wrong_value_is_located_at_the_setting() -> None:
    _, problems = parse(FULL, {"step": "2", "seed": "[1", "duration": ""})
    assert [(p.location.path, p.code) for p in problems.errors] == [("--set seed", "E020"), ("--set step", "E805")]


def test_content_of_a_scenario_is_recognised() -> None:
    assert recognise(Source("x", FULL, FULL.encode())).name == "scenario"


def test_reading_by_the_table_of_formats_gives_the_same(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(FULL, encoding="utf-8")
    assert read_file(path).spec == good(FULL)


def test_schema_describes_every_key_and_every_rule() -> None:
    whole = schema()
    json.dumps(whole)
    fields = whole["properties"]
    beside = {"places", "location", "clock", "seats"}  # parts of `mission` and `planner`
    assert set(fields) == set(Scenario.__dataclass_fields__) - beside
    undescribed = [
        f"{name}.{key}"
        for name, model in {**whole["$defs"], "": whole}.items()
        for key, value in model.get("properties", {}).items()
        if "description" not in value and name not in {"Angles", "Lengths", "PositiveLengths"}
    ]
    assert undescribed == []
    assert set(whole["$defs"]["ExpectationModel"]["properties"]) == set(RULES)
    assert whole["additionalProperties"] is False
    assert "[deg]" in whole["$defs"]["PlacementModel"]["properties"]["heading"]["description"]


def test_documentation_names_every_key_and_its_example_is_clean() -> None:
    page = (ROOT / "docs" / "formats" / "scenario.md").read_text(encoding="utf-8")
    models = [value for name, value in schema()["$defs"].items() if name not in {"Angles", "Lengths"}]
    keys = {key for model in [schema(), *models] for key in model.get("properties", {})}
    assert [key for key in sorted(keys) if not re.search(rf"`[^`\n]*\b{key}\b[^`\n]*`", page)] == []
    for example in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL):
        spec, problems = good(example), Problems()
        lint_scenario(spec, Files(), problems)
        assert list(problems) == []


def test_named_files_are_found_beside_the_scenario_and_among_the_shipped(tmp_path: Path) -> None:
    (tmp_path / "own.rndf").write_text("", encoding="utf-8")
    files = Files([tmp_path])
    assert find_named("network", "own", tmp_path, files) == tmp_path / "own.rndf"
    assert find_named("network", "own.rndf", tmp_path, files) == tmp_path / "own.rndf"
    found = find_named("network", "four_way_stop", tmp_path, files)
    assert found is not None
    assert found.name == "four_way_stop.rndf"
    assert find_named("network", "none", tmp_path, files) is None
    assert find_named("network", "x" * 5000, tmp_path, files) is None
    assert find_named("network", "../../etc/passwd", tmp_path, files) is None


def test_deep_aliases_are_refused() -> None:
    chain = "\n".join(f"a{n}: &a{n} " + "[" * 9 + (f"*a{n - 1}" if n else "x") + "]" * 9 for n in range(20))
    assert complaints(chain) == [(1, "E022")]


def test_a_document_of_many_values_is_refused_quickly() -> None:
    assert complaints("add: [" + "{}," * 900_000 + "]\n") == [(1, "E023")]


KEYS = st.sampled_from(
    [*Scenario.__dataclass_fields__, "name", "kind", "at", "position", "goals", "speed", "x", "reach"]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["1.1.2", "static", "mesh", "dynamic", "${a}", "m:C", "", "1.1", "\x85", "<<", "$${a}"])
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=5),
    max_leaves=25,
)


@given(st.dictionaries(KEYS, VALUES, max_size=8))
def test_any_structure_gives_a_spec_that_round_trips_or_complaints(data: dict[str, Any]) -> None:
    spec, problems = parse(yaml.safe_dump(data))
    assert (spec is None) == bool(problems.errors)
    if spec is not None:
        assert good(write(spec)) == spec


@given(st.text(alphabet="{}[]:-&*!|>'\"%@#,? \n\tab1.$<~", max_size=80))
def test_any_text_gives_a_spec_or_complaints(text: str) -> None:
    spec, problems = parse(text)
    assert (spec is None) == bool(problems.errors)


@given(st.binary(max_size=120))
def test_any_bytes_give_a_spec_or_complaints(data: bytes) -> None:
    problems = Problems()
    spec = read(Source.decode("s.yaml", data), problems)
    assert (spec is None) == bool(problems.errors)


@given(
    st.dictionaries(
        st.text(alphabet="addseizexnm.0129", max_size=12), st.text(alphabet="[]{}1a.:-", max_size=6), max_size=3
    )
)
def test_any_setting_gives_a_spec_or_complaints(settings: dict[str, str]) -> None:
    spec, problems = parse(FULL, settings)
    assert (spec is None) == bool(problems.errors)


@given(st.floats(-1e6, 1e6), st.floats(0.0, 1e6), st.floats(1e-4, 1e6))
def test_numbers_round_trip_to_the_bit(angle: float, pause: float, size: float) -> None:
    text = (
        f"add: [{{name: a, kind: dynamic, position: [0, 0, 0], heading: {angle!r}, initial_pause: {pause!r}, "
        f"size: [1, 1, {size!r}]}}]\n"
    )
    spec = good(text)
    assert good(write(spec)) == spec


WORDS = st.text(st.characters(categories=["L", "M", "N", "P", "S"]), min_size=1, max_size=12) | st.sampled_from(
    [
        "1.5",
        "no",
        "null",
        "${a}",
        "a: b",
        "# x",
        "- y",
        "0x1",
        "1e3",
        "~",
        "'",
        '"',
        "é",
        "<<",
        "=",
        "2001-01-01",
        "[",
        "{",
    ]
)
REALS = st.floats(-1e6, 1e6)
POSITIVES = st.floats(1e-3, 1e6)
WHEELS = st.floats(1e-3, 1e2)
IDS = st.builds(PointId, st.integers(1, 99), st.integers(0, 9), st.integers(1, 999))
TRIPLES = st.builds(Triple, REALS, REALS, st.floats(HEIGHT.least, 1e6))
TURNS = st.floats(-360.0, 360.0).map(lambda degrees: degrees * DEGREE)
PLACEMENTS = st.builds(Placement, IDS, REALS, REALS, heading=st.none() | TURNS) | st.builds(
    Placement, position=TRIPLES, heading=st.none() | TURNS
)
GOALS = st.builds(
    Goal, POSITIVES, st.floats(0.0, 99.0), st.integers(1, 99), st.integers(1, 20), st.none() | st.integers(1, 99)
)
SCRIPTS = st.builds(ScriptEntry, POSITIVES, st.floats(0.0, 99.0), POSITIVES, TURNS)


def addition(kind: Kind, **fields: Any) -> st.SearchStrategy[Addition]:
    """Objects of one kind; what the kind does not have keeps its default."""
    if kind is not Kind.MESH:
        fields["size"] = st.builds(Triple, POSITIVES, POSITIVES, POSITIVES)
        fields["shape"] = st.sampled_from([shape for shape in ShapeKind if shape is not ShapeKind.MESH])
    common = {"position_offset": TRIPLES, "orientation_offset": st.builds(Triple, TURNS, TURNS, TURNS)}
    items = st.builds(TrafficObject, st.just(kind), WORDS, st.none() | st.integers(0, 99), **common, **fields)
    return st.builds(
        lambda item, placement: Addition(replace(item, anchor=placement.waypoint), placement), items, PLACEMENTS
    )


ADDITIONS = st.one_of(
    addition(Kind.STATIC),
    addition(
        Kind.MESH,
        shape=st.just(ShapeKind.MESH),
        vertices=st.builds(MeshFile, WORDS, st.sampled_from(["base", "full"])),
        indices=st.builds(MeshFile, WORDS),
        drivable=st.booleans(),
    ),
    addition(
        Kind.DYNAMIC,
        controller=st.just(Controller.WAYPOINT),
        goals=st.lists(GOALS, max_size=3).map(tuple),
        initial_pause=st.floats(0.0, 99.0),
    ),
    addition(Kind.DYNAMIC, controller=st.just(Controller.SCRIPT), script=st.lists(SCRIPTS, max_size=3).map(tuple)),
    addition(
        Kind.AUTONOMOUS,
        controller=st.sampled_from([Controller.SENSOR, Controller.MANUAL]),
        wheels=st.builds(Wheels, st.just(WheelType.SKID), WHEELS, WHEELS),
        drive=st.none() | st.sampled_from(drives_on(WheelType.SKID)),
        steering=st.builds(Steering, POSITIVES, POSITIVES),
        sensors=st.lists(
            st.builds(SensorMount, WORDS, st.none() | st.integers(0, 9), st.none() | WORDS), max_size=2
        ).map(tuple),
        parameters=st.lists(st.sampled_from(sorted(PARAMETERS)), unique=True, max_size=4).map(
            lambda names: tuple((name, q.most * q.factor) for name, q in PARAMETERS.items() if name in names)
        ),
    ),
)
SCENARIOS = st.builds(
    Scenario,
    description=WORDS,
    network=st.none() | WORDS,
    objects=st.lists(WORDS, max_size=2).map(tuple),
    add=st.lists(ADDITIONS, max_size=3, unique_by=lambda one: one.object.name).map(tuple),
    place=st.dictionaries(WORDS, PLACEMENTS, max_size=2).map(lambda d: tuple(d.items())),
    models=st.lists(
        st.builds(ModelAddition, WORDS, WORDS, PLACEMENTS, POSITIVES), max_size=2, unique_by=lambda m: m.name
    ).map(tuple),
    origin=st.none() | st.builds(Origin, st.floats(-90, 90), st.floats(-180, 180)),
    seed=st.integers(0, 2**63 - 1),
    step=st.floats(1e-4, 1.0),
    duration=st.none() | POSITIVES,
    planner=st.dictionaries(st.just("") | WORDS, st.just("a.b:C"), max_size=2).map(lambda d: tuple(d.items())),
    parameters=st.dictionaries(
        st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True),
        REALS | WORDS | st.booleans() | st.integers(-99, 99),
        max_size=2,
    ).map(lambda d: tuple(d.items())),
)


@given(SCENARIOS)
def test_any_scenario_is_written_so_that_it_reads_back_equal(spec: Scenario) -> None:
    assert good(write(spec)) == spec


def test_drive_and_vehicle_parameters_are_read_in_the_units_of_object_files():
    (one,) = good("add: [{name: a, kind: autonomous, drive: delayed, parameters: {mass: 900, max_steer: 30}}]\n").add
    assert one.object.drive == "delayed"
    assert dict(one.object.parameters) == {"mass": 900.0, "max_steer": pytest.approx(math.radians(30.0))}


@pytest.mark.parametrize(("text", "code", "words"), [
    ("drive: dynamik", "E805", "dynamic"), ("drive: skid", "E806", "does not run on conventional wheels"),
    ("parameters: {wheelbaze: 2}", "E803", "wheelbase"), ("parameters: {axles: 4}", "E805", "3"),
    ("parameters: {front_load: 1.5}", "E805", "0.95"), ("parameters: {axles: 2.5}", "E805", "1"),
])  # fmt: skip
def test_impossible_vehicle_is_refused_at_its_line(text, code, words):
    _, problems = parse(f"add:\n  - name: a\n    kind: autonomous\n    {text}\n")
    assert [(p.code, p.location.line) for p in problems] == [(code, 4)]
    assert words in problems.errors[0].message + (problems.errors[0].hint or "")


def test_an_expectation_without_a_rule_or_arguments_is_told_at_its_line() -> None:
    text = "expect:\n  - {}\n  - collision:\n  - null\n  - {collision: {object: A}, rest: {object: A}}\n"
    assert complaints(text) == [(2, "E806"), (3, "E806"), (4, "E805"), (5, "E806")]
