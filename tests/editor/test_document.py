"""Documents: text that is changed in places only, and given back to the byte."""

from __future__ import annotations

import difflib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cbsim.editor.documents.edits import Addition, Edit
from cbsim.editor.documents.object_document import Document
from cbsim.errors import FileError, Problems, UsageError
from cbsim.paths import Files
from cbsim.spec.objects import Goal, Kind, SensorMount, TrafficObject
from cbsim.spec.road import PointId
from cbsim.units import DEGREE
from tests.common import shared_files
from tests.editor.common import LONE, ODD, PLAIN, RECORD_TEXTS, RECORDS, XML_TEXTS, edits

TEXTS = [(2, text) for text in XML_TEXTS.values()] + [(1, text) for text in RECORD_TEXTS.values()]
IDS = [*XML_TEXTS, *RECORD_TEXTS]
PATH = Path("site.xml")


def kept(objects, version):
    """Objects without names where the file has none: those that stand in are made of their places."""
    implied = [version == 1 or item.name in {f"mesh {k}" for k in range(9)} for item in objects]
    return [replace(item, name="") if made else item for item, made in zip(objects, implied, strict=True)]


@pytest.mark.parametrize(("version", "data"), TEXTS, ids=IDS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data_=st.data())
def test_any_steps_say_what_was_asked_for_and_all_of_them_undone_give_the_very_bytes(version, data, data_):
    document = Document(PATH, data, version)
    states = [(document.data, document.objects)]
    for _ in range(data_.draw(st.integers(1, 5))):
        edit = data_.draw(edits(document.objects, version))
        wanted = edit.applied(document.objects)
        document.apply(edit)
        assert kept(document.objects, version) == kept(wanted, version)
        again = Document(PATH, document.data, version)
        assert again.objects == document.objects
        if document.data != states[-1][0]:
            states.append((document.data, document.objects))
    for before, objects in reversed(states[:-1]):
        document.undo()
        assert (document.data, document.objects) == (before, objects)
    assert document.data == data
    assert document.undo() == ""
    while document.redo():
        pass
    assert (document.data, document.objects) == states[-1]


def difference(before: bytes, after: bytes) -> list[str]:
    lines = difflib.ndiff(before.decode().splitlines(True), after.decode().splitlines(True))
    return [line for line in lines if line[0] in "+-"]


@pytest.mark.parametrize(("version", "data"), TEXTS, ids=IDS)
def test_nothing_changed_is_nothing_written(version, data):
    document = Document(PATH, data, version)
    document.apply(Edit("nothing", dict(enumerate(document.objects))))
    assert document.data == data
    assert not document.undoable


def test_a_value_changes_in_its_place_and_comments_stay_behind_it():
    document = Document(PATH, ODD.encode("latin-1"), 2)
    pole = document.objects[0]
    document.apply(Edit("resize", {0: replace(pole, size=pole.size._replace(x=2.0, y=2.0))}))
    text = document.data.decode("latin-1")
    assert text == ODD.replace("x=' 1.50 ' y='1.5'", "x=' 2 ' y='2'")


def test_a_new_attribute_and_a_new_element_are_written_as_their_neighbours():
    document = Document(PATH, ODD.encode("latin-1"), 2)
    van = document.objects[2]
    turned = replace(van, orientation_offset=van.orientation_offset._replace(z=0.5 * DEGREE), initial_pause=2.0)
    document.apply(Edit("", {2: turned}))
    text = document.data.decode("latin-1")
    pose = "\t\t<cb:position_offset x='+1e-1' y='.5'></cb:position_offset>\r\n"
    turn = "\t\t<cb:orientation_offset x='0' y='0' z='0.5' />\r\n"
    size = "\t\t<cb:size x='2' y='5' z='2' />\r\n"
    assert pose + turn + size + "\t\t<cb:initial_pause>2</cb:initial_pause>\r\n\t\t<cb:goal" in text


def test_signs_that_the_encoding_lacks_become_numbers_in_xml():
    document = Document(PATH, ODD.encode("latin-1"), 2)
    document.apply(Edit("", {0: replace(document.objects[0], name="mål → <ß>")}))
    assert "<cb:name>mål &#8594; &lt;ß&gt;</cb:name>" in document.data.decode("latin-1")
    assert document.objects[0].name == "mål → <ß>"


def test_what_a_version_has_no_place_for_is_refused_and_changes_nothing():
    document = Document(Path("site.obj"), RECORDS.encode(), 1)
    car = document.objects[2]
    for changed in (
        replace(car, initial_pause=1.0),
        replace(car, reactive=True),
        replace(car, goals=(Goal(1.0, 0.0, 1, 1, None),)),
        replace(car, size=car.size._replace(x=-1.0)),
        replace(car, identifier=6, size=car.size._replace(x=float("nan"))),
    ):
        with pytest.raises(UsageError):
            document.apply(Edit("", {2: changed}))
        assert document.data == RECORDS.encode()
        assert not document.undoable


def test_the_published_dialect_of_version_1_stays_unless_it_would_be_misread():
    document = Document(Path("site.obj"), RECORDS.encode(), 1)
    car = document.objects[2]
    document.apply(Edit("", {2: replace(car, goals=car.goals[:1])}))
    gone = ["- 2 // object is scripted, so this is num of waypoints to follow\n"]
    assert difference(RECORDS.encode(), document.data)[:1] == gone
    assert "V1-IMPLIED-CONTROLLER" in "".join(map(str, document.problems))
    document.apply(Edit("", {2: replace(document.objects[2], goals=())}))
    assert document.objects[2].goals == ()
    assert document.objects[2].controller == 3


