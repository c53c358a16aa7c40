"""Conversion of object files: what is kept, what is lost, and that every loss is told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbsim.errors import Location, Problems, Severity, UsageError
from cbsim.export.objects import to_v1, to_v2
from cbsim.formats import objects, objects_v1, read_file
from cbsim.spec.objects import Controller, Goal, Kind, MeshFile, ObjectFile, SensorMount, TrafficObject, Triple
from tests.common import shared, shared_files
from tests.formats.object_texts import (
    BOT,
    GOAL,
    GOALS,
    MANUAL,
    MESH,
    MOVER,
    SCRIPTED,
    STATIC,
    codes,
    element,
    object_files,
    read_v1,
    read_v2,
    v1,
    v2,
)
from tests.road.test_goals import NETWORK


def there_and_back(model):
    """v1 → v2 text → v1 text → v1, and what the first step said."""
    problems = Problems()
    second, wrong = read_v2(objects.write(to_v2(model, problems)))
    assert codes(wrong, "E") == []
    third = to_v1(second, None, problems)
    assert not problems.errors
    return read_v1(objects_v1.write(third))[0], list(problems)


def losses(item, network=None):
    """What going to version 1 says of a file of one, and the model."""
    problems = Problems()
    model = to_v1(ObjectFile("Default", (item,)), network, problems)
    return [p.message for p in problems], model


# --- v1 → v2 → v1 ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("item", [BOT, MOVER, STATIC], ids=["(0, sensor)", "(1, waypoint)", "static"])
def test_conversion_there_and_back_is_the_identity_without_a_word(item):
    model, _ = read_v1(v1(item))
    assert there_and_back(model) == (model, [])


@pytest.mark.parametrize("item", [MANUAL, SCRIPTED, ["0", "3", *GOALS, *BOT[2:]], ["0", "1", *BOT[2:]]])
def test_d8_controllers_that_version_2_lacks_survive_in_extensions(item):
    model, _ = read_v1(v1(item))
    back, problems = there_and_back(model)
    assert (back, [p.code for p in problems]) == (model, ["I667"])


def test_d3_mesh_with_an_anchor_survives_with_a_warning():
    model, _ = read_v1(v1(MESH, [*MESH[:3], "0 0 0"]))
    back, problems = there_and_back(model)
    assert (back, codes(problems)) == (model, [(5, "W667")])


def test_d24_ids_become_attributes_and_names():
    text = objects.write(to_v2(read_v1(v1(STATIC))[0], Problems()))
    assert '<object type="static" shape="box" id="6">' in text
    assert "<name>object 6</name>" in text
    assert "<name>Default</name>" in text


def test_d6_other_sensor_types_survive_and_type_0_is_not_written():
    model, _ = read_v1(v1([*BOT[:20], "3", BOT[21]]))
    assert there_and_back(model)[0] == model
    assert "sensor conf=" in objects.write(to_v2(read_v1(v1(BOT))[0], Problems()))
    assert 'type="0"' not in objects.write(to_v2(read_v1(v1(BOT))[0], Problems()))


def test_d30_texts_of_numbers_survive():
    model, _ = read_v1(v1([*STATIC[:4], "1.50", *STATIC[5:-1], "90.0"]))
    text = objects_v1.write(there_and_back(model)[0])
    assert "\n1.50 //" in text
    assert "\n90.0 //" in text


@pytest.mark.parametrize("item", [MANUAL, SCRIPTED, MESH, [*BOT[:20], "3", BOT[21]]])
def test_strict_version_2_refuses_extensions(item):
    problems = Problems()
    to_v2(read_v1(v1(item))[0], problems, strict=True)
    assert [p.code for p in problems] == ["E667"]


@given(object_files(GOAL, st.just(False)))
def test_there_and_back_is_the_identity_on_what_version_1_holds(file):
    model = to_v1(file, None, Problems())
    back, _ = there_and_back(model)
    assert back == model


@given(object_files(GOAL, st.just(False)))
def test_going_to_version_1_twice_changes_and_says_nothing_more(file):
    model = to_v1(file, None, Problems())
    problems = Problems()
    assert to_v1(model, None, problems) == model
    assert list(problems) == []


# --- v2 → v1: losses -------------------------------------------------------------------------------------------------
MOVING = TrafficObject(Kind.DYNAMIC, "object 1", 1, controller=Controller.WAYPOINT)
MESHED = TrafficObject(Kind.MESH, "mesh 1", vertices=MeshFile("v"), indices=MeshFile("i"))
DRIVEN = TrafficObject(Kind.AUTONOMOUS, "object 1", 1, controller=Controller.SENSOR)


@pytest.mark.parametrize(("item", "word"), [
    (replace(MOVING, name="Traffic"), "name 'Traffic'"), (replace(MOVING, initial_pause=2.0), "initial pause of '2' s"),
    (replace(DRIVEN, parameters=(("mass", 1800.0),)), "mass"), (replace(DRIVEN, drive="delayed"), "drive 'delayed'"),
    (replace(MOVING, extensions=('a="b"',)), "not CajunBot's"),
    (replace(DRIVEN, sensors=(SensorMount("a.conf", None, "roof"),)), "description 'roof'"),
    (replace(MOVING, controller=Controller.MANUAL, goals=(Goal(1.0, 0.0, 1, 1, 1),)), "goals"),
    (replace(MESHED, identifier=4), "id '4'"), (replace(MESHED, drivable=True), "drivable"),
    (replace(MESHED, position_offset=Triple(1.0, 0.0, 0.0)), "offset"),
    (replace(MESHED, vertices=MeshFile("v", "full")), "full"),
])  # fmt: skip
def test_each_loss_is_one_warning_that_names_it(item, word):
    said, model = losses(item)
    assert len(said) == 1
    assert word in said[0]
    assert read_v1(objects_v1.write(model))[0] == model


@pytest.mark.parametrize("item", [MOVING, MESHED, DRIVEN])
def test_what_version_1_holds_goes_without_a_word(item):
    assert losses(item)[0] == []


def test_losses_name_their_lines():
    text = v2(element("dynamic", "<initial_pause>3</initial_pause>", name="Traffic"), "<extra/>").replace(
        "Default", "Town"
    )
    problems = Problems()
    to_v1(read_v2(text)[0], None, problems)
    assert [(p.location.line, p.code) for p in problems] == [(1, "W665"), (1, "W665"), (3, "W665"), (3, "W665")]


def test_open_goal_needs_a_network():
    item = replace(MOVING, goals=(Goal(1.0, 0.0, 3, 1, None),))
    problems = Problems()
    to_v1(ObjectFile("Default", (item,)), None, problems)
    assert [(p.code, p.hint) for p in problems] == [("E666", "name the road network: --rndf FILE")]


def test_open_goal_is_expanded_by_the_network():
    said, model = losses(replace(MOVING, goals=(Goal(1.0, 0.5, 3, 1, None),)), NETWORK)
    assert (said, [(g.waypoint, g.pause) for g in model.objects[0].goals]) == ([], [(1, 0.5), (2, 0.5)])


def test_d24_objects_without_id_are_numbered_in_order():
    problems = Problems()
    model = to_v1(
        read_v2(v2(element("static"), element("dynamic"), element("static", attributes=' id="2"')))[0], None, problems
    )
    assert [o.identifier for o in model.objects] == [1, 3, 2]


@pytest.mark.parametrize("path", ["a // b", "1 2 3", "//x", "a\nb", ""])
def test_file_name_that_a_line_cannot_hold_is_refused(path):
    problems = Problems()
    to_v1(ObjectFile("Default", (replace(MESHED, vertices=MeshFile(path)),)), None, problems)
    assert [p.code for p in problems if p.severity is Severity.ERROR] == ["E668"]


def test_text_that_xml_cannot_hold_is_refused():
    problems = Problems()
    to_v2(ObjectFile("Default", (replace(MOVING, name="a\x00b"),)), problems)
    assert [p.code for p in problems] == ["E668"]


# --- real files ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("path", [p for p in shared_files("cajunbot", "examples_cajunbot") if p.suffix == ".obj"],
                         ids=lambda p: p.name)  # fmt: skip
def test_real_v1_files_come_back_from_version_2(path):
    model = read_file(path).spec
    assert there_and_back(model)[0] == model


def test_published_sample_as_version_2_is_the_example():
    sample = to_v2(read_file(shared("cajunbot", "Sample.obj")).spec, Problems())
    example = read_file(shared("examples_cajunbot", "Sample_as_v2.xml")).spec
    assert sample.objects == example.objects


def test_published_example_becomes_version_1_with_its_network():
    network = read_file(shared("rndf", "terminus", "gazebo8__darpa.rndf")).spec
    problems = Problems()
    model = to_v1(read_file(shared("cajunbot", "Objects.xml")).spec, network, problems)
    assert codes(problems) == [(4, "W665"), (18, "W665"), (29, "W665")]
    assert read_v1(objects_v1.write(model)) == (model, [])


def test_version_1_has_no_reactive_objects():
    place = Location("many.xml", 7)
    item = TrafficObject(Kind.DYNAMIC, "object 1", 1, controller=Controller.WAYPOINT, reactive=True, location=place)
    problems = Problems()
    to_v1(ObjectFile("Default", (item,)), None, problems)
    assert [(p.code, p.location) for p in problems] == [("E670", place)]
    with pytest.raises(UsageError, match="is reactive, which version 1 cannot hold"):
        objects_v1.write(ObjectFile("Default", (item,), 1))


def test_reactive_is_an_extension_of_version_2():
    item = TrafficObject(Kind.DYNAMIC, "object 1", 1, controller=Controller.WAYPOINT, reactive=True)
    problems = Problems()
    assert to_v2(ObjectFile("Default", (item,)), problems).objects[0].reactive
    assert [p.code for p in problems] == ["I667"]
