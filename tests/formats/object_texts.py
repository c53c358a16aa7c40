"""What tests of object files share: small texts of every kind, reading from a text, and generated models."""

from __future__ import annotations

from hypothesis import strategies as st

from cbsim.errors import Problems
from cbsim.formats import objects, objects_v1
from cbsim.formats.objects.values import HEIGHT, PARAMETERS
from cbsim.formats.objects_v1.records import fits_path_record
from cbsim.formats.reader import Source
from cbsim.formats.xml_text import fits_xml
from cbsim.spec.drives import drives_on
from cbsim.spec.number import Written
from cbsim.spec.objects import (
    Controller,
    Goal,
    Kind,
    MeshFile,
    ObjectFile,
    ScriptEntry,
    SensorMount,
    ShapeKind,
    Steering,
    TrafficObject,
    Triple,
    Wheels,
    WheelType,
)
from cbsim.spec.road import PointId
from cbsim.units import DEGREE

# --- version 1 -------------------------------------------------------------------------------------------------------
NINE = ["0", "0", "0", "2", "4", "1.5", "0", "0", "0"]  # position, size, orientation
STATIC = ["2", "6", "0", "4 5 6", *NINE]
MANUAL = ["1", "1", "3", "0", "1 1 1", *NINE]
GOALS = ["2", "5", "0", "1 1 1", "4", "1.5", "1 1 2"]
MOVER = ["1", "3", *GOALS, "7", "0", "7 8 9", *NINE]
OLD_MOVER = ["1", *GOALS, "7", "0", "7 8 9", *NINE]
SCRIPTED = ["1", "2", "2", "2.5", "0", "10", "0", "1", "3", "5", "90", "8", "0", "0 0 0", *NINE]
MESH = ["3", "vertices.txt", "indices.txt", "1 1 3"]
BOT = ["0", "0", "1", "0", "1 2 3", *NINE, "1", "0.38", "0.20", "2", "0.5", "1", "0", "onboard/scan_gp_driver_0.conf"]


def v1(*items, count=None, path="traffic.obj"):
    """Text of a v1 file of some objects."""
    lines = [str(len(items) if count is None else count), *(line for item in items for line in item)]
    return "\n".join(lines) + "\n"


def read_v1(text, path="traffic.obj"):
    return read_with(objects_v1, text, path)


def read_v2(text, path="traffic.xml"):
    return read_with(objects, text, path)


def read_with(module, text, path):
    """Read text or bytes: the spec, and the problems as a list."""
    data = text if isinstance(text, bytes) else text.encode()
    problems = Problems()
    spec = module.read(Source.decode(path, data), problems)
    return spec, list(problems)


def codes(problems, letters="EW"):
    """Line and code of each problem of some severities, in the order of lines."""
    return sorted((p.location.line, p.code) for p in problems if p.code[0] in letters)


# --- version 2 -------------------------------------------------------------------------------------------------------
POSE = """
    <name>{name}</name>
    <start_position segment="1" lane="1" waypoint="1"/>
    <position_offset x="0" y="0" z="0"/>
    <orientation_offset x="0" y="0" z="0"/>
    <size x="1.7" y="3.68" z="2.16"/>"""


def element(kind, *children, attributes="", name="Thing"):
    """An object of a v2 file: the children that every body has, and more."""
    shape = "" if kind == "mesh" else ' shape="box"'
    head = f"\n    <name>{name}</name>" if kind == "mesh" else POSE.format(name=name)
    body = head + "".join(f"\n    {child}" for child in children)
    return f'  <object type="{kind}"{shape}{attributes}>{body}\n  </object>'


WHEELS = '<wheels type="1" radius="0.38" width="0.20"/>'
STEERING = '<steering throttle_rate="2" lever_rate="0.5"/>'
PAUSE = "<initial_pause>0</initial_pause>"
FILES = ('<vertices path="base">vertices.txt</vertices>', '<indices path="base">indices.txt</indices>')


def v2(*elements, attributes=""):
    """Text of a v2 file of some objects."""
    return "\n".join([f"<object_file{attributes}>", "  <name>Default</name>", *elements, "</object_file>"]) + "\n"


def one(text):
    """The only object of a v2 text, and its problems."""
    spec, problems = read_v2(text)
    return spec.objects[0], problems


