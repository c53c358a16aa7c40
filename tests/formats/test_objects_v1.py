"""Object files, version 1: the grammar, its dialects, and what happens to mistakes."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.errors import Problems, UsageError
from cbsim.export.objects import to_v1
from cbsim.formats import objects_v1, read_file
from cbsim.formats.objects_v1 import reader, records
from cbsim.formats.reader import Source
from cbsim.spec.objects import (
    Controller,
    Goal,
    Kind,
    MeshFile,
    ObjectFile,
    ShapeKind,
    TrafficObject,
    Triple,
    Wheels,
    WheelType,
)
from cbsim.spec.road import PointId
from tests.common import shared, shared_files
from tests.formats.object_texts import (
    BOT,
    GOAL,
    GOALS,
    MANUAL,
    MESH,
    MOVER,
    NINE,
    OLD_MOVER,
    SCRIPTED,
    STATIC,
    codes,
    object_files,
    read_v1,
    v1,
)

ALL = (BOT, SCRIPTED, MANUAL, MESH, OLD_MOVER, STATIC, MOVER)


def only(item, *, letters="EW"):
    """The object of a file of one, and the codes of its problems."""
    spec, problems = read_v1(v1(item))
    return spec.objects[0], [code for _, code in codes(problems, letters)]


def replaced(item, index, text):
    return [*item[:index], text, *item[index + 1 :]]


# --- what a file says ------------------------------------------------------------------------------------------------
def test_static_object_gives_pose_and_size():
    item, found = only(["2", "6", "2", "4 5 6", "1", "-2", ".5", "1.2", "1.2", "3", "10", "20", "90"])
    assert found == []
    assert (item.kind, item.identifier, item.name, item.shape) == (Kind.STATIC, 6, "object 6", ShapeKind.CYLINDER)
    assert item.anchor == PointId(4, 5, 6)
    assert item.position_offset == Triple(1.0, -2.0, 0.5)
    assert item.size == Triple(1.2, 1.2, 3.0)
    assert item.orientation_offset.z == pytest.approx(math.pi / 2)


def test_bot_has_wheels_steering_and_sensors():
    item, found = only(BOT)
    assert found == []
    assert (item.kind, item.controller) == (Kind.AUTONOMOUS, Controller.SENSOR)
    assert item.wheels == Wheels(WheelType.CONVENTIONAL, 0.38, 0.20)
    assert [s.conf for s in item.sensors] == ["onboard/scan_gp_driver_0.conf"]


def test_script_has_four_lines_per_entry():
    item, found = only(SCRIPTED)
    assert found == []
    assert [(e.speed, e.pause, e.distance) for e in item.script] == [(2.5, 0.0, 10.0), (1.0, 3.0, 5.0)]
    assert item.script[1].angle == pytest.approx(math.pi / 2)


def test_locations_name_the_lines_of_object_anchor_goal_and_file():
    spec, _ = read_v1(v1(MESH, MOVER))
    mesh, mover = spec.objects
    assert (mesh.location.line, mesh.vertices.location.line, mesh.anchor_location.line) == (2, 3, 5)
    assert (mover.location.line, mover.goals[1].location.line, mover.anchor_location.line) == (6, 14, 17)


def test_count_tells_objects_of_each_kind_and_sensors():
    spec, _ = read_v1(v1(*ALL))
    assert objects_v1.count(spec) == {
        "objects": 7, "autonomous": 1, "dynamic": 4, "static": 1, "mesh": 1, "sensors": 1,
    }  # fmt: skip


# --- the resolutions of the reference --------------------------------------------------------------------------------
def test_d1_mover_without_controller_line_is_taken_as_waypoint_with_one_warning():
    old, found = only(OLD_MOVER)
    new, none = only(MOVER)
    assert (found, none) == (["W601"], [])
    assert old == new


def test_d1_warning_names_the_line_and_the_rule():
    _, problems = read_v1(v1(OLD_MOVER))
    assert problems[0].location.line == 3
    assert "V1-IMPLIED-CONTROLLER" in problems[0].message


def test_d1_writer_emits_the_controller_line():
    spec, _ = read_v1(v1(OLD_MOVER))
    again, problems = read_v1(objects_v1.write(spec))
    assert (again, problems) == (spec, [])


def test_d1_dialect_is_chosen_for_each_object_of_its_own():
    spec, problems = read_v1(v1(OLD_MOVER, MOVER, OLD_MOVER))
    assert [o.goals for o in spec.objects] == [spec.objects[0].goals] * 3
    assert [code for _, code in codes(problems)] == ["W601", "W601"]


def test_d1_mover_without_goals_reads_the_same_in_both_dialects():
    item, _ = only(["1", "0", "7", "0", "1 1 1", *NINE])
    assert (item.identifier, item.goals, item.anchor) == (7, (), PointId(1, 1, 1))


def test_d2_type_three_is_a_mesh_and_shape_three_a_wheel():
    spec, problems = read_v1(v1(MESH, replaced(STATIC, 2, "3")))
    assert [o.shape for o in spec.objects] == [ShapeKind.MESH, ShapeKind.WHEEL]
    assert codes(problems, "E") == []


def test_d2_shape_four_needs_a_mesh_object():
    _, found = only(replaced(STATIC, 2, "4"))
    assert found == ["E618"]


def test_d3_mesh_without_anchor_stands_at_the_origin_and_has_no_id():
    item, found = only([*MESH[:3], "0 0 0"])
    assert (item.anchor, item.identifier, item.name, found) == (None, None, "mesh 1", [])


def test_d4_static_object_after_a_mover_reads_no_waypoints():
    spec, problems = read_v1(v1(MOVER, STATIC))
    assert (spec.objects[1].controller, spec.objects[1].goals, problems) == (None, (), [])


@pytest.mark.parametrize("text", ["0 0 0", "0.0.0"])
def test_d5_zeros_disable_the_anchor(text):
    item, found = only(replaced(STATIC, 3, text))
    assert (item.anchor, found) == (None, [])


def test_d5_offsets_count_from_the_origin_without_an_anchor():
    item, found = only(["2", "6", "0", "0 0 0", "12.5", "-3", *NINE[2:]])
    assert (item.anchor, tuple(item.position_offset), found) == (None, (12.5, -3.0, 0.0), [])


def test_d5_dotted_anchor_is_accepted():
    assert only(replaced(STATIC, 3, "4.5.6 // position")) == only(STATIC)


@pytest.mark.parametrize("text", ["0 1 2", "1 2 0", "0 0 3", "1 0 0"])
def test_d5_partial_zero_is_refused(text):
    _, found = only(replaced(STATIC, 3, text))
    assert found == ["E613"]


def test_d5_lane_zero_is_a_perimeter_point():
    item, found = only(replaced(STATIC, 3, "14 0 2"), letters="EWI")
    assert (item.anchor, found) == (PointId(14, 0, 2), ["I614"])


def test_d5_anchor_on_three_lines_is_refused():
    _, problems = read_v1(v1(["2", "6", "0", "4", "5", "6", *NINE]))
    assert codes(problems, "E") == [(5, "E602")]


def test_d6_other_sensor_types_are_kept_with_a_warning():
    item, found = only(replaced(BOT, 20, "3"))
    assert (item.sensors[0].type_code, found) == (3, ["W615"])


def test_d7_comments_blanks_of_unicode_crlf_and_byte_order_mark_do_not_matter():
    plain, _ = read_v1(v1(BOT, STATIC))
    lines = v1(BOT, STATIC).splitlines()
    dirty = "\ufeff// a comment\r\n" + "\r\n\u00a0 \u2003\r\n".join(
        f" {line}\t// note" if "/" in line else f"{line}//note" for line in lines
    )
    assert read_v1(dirty) == (plain, [])


def test_d7_double_slash_inside_a_path_survives():
    item, _ = only(replaced(BOT, 21, "onboard//x.conf // the roof unit"))
    assert item.sensors[0].conf == "onboard//x.conf"


def test_d7_latin_1_blanks_separate_objects():
    spec, problems = read_v1(v1(STATIC).encode() + b"\xa0 \n")
    assert (len(spec.objects), problems) == (1, [])


def test_d8_simulated_object_may_follow_waypoints():
    item, found = only(["0", "3", *GOALS, *BOT[2:]])
    assert (item.kind, item.controller, len(item.goals), found) == (Kind.AUTONOMOUS, Controller.WAYPOINT, 2, [])


def test_d8_kinematic_object_with_sensor_controller_is_treated_as_manual():
    item, found = only(replaced(MANUAL, 1, "0"))
    assert (item.controller, found) == (Controller.MANUAL, ["W616"])


def test_d9_script_angle_stays_as_written():
    spec, _ = read_v1(v1(SCRIPTED))
    assert [line for line in objects_v1.write(spec).splitlines() if "angle on the map" in line] == [
        "0 // angle on the map [deg]", "90 // angle on the map [deg]",
    ]  # fmt: skip


def test_d10_waypoint_of_a_goal_is_a_triple():
    item, _ = only(MOVER)
    assert item.goals[0] == Goal(5.0, 0.0, 1, 1, 1)


def test_d11_speed_zero_warns_and_negative_speed_is_refused():
    assert only(replaced(MOVER, 3, "0"))[1] == ["W612"]
    assert only(replaced(MOVER, 3, "-1"))[1] == ["E611"]


def test_d12_initial_pause_is_zero():
    assert only(MOVER)[0].initial_pause == 0.0


def test_d13_negative_pause_is_refused():
    assert only(replaced(MOVER, 4, "-0.5"))[1] == ["E611"]


def test_d16_orientation_is_in_degrees():
    item, _ = only([*STATIC[:-1], "180"])
    assert item.orientation_offset.z == pytest.approx(math.pi)


@pytest.mark.parametrize(("shape", "size", "code"), [
    ("1", ["1", "2", "1"], ["W617"]), ("1", ["1", "1", "1"], []), ("2", ["1", "2", "5"], ["W617"]),
    ("2", ["1", "1", "5"], []), ("3", ["1", "2", "3"], ["W617"]), ("3", ["1", "2", "2"], []),
])  # fmt: skip
def test_d20_sizes_of_round_shapes_that_disagree_warn(shape, size, code):
    assert only(["2", "6", shape, "4 5 6", *NINE[:3], *size, *NINE[6:]])[1] == code


@pytest.mark.parametrize("size", ["0", "-1"])
def test_d20_sizes_that_are_not_positive_are_refused(size):
    assert only(replaced(STATIC, 8, size))[1] == ["E611"]


def test_d23_fewer_objects_than_counted_is_an_error_at_the_end():
    _, problems = read_v1(v1(STATIC, MESH, count=3))
    assert [str(p) for p in problems] == [
        "traffic.obj:18: error: the file says it has 3 objects, but holds 2 [E608] (see traffic.obj:1)"
    ]


def test_d23_more_objects_than_counted_are_read_on_with_a_warning():
    spec, problems = read_v1(v1(STATIC, MESH, MOVER, count=1))
    assert len(spec.objects) == 3
    assert codes(problems) == [(15, "W609")]


def test_d23_text_after_the_last_object_is_a_warning():
    spec, problems = read_v1(v1(STATIC) + "the end\nreally\n")
    assert (len(spec.objects), codes(problems)) == (1, [(15, "W609")])


def test_d23_file_without_objects_is_legal():
    assert read_v1("0 // none\n")[1] == []


def test_d23_count_of_four_with_three_objects_is_an_error():
    _, problems = read_v1(v1(BOT, STATIC, MOVER, count=4))
    assert codes(problems, "E") == [(57, "E608")]


def test_d26_name_of_a_v1_file_is_default():
    assert read_v1(v1(STATIC))[0].name == "Default"


def test_d27_absolute_mesh_paths_are_full():
    spec, _ = read_v1(v1(["3", "/maps/v.txt", r"C:\maps\i.txt", "0 0 0"]))
    assert [spec.objects[0].vertices.mode, spec.objects[0].indices.mode] == ["full", "full"]


def test_d30_numbers_keep_their_text():
    spec, _ = read_v1(v1(replaced(replaced(STATIC, 4, "4.470400"), 10, "0.20")))
    text = objects_v1.write(spec)
    assert "\n4.470400 //" in text
    assert "\n0.20 //" in text


# --- mistakes --------------------------------------------------------------------------------------------------------
def test_unknown_controller_names_its_line_and_what_there_is():
    _, problems = read_v1(v1(replaced(BOT, 1, "7")))
    assert codes(problems, "E") == [(3, "E606")]
    assert "3 waypoint" in problems[0].hint


@pytest.mark.parametrize("text", ["five", "1e999", "nan", "0x10", "1_0", "१", "--1", "9" * 5000])
def test_what_is_not_a_number_is_refused_at_its_line(text):
    _, problems = read_v1(v1(replaced(STATIC, 7, text)))
    assert [p.location.line for p in problems] == [9]
    assert len(problems[0].message) < 160


def test_decimal_comma_gets_a_hint():
    _, problems = read_v1(v1(replaced(STATIC, 7, "1,5")))
    assert (problems[0].code, problems[0].hint) == ("E604", "write a decimal point, not a comma")


def test_words_after_a_number_need_a_comment_sign():
    item, found = only(replaced(STATIC, 7, "2 size x"))
    assert (item.size.x, found) == (2.0, ["E610"])


def test_every_mistake_of_a_file_is_told():
    broken = replaced(replaced(replaced(STATIC, 2, "9"), 7, "-1"), 10, "north")
    _, problems = read_v1(v1(broken, replaced(MOVER, 4, "-1"), replaced(BOT, 14, "2")))
    assert codes(problems, "E") == [
        (4, "E607"), (9, "E611"), (12, "E604"), (19, "E611"), (50, "E607"),
    ]  # fmt: skip


def test_file_that_ends_inside_an_object_says_what_is_missing():
    _, problems = read_v1("\n".join(["1", *STATIC[:7]]))
    assert codes(problems) == [(8, "E603")]
    assert "size x" in problems[0].message
    assert problems[0].also.line == 2


def test_missing_count_is_recognised():
    spec, problems = read_v1("\n".join([*STATIC, *MESH]))
    assert (len(spec.objects), codes(problems)) == (2, [(1, "E621")])


@pytest.mark.parametrize("text", ["", "\n\n", "// nothing\n"])
def test_empty_file_is_refused(text):
    spec, problems = read_v1(text)
    assert (spec, codes(problems)) == (None, [(1, "E621")])


def test_number_where_a_path_belongs_is_refused():
    _, problems = read_v1(v1(replaced(MESH, 2, "1 2 3"), STATIC))
    assert codes(problems, "E") == [(4, "E602")]


def test_control_characters_in_a_path_are_refused():
    assert only(replaced(BOT, 21, "a\x07.conf"))[1] == ["E619"]


def test_after_a_broken_object_later_mistakes_are_told_as_well():
    spec, problems = read_v1(v1(STATIC[:-2], replaced(MOVER, 4, "-1"), replaced(STATIC, 2, "8")))
    assert codes(problems, "E") == [(17, "E611"), (21, "E602"), (36, "E607")]
    assert problems[0].hint == "reading goes on with the object at line 13"
    assert spec.objects[-1].identifier == 6


@pytest.mark.parametrize("broken", range(len(ALL)))
def test_removing_any_record_is_noticed_and_costs_no_other_object(broken):
    whole, _ = read_v1(v1(*ALL))
    others = [o for k, o in enumerate(whole.objects) if k != broken and o.kind is not Kind.MESH]
    for missing in range(len(ALL[broken])):
        items = [item if k != broken else [*item[:missing], *item[missing + 1 :]] for k, item in enumerate(ALL)]
        spec, problems = read_v1(v1(*items, count=len(ALL)))
        found = [code for _, code in codes(problems)]
        assert found != ["W601"], missing  # which the whole file has as well
        assert all(other in spec.objects for other in others), missing


# --- hostile input ---------------------------------------------------------------------------------------------------
TOKENS = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "-1",
    "2.5",
    "0 0 0",
    "1 1 1",
    "1.2.3",
    "a.txt",
    "//",
    "nan",
    "999999999",
    "x y",
]


def is_calm(text):
    """Reading gives a spec or located problems; every line that is named exists."""
    spec, problems = read_v1(text)
    assert spec is not None or codes(problems, "E")
    assert all(p.location.line is not None and p.location.line >= 1 for p in problems)
    return spec


@given(st.binary(max_size=300))
def test_any_bytes_give_a_spec_or_located_problems(data):
    is_calm(data)


@given(st.lists(st.sampled_from(TOKENS), max_size=80))
def test_any_records_give_a_spec_or_located_problems(lines):
    is_calm("\n".join(lines))


@given(st.data())
def test_mutated_files_give_a_spec_or_located_problems(data):
    lines = v1(*ALL).splitlines()
    for _ in range(data.draw(st.integers(1, 5))):
        k = data.draw(st.integers(0, len(lines) - 1))
        lines[k : k + data.draw(st.integers(0, 3))] = data.draw(st.lists(st.sampled_from(TOKENS), max_size=3))
    is_calm("\n".join(lines))


@pytest.mark.parametrize(
    "tail", [["5"], ["5", "0", "1 1 1"], ["0", "a.conf"], ["1", "2", "99", "1"], ["2", "1", "0", "1 1 1"]]
)
@pytest.mark.parametrize("head", [["1", "3", "999999999"], ["1", "2", "999999999"], [*BOT[:18], "999999999"]])
def test_counts_never_allocate_and_work_grows_with_the_length_only(head, tail):
    source = Source.decode("traffic.obj", "\n".join(["999999999", *head, *(tail * 1000)]).encode())
    found = records.read_records(source, Problems())
    reading = reader._Reading(source, found, Problems())
    reading.file()
    assert reading.work <= (reader.WORK + 4) * len(found) + 1000
    assert codes(reading.problems, "E")


def test_number_of_records_is_bounded(monkeypatch):
    monkeypatch.setattr(records, "RECORD_LIMIT", 20)
    _, problems = read_v1(v1(STATIC, STATIC))
    assert (21, "E620") in codes(problems)


# --- writing ---------------------------------------------------------------------------------------------------------
@given(object_files(GOAL, st.just(False)))
def test_what_version_1_can_hold_reads_back_equal(file):
    model = to_v1(file, None, problems := Problems())
    assert not problems.errors
    again, found = read_v1(objects_v1.write(model))
    assert again == model
    assert codes(found, "E") == []


def test_writer_numbers_objects_without_an_id():
    items = (TrafficObject(Kind.STATIC, "a"), TrafficObject(Kind.STATIC, "b", 1), TrafficObject(Kind.STATIC, "c"))
    again, _ = read_v1(objects_v1.write(ObjectFile("x", items)))
    assert [o.identifier for o in again.objects] == [2, 1, 3]


def test_writer_refuses_a_goal_without_waypoint():
    item = TrafficObject(Kind.DYNAMIC, "a", controller=Controller.WAYPOINT, goals=(Goal(1.0, 0.0, 1, 1, None),))
    with pytest.raises(UsageError, match=r"lane 1\.1"):
        objects_v1.write(ObjectFile("x", (item,)))


def test_writer_refuses_a_path_that_would_not_read_back():
    item = TrafficObject(Kind.MESH, "m", vertices=MeshFile("a // b"), indices=MeshFile("i.txt"))
    with pytest.raises(UsageError, match="cannot stand"):
        objects_v1.write(ObjectFile("x", (item,)))


# --- real files ------------------------------------------------------------------------------------------------------
def test_published_sample_gives_three_objects_and_one_warning():
    reading = read_file(shared("cajunbot", "Sample.obj"))
    assert codes(reading.problems, "EWI") == [(42, "W601")]
    summary = [(int(o.kind is not Kind.AUTONOMOUS), o.identifier, len(o.goals)) for o in reading.spec.objects]
    assert summary == [(0, 1, 0), (1, 6, 0), (1, 7, 8)]


def test_canonical_form_of_the_sample_is_the_same_model_without_warning():
    sample = read_file(shared("cajunbot", "Sample.obj"))
    canonical = read_file(shared("examples_cajunbot", "Sample_canonical.obj"))
    assert list(canonical.problems) == []
    assert canonical.spec == sample.spec


def test_file_of_all_types_reads_every_branch():
    reading = read_file(shared("examples_cajunbot", "all_types.obj"))
    assert list(reading.problems) == []
    assert [o.kind.value for o in reading.spec.objects] == ["autonomous", "dynamic", "dynamic", "mesh", "static"]
    assert len(reading.spec.objects[1].script) == 2


REAL = [p for p in shared_files("cajunbot", "examples_cajunbot") if p.suffix == ".obj"]


@pytest.mark.parametrize("path", REAL, ids=lambda p: p.name)
def test_real_files_survive_the_round_trip(path):
    spec = read_file(path).spec
    assert read_v1(objects_v1.write(spec)) == (spec, [])


@pytest.mark.parametrize("path", REAL, ids=lambda p: p.name)
@settings(max_examples=25)
@given(data=st.data())
def test_mutated_real_files_give_a_spec_or_located_problems(path, data):
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    is_calm(bytes(content))
