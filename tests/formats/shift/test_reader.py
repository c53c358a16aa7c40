"""The Shift reader: both dialects, every mistake at its line, any bytes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.errors import Problems
from cbsim.formats import recognise
from cbsim.formats.reader import Source
from cbsim.formats.shift import schema, write
from cbsim.formats.shift.grammar import RECORDS
from cbsim.models import read_file
from cbsim.models.shift import assembly, count
from cbsim.models.shift.assembly import PATIENCE
from cbsim.models.shift.kinematics import Chain
from cbsim.spec.objects import Triple
from cbsim.spec.shift.model import Reference
from tests.common import shared_files
from tests.models.shift.benchmarks import four_bars, frame
from tests.models.shift.models import model_of, read

BODY = '{"name": "b", "mass": 1}'
JOINT = '{"name": "j", "type": "Rx", "body_frame_pairs": [["fixed", "origin"], ["b", "origin"]]}'


def text_of(body=BODY, joint=JOINT, more="", head=""):
    return f'{{{head}\n"assemblies": [{{"name": "a",\n"bodies": [\n{body}\n],\n"joints": [\n{joint}\n]{more}}}]}}'


def told(text):
    _, problems = model_of(text)
    return [(problem.code, problem.location.line) for problem in problems.in_order() if problem.code != "W971"]


def a_body(**keys):
    return json.dumps({"name": "b", "mass": 1} | keys)


def a_joint(**keys):
    return json.dumps({"name": "j", "type": "Rx", "body_frame_pairs": [["fixed", "origin"], ["b", "origin"]]} | keys)


MISTAKES = {
    "not JSON": ("{", [("E020", 1)]),
    "no assemblies": ("{}", [("E964", 1)]),
    "a list": ("[]", [("E962", 1)]),
    "NaN": (text_of(a_body().replace("1", "NaN")), [("E020", 4)]),
    "unknown key": (text_of(a_body(mas=2)), [("W963", 4)]),
    "comment": (text_of("// note\n" + BODY), [("W960", 4)]),
    "comma at the end": (text_of(BODY + ","), [("W960", 5)]),
    "key twice": (text_of('{"name": "b", "mass": 1,\n"mass": 2}'), [("W961", 5)]),
    "no name": (text_of('{"mass": 1}', ""), [("E964", 4)]),
    "colon": (text_of(a_body(name="b:c"), ""), [("E967", 4)]),
    "two bodies of one name": (text_of(BODY + ",\n" + BODY), [("E972", 5)]),
    "negative mass": (text_of(a_body(mass=-1)), [("E974", 4)]),
    "next to no mass": (text_of(a_body(mass=5e-324)), [("E974", 4)]),
    "text for a number": (text_of(a_body(mass="1")), [("E965", 4)]),
    "inertia of no body": (text_of(a_body(moment_of_inertia={"Ixx": 9, "Iyy": 1, "Izz": 1})), [("W975", 4)]),
    "origin again": (text_of(a_body(frames=[{"name": "origin"}])), [("E973", 4)]),
    "two frames of one name": (text_of(a_body(frames=[{"name": "f"}, {"name": "f"}])), [("E972", 4)]),
    "T of two": (text_of(a_body(frames=[{"name": "f", "T": [1, 2]}])), [("E965", 4)]),
    "no rotation": (text_of(a_body(frames=[{"name": "f", "R": [[1, 0, 0], [0, 1, 0], [0, 0, 2]]}])), [("E969", 4)]),
    "mirror": (text_of(a_body(frames=[{"name": "f", "R": [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}])), [("E969", 4)]),
    "collision": (text_of(a_body(collision_geometry="cone")), [("E976", 4)]),
    "type of joint": (text_of(joint=a_joint(type="Rw")), [("E968", 7)]),
    "planned joint": (text_of(joint=a_joint(type="planar")), [("E968", 7)]),
    "axis of nothing": (text_of(joint=a_joint(type="revolute", axis=[0, 0, 0])), [("E965", 7)]),
    "no axis": (text_of(joint=a_joint(type="prismatic")), [("E964", 7)]),
    "no ends": (text_of(joint='{"name": "j", "type": "Rx"}'), [("E964", 7)]),
    "body that is not there": (
        text_of(joint=a_joint(body_frame_pairs=[["fixed", "origin"], ["c", "origin"]])),
        [("E983", 7)],
    ),
    "frame that is not there": (
        text_of(joint=a_joint(body_frame_pairs=[["fixed", "up"], ["b", "origin"]])),
        [("E984", 7)],
    ),
    "joint to itself": (text_of(joint=a_joint(body_frame_pairs=[["b", "origin"], ["b", "origin"]])), [("E985", 7)]),
    "two joints of one name": (text_of(joint=JOINT + ",\n" + JOINT), [("W972", 8)]),
    "massless at the end": (text_of('{"name": "b"}'), [("E990", 7)]),
    "stiffness of a ball": (text_of(joint=a_joint(type="spherical", stiffness=[0, 1])), [("E979", 7)]),
    "velocity": (text_of(joint=a_joint(initial_velocity=[1, 2])), [("E965", 7)]),
    "knots": (
        text_of(
            more=',\n"restraints": [{"type": "spring", "joint": "j", "knot_points": [1, 1], "coefficients": [[1]]}]'
        ),
        [("E980", 9), ("E980", 9)],
    ),
    "restraint of nothing": (
        text_of(more=',\n"restraints": [{"type": "spring", "coefficients": [[1]]}]'),
        [("E980", 9)],
    ),
    "restraint of both": (
        text_of(
            more=',\n"restraint": {"type": "spring", "joint": "j", "coefficients": [[1]], '
            '"body_frame_pair": [["fixed", "origin"], ["b", "origin"]]}'
        ),
        [("E980", 9)],
    ),
    "torsion between frames": (
        text_of(
            more=',\n"restraint": {"type": "spring", "coefficients": [[1]], "distance_type": "Rx", '
            '"body_frame_pair": [["fixed", "origin"], ["b", "origin"]]}'
        ),
        [("E980", 9)],
    ),
    "restraint of another kind": (
        text_of(more=',\n"restraint": {"type": "rope", "joint": "j", "coefficients": [[1]]}'),
        [("E980", 9)],
    ),
    "module": (text_of(more=',\n"force_modules": [{"type": "rocket"}]'), [("E981", 9)]),
    "tyre": (
        text_of(more=',\n"force_modules": [{"type": "tire", "tire_type": "delft", "wheel_body": "b"}]'),
        [("E981", 9)],
    ),
    "restraint along what is not there": (
        text_of(more=',\n"restraint": {"type": "spring", "joint": "k", "coefficients": [[1]]}'),
        [("E991", 9)],
    ),
    "controller of what is not there": (
        text_of(more=',\n"force_modules": [{"type": "pid", "input": {"joint": "j"}, "output": {"joint": "k"}}]'),
        [("E991", 9)],
    ),
    "tyre of what is not there": (
        text_of(more=',\n"force_modules": [{"type": "tire", "tire_type": "fiala", "wheel_body": "c"}]'),
        [("E983", 9)],
    ),
    "time step": (text_of(head='"model_parameters": {"simulation": {"time_step": 0}},'), [("E965", 1)]),
    "time step that is long": (text_of(head='"model_parameters": {"simulation": {"time_step": 1e11}},'), [("W965", 1)]),
    "time span of too many steps": (
        text_of(head='"model_parameters": {"simulation": {"time_span": 2e9, "time_step": 1e11}},'),
        [("E965", 1)],
    ),
    "time span of too many steps that nobody says": (
        text_of(head='"model_parameters": {"simulation": {"time_span": 2e8}},'),
        [("E965", 1)],
    ),
    "tolerances": (
        text_of(head='"model_parameters": {"simulation": {"relative_error": 0, "absolute_error": 0}},'),
        [("E965", 1)],
    ),
    "gravity": (text_of(head='"model_parameters": {"gravity": [0, 9.81]},'), [("E965", 1)]),
    "unit": (
        text_of(head='"model_parameters": {"gravity": [0, 0, 0], "units": {"length": "metres?"}},'),
        [("E970", 1)],
    ),
    "loop that cannot close": (
        text_of(
            joint=JOINT
            + ",\n"
            + a_joint(name="k", body_frame_pairs=[["fixed", "far"], ["b", "origin"]], type="spherical"),
            head='"fixed": {"frames": [{"name": "far", "T": [1, 0, 0]}]},',
        ),
        [("E988", 8)],
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_at_its_line(name):
    text, expected = MISTAKES[name]
    assert told(text) == expected


def test_every_mistake_of_a_file_is_told():
    text = text_of(a_body(mass=-1), a_joint(type="Rw", initial_velocity="fast"))
    assert told(text) == [("E974", 4), ("E968", 7), ("E965", 7)]


def test_modules_that_are_not_active_may_be_anything():
    text = text_of(more=',\n"force_modules": [{"type": "rocket", "active": false, "thrust": 9}]')
    assert told(text) == []


def test_a_wrong_number_of_a_module_that_is_not_active_is_written_back():
    """Left out, it made a controller of what had been kept unread."""
    ends = '"input": {"type": "joint", "joint": "j"}, "output": {"type": "joint", "joint": "j"}'
    module = f'{{"type": "pid", "active": false, "p": 100, "i": 9223372036854775807, {ends}}}'
    spec, problems = model_of(text_of(more=f',\n"force_modules": [{module}]'))
    assert not problems.errors
    again, problems = model_of(write(spec))
    assert not problems.errors
    assert again == spec
    assert ("i", "9223372036854775807") in again.assemblies[0].force_modules[0].kept


def test_the_dialects_say_the_same():
    old = text_of(a_body(moment_of_inertia={"Ixx": 2, "Iyy": 2, "Izz": 2}), a_joint(damping=[0, 1]))
    new = text_of(
        '{"name": "b", "inertia": {"mass": 1, "Ixx": 2, "Iyy": 2, "Izz": 2}}',
        '{"name": "j", "type": "revolute", "axis": "x", "parent": [["fixed"], "origin"], "child": [["b"], "origin"],'
        ' "damping_coefficients": [0, 1]}',
    )
    assert model_of(old)[0] == model_of(new)[0]


def test_units_are_taken_to_si():
    units = '"model_parameters": {"gravity": [0, 0, 9810], "units": {"length": "mm", "mass": "g", "angle": "degrees"}},'
    body = a_body(moment_of_inertia={"Ixx": 1e9, "Iyy": 1e9, "Izz": 1e9}, center_of_mass=[0, 0, 100])
    spec, problems = model_of(text_of(body, a_joint(initial_displacement=180, stiffness=[0, 1e9]), head=units))
    assert not problems.errors
    (assembly,) = spec.assemblies
    assert spec.gravity == pytest.approx((0.0, 0.0, 9.81))
    assert (assembly.bodies[0].mass, assembly.bodies[0].inertia[0]) == pytest.approx((1e-3, 1.0))
    assert assembly.bodies[0].center_of_mass[2] == pytest.approx(0.1)
    assert assembly.joints[0].displacement == pytest.approx(3.141592653589793)
    # 1e9 g mm²/s² are 1 N m, per degree
    assert assembly.joints[0].stiffness[1] == pytest.approx(180.0 / 3.141592653589793)


def test_paths_begin_at_the_root_or_here():
    inner = '"assemblies": [{"name": "in", "bodies": [{"name": "b", "mass": 1}], "joints": []}]'
    for path in ('"a:in:b"', '"in:b"', '["in", "b"]', '["a", "in", "b"]'):
        joint = f'{{"name": "j", "type": "Rx", "parent": ["fixed", "origin"], "child": [{path}, "origin"]}}'
        assert told(f'{{"assemblies": [{{"name": "a", "joints": [{joint}], {inner}}}]}}') == []
    whole = '{"name": "j", "type": "Rx", "parent": "fixed", "child": "a:in:b:origin"}'
    assert told(f'{{"assemblies": [{{"name": "a", "joints": [{whole}], {inner}}}]}}') == []


def test_what_is_not_active_falls_away_with_what_refers_to_it():
    text = text_of(BODY + ', {"name": "c", "mass": 1, "active": false}', JOINT + "," + a_joint(
        name="k", body_frame_pairs=[["b", "origin"], ["c", "origin"]]))  # fmt: skip
    spec, problems = model_of(text)
    assert [problem.code for problem in problems if problem.code != "W971"] == ["W982"]
    found = count(spec)
    assert (found["bodies"], found["joints"], found["degrees_of_freedom"], found["mass"]) == (2, 2, 1, 1.0)


def test_groups_that_hang_on_nothing_float():
    pair = a_joint(body_frame_pairs=[["b", "origin"], ["c", "origin"]])
    spec, problems = model_of(text_of(BODY + ', {"name": "c", "mass": 1}', pair))
    assert "W986" in {problem.code for problem in problems}
    assert count(spec)["degrees_of_freedom"] == 7


def test_the_schema_has_every_record():
    assert set(schema()["properties"]) == set(RECORDS["file"].model_fields)


@pytest.mark.parametrize("path", [p for p in shared_files("shift") if p.suffix == ".json"], ids=lambda p: p.stem)
def test_real_files_are_written_so_that_they_read_the_same(path):
    reading = read_file(path)
    assert reading.format.name == "shift"
    if reading.problems.errors:
        assert {problem.code for problem in reading.problems.errors} == {"E981"}, path
    text = write(reading.spec)
    again = read(Source("again.json", text, text.encode()), Problems())
    assert again == reading.spec
    assert write(again) == text


def test_what_is_changed_is_written():
    spec, _ = model_of(text_of())
    joint = replace(
        spec.assemblies[0].joints[0], child=Reference(("a", "b"), "origin", True), axis=Triple(0.0, 1.0, 0.0)
    )
    changed = replace(spec, assemblies=(replace(spec.assemblies[0], joints=(joint,)),))
    assert model_of(write(changed))[0] == changed


Y = Triple(0.0, 1.0, 0.0)
PARTS = st.sampled_from(
    [
        *"{}[],:1", '"name"', '"a"', '"assemblies"', '"bodies"', '"joints"', '"type"', '"Rx"', "-1e9", "null", "true",
        '"fixed"', '"body_frame_pairs"', "1e400", "//", "/*", '"\\ud800"', "\t", "\n", '"', "0", '"mass"',
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.lists(PARTS, max_size=60).map(lambda parts: "".join(parts).encode())))
def test_any_bytes_give_a_model_or_located_problems(data):
    problems = Problems()
    spec = read(Source.decode("any.json", data), problems)
    assert spec is not None or problems.errors
    assert all(problem.location.line for problem in problems)


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(-10, 10), st.sampled_from(["b", "fixed", "Rx", "a:b"])
)
NAMES = st.sampled_from(["R", "T", "Ixx", "name"])
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner), max_leaves=6)
KEYS = {
    "body": sorted(RECORDS["body"].model_fields),
    "joint": sorted(RECORDS["joint"].model_fields),
    "restraint": sorted(RECORDS["restraint"].model_fields),
    "force_module": sorted(RECORDS["force_module"].model_fields),
}


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_values_of_any_keys_give_a_model_that_is_written_or_located_problems(data):
    def records(kind, base):
        given = data.draw(st.dictionaries(st.sampled_from(KEYS[kind]), VALUES, max_size=3))
        return [json.loads(base) | given]

    whole = {
        "assemblies": [
            {
                "name": "a",
                "bodies": records("body", BODY),
                "joints": records("joint", JOINT),
                "restraints": records("restraint", '{"type": "spring", "joint": "j", "coefficients": [[1, 0]]}'),
                "force_modules": records("force_module", '{"type": "pid", "active": false}'),
            }
        ]
    }
    spec, problems = model_of(json.dumps(whole))
    assert spec is not None or problems.errors
    assert all(problem.location.line for problem in problems)
    if spec is not None and not problems.errors:
        assert model_of(write(spec))[0] == spec
        assert count(spec)["bodies"] == 1


def test_a_loop_that_cannot_be_closed_is_given_up_soon(monkeypatch):
    """400 rounds each of two ways: of 45 bodies they took 16 s."""
    model, rounds = four_bars(3), []
    model = replace(model, frames=(*model.frames[:2], frame("foot2", 1e9, 0.0, 0.0), *model.frames[3:]))
    move = Chain.move
    monkeypatch.setattr(Chain, "move", lambda *given: rounds.append(1) or move(*given))
    assert [code for code, _ in told(write(model))] == ["E988"]
    assert 0 < len(rounds) <= 4 * PATIENCE


def repeated(count):
    """A four-bar whose last joint is there so many times: each closes a loop that says nothing new."""
    model = four_bars(1)
    whole = model.assemblies[0]
    last = [replace(whole.joints[-1], name=f"again{k}") for k in range(count)]
    return replace(model, assemblies=(replace(whole, joints=(*whole.joints, *last)),))


def test_loops_cost_no_more_closings_and_gaps_than_they_need(monkeypatch):
    """A mutated file of 37 KiB with a joint a hundred times took 19 s to check and count, now 2 s."""
    closings, gaps = [], []
    close, find = assembly._descend, Chain.gaps
    monkeypatch.setattr(assembly, "_descend", lambda *given, **more: closings.append(1) or close(*given, **more))
    monkeypatch.setattr(Chain, "gaps", lambda *given, **more: gaps.append(1) or find(*given, **more))
    spec, problems = model_of(write(repeated(60)))
    assert not problems.errors
    assert count(spec)["degrees_of_freedom"] == 1
    assert len(closings) <= 3  # of the start, and of two postures nearby
    assert len(gaps) < 60


def test_more_loops_than_can_be_closed_in_seconds_are_refused(monkeypatch):
    monkeypatch.setattr(assembly, "close", None)  # it is not tried
    assert [code for code, _ in told(write(repeated(300)))] == ["E998"]


def test_deep_and_long_files_are_refused():
    assert told("[" * 10_000) == [("E022", 1)]
    assert told('{"a":' * 100) == [("E022", 1)]


def test_a_file_is_recognised_by_what_it_holds():
    for text in (text_of(), "// note\n" + text_of(head='"model_parameters": {},')):
        assert recognise(Source("model", text, text.encode())).name == "shift"
