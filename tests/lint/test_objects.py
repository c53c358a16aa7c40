"""Rules for object files: ids, bots, references into the network, files that must be found."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import Problems
from cbsim.formats import read_file
from cbsim.formats.companions import find_mesh_file
from cbsim.formats.objects.values import PARAMETERS
from cbsim.lint.objects import lint_objects
from cbsim.paths import Files
from cbsim.spec.objects import MeshFile
from cbsim.spec.road import Lane, Perimeter, Points, RoadNetwork, Segment, Spot, Zone
from tests.common import shared
from tests.formats.object_texts import (
    BOT,
    FILES,
    MANUAL,
    MESH,
    MOVER,
    NINE,
    PAUSE,
    STATIC,
    STEERING,
    WHEELS,
    codes,
    element,
    v1,
    v2,
)


def points(count):
    zeros = np.zeros(count)
    return Points(tuple(range(1, count + 1)), zeros, zeros, (("0", "0"),) * count, (1,) * count)


NETWORK = RoadNetwork(
    "town",
    (Segment(1, (Lane(1, 1, points(4)), Lane(1, 2, points(2)))),),
    (Zone(2, Perimeter(points(5)), (Spot(2, 1, points(2)),)),),
)
CONF = "onboard/scan_gp_driver_0.conf"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working directory beside the object file's; nothing in the environment."""
    (tmp_path / "cwd").mkdir()
    (tmp_path / "files").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    monkeypatch.setenv("CBCONF", str(tmp_path / "conf"))
    monkeypatch.delenv("CBBOTNAME", raising=False)
    return tmp_path / "files"