# --- generated models ------------------------------------------------------------------------------------------------
WORD = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=12).map(str.strip)
NAME = WORD.filter(lambda text: bool(text) and fits_xml(text))
PATH = NAME.filter(fits_path_record)
COORDINATE = st.floats(-1e6, 1e6)
HEIGHTS = st.floats(HEIGHT.least, 1e6)
SIZE = st.floats(1e-3, 1e3)
WHEEL = st.floats(1e-3, 1e2)
POSITIVE = st.floats(0, 1e3)
ANGLE = st.decimals(-360, 360, places=3).map(lambda value: Written(str(value), DEGREE))
POINT = st.builds(PointId, st.integers(1, 99), st.integers(0, 9), st.integers(1, 99))
GOAL = st.builds(Goal, st.floats(0.1, 50), POSITIVE, st.integers(1, 99), st.integers(1, 9), st.integers(1, 99))
OPEN_GOAL = st.builds(Goal, st.floats(0.1, 50), POSITIVE, st.integers(1, 99), st.integers(1, 9), st.none())
ENTRY = st.builds(ScriptEntry, st.floats(0.1, 50), POSITIVE, POSITIVE, ANGLE)
SENSOR = st.builds(SensorMount, PATH, st.none() | st.integers(0, 5), st.none() | NAME)
FLAG = st.booleans()
MESH_FILE = st.builds(MeshFile, PATH, st.sampled_from(["full", "base"]))


def values_of(quantity):
    """What a file may give for a vehicle parameter."""
    if quantity.factor == DEGREE:
        return ANGLE.filter(lambda value: 0.0001 < value < 1.5)
    return st.just(quantity.most) if quantity.grain else st.floats(quantity.least, min(quantity.most, 1e3))


PARAMETER = st.sampled_from(sorted(PARAMETERS)).flatmap(
    lambda name: st.tuples(st.just(name), values_of(PARAMETERS[name]))
)
EXTENSION = st.sampled_from(
    ['colour="red"', '<note author="me">text &amp; more</note>', 'size[1] tag="&lt;&quot;"', "name[1] <i>x</i>"]
)


@st.composite
def bodies(draw, kind):
    """Fields that every object with a body has."""
    return {
        "kind": kind,
        "name": draw(NAME),
        "identifier": draw(st.none() | st.integers(0, 1000)),
        "shape": draw(st.sampled_from([s for s in ShapeKind if s is not ShapeKind.MESH])),
        "anchor": draw(st.none() | POINT),
        "position_offset": Triple(draw(COORDINATE), draw(COORDINATE), draw(HEIGHTS)),
        "orientation_offset": Triple(draw(ANGLE), draw(ANGLE), draw(ANGLE)),
        "size": Triple(draw(SIZE), draw(SIZE), draw(SIZE)),
    }


@st.composite
def traffic_objects(draw, goals=GOAL | OPEN_GOAL, reactive=FLAG):
    """An object of any kind that its file can hold."""
    kind = draw(st.sampled_from(Kind))
    if kind is Kind.MESH:
        return TrafficObject(
            kind, draw(NAME), shape=ShapeKind.MESH, anchor=draw(st.none() | POINT),
            vertices=draw(MESH_FILE), indices=draw(MESH_FILE), drivable=draw(st.booleans()),
            position_offset=Triple(draw(COORDINATE), 0.0, 0.0),
        )  # fmt: skip
    fields = draw(bodies(kind))
    fields["extensions"] = tuple(sorted(set(draw(st.lists(EXTENSION, max_size=2)))))
    if kind is not Kind.STATIC:
        controllers = [c for c in Controller if kind is Kind.AUTONOMOUS or c is not Controller.SENSOR]
        fields["controller"] = draw(st.sampled_from(controllers))
        fields["initial_pause"] = draw(POSITIVE)
        fields["parameters"] = tuple(dict(draw(st.lists(PARAMETER, max_size=3))).items())
        if fields["controller"] is Controller.WAYPOINT:
            fields["goals"] = tuple(draw(st.lists(goals, max_size=4)))
            fields["reactive"] = kind in (Kind.DYNAMIC, Kind.AUTONOMOUS) and draw(reactive)
        if fields["controller"] is Controller.SCRIPT:
            fields["script"] = tuple(draw(st.lists(ENTRY, max_size=4)))
    if kind is Kind.AUTONOMOUS:
        wheels = draw(st.sampled_from(WheelType))
        fields["drive"] = draw(st.none() | st.sampled_from(drives_on(wheels)))
        fields["wheels"] = Wheels(wheels, draw(WHEEL), draw(WHEEL))
        fields["steering"] = Steering(draw(SIZE), draw(SIZE))
        fields["sensors"] = tuple(draw(st.lists(SENSOR, max_size=3)))
    return TrafficObject(**fields)


def object_files(goals=GOAL | OPEN_GOAL, reactive=FLAG):
    """Whole files, most of them small."""
    return st.builds(ObjectFile, NAME, st.lists(traffic_objects(goals, reactive), max_size=4).map(tuple))
