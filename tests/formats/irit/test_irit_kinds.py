"""Every kind of object, made at random, written, spelt anew in every way that the grammar allows, and read back."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.formats.irit import write
from cbsim.formats.irit.count import KINDS
from cbsim.formats.irit.tessellate import instances, tessellate
from cbsim.models.irit import count
from cbsim.spec.irit.objects import (
    Attribute,
    ControlPoint,
    Freeform,
    Instance,
    IritFile,
    IritObject,
    Knots,
    Matrix,
    ModelSegment,
    ModelSurface,
    Number,
    Plane,
    Point,
    Poly,
    SolidModel,
    Text,
    Trimmed,
    Vector,
)
from tests.models.irit.texts import parse

COORDINATES = st.integers(-400, 400).map(lambda k: k / 16)
TRIPLES = st.tuples(COORDINATES, COORDINATES, COORDINATES)
NAMES = st.sampled_from(["A", "B_2", "NONE", "X-Y.Z", "[ODD", "TWO WORDS", "7", "'Q'", 'A"B', "MATRICES"])
TEXTS = st.sampled_from(["", "wood, 3", "0 [0.1 0.1] 0", 'say "so"', "back\\slash", "255,0,0", "]["])
ATTRIBUTES = st.lists(
    st.one_of(
        st.sampled_from([Attribute("INTERNAL"), Attribute("COLOR", ("4",)), Attribute("TYPE", ("POINT_INFTY",))]),
        st.builds(lambda text: Attribute("TEXTURE", (text,), quoted=True), TEXTS),
        st.builds(lambda v: Attribute("NORMAL", tuple(str(round(one)) for one in v)), TRIPLES),
        st.builds(lambda v: Attribute("STRPOS", objects=(IritObject("NONE", (Vector(v),)),)), TRIPLES),
    ),
    max_size=3,
).map(tuple)
PLAIN = ATTRIBUTES.map(lambda found: tuple(one for one in found if not one.objects))  # of freeform geometry


@st.composite
def polys(draw):
    kind = draw(st.sampled_from(["POLYGON", "POLYLINE", "POINTLIST", "POLYSTRIP"]))
    size = draw(st.integers(3 if kind in {"POLYGON", "POLYSTRIP"} else 1, 7))
    if kind == "POLYGON":  # on a circle: so it spans a plane
        turn = 2.0 * np.pi * np.arange(size) / size
        points = tuple(zip(np.cos(turn).tolist(), np.sin(turn).tolist(), [1.0] * size, strict=True))
    else:
        points = tuple(draw(st.lists(TRIPLES, min_size=size, max_size=size)))
    marks = tuple(draw(st.lists(ATTRIBUTES, min_size=size, max_size=size)))
    plane = (Attribute("PLANE", ("0", "0", "1", "-1")),) if kind == "POLYGON" and draw(st.booleans()) else ()
    return Poly(kind, points, plane + draw(ATTRIBUTES), marks if any(marks) else ())


def spaces(dimension=None):
    number = st.just(dimension) if dimension else st.integers(1, 9)
    return st.builds(lambda letter, n: f"{letter}{n}", st.sampled_from("EP"), number)


@st.composite
def freeforms(draw, kind=None, space=None):
    kind = kind or draw(st.sampled_from(["CURVE", "SURFACE", "TRISRF", "TRIVAR", "MULTIVAR"]))
    space = space or draw(spaces())
    dimensions = {"CURVE": 1, "SURFACE": 2, "TRISRF": 1, "TRIVAR": 3}.get(kind) or draw(st.integers(1, 4))
    lengths = tuple(draw(st.lists(st.integers(1, 4), min_size=dimensions, max_size=dimensions)))
    basis = draw(st.sampled_from(["BEZIER", "BSPLINE"]))
    orders = tuple(draw(st.integers(1, n)) for n in lengths) if basis == "BSPLINE" else lengths
    knots = tuple(draw(knot_vectors(n, k)) for n, k in zip(lengths, orders, strict=True)) if basis == "BSPLINE" else ()
    count = lengths[0] * (lengths[0] + 1) // 2 if kind == "TRISRF" else int(np.prod(lengths))
    weight = [st.sampled_from([0.25, 1.0, 3.0])] if space[0] == "P" else []
    point = st.tuples(*weight, *[COORDINATES] * int(space[1]))
    points = tuple(draw(st.lists(point, min_size=count, max_size=count)))
    marks = tuple(draw(st.lists(PLAIN, min_size=count, max_size=count))) if draw(st.booleans()) else ()
    return Freeform(kind, basis, lengths, orders, space, knots, points, draw(PLAIN), marks=marks if any(marks) else ())


@st.composite
def knot_vectors(draw, length, order):
    periodic = draw(st.booleans())
    size = length + 2 * order - 1 if periodic else length + order
    steps = draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, 0.5]), min_size=size, max_size=size))
    steps[order] = 1.0  # something is between the ends
    return Knots(tuple(float(v) for v in np.cumsum(steps)), periodic)


SURFACES = freeforms("SURFACE", "E3")
CURVES = st.lists(freeforms("CURVE", "E2"), min_size=1, max_size=2).map(tuple)
TRIMMED = st.builds(
    Trimmed, SURFACES, st.lists(st.lists(CURVES, min_size=1, max_size=2).map(tuple), max_size=2).map(tuple), PLAIN
)
MODELS = st.builds(
    lambda surface, curves, attributes: SolidModel(
        (ModelSurface(1, surface, ((1, -1),)),), (ModelSegment((1, 1, 0), curves),), attributes
    ),
    SURFACES, CURVES, PLAIN,
)  # fmt: skip
MATRICES = st.lists(COORDINATES, min_size=16, max_size=16).map(tuple)
CONTROL = st.builds(
    lambda space, weight, values: ControlPoint(space, ((weight,) if space[0] == "P" else ()) + values[: int(space[1])]),
    spaces(), st.sampled_from([0.5, 1.0]), st.tuples(*[COORDINATES] * 9),
)  # fmt: skip
VALUES = st.one_of(
    st.builds(Number, COORDINATES), st.builds(Text, TEXTS), st.builds(Point, TRIPLES), st.builds(Vector, TRIPLES),
    st.builds(Plane, st.tuples(*[COORDINATES] * 4)), CONTROL, st.builds(Matrix, MATRICES),
    st.builds(lambda m: Instance("TARGET", m), MATRICES),
)  # fmt: skip
GEOMETRY = st.one_of(
    st.lists(polys(), min_size=1, max_size=3),
    st.lists(freeforms("CURVE"), min_size=1, max_size=2),
    freeforms().map(lambda one: [one]),
    TRIMMED.map(lambda one: [one]),
    MODELS.map(lambda one: [one]),
    VALUES.map(lambda one: [one]),
).map(tuple)
LEAVES = st.builds(IritObject, NAMES, GEOMETRY, ATTRIBUTES)
OBJECTS = st.recursive(
    LEAVES,
    lambda inner: st.builds(lambda n, items, a: IritObject(n, tuple(items), a), NAMES, st.lists(inner), ATTRIBUTES),
    max_leaves=6,
)
TARGET = IritObject("TARGET", (Number(1.0),))
FILES = st.lists(OBJECTS, max_size=3).map(lambda items: IritFile((*items, TARGET)))

PARTS = re.compile(r'"(?:\\.|[^"\\])*"|\[|\]|[^\s\[\]"][^\s\]]*')
KEYWORDS = {
    "OBJECT",
    "BEZIER",
    "BSPLINE",
    "KV",
    "KVP",
    "TRIMCRV",
    "TRIMCRVSEG",
    "MDLTSRF",
    "MDLTSEG",
    "MDLLOOP",
    *KINDS,
}
BLANKS = (" ", "  ", "\t", "\n", "\r\n", " \n\t ", "\n\n")


def respelt(text: str, rng: random.Random) -> str:
    """Write the same with other blanks, other cases of keywords, other spellings of numbers, and comments."""
    parts, found, depth = PARTS.findall(text), [], 0
    for before, part in zip(["", *parts], parts, strict=False):
        if part == "[" and not depth and rng.random() < 0.5:
            found.append(rng.choice((" a comment ", ' 5" of "open\n', " 1 2 3\t", " {}\n")))
        is_glued = part == "]" or before == "[" or (part == "[" and before == "]" and depth > 0)
        found.append("" if is_glued and rng.random() < 0.5 else rng.choice(BLANKS))
        found.append(spelt(part, rng) if before == "[" or part[0] not in '["' else part)
        depth += (part == "[") - (part == "]")
    return "".join(found)


def spelt(part: str, rng: random.Random) -> str:
    """Spell a keyword or a number in another way."""
    if part in KEYWORDS:
        return rng.choice((part, part.lower(), part.title()))
    if re.fullmatch(r"-?[0-9]+\.[0-9]+", part):
        return rng.choice((part, part + "0", part + "e0", part + "E+00", re.sub(r"^(-?)0\.", r"\1.", part)))
    return part


@settings(deadline=None, max_examples=60)
@given(FILES, st.integers(0, 2**32))
def test_every_kind_of_object_reads_back_however_it_is_spelt(spec, seed):
    assert parse(write(spec))[0] == spec
    again, problems = parse(respelt(write(spec), random.Random(seed)))
    assert not [str(p) for p in problems if p.severity == "error" and p.code < "E070"]
    assert again == spec
    assert count(again) == count(spec)


@settings(deadline=None, max_examples=25)
@given(st.one_of(freeforms(space="E3"), freeforms(space="P3"), TRIMMED, MODELS))
def test_geometry_of_every_kind_is_tessellated_to_numbers_or_it_is_told(item):
    spec, problems = parse(write(IritFile((IritObject("A", (item,)),))))
    for piece in tessellate(spec.objects[0], instances(spec.objects), problems):
        assert np.isfinite(piece.triangles).all()
    assert {p.code for p in problems} <= {"W056"}


@settings(deadline=None, max_examples=50)
@given(FILES, st.integers(0, 2**32), st.data())
def test_a_file_that_loses_a_word_is_read_or_told_in_a_located_line(spec, seed, data):
    text = write(spec)
    parts = [match.span() for match in PARTS.finditer(text)]
    start, end = data.draw(st.sampled_from(parts))
    found, problems = parse(text[:start] + text[end:])
    lines = text.count("\n") + 1
    assert found is not None
    assert all(p.location.line and 1 <= p.location.line <= lines for p in problems)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_counted(kind):
    samples = {
        "POLYGON": "3 [0 0 0] [1 0 0] [0 1 0]", "POLYLINE": "1 [0 0 0]", "POINTLIST": "1 [0 0 0]",
        "POLYSTRIP": "3 [0 0 0] [1 0 0] [0 1 0]", "CURVE": "BEZIER 2 E2 [0 0] [1 1]",
        "SURFACE": "BEZIER 1 1 E3 [0 0 0]", "TRISRF": "BEZIER 1 E3 [0 0 0]", "TRIVAR": "BEZIER 1 1 1 E3 [0 0 0]",
        "MULTIVAR": "BEZIER 2 1 1 E3 [0 0 0]", "TRIMSRF": "[SURFACE BEZIER 1 1 E3 [0 0 0]]",
        "MODEL": "1 0 [MDLTSRF 1 [SURFACE BEZIER 1 1 E3 [0 0 0]]]", "INSTANCE": f"B {'1 0 0 0 0 ' * 3}1",
        "NUMBER": "1", "STRING": '"s"', "POINT": "0 0 0", "VECTOR": "0 0 0", "PLANE": "1 0 0 0", "CTLPT": "E1 1",
        "MATRIX": f"{'1 0 0 0 0 ' * 3}1",
    }  # fmt: skip
    spec, problems = parse(f'[OBJECT A [{kind} {samples[kind]}]] [OBJECT B [OBJECT C [STRING "x"]]]')
    assert not len(problems), [str(p) for p in problems]
    assert count(spec)[KINDS[kind]] == 1 + (kind == "STRING")