def put(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("rate 10\n")


def lint(folder, text, network=None, *, strict=False, name="objects.obj"):
    path = folder / name
    path.write_text(text)
    reading = read_file(path)
    assert not reading.problems.errors
    problems = Problems()
    lint_objects(reading.spec, network, Files([path]), problems, strict=strict)
    return list(problems)


# --- ids, names, bots ------------------------------------------------------------------------------------------------
def test_d24_duplicate_id_is_an_error_that_names_both_lines(folder):
    problems = lint(folder, v1(STATIC, MANUAL, STATIC))
    found = next(p for p in problems if p.code == "E650")
    assert (found.location.line, found.also.line) == (29, 2)


def test_d24_gaps_between_ids_and_meshes_without_are_fine(folder):
    assert "E650" not in {p.code for p in lint(folder, v1(STATIC, MOVER, MESH, MESH))}


def test_objects_of_the_same_name_warn(folder):
    text = v2(element("static", name="Box"), element("static", name="Box"))
    assert (10, "W651") in codes(lint(folder, text, name="o.xml"))


def test_d25_file_without_bot_warns(folder):
    assert codes(lint(folder, v1(STATIC))) == [(1, "W652")]


def test_d25_vehicle_that_follows_waypoints_is_no_ego(folder):
    follower = ["0", "3", *MOVER[2:9], *BOT[2:19], "0"]
    assert codes(lint(folder, v1(follower))) == [(1, "W652")]


def test_vehicles_that_drive_their_own_lists_are_not_called_absent(folder):
    follower = ["0", "3", *MOVER[2:9], *BOT[2:19], "0"]
    other = [*follower]
    other[other.index("1", 9)] = "7"  # its id
    (one,) = [problem for problem in lint(folder, v1(follower)) if problem.code == "W652"]
    assert "that object has another" in one.message
    (two,) = [problem for problem in lint(folder, v1(follower, other)) if problem.code == "W652"]
    message = "no autonomous object of the file has the controller 'sensor': all 2 of them have another"
    assert two.message == f"{message}; there is no ego for a planner to drive"


def test_d25_more_than_one_bot_is_remarked(folder):
    second = [*BOT[:2], "9", *BOT[3:]]
    problems = lint(folder, v1(BOT, second, STATIC))
    assert [(p.location.line, p.also.line) for p in problems if p.code == "I653"] == [(24, 2)]


def test_mover_without_goals_is_remarked(folder):
    assert "I659" in {p.code for p in lint(folder, v1(["1", "3", "0", "7", "0", "0 0 0", *NINE]))}


# --- references into the network -------------------------------------------------------------------------------------
def test_d15_references_are_not_checked_without_a_network(folder):
    assert "E654" not in {p.code for p in lint(folder, v1(MOVER))}


def test_d15_start_to_missing_waypoint_names_its_line_and_the_nearest(folder):
    problems = lint(folder, v1([*STATIC[:3], "1 1 9", *NINE]), NETWORK)
    found = next(p for p in problems if p.code == "E654")
    assert (found.location.line, found.hint) == (5, "did you mean '1.1.4'?")
    assert "start position '1.1.9'" in found.message


def test_d15_goal_to_missing_waypoint_names_its_line(folder):
    text = v1(["1", "3", "2", "5", "0", "1 1 2", "5", "0", "1 2 3", "7", "0", "1 1 1", *NINE])
    problems = lint(folder, text, NETWORK)
    assert [(p.location.line, p.hint) for p in problems if p.code == "E654"] == [(10, "did you mean '1.2.2'?")]


@pytest.mark.parametrize("point", ["1 2 2", "2 0 5", "2 1 2", "0 0 0"])
def test_waypoints_perimeter_points_spots_and_the_origin_are_places(folder, point):
    assert codes(lint(folder, v1([*STATIC[:3], point, *NINE]), NETWORK), "E") == []


def test_d5_lane_zero_of_what_is_no_zone_is_refused(folder):
    problems = lint(folder, v1([*STATIC[:3], "1 0 2", *NINE]), NETWORK)
    assert [p.code for p in problems if p.code[0] == "E"] == ["E654"]
    assert "'1' is no zone" in problems[-1].message


def test_d14_open_goal_that_adds_nothing_warns(folder):
    goal = '<goal speed="2" pause="0" segment="1" lane="2"/>'
    text = v2(
        element("dynamic", "<initial_pause>0</initial_pause>", '<goal speed="2" pause="0" segment="1" lane="2"/>', goal)
    )
    assert codes(lint(folder, text, NETWORK, name="o.xml")) == [(1, "W652"), (11, "W662")]


def test_d15_first_goal_on_another_lane_is_remarked(folder):
    text = v1(["1", "3", "1", "5", "0", "1 2 2", "7", "0", "1 1 1", *NINE])
    assert "I658" in {p.code for p in lint(folder, text, NETWORK)}


# --- what the reader has refused -------------------------------------------------------------------------------------
def all_lines(folder, text, name="o.xml"):
    """Codes of what reader and linter say together, remarks included."""
    path = folder / name
    path.write_text(text)
    reading = read_file(path)
    problems = Problems(reading.problems)
    lint_objects(reading.spec, NETWORK, Files([path]), problems)
    return [p.code for p in problems]


GOAL = '<goal speed="2" pause="0" segment="1" lane="1" waypoint="2"/>'
DRIVEN = ('<wheels type="1" radius="0.3" width="0.2"/>', '<steering throttle_rate="1" lever_rate="1"/>')
CAR = element("autonomous", *DRIVEN)


@pytest.mark.parametrize(("child", "code"), [
    (GOAL.replace('waypoint="2"', 'waypoint="2.5"'), "E604"),
    (GOAL.replace('waypoint="2"', 'waypoint="0"'), "E613"),
    (GOAL.replace('lane="1"', 'lane="x"'), "E604"),
    (GOAL.replace('lane="1" waypoint="2"', 'lane="0"'), "E613"),
    (GOAL.replace('waypoint="2"', 'waypoint="9"'), "E654"),
])  # fmt: skip
def test_one_mistake_of_a_goal_gives_one_line(folder, child, code):
    assert all_lines(folder, v2(CAR, element("dynamic", PAUSE, child, name="Mover"))) == [code]


def test_empty_goal_only_lacks_its_attributes(folder):
    found = all_lines(folder, v2(CAR, element("dynamic", PAUSE, "<goal/>", name="Mover")))
    assert found == ["E632"] * 4


@pytest.mark.parametrize(("children", "kind", "code"), [
    ((*DRIVEN, '<sensor conf=""/>'), "autonomous", "E619"),
    ((*DRIVEN, "<sensor/>"), "autonomous", "E632"),
    (DRIVEN, "autonomus", "E605"),
    (DRIVEN, "xyzzy", "E605"),
])  # fmt: skip
def test_one_mistake_of_a_bot_gives_one_line(folder, children, kind, code):
    assert all_lines(folder, v2(element(kind, *children))) == [code]


def test_mesh_without_a_file_name_is_told_once(folder):
    put(folder / "indices.txt")
    found = all_lines(folder, v2(CAR, element("mesh", '<vertices path="base"/>', FILES[1], name="Hill")))
    assert found == ["E619", "I657"]


def test_mistyped_path_mode_is_told_once(folder):
    put(folder / "indices.txt")
    found = all_lines(folder, v2(CAR, element("mesh", FILES[0].replace("base", "bse"), FILES[1], name="Hill")))
    assert found == ["E638", "I657"]


def test_bot_that_was_dropped_for_its_mistakes_is_not_missed(folder):
    broken = [*BOT]
    broken[4] = "huh"
    found = all_lines(folder, v1(broken, STATIC), "objects.obj")
    assert "W652" not in found
    assert any(code[0] == "E" for code in found)


def test_v1_point_that_is_refused_is_told_once(folder):
    text = v1(BOT, ["1", "3", "1", "5", "0", "1 1 2.5", "7", "0", "1 1 1", *NINE])
    put(folder / CONF)
    found = [code for code in all_lines(folder, text, "objects.obj") if code[0] != "I"]
    assert found == ["E604", "E654"]  # the bot starts at 1.2.3, which is not there


# --- what has no effect ----------------------------------------------------------------------------------------------
DELAYS = {"throttle_delay", "steering_delay", "throttle_lag", "steering_lag"}
ROLLING = {"wheelbase", "max_steer", "mass", "yaw_inertia", "max_speed", "max_acceleration", "max_deceleration"}


@pytest.mark.parametrize(("drive", "unused"), [
    ("dynamic", DELAYS | {"track", "axles", "drive_force"}),
    ("kinematic", set(PARAMETERS) - ROLLING - {"restitution", "body_friction"}),
    ("delayed", set(PARAMETERS) - ROLLING - DELAYS - {"restitution", "body_friction"}),
    ("skid", DELAYS | {"max_steer", "front_load", "front_grip", "drive_split", "rolling_resistance"}),
])  # fmt: skip
def test_parameters_without_effect_are_remarked(folder, drive, unused):
    values = " ".join(f'{name}="{quantity.most}"' for name, quantity in PARAMETERS.items())
    wheels = DRIVEN[0].replace('type="1"', f'type="{int(drive != "skid")}"')
    vehicle = element("autonomous", wheels, DRIVEN[1], attributes=f' drive="{drive}" {values}')
    (found,) = [p for p in lint(folder, v2(vehicle), name="o.xml") if p.code == "I660"]
    assert {name for name in PARAMETERS if f"'{name}'" in found.message} == unused


def test_drive_of_what_moves_literally_has_no_effect(folder):
    found = lint(folder, v2(element("dynamic", GOAL, attributes=' drive="dynamic"')), name="o.xml")
    assert ["'drive'" in p.message for p in found if p.code == "I660"] == [True]


def test_parameters_with_effect_are_not_remarked(folder):
    vehicle = element("autonomous", *DRIVEN, attributes=' wheelbase="2" max_steer="30" max_acceleration="2"')
    assert codes(lint(folder, v2(vehicle), name="o.xml"), "I") == []


# --- sensor confs ----------------------------------------------------------------------------------------------------
def test_d28_missing_conf_warns_and_is_an_error_when_strict(folder):
    assert codes(lint(folder, v1(BOT))) == [(23, "W655")]
    assert codes(lint(folder, v1(BOT), strict=True)) == [(23, "E655")]


@pytest.mark.parametrize("place", ["conf/object 1", "conf", "files", "cwd"])
def test_d28_conf_is_found_in_each_folder_of_the_order(folder, place):
    put(folder.parent / place / CONF)
    assert codes(lint(folder, v1(BOT))) == []


def test_d28_bot_name_of_the_environment_chooses_the_folder(folder, monkeypatch):
    monkeypatch.setenv("CBBOTNAME", "ragin")
    put(folder.parent / "conf" / "ragin" / CONF)
    assert codes(lint(folder, v1(BOT))) == []


def test_d28_absolute_conf_outside_the_allowed_folders_is_not_found(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "x.conf"
    put(elsewhere)
    inside = folder / "y.conf"
    put(inside)
    assert codes(lint(folder, v1([*BOT[:-1], str(elsewhere)]))) == [(23, "W655")]
    assert codes(lint(folder, v1([*BOT[:-1], str(inside)]))) == []


def test_d28_conf_may_not_climb_out(folder, tmp_path_factory):
    put(folder.parent / "secret.conf")
    assert codes(lint(folder, v1([*BOT[:-1], "../secret.conf"]))) == [(23, "W655")]


# --- mesh files ------------------------------------------------------------------------------------------------------
def test_d27_missing_mesh_files_are_errors_at_their_lines(folder):
    assert codes(lint(folder, v1(MESH)), "E") == [(3, "E656"), (4, "E656")]


def test_d27_base_is_looked_for_in_the_working_directory_then_beside_the_object_file(folder):
    for name in MESH[1:3]:
        put(folder / name)
    assert codes(lint(folder, v1(MESH)), "EI") == [(3, "I657"), (4, "I657")]
    for name in MESH[1:3]:
        put(folder.parent / "cwd" / name)
    assert codes(lint(folder, v1(MESH)), "EI") == []


def test_d27_full_is_taken_as_it_is(folder):
    text = v2(element("mesh", *(line.replace("base", "full") for line in FILES)))
    for name in MESH[1:3]:
        put(folder / name)
    assert [code for _, code in codes(lint(folder, text, name="o.xml"), "E")] == ["E656", "E656"]
    assert find_mesh_file(MeshFile(str(folder / "vertices.txt"), "full"), folder, Files([folder])) is not None


# --- real files ------------------------------------------------------------------------------------------------------
def test_published_example_resolves_in_the_darpa_sample_network():
    path, network = shared("cajunbot", "Objects.xml"), read_file(shared("rndf", "terminus", "gazebo8__darpa.rndf")).spec
    problems = Problems()
    lint_objects(read_file(path).spec, network, Files([path]), problems)
    assert codes(problems, "E") == []


def test_published_sample_does_not():
    path, network = shared("cajunbot", "Sample.obj"), read_file(shared("rndf", "terminus", "gazebo8__darpa.rndf")).spec
    problems = Problems()
    lint_objects(read_file(path).spec, network, Files([path]), problems)
    assert [line for line, code in codes(problems) if code == "E654"] == [30, 57, 60, 63, 66, 69]


@pytest.mark.parametrize(
    ("attributes", "children", "expected"),
    [
        ("", [PAUSE, '<goal pause="0" segment="1" lane="1" waypoint="2"/>'], []),
        (' controller="script"', [PAUSE, '<script speed="1" pause="0" distance="2" angle="0"/>'], ["E830"]),
        (' controller="manual"', [PAUSE], ["E830"]),
        ("", ["<initial_pause>2</initial_pause>"], []),
    ],
)
@pytest.mark.parametrize("kind", ["dynamic", "autonomous"])
def test_what_is_reactive_drives_to_goals_from_the_start_on(folder, kind, attributes, children, expected):
    if kind == "autonomous":
        children = [WHEELS, STEERING, *(child for child in children if child != PAUSE and "initial" not in child)]
        if any("goal" in child for child in children):
            attributes += ' controller="waypoint"'
    text = v2(element(kind, *children, attributes=f' reactive="true"{attributes}'))
    found = lint(folder, text, NETWORK, name="objects.xml")
    assert [p.code for p in found if p.code[0] == "E"] == expected
    assert all(p.location.line == 3 for p in found if p.code == "E830")
