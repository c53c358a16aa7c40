"""Whatever the bytes: a robot or located errors; whatever the robot: it is read back as it was written."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.errors import Location, ModelError, Problems
from cbsim.formats import read_file
from cbsim.formats.reader import Source
from cbsim.formats.urdf import read, write
from cbsim.formats.urdf.frames import angles_of, pose_of
from cbsim.formats.urdf.grammar import FOREIGN_SHAPES, GRAMMAR, SDF, Row
from cbsim.models.urdf import count
from cbsim.models.urdf.build import description_of
from cbsim.spec.objects import Triple
from cbsim.spec.urdf import (
    JOINT_TYPES,
    Collision,
    Frame,
    Geometry,
    Inertial,
    Joint,
    Limit,
    Link,
    LoopJoint,
    Material,
    Mimic,
    Robot,
    Visual,
)
from tests.formats.test_urdf_corpus import FILES

TEXTS = [path.read_bytes() for path in FILES]


def is_built(robot):
    """Whether a robot without errors becomes a mechanism; only loops may stand against it."""
    try:
        return bool(description_of(robot).spec.bodies)
    except ModelError as refusal:
        return "joins" in str(refusal)


def read_bytes(data):
    """Read, and see that there is a robot or an error, that every problem has its line, and what is sound is built."""
    problems = Problems()
    robot = read(Source.decode("hostile.urdf", data), problems)
    assert robot is not None or problems.errors
    assert all(p.location.path == "hostile.urdf" and (p.location.line or 0) >= 1 for p in problems)
    if robot is not None:
        counts = count(robot)
        assert counts["bodies"] == len(robot.links)
        assert all(np.isfinite(value) for value in counts.values())
        if not problems.errors:
            assert is_built(robot)
    return robot, problems


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_any_bytes_give_a_robot_or_located_errors(data):
    read_bytes(data)


@given(st.sampled_from(TEXTS), st.data())
@settings(deadline=None)
def test_a_file_with_pieces_taken_out_doubled_or_spoilt_is_read_or_refused_with_its_lines(text, data):
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, max(0, len(text) - 1)))
        stop = min(len(text), start + data.draw(st.integers(0, 120)))
        how = data.draw(st.sampled_from(["out", "twice", "spoilt", "number"]))
        piece = {"out": b"", "twice": text[start:stop] * 2, "spoilt": data.draw(st.binary(max_size=6))}
        number = data.draw(st.sampled_from([b"nan", b"1e400", b"-1", b"0", b"1e-300", b'"', b"<", b"&x;", b"9" * 500]))
        text = text[:start] + piece.get(how, number) + text[stop:]
    read_bytes(text)


NUMBERS_AS_TEXT = ("0", "-0", "1.", ".5", "+2e+0", "1E-3", "-0.", "1,5", "1d0", "nan", "inf", "0x1", "", "1e400", "٣")
WORDS = (*NUMBERS_AS_TEXT, "a", "b", "ä", "1 0 0", "0 0 1 1", "1,0,0", "0 0", "${x}", "$(arg x)", "package://p/a.stl")
STRANGERS = (*FOREIGN_SHAPES, *SDF, "gazebo", "transmission", "lnk", "geometri", "x:y")


GOOD = {
    "xyz": "0 -1. 1E-3", "size": "1 2 3", "rgba": "0 .5 1. 1", "scale": "1 1 -1", "quat_xyzw": "0 0 0 1",
    "type": "revolute", "filename": "package://p/a.stl", "link": "b", "joint": "ä",
}  # fmt: skip
NEEDED = {
    "inertial": ("mass", "inertia"), "visual": ("geometry",), "collision": ("geometry",), "geometry": ("sphere",),
    "joint": ("parent", "child"), "loop_joint": ("link1", "link2"),
}  # fmt: skip
OF_THE_WHOLE = {"E907", "E908", "E909", "E910", "E911", "E912", "E926"}  # which no single element shows


@st.composite
def trees(draw, tag="robot", depth=0):
    """Draw text of an element of the grammar, or of none, that holds what it must, and at times what it may not."""
    row = GRAMMAR.get(tag, Row(("name",)))
    names = [name for name in row.attributes if name not in ("rpy", "quat_xyzw") or draw(st.booleans())]
    odd = draw(st.integers(0, 40)) == 0
    words = st.sampled_from(tuple(JOINT_TYPES)) | st.sampled_from(WORDS)
    values = {name: draw(words) if odd else GOOD.get(name, "0 0 .1" if name == "rpy" else ".5") for name in names}
    attributes = "".join(f' {name}="{value}"' for name, value in values.items())
    few = st.lists(st.sampled_from([*row.children] * 6 + list(STRANGERS)), max_size=max(0, 4 - depth))
    inside = [*NEEDED.get(tag, ()), *draw(few)]
    between = st.sampled_from(["", " ", "<!-- a -->", "b", "<?c d?>", "<![CDATA[<e>]]>"])
    parts = [draw(trees(kind, depth + 1)) + draw(between) for kind in inside]
    return f"<{tag}{attributes}>{''.join(parts)}</{tag}>"


@given(trees())
@settings(deadline=None, max_examples=50)
def test_every_tree_of_elements_is_read_or_refused_and_what_is_read_is_written_and_read_the_same(text):
    robot, problems = read_bytes(text.encode())
    if robot is not None and {problem.code for problem in problems.errors} <= OF_THE_WHOLE:
        again, _ = read_bytes(write(robot).encode())
        assert again == robot


def test_entities_external_files_and_deep_nesting_are_refused():
    head = b'<!DOCTYPE robot [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    for data, code in (
        (head + b'<robot name="&b;"/>', "E021"),
        (b'<!DOCTYPE robot SYSTEM "http://example.org/x.dtd"><robot name="r"/>', "E021"),
        (b"<robot>" + b"<link>" * 100 + b"</link>" * 100 + b"</robot>", "E022"),
    ):
        robot, problems = read_bytes(data)
        assert robot is None
        assert [p.code for p in problems.errors] == [code]


# --- round trip -------------------------------------------------------------------------------------------------------
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=8).filter(
    lambda name: "${" not in name and "$(" not in name  # xacro, which is refused
)
NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)
SIZES = st.floats(1e-6, 1e3)
TRIPLES = st.builds(Triple, NUMBERS, NUMBERS, NUMBERS)
FRAMES = st.builds(Frame, TRIPLES, TRIPLES)
SCALES = st.builds(Triple, SIZES, SIZES, SIZES)
AXES = TRIPLES.filter(lambda axis: np.linalg.norm(axis) > 1e-3)
GEOMETRIES = st.one_of(
    st.builds(Geometry, st.just("box"), st.tuples(SIZES, SIZES, SIZES)),
    st.builds(Geometry, st.sampled_from(["cylinder", "capsule", "pyramid"]), st.tuples(SIZES, SIZES)),
    st.builds(Geometry, st.just("sphere"), st.tuples(SIZES)),
    st.builds(Geometry, st.just("mesh"), st.just(()), NAMES, SCALES),
)
COLORS = st.tuples(*[st.floats(0, 1)] * 4)
MATERIALS = st.builds(Material, NAMES, COLORS, st.none() | NAMES)
VISUALS = st.builds(Visual, GEOMETRIES, FRAMES, st.none() | MATERIALS, st.just("") | NAMES)
COLLISIONS = st.builds(Collision, GEOMETRIES, FRAMES, st.just("") | NAMES)
INERTIALS = st.builds(Inertial, SIZES, st.tuples(*[NUMBERS] * 6), FRAMES)
EFFORTS = st.none() | st.floats(0, 1e6) | st.just(np.inf)
LIMITS = st.builds(Limit, st.none() | NUMBERS | st.just(-np.inf), st.none() | NUMBERS, EFFORTS, EFFORTS)
FACTORS = st.floats(0, 1e6)


@st.composite
def robots(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    few = {"max_size": 2}
    links = tuple(
        Link(
            name,
            draw(st.none() | INERTIALS),
            tuple(draw(st.lists(VISUALS, **few))),
            tuple(draw(st.lists(COLLISIONS, **few))),
        )
        for name in names
    )
    kinds, mimics = st.sampled_from(sorted(JOINT_TYPES)), st.none() | st.builds(Mimic, NAMES, NUMBERS, NUMBERS)
    joints = tuple(
        Joint(
            f"to {child}", draw(kinds), draw(st.sampled_from(names[:k])), child, draw(FRAMES), draw(AXES),
            draw(st.none() | LIMITS), draw(FACTORS), draw(FACTORS), draw(mimics),
        )
        for k, child in enumerate(names)
        if k
    )  # fmt: skip
    ends = st.sampled_from(names)
    loops = tuple(
        LoopJoint(
            f"loop {k}", draw(kinds), draw(ends), draw(ends), draw(FRAMES), draw(FRAMES), draw(AXES),
            draw(st.none() | LIMITS), draw(FACTORS), draw(FACTORS),
        )
        for k in range(draw(st.integers(0, 2)))
    )  # fmt: skip
    return Robot(draw(NAMES), links, joints, loops, tuple(draw(st.lists(MATERIALS, **few))))


@given(robots())
@settings(deadline=None)
def test_a_robot_that_is_written_is_read_back_as_it_was(robot):
    text = write(robot)
    problems = Problems()
    again = read(Source("r.urdf", text, text.encode()), problems)
    assert again == robot
    assert write(again) == text


@given(st.tuples(*[st.floats(-7, 7)] * 3))
@settings(deadline=None)
def test_angles_of_a_frame_describe_the_same_rotation_near_a_quarter_turn_of_pitch_too(angles):
    for pitch in (angles[1], np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-7):
        q = pose_of(Frame(rpy=Triple(angles[0], pitch, angles[2]))).orientation
        again = pose_of(Frame(rpy=angles_of(q))).orientation
        assert abs(abs(q @ again) - 1.0) < 1e-12


def test_the_location_of_a_part_is_no_part_of_what_it_says():
    reading = read_file(FILES[0])
    assert Link("a", location=Location("x", 1)) == Link("a", location=Location("y", 2))
    assert reading.spec is not None
