"""Every key of every record, left out, null, and with every kind of value: read, or told in a line; written back."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from pathlib import Path

import pytest

from cbsim.errors import ModelError, Problems
from cbsim.formats.reader import Source
from cbsim.formats.shift import write
from cbsim.formats.shift.grammar import RECORDS
from cbsim.formats.shift.units import UNITS
from cbsim.models.shift import count
from cbsim.models.shift.description import description_of
from cbsim.models.shift.external_references import check_named
from cbsim.paths import Files
from tests.models.shift.models import model_of, read

WRONG = (
    None, True, False, 0, -1, 0.5, 1e13, "", "x", "nix:y", [], [1], [1, 2, 3], ["x", "y"], [["a"]], {}, {"x": 1}, [{}],
    [None], [[1, 0], [0, 1]], [["fixed", "origin"], ["b", "f"]], "Rz", ["fixed", "origin"],
)  # fmt: skip
MOMENTS = {"Ixx": 1.0, "Iyy": 1.0, "Izz": 1.0}


def whole():
    """A file with one record of every kind, and every one of them in use."""
    pid = {"type": "pid", "name": "p", "p": 1.0, "i": 0.1, "d": 0.1, "target": 0.2,
           "input": {"type": "frame", "body_frame_pair": ["b", "f"], "dof": "Rx", "coordinate_system": "local",
                     "target_type": "velocity"},
           "output": {"type": "joint", "joint": "j"}}  # fmt: skip
    tyre = {"type": "tire", "name": "t", "tire_type": "fiala", "wheel_body": "w", "unloaded_radius": 0.3}
    return {
        "model_parameters": {
            "version": "2.0", "units": {"angle": "radians", "length": "meters", "mass": "kilograms", "time": "seconds"},
            "gravity": [0, 0, 9.81], "include_directories": ["."],
            "simulation": {"type": "ode113", "time_span": 1.0, "time_step": 0.01, "relative_error": 1e-6,
                           "absolute_error": 1e-6, "contact_detection": True},
        },
        "fixed": {
            "frames": [{"name": "g", "R": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "T": [1, 0, 0]}],
            "lights": [{"name": "sun", "type": "point", "parent": ["fixed", "g"], "Ka": [1, 1, 1]}],
            "terrain": [{"name": "hill", "parent": ["fixed", "g"], "elevation_map": "h.tif", "scale": [1, 1],
                         "coordinate_type": "sae"}],
        },
        "assemblies": [{
            "name": "a", "active": True,
            "bodies": [
                {"name": "b", "mass": 1.0, "center_of_mass": [0, 0, 0.1], "moment_of_inertia": dict(MOMENTS),
                 "frames": [{"name": "f", "T": [0, 0, 1]}],
                 "geometry": [{"type": "mesh", "filename": ["b.obj", "b.mtl"]}],
                 "collision_geometry": "sphere"},
                {"name": "c", "inertia": MOMENTS | {"mass": 2.0}},
                {"name": "w", "mass": 1.0, "moment_of_inertia": dict(MOMENTS)},
            ],
            "joints": [
                {"name": "j", "type": "Rx", "body_frame_pairs": [["fixed", "g"], ["b", "origin"]],
                 "initial_displacement": 0.1, "initial_velocity": 0.2, "stiffness": [0, 1.0], "damping": [0, 0.1]},
                {"name": "k", "type": "revolute", "axis": [0, 1, 0], "parent": [["b"], "f"], "child": ["c"]},
                {"name": "l", "type": "float", "body_frame_pairs": [["fixed", "origin"], ["w", "origin"]],
                 "initial_displacement": {"R": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "T": [0, 3, -1]},
                 "initial_velocity": [0, 0, 0, 0, 0, 0]},
            ],
            "restraints": [
                {"name": "r", "type": "spring", "joint": "k", "knot_points": [0], "coefficients": [[2, 0.5, 0], [0]]},
                {"name": "s", "type": "damper", "body_frame_pair": [["b", "f"], ["w", "origin"]], "distance_type": "Tz",
                 "coefficients": [[1, 0]]},
            ],
            "force_modules": [pid, tyre],
            "assemblies": [{"name": "in", "bodies": [{"name": "d", "mass": 1.0}], "joints": [
                {"name": "m", "type": "Tz", "body_frame_pairs": [["a:c", "origin"], ["d", "origin"]]}]}],
        }],
    }  # fmt: skip


A = ("assemblies", 0)
PLACES = {
    "file": (), "model_parameters": ("model_parameters",), "units": ("model_parameters", "units"),
    "simulation": ("model_parameters", "simulation"), "fixed": ("fixed",), "frame": ("fixed", "frames", 0),
    "light": ("fixed", "lights", 0), "terrain": ("fixed", "terrain", 0), "assembly": A, "body": (*A, "bodies", 0),
    "geometry": (*A, "bodies", 0, "geometry", 0), "moment_of_inertia": (*A, "bodies", 0, "moment_of_inertia"),
    "joint": (*A, "joints", 0), "initial_displacement": (*A, "joints", 2, "initial_displacement"),
    "restraint": (*A, "restraints", 0), "force_module": (*A, "force_modules", 0),
    "input": (*A, "force_modules", 0, "input"), "output": (*A, "force_modules", 0, "output"),
}  # fmt: skip


def odd(place, key, value, *, there=True):
    """The file with a key of a record changed, or without it."""
    found = copy.deepcopy(whole())
    record = found
    for step in place:
        record = record[step]
    if there:
        record[key] = value
    else:
        record.pop(key, None)
    return found


def check(record, what):
    """Read a file: a model or located errors; what has no error is written, read the same, counted and made."""
    text = json.dumps(record, indent=1)
    spec, problems = model_of(text)
    lines = text.count("\n") + 1
    assert spec is not None or problems.errors, what
    for problem in problems:
        assert 1 <= problem.location.line <= lines, (what, problem)
        assert "\n" not in str(problem), what
    if spec is None or problems.errors:
        return problems
    again, _ = model_of(write(spec))
    assert again == spec, what
    assert write(again) == write(spec), what
    assert count(spec)["bodies"] >= 0
    found = Problems()
    path = Path("model.json")
    check_named(spec, Path(), Files([path]), found)
    if any(body.active for _, one in spec.walk() if one.active for body in one.bodies):
        with suppress(ModelError):  # bodies in assemblies that are not active are none
            assert len(description_of(spec, 0.01, Path(), Files([path]), found).spec.bodies) >= 1, what
    return problems


def test_the_whole_file_has_no_mistake():
    assert not list(check(whole(), "whole"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLACES)
def test_every_key_of_a_record_may_be_left_out_or_hold_anything(kind):
    place = PLACES[kind]
    for key in RECORDS[kind].model_fields:
        check(odd(place, key, None, there=False), (kind, key, "left out"))
        for value in WRONG:
            check(odd(place, key, value), (kind, key, value))


@pytest.mark.parametrize("kind", PLACES)
def test_a_key_that_is_unknown_is_told_with_what_may_be_meant(kind):
    place = PLACES[kind]
    key = max(RECORDS[kind].model_fields, key=len)
    problems = check(odd(place, key[:-1] + "q", 1), kind)
    told = [problem for problem in problems if problem.code == "W963"]
    assert [problem.hint.startswith("did you mean") for problem in told] == [True], kind


UNIT_NAMES = [(quantity, name) for quantity, names in UNITS.items() for name in names]


@pytest.mark.parametrize(("quantity", "name"), UNIT_NAMES)
def test_a_pendulum_in_any_units_is_the_same_pendulum(quantity, name):
    size = UNITS[quantity][name]
    length, mass, time = (size if quantity == one else 1.0 for one in ("length", "mass", "time"))
    angle = size if quantity == "angle" else 1.0
    inertia, torque = mass * length**2, mass * length**2 / time**2
    record = {
        "model_parameters": {"units": {quantity: name.upper()}, "gravity": [0, 0, 9.81 * time**2 / length]},
        "assemblies": [{
            "name": "a",
            "bodies": [{"name": "b", "mass": 2.0 / mass, "center_of_mass": [0, 0, 0.5 / length],
                        "moment_of_inertia": dict.fromkeys(MOMENTS, 1.5 / inertia)}],
            "joints": [{"name": "j", "type": "Rx", "body_frame_pairs": ["fixed", "b"],
                        "initial_displacement": 0.3 / angle, "initial_velocity": 0.4 * time / angle,
                        "stiffness": [0.1 / torque, 2.0 * angle / torque],
                        "damping": [0.0, 0.3 * angle / torque / time]}],
            "restraint": {"type": "spring", "joint": "j", "coefficients": [[0.7 * angle**2 / torque, 0, 0]]},
        }],
    }  # fmt: skip
    spec, problems = model_of(json.dumps(record))
    assert not list(problems)
    assert spec.gravity[2] == pytest.approx(9.81)
    (body,), (joint,), (spring,) = spec.assemblies[0].bodies, spec.assemblies[0].joints, spec.assemblies[0].restraints
    assert (body.mass, body.center_of_mass[2], body.inertia[0]) == pytest.approx((2.0, 0.5, 1.5))
    assert (joint.displacement, *joint.rates) == pytest.approx((0.3, 0.4))
    assert (*joint.stiffness, joint.damping[1]) == pytest.approx((0.1, 2.0, 0.3))
    assert spring.pieces[0][0] == pytest.approx(0.7)
    assert model_of(write(spec))[0] == spec


def test_assemblies_in_assemblies_are_found_by_their_paths():
    inner = {"name": "bottom", "bodies": [{"name": "b", "mass": 1.0, "frames": [{"name": "f"}]}], "joints": []}
    for level in range(20):
        inner = {"name": f"level {level}", "bodies": [], "joints": [], "assemblies": [inner]}
    path = [*(f"level {level}" for level in reversed(range(20))), "bottom", "b"]
    for end in (":".join(path) + ":f", [":".join(path), "f"], [path, "f"], [path[1:], "f"]):
        joint = {"name": "j", "type": "Ry", "parent": "fixed", "child": end}
        record = {"model_parameters": {"gravity": [0, 0, 1]}, "assemblies": [inner | {"joints": [joint]}]}
        assert not list(check(record, end))
    joint = {"name": "j", "type": "Ry", "parent": "fixed", "child": ["b", "f"]}
    _, problems = model_of(json.dumps({"assemblies": [inner | {"joints": [joint]}]}))
    (error,) = problems.errors
    assert error.code == "E983"  # a lone name is local
    assert error.hint.startswith("there is 'level 19:level 18:")


def test_a_mark_at_the_beginning_and_windows_ends_of_lines_change_nothing():
    text = json.dumps(whole(), indent=1)
    plain, marked = model_of(text)[0], Problems()
    assert read(Source.decode("m.json", b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()), marked) == plain
    assert not list(marked)