def test_new_records_have_the_comments_of_their_kind():
    document = Document(Path("site.obj"), RECORDS.encode(), 1)
    bot = document.objects[0]
    document.apply(Edit("", {0: replace(bot, sensors=(*bot.sensors, SensorMount("c.conf", 0)))}))
    changed = difference(RECORDS.encode(), document.data)
    assert changed == ["- 1 // number of sensors\n", "+ 2 // number of sensors\n", "+ 0\n", "+ c.conf\n"]


def test_a_file_without_comments_gets_none():
    document = Document(Path("site.obj"), RECORD_TEXTS["bare"], 1)
    item = TrafficObject(Kind.STATIC, "x", identifier=1)
    document.apply(Edit("add", added=(Addition(item),)))
    added = document.data.removeprefix(RECORD_TEXTS["bare"].replace(b"2\r", b"3\r", 1))
    assert added == b"\r\r2\r1\r0\r0 0 0\r0\r0\r0\r1\r1\r1\r0\r0\r0"


def test_a_lone_object_gets_its_file_when_another_joins_it():
    document = Document(PATH, LONE.encode(), 2)
    document.apply(Edit("copy", added=(Addition(replace(document.objects[0], name="C"), 0),)))
    assert document.data.decode() == (f"<object_file>\n{LONE}\n\n{LONE.replace('>B<', '>C<')}\n</object_file>")


def test_the_name_of_the_file_is_changed_where_it_stands():
    document = Document(PATH, PLAIN.encode(), 2)
    document.apply(Edit("name", name="A & B"))
    assert document.data.decode() == PLAIN.replace("<name>Default</name>", "<name>A &amp; B</name>")
    with pytest.raises(UsageError):
        Document(PATH, RECORDS.encode(), 1).apply(Edit("name", name="A"))


def test_versions_convert_as_the_command_does(tmp_path):
    document = Document(PATH, ODD.encode("latin-1"), 2)
    problems = Problems()
    other = document.converted(tmp_path / "a.obj", 1, None, problems)
    assert other.version == 1
    assert len(other.objects) == 3
    assert problems.warnings
    back = other.converted(tmp_path / "b.xml", 2, None, Problems())
    assert kept(back.objects, 1) == kept(other.objects, 1)
    with pytest.raises(FileError, match="E666"):
        Document(PATH, PLAIN.encode(), 2).converted(tmp_path / "c.obj", 1, None, Problems())


@settings(max_examples=150, deadline=None)
@given(version=st.sampled_from([1, 2]), data=st.data())
def test_any_text_is_edited_truly_or_refused(version, data):
    """Texts that are damaged anywhere: each is refused with its problems, or keeps its word as any other does."""
    texts = XML_TEXTS if version == 2 else RECORD_TEXTS
    raw = bytearray(data.draw(st.sampled_from(list(texts.values()))))
    for _ in range(data.draw(st.integers(0, 3))):
        if raw:
            start = data.draw(st.integers(0, len(raw) - 1))
            raw[start : start + data.draw(st.integers(0, 9))] = data.draw(
                st.sampled_from([b"", b"\n", b"0", b"<", b"-"])
            )
    try:
        document = Document(PATH, bytes(raw), version)
    except (FileError, UsageError):
        return
    before = document.objects
    edit = data.draw(edits(before, version))
    try:
        document.apply(edit)
    except UsageError:
        assert document.data == bytes(raw)
        return
    assert len(document.objects) == len(edit.applied(before))
    document.undo()
    assert document.data == bytes(raw)


REAL = [path for path in shared_files("cajunbot", "examples_cajunbot") if path.suffix in {".xml", ".obj", ".xmlfrag"}]


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_real_files_are_given_back_to_the_byte(path):
    files = Files([path])
    document = Document.open(path, files)
    data = path.read_bytes()
    assert document.data == data
    for row, item in enumerate(document.objects):
        there = PointId(1, 1, 1) if item.anchor is None else item.anchor._replace(point=item.anchor.point + 1)
        document.apply(Edit("move", {row: replace(item, anchor=there)}))
    lines = [line for line in difference(data, document.data) if not line.startswith("?")]
    assert len(lines) <= 2 * len(document.objects)
    for _ in document.objects:
        document.undo()
    assert document.data == data


REACTIVE = b"""<object_file>
  <name>site</name>
  <object type="dynamic" shape="box" reactive="true">
    <name>Courier</name>
    <start_position segment="1" lane="1" waypoint="1"/>
    <position_offset x="0" y="0" z="0"/>
    <orientation_offset x="0" y="0" z="0"/>
    <size x="1.8" y="4.5" z="1.5"/>
    <initial_pause>0</initial_pause>
    <goal pause="3" segment="1" lane="1" waypoint="2"/>
  </object>
</object_file>
"""


def test_what_is_reactive_stays_so_and_may_be_made_literal():
    document = Document(PATH, REACTIVE, 2)
    (courier,) = document.objects
    assert courier.reactive
    goals = (*courier.goals, Goal(0.0, 0.0, 1, 1, 3))
    document.apply(Edit("goals", changed={0: replace(courier, goals=goals)}))
    assert difference(REACTIVE, document.data) == ['+     <goal pause="0" segment="1" lane="1" waypoint="3"/>\n']
    assert Document(PATH, document.data, 2).objects == document.objects
    literal = tuple(replace(goal, speed=5.0) for goal in goals)
    document.apply(Edit("literal", changed={0: replace(courier, goals=literal, reactive=False)}))
    assert b"reactive" not in document.data
    assert document.data.count(b'speed="5"') == 2
