"""Object files, version 2: the grammar, what stands in where something is missing, and what is kept."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.formats import objects, read_file
from cbsim.formats.objects import write
from cbsim.spec.objects import Controller, Kind, ObjectFile, ShapeKind, Steering, Wheels, WheelType
from cbsim.spec.road import PointId
from tests.common import shared, shared_files
from tests.formats.object_texts import (
    FILES,
    PAUSE,
    STEERING,
    WHEELS,
    codes,
    element,
    object_files,
    one,
    read_v2,
    v2,
)

BOT = element("autonomous", WHEELS, STEERING, '<sensor conf="onboard/scan_gp_driver_0.conf" description=""/>')
TRAFFIC = element("dynamic", PAUSE, '<goal speed="2" pause="0" segment="3" lane="1" waypoint="2"/>')
STATIC = element("static")
MESH = element("mesh", *FILES)
WHOLE = v2(BOT, TRAFFIC, STATIC, MESH)


def found_in(text, letters="EW"):
    return [code for _, code in codes(one(text)[1], letters)]


# --- what a file says ------------------------------------------------------------------------------------------------
def test_whole_grammar_reads_without_a_word():
    spec, problems = read_v2(WHOLE)
    assert problems == []
    assert [o.kind for o in spec.objects] == list(Kind)
    assert objects.count(spec) == {
        "objects": 4, "autonomous": 1, "dynamic": 1, "static": 1, "mesh": 1, "sensors": 1,
    }  # fmt: skip


def test_bot_has_pose_wheels_steering_and_sensors():
    bot, _ = one(v2(BOT))
    assert (bot.name, bot.anchor, bot.size.y) == ("Thing", PointId(1, 1, 1), 3.68)
    assert (bot.wheels, bot.steering) == (Wheels(WheelType.CONVENTIONAL, 0.38, 0.2), Steering(2.0, 0.5))
    assert (bot.sensors[0].conf, bot.sensors[0].description) == ("onboard/scan_gp_driver_0.conf", "")


def test_places_name_line_and_element():
    spec, _ = read_v2(WHOLE)
    goal = spec.objects[1].goals[0]
    assert (goal.location.line, goal.location.inside) == (20, "object[2]/goal[1]")
    assert spec.objects[1].anchor_location.line == 15


def test_children_may_stand_in_any_order():
    lines = WHOLE.splitlines()
    start = lines.index('  <object type="static" shape="box">')
    shuffled = [*lines[: start + 1], *reversed(lines[start + 1 : start + 6]), *lines[start + 6 :]]
    assert read_v2("\n".join(shuffled)) == read_v2(WHOLE)


# --- the resolutions of the reference --------------------------------------------------------------------------------
def test_d2_shape_mesh_needs_a_mesh_object():
    assert found_in(v2(STATIC.replace('"box"', '"mesh"'))) == ["E618"]


def test_d3_mesh_may_have_a_pose_though_the_grammar_has_none():
    pose = ['<start_position segment="1" lane="1" waypoint="3"/>', '<orientation_offset x="0" y="0" z="90"/>']
    mesh, problems = one(v2(element("mesh", *pose, *FILES)))
    assert (mesh.anchor, problems) == (PointId(1, 1, 3), [])
    assert mesh.orientation_offset.z == pytest.approx(math.pi / 2)


@pytest.mark.parametrize(("point", "anchor", "code"), [
    ((0, 0, 0), None, []), ((14, 0, 2), PointId(14, 0, 2), ["I614"]), ((1, 2, 0), None, ["E613"]),
    ((0, 1, 1), None, ["E613"]),
])  # fmt: skip
def test_d5_zeros_mean_no_anchor_and_lane_zero_a_perimeter(point, anchor, code):
    text = 'segment="{}" lane="{}" waypoint="{}"'.format(*point)
    item, problems = one(v2(STATIC.replace('segment="1" lane="1" waypoint="1"', text)))
    assert (item.anchor, [p.code for p in problems]) == (anchor, code)


def test_d6_sensor_type_and_description_are_kept():
    bot, problems = one(
        v2(element("autonomous", WHEELS, STEERING, '<sensor conf="a.conf" type="4" description="roof"/>'))
    )
    assert (bot.sensors[0].type_code, bot.sensors[0].description) == (4, "roof")
    assert [p.code for p in problems] == ["W615"]


@pytest.mark.parametrize("word", ["waypoint", "3"])
def test_d8_controller_is_an_extension_attribute(word):
    goal = '<goal speed="2" pause="0" segment="3" lane="1" waypoint="2"/>'
    bot, problems = one(v2(element("autonomous", WHEELS, STEERING, goal, attributes=f' controller="{word}"')))
    assert (bot.controller, len(bot.goals), problems) == (Controller.WAYPOINT, 1, [])


def test_d8_script_stands_in_extension_elements():
    entry = '<script speed="2" pause="1" distance="10" angle="90"/>'
    item, problems = one(v2(element("dynamic", PAUSE, entry, attributes=' controller="script"')))
    assert problems == []
    assert (item.script[0].distance, item.script[0].angle) == (10.0, pytest.approx(math.pi / 2))


def test_d8_goals_that_the_controller_does_not_follow_warn():
    goal = '<goal speed="2" pause="0" segment="3" lane="1"/>'
    assert found_in(v2(element("autonomous", WHEELS, STEERING, goal))) == ["W639"]


def test_d11_speed_zero_warns_and_negative_speed_is_refused():
    assert found_in(v2(TRAFFIC.replace('speed="2"', 'speed="0"'))) == ["W612"]
    assert found_in(v2(TRAFFIC.replace('speed="2"', 'speed="-2"'))) == ["E611"]


@pytest.mark.parametrize(("old", "new"), [('pause="0"', 'pause="-1"'), (">0</initial", ">-1</initial")])
def test_d13_pauses_may_be_zero_but_not_negative(old, new):
    assert found_in(v2(TRAFFIC)) == []
    assert found_in(v2(TRAFFIC.replace(old, new))) == ["E611"]


def test_d14_goal_may_lack_its_waypoint():
    item, problems = one(v2(TRAFFIC.replace(' waypoint="2"', "")))
    assert (item.goals[0].waypoint, problems) == (None, [])


def test_d16_orientation_is_in_degrees_and_keeps_its_text():
    text = v2(STATIC.replace('orientation_offset x="0" y="0" z="0"', 'orientation_offset x="5.0" y="-10" z="90.50"'))
    item, _ = one(text)
    assert item.orientation_offset.z == pytest.approx(math.radians(90.5))
    assert 'orientation_offset x="5.0" y="-10" z="90.50"' in objects.write(read_v2(text)[0])


def test_d17_sizes_are_width_length_and_height():
    bot, _ = one(v2(BOT))
    assert (bot.size.x, bot.size.y, bot.size.z) == (1.7, 3.68, 2.16)


def test_d18_position_offset_stays_relative_to_the_anchor():
    item, _ = one(v2(STATIC.replace('position_offset x="0" y="0"', 'position_offset x="1.5" y="-2"')))
    assert (item.anchor, tuple(item.position_offset)) == (PointId(1, 1, 1), (1.5, -2.0, 0.0))


def test_d19_height_of_the_bottom_is_kept_apart_from_the_size():
    item, _ = one(v2(STATIC.replace('y="0" z="0"/>\n    <orient', 'y="0" z="0.5"/>\n    <orient')))
    assert (item.position_offset.z, item.size.z) == (0.5, 2.16)


def test_d20_sphere_with_unequal_sizes_warns():
    assert found_in(v2(STATIC.replace('"box"', '"sphere"'))) == ["W617"]


@pytest.mark.parametrize("value", ["0", "-1", "abc", "", "1e999", "NaN", "1,5"])
def test_d20_size_must_be_a_positive_number(value):
    _, problems = one(v2(STATIC.replace('x="1.7"', f'x="{value}"')))
    assert [p.code for p in problems if p.code[0] == "E"] in (["E611"], ["E604"])
    assert problems[0].location.line == 8


@pytest.mark.parametrize("rate", ["throttle_rate", "lever_rate"])
def test_d21_rates_must_be_positive(rate):
    value = {"throttle_rate": "2", "lever_rate": "0.5"}[rate]
    assert found_in(v2(BOT.replace(f'{rate}="{value}"', f'{rate}="0"'))) == ["E611"]


def test_d22_vehicle_parameters_stand_at_object_wheels_or_steering():
    wheels, steering = WHEELS.replace("/>", ' wheelbase="2.4"/>'), STEERING.replace("/>", ' max_steer="30"/>')
    bot, problems = one(v2(element("autonomous", wheels, steering, attributes=' mass="1800"')))
    assert problems == []
    values = {"mass": 1800.0, "wheelbase": 2.4, "max_steer": pytest.approx(math.radians(30))}
    assert dict(bot.parameters) == values


def test_d22_impossible_parameter_is_refused():
    assert found_in(v2(element("autonomous", WHEELS, STEERING, attributes=' max_steer="120"'))) == ["E611"]


@pytest.mark.parametrize("wrong", [
    'axles="4"', 'axles="2.5"', 'mass="0"', 'front_load="1"', 'friction="-1"', 'restitution="1.5"', 'steering_lag="-1"',
])  # fmt: skip
def test_impossible_vehicle_is_refused_with_its_line(wrong):
    _, problems = one(v2(element("autonomous", WHEELS, STEERING, attributes=f" {wrong}")))
    assert [(p.code, p.location.line) for p in problems] == [("E611", 3)]


@pytest.mark.parametrize(("wheels", "drive", "message", "hint"), [
    (1, "dynamik", "unknown drive 'dynamik' on conventional wheels", "did you mean 'dynamic'?"),
    (0, "kinematic", "drive 'kinematic' does not run on skid wheels", "did you mean 'skid-kinematic'?"),
    (0, "delayed", "drive 'delayed' does not run on skid wheels", "one of skid-kinematic, skid"),
])  # fmt: skip
def test_drive_must_exist_and_fit_the_wheels(wheels, drive, message, hint):
    kind = WHEELS.replace('type="1"', f'type="{wheels}"')
    _, (problem,) = one(v2(element("autonomous", kind, STEERING, attributes=f' drive="{drive}"')))
    assert (problem.code, problem.location.line, problem.message, problem.hint) == ("E643", 3, message, hint)


def test_drive_is_read_and_old_files_have_none():
    item, problems = one(v2(element("autonomous", WHEELS, STEERING, attributes=' drive="delayed"')))
    assert (item.drive, list(problems)) == ("delayed", [])
    assert one(v2(element("autonomous", WHEELS, STEERING)))[0].drive is None


def test_d24_id_is_an_extension_attribute():
    assert one(v2(element("static", attributes=' id="7"')))[0].identifier == 7
    assert found_in(v2(element("static", attributes=' id="x"'))) == ["E604"]


def test_d26_name_of_the_file_is_free_text():
    assert read_v2(WHOLE.replace("Default", "  My &amp; <!-- no --> Town "))[0].name == "My &  Town"


def test_d27_path_is_full_or_base():
    assert [one(v2(MESH))[0].vertices.mode, found_in(v2(MESH.replace('"base"', '"bases"')))] == ["base", ["E638"] * 2]


def test_d29_other_shapes_are_accepted_with_a_remark_for_bots():
    shapes = [one(v2(STATIC.replace('"box"', f'"{word}"')))[0].shape for word in ("sphere", "cylinder", "wheel")]
    assert shapes == [ShapeKind.SPHERE, ShapeKind.CYLINDER, ShapeKind.WHEEL]
    assert found_in(v2(BOT.replace('shape="box"', 'shape="cylinder"')), "I") == ["I637"]


def test_d30_untouched_numbers_keep_their_text():
    text = v2(TRAFFIC.replace('speed="2"', 'speed="4.470400"').replace('pause="0"', 'pause="0.000000"'))
    spec, _ = read_v2(text)
    assert 'speed="4.470400" pause="0.000000"' in objects.write(spec)


def test_d31_missing_wheels_and_steering_get_the_usual_values():
    bot, problems = one(v2(element("autonomous")))
    assert (bot.wheels, bot.steering) == (Wheels(WheelType.CONVENTIONAL, 0.38, 0.2), Steering(2.0, 0.5))
    assert [p.code for p in problems] == ["W633", "W633"]


# --- what is missing or unknown --------------------------------------------------------------------------------------
BARE = "<object_file><name>x</name><object type='{}' {}><name>a</name>{}</object></object_file>"


@pytest.mark.parametrize(("kind", "rest", "found"), [
    ("static", "", ["E634", "W633", "W633", "W633"]),
    ("dynamic", "<size x='1' y='1' z='1'/>", ["W633"] * 4),
    ("mesh", "<vertices path='base'>v.txt</vertices>", ["E634"]),
])  # fmt: skip
def test_missing_children_are_named_and_only_some_have_a_default(kind, rest, found):
    assert found_in(BARE.format(kind, "shape='box'" if kind != "mesh" else "", rest)) == found


def test_missing_attribute_of_an_offset_is_zero_and_of_a_size_an_error():
    assert found_in(v2(STATIC.replace('offset x="0"', "offset"))) == ["W633", "W633"]
    assert found_in(v2(STATIC.replace('size x="1.7"', "size"))) == ["E632"]


def test_object_without_type_is_read_as_what_it_looks_like():
    item, problems = one(v2(MESH.replace('type="mesh"', "")))
    assert (item.kind, [p.code for p in problems]) == (Kind.MESH, ["E632"])


def test_unknown_words_come_with_a_suggestion():
    for old, new, code, hint in (
        ('type="static"', 'type="statik"', "E605", "static"), ('"box"', '"bocks"', "E607", "box"),
    ):  # fmt: skip
        _, problems = one(v2(STATIC.replace(old, new)))
        assert (problems[0].code, problems[0].hint) == (code, f"did you mean '{hint}'?")
    _, problems = one(v2(element("dynamic", PAUSE, attributes=' controller="waypoints"')))
    assert (problems[0].code, problems[0].hint) == ("E606", "did you mean 'waypoint'?")


@pytest.mark.parametrize(("old", "new"), [
    ('type="dynamic"', 'type="dynamc"'), ('type="dynamic"', 'type="Dynamic"'), ('waypoint="2"', 'waypoint="2.5"'),
    ('segment="3" lane="1" waypoint="2"', 'segment="0" lane="1" waypoint="2"'),
])  # fmt: skip
def test_one_mistake_of_a_mover_gives_one_line(old, new):
    goal = '<goal speed="2" pause="0" segment="3" lane="1" waypoint="2"/>'
    item, problems = one(v2(element("dynamic", PAUSE, goal).replace(old, new)))
    assert len(problems) == 1
    assert item.kind is Kind.DYNAMIC
    assert [goal.broken for goal in item.goals] == [not new.startswith("type")]


def test_mistyped_type_is_read_as_the_one_suggested():
    text = v2(element("autonomous", WHEELS, STEERING, '<sensor conf="a.conf"/>'))
    item, problems = one(text.replace('"autonomous"', '"autonomus"'))
    assert [(p.code, p.hint) for p in problems] == [("E605", "did you mean 'autonomous'?")]
    assert item == one(text)[0]


def test_type_that_means_nothing_has_no_further_complaints():
    text = v2(element("static", WHEELS, attributes=' controller="manual"').replace('"static"', '"xyzzy"'))
    item, problems = one(text.replace("position_offset", "start_offset"))
    assert [p.code for p in problems] == ["E605", "W642"]  # start_offset is known to no kind
    assert item.broken


def test_controller_that_means_nothing_is_not_held_against_the_goals():
    goal = '<goal speed="2" pause="0" segment="3" lane="1" waypoint="2"/>'
    for word in ("waypont", "xyzzy"):
        found = found_in(v2(element("autonomous", WHEELS, STEERING, goal, attributes=f' controller="{word}"')))
        assert found == ["E606"]


def test_refused_size_is_not_compared_with_the_others():
    text = v2(STATIC.replace('"box"', '"sphere"').replace('y="3.68" z="2.16"', 'y="1.7" z="x"'))
    assert found_in(text) == ["E604"]


def test_refused_id_is_none():
    item, problems = one(v2(STATIC.replace('type="static"', 'type="static" id="-1"')))
    assert (item.identifier, [p.code for p in problems]) == (None, ["E611"])


def test_unknown_elements_and_attributes_are_kept_and_written_back():
    text = v2(
        element(
            "dynamic", PAUSE, '<goal speed="2" pause="0" segment="3" lane="1" colour="red"><why>a &amp; b</why></goal>',
            '<sensor conf="a.conf"/>', '<note by="me">text</note>', attributes=' owner="us"',
        ),
        "<units>SI</units>",
        attributes=' revision="3"',
    )  # fmt: skip
    spec, problems = read_v2(text)
    assert codes(problems) == []
    assert {p.code for p in problems} == {"I635"}
    again, _ = read_v2(objects.write(spec))
    assert (again, again.extensions) == (spec, spec.extensions)
    assert again.objects[0].extensions == spec.objects[0].extensions
    for part in ('owner="us"', 'colour="red"', "<why>a &amp; b</why>", "<note", "<units>SI</units>", 'revision="3"'):
        assert part in objects.write(spec)


@pytest.mark.parametrize(
    ("right", "wrong", "hint"),
    [
        ("<object type", "<objekt type", "object"),
        ("</initial_pause", "</inital_pause", "initial_pause"),
        ('goal speed="2" pause', 'goal speed="2" pose', "pause"),
    ],
)
def test_misspelt_elements_and_attributes_are_warned_of_with_the_right_name(right, wrong, hint):
    text = v2(TRAFFIC.replace(right, wrong).replace(right.replace("/", ""), wrong.replace("/", "")))
    if hint == "object":
        text = text.replace("</object>", "</objekt>")
    _, problems = read_v2(text)
    assert (f"did you mean '{hint}'?", "W642") in [(problem.hint, problem.code) for problem in problems]


def test_names_of_another_namespace_are_extensions():
    text = v2(STATIC.replace("<size", '<e:size x="9"/><size'), attributes=' xmlns:e="urn:e" e:by="us"')
    spec, problems = read_v2(text)
    assert (spec.objects[0].size.x, codes(problems)) == (1.7, [])
    again, found = read_v2(objects.write(spec))
    assert (again, again.extensions, codes(found)) == (spec, spec.extensions, [])


def test_default_namespace_does_not_matter():
    assert read_v2(WHOLE.replace("<object_file", '<object_file xmlns="urn:x"'))[0] == read_v2(WHOLE)[0]


def test_repeated_child_warns_and_the_last_counts():
    item, problems = one(v2(STATIC.replace("<size", '<size x="9" y="9" z="9"/><size')))
    assert (item.size.x, [p.code for p in problems]) == (1.7, ["W636"])
    assert problems[0].also.line == 8


def test_stray_text_warns():
    assert found_in(v2(STATIC.replace("<size", "huh <size"))) == ["W640"]


def test_every_mistake_of_a_file_is_told():
    text = v2(
        STATIC.replace('z="2.16"', 'z="-2"'),
        TRAFFIC.replace('"3" lane="1"', '"3" lane="one"'),
        BOT.replace("0.38", "x"),
    )
    assert codes(read_v2(text)[1], "E") == [(8, "E611"), (17, "E604"), (25, "E604")]


# --- roots and hostile input -----------------------------------------------------------------------------------------
def test_single_object_is_accepted_as_a_file_of_one():
    spec, problems = read_v2(STATIC)
    assert (len(spec.objects), [p.code for p in problems]) == (1, ["W623"])


def test_wrong_root_is_refused_with_a_hint():
    spec, problems = read_v2("<objects_file/>")
    assert (spec, problems[0].code, problems[0].hint) == (None, "E622", "did you mean 'object_file'?")


def test_doctype_is_accepted():
    assert read_v2("<!DOCTYPE object_file>\n" + WHOLE)[0] == read_v2(WHOLE)[0]


@pytest.mark.parametrize(("text", "code"), [
    ("", "E020"), ("<object_file>", "E020"), ("not xml", "E020"),
    ('<!DOCTYPE o [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><object_file>&b;</object_file>', "E021"),
    ('<!DOCTYPE o SYSTEM "http://example.invalid/o.dtd"><object_file/>', "E021"),
    ("<object_file>" + "<a>" * 200 + "</a>" * 200 + "</object_file>", "E022"),
])  # fmt: skip
def test_malformed_and_hostile_xml_is_refused(text, code):
    spec, problems = read_v2(text)
    assert spec is None
    assert problems[0].code == code


def test_long_values_do_not_fill_messages():
    _, problems = one(v2(STATIC.replace('x="1.7"', f'x="{"9" * 100_000}"')))
    assert len(str(problems[0])) < 200


@given(st.binary(max_size=200))
def test_any_bytes_give_a_spec_or_located_problems(data):
    spec, problems = read_v2(data)
    assert spec is not None or codes(problems, "E")


PIECES = [
    BOT,
    TRAFFIC,
    STATIC,
    MESH,
    "<object/>",
    "<object type='mesh'>",
    "</object>",
    "<goal/>",
    "<name>",
    "x",
    "<size x='q'/>",
]


@given(st.lists(st.sampled_from(PIECES), max_size=6))
def test_any_pieces_give_a_spec_or_located_problems(pieces):
    spec, problems = read_v2(v2(*pieces))
    assert spec is not None or codes(problems, "E")
    assert all(p.location.line >= 1 for p in problems)


@given(st.data())
def test_any_values_of_attributes_give_a_spec_or_located_problems(data):
    parts = WHOLE.split('"')
    for _ in range(data.draw(st.integers(1, 8))):
        k = data.draw(st.integers(0, len(parts) // 2 - 1)) * 2 + 1
        parts[k] = data.draw(st.text("0123456789.-+eExnaif _&#;", max_size=8)).replace("&", "&amp;")
    spec, problems = read_v2('"'.join(parts))
    assert spec is not None
    assert read_v2(objects.write(spec))[0] is not None or codes(problems)


# --- writing ---------------------------------------------------------------------------------------------------------
@given(object_files())
def test_models_read_back_equal(file):
    again, problems = read_v2(objects.write(file))
    assert again == file
    assert [set(o.extensions) for o in again.objects] == [set(o.extensions) for o in file.objects]
    assert codes(problems, "E") == []


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_name_gives_well_formed_xml(name):
    spec = read_v2(WHOLE)[0]
    assert read_v2(objects.write(replace(spec, name=name)))[0] is not None


# --- real files ------------------------------------------------------------------------------------------------------
def test_published_example_reads_without_a_word():
    reading = read_file(shared("cajunbot", "Objects.xml"))
    assert list(reading.problems) == []
    spec = reading.spec
    assert (spec.name, [o.name for o in spec.objects]) == ("Default", ["CajunBot", "Traffic", "Box"])
    assert [s.conf[-6] for s in spec.objects[0].sensors] == ["0", "2"]
    assert [(g.speed, g.waypoint) for g in spec.objects[1].goals] == [(2.0, 2), (3.0, None)]


def test_published_example_comes_back_but_for_comments():
    text = shared("cajunbot", "Objects.xml").read_text()
    kept = [line for line in objects.write(read_v2(text)[0]).splitlines() if line.strip()]
    assert kept == [line.split("<!--")[0].rstrip() for line in text.splitlines() if line.split("<!--")[0].strip()]


@pytest.mark.parametrize("kind", list(Kind))
def test_published_fragments_are_files_of_one(kind):
    reading = read_file(shared("cajunbot", f"example_{kind}.xmlfrag"))
    assert [p.code for p in reading.problems] == ["W623"]
    assert reading.spec.objects[0].kind is kind


REAL = [p for p in shared_files("cajunbot", "examples_cajunbot") if p.suffix in (".xml", ".xmlfrag")]


@pytest.mark.parametrize("path", REAL, ids=lambda p: p.name)
def test_real_files_survive_the_round_trip(path):
    spec = read_file(path).spec
    assert read_v2(objects.write(spec)) == (spec, [])


@pytest.mark.parametrize("path", REAL, ids=lambda p: p.name)
@settings(max_examples=25)
@given(data=st.data())
def test_mutated_real_files_give_a_spec_or_located_problems(path, data):
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(32, 126))
    spec, problems = read_v2(bytes(content))
    assert spec is not None or codes(problems, "E")


def test_a_dynamic_object_may_be_reactive_and_its_goals_need_no_speed():
    goals = '<goal pause="3" segment="1" lane="1" waypoint="2"/>', '<goal speed="0" pause="0" segment="1" lane="1"/>'
    item, problems = one(v2(element("dynamic", PAUSE, *goals, attributes=' reactive="true"')))
    assert item.reactive
    assert [(goal.speed, goal.pause, goal.waypoint) for goal in item.goals] == [(0.0, 3.0, 2), (0.0, 0.0, None)]
    assert codes(problems) == []
    text = write(ObjectFile("many", (item,)))
    assert 'reactive="true"' in text
    assert '<goal pause="3"' in text
    assert one(text)[0] == item


@pytest.mark.parametrize(
    ("attributes", "goal", "expected"),
    [
        (' reactive="maybe"', 'speed="1" pause="0"', [(3, "E604")]),
        ("", 'pause="0"', [(10, "E632")]),
        (' reactive="false"', 'pause="0"', [(10, "E632")]),
    ],
)
def test_a_literal_goal_needs_its_speed_and_reactive_is_true_or_false(attributes, goal, expected):
    goal = f'<goal {goal} segment="1" lane="1" waypoint="2"/>'
    assert codes(one(v2(element("dynamic", PAUSE, goal, attributes=attributes)))[1]) == expected


def test_an_autonomous_object_may_be_reactive():
    goal = '<goal pause="3" segment="1" lane="1" waypoint="2"/>'
    item, problems = one(
        v2(element("autonomous", WHEELS, STEERING, goal, attributes=' controller="waypoint" reactive="true"'))
    )
    assert item.reactive
    assert codes(problems) == []
    assert one(write(ObjectFile("many", (item,))))[0] == item


def test_only_what_drives_is_reactive():
    _, problems = one(v2(element("static", attributes=' reactive="true"')))
    assert [(p.code, p.location.line) for p in problems] == [("I635", 3)]


def test_equal_elements_are_read_once_but_each_mistake_is_told():
    wrong = '<goal speed="-1" pause="0" segment="1" lane="1" waypoint="2"/>'
    right = '<goal speed="2" pause="0" segment="1" lane="1" waypoint="2"/>'
    spec, problems = read_v2(v2(*(element("dynamic", PAUSE, right, wrong, wrong, right) for _ in range(2))))
    assert codes(problems) == [(line, "E611") for line in (11, 12, 23, 24)]
    lines = [goal.location.line for item in spec.objects for goal in item.goals]
    assert lines == [10, 11, 12, 13, 22, 23, 24, 25]
    assert spec.objects[0].size is spec.objects[1].size
