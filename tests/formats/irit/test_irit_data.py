"""The data grammar: every kind of object, mistakes with their lines, any bytes."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbsim.errors import Problems
from cbsim.formats.irit import read, write
from cbsim.formats.irit.count import KINDS
from cbsim.formats.irit.tessellate import instances, tessellate
from cbsim.formats.reader import Source
from cbsim.models.irit import count
from cbsim.spec.irit.objects import (
    Attribute,
    ControlPoint,
    Freeform,
    IritFile,
    IritObject,
    Matrix,
    Number,
    Plane,
    Point,
    Poly,
    Text,
    Vector,
)
from tests.common import shared_files
from tests.models.irit.texts import HEXAPOD, box, codes, parse

DATA = [path for path in shared_files("irit") if path.suffix == ".itd"]
TRIANGLE = "[POLYGON 3 [0 0 0] [1 0 0] [0 1 0]]"


def test_comments_stand_between_objects_and_behind_names():
    spec, problems = parse(
        f"made by hand, 2003\n[OBJECT A a comment here\n{TRIANGLE}\n] and more [OBJECT B [NUMBER 2]]"
    )
    assert not len(problems)
    assert [item.name for item in spec.objects] == ["A", "B"]
    assert spec.objects[1].value == Number(2.0)


def test_a_bracket_without_quotes_in_a_value_is_refused_with_what_would_do():
    """The grammar has words, texts in quotes and objects as values; a bare bracket begins none of them."""
    _, problems = parse("[OBJECT [dash [0.1 0.1] 0] A [NUMBER 1]]")
    (problem,) = problems.errors
    assert (problem.code, problem.location.line) == ("E041", 1)
    assert problem.hint == "only an OBJECT stands in brackets; other texts need quotes"


def test_comments_may_hold_anything_but_brackets_an_open_quote_too():
    text = '5" of it, "3 inch\n"quoted" [OBJECT A "3 inch, he said\n[NUMBER 1] it\'s "all\n] the "end'
    spec, problems = parse(text)
    assert not len(problems), [str(p) for p in problems]
    assert spec.objects[0].value == Number(1.0)


def test_polygons_and_lines_may_stand_beside_each_other():
    spec, problems = parse("[OBJECT A [POLYGON 3 [0 0 0] [1 0 0] [0 1 0]] [POLYLINE 1 [0 0 0]] [POINTLIST 1 [0 0 0]]]")
    assert not len(problems)
    assert [item.kind for item in spec.objects[0].items] == ["POLYGON", "POLYLINE", "POINTLIST"]


def test_keywords_and_names_know_no_case():
    spec, problems = parse("[object [color 3] thing [polyline 2 [0 0 0] [1 1 1]]]")
    assert not len(problems)
    assert spec.objects[0].name == "THING"
    assert spec.objects[0].attributes == (Attribute("COLOR", ("3",)),)


def test_texts_hold_brackets_and_quoted_quotes():
    spec, problems = parse(r'[OBJECT [dash "0 [0.1 0.1] 0"] S [STRING "say \"[yes]\" \\ no"]]')
    assert not len(problems)
    assert spec.objects[0].value == Text('say "[yes]" \\ no')
    assert spec.objects[0].attributes[0] == Attribute("DASH", ("0 [0.1 0.1] 0",), quoted=True)


def test_attributes_may_hold_objects():
    spec, problems = parse("[OBJECT [animation [OBJECT NONE [OBJECT SCL [NUMBER 2]]]] A [NUMBER 1]]")
    assert not len(problems)
    (attribute,) = spec.objects[0].attributes
    assert attribute.objects[0].members[0].value == Number(2.0)
    assert count(spec)["objects"] == 3


def test_attributes_that_hold_words_and_objects_are_written_with_both():
    spec, problems = parse('[OBJECT [stretch 2 "a b" [OBJECT NONE [NUMBER 2]]] A [NUMBER 1]]')
    assert not len(problems)
    assert spec.objects[0].attributes[0].words == ("2", "a b")
    assert parse(write(spec))[0] == spec


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("[OBJECT A\n[NUMBER 1]\n", "E040", 1),
        ("[OBJECT A [NUMBER 1]]\n]", "E040", 2),
        ("\n[OBJEKT A [NUMBER 1]]", "E041", 2),
        ("[OBJECT A\n[POLYGONE 3 [0 0 0] [1 0 0] [0 1 0]]]", "E041", 2),
        ("[OBJECT\n[NUMBER 1]]", "E042", 1),
        ("[OBJECT A\n[POLYGON 4 [0 0 0] [1 0 0] [0 1 0]]]", "E043", 2),
        ("[OBJECT A\n[POLYGON 3 [0 0 0]\n[1 x 0] [0 1 0]]]", "E044", 3),
        ("[OBJECT A\n[POINT 1 2]]", "E044", 2),
        ("[OBJECT A\n[NUMBER 1e999]]", "E044", 2),
        ("[OBJECT A\n[POLYGON 2 [0 0 0] [1 0 0]]]", "E045", 2),
        ("[OBJECT A\n[POLYGON [PLANE 0 0 0 1] 3 [0 0 0] [1 0 0] [0 1 0]]]", "E045", 2),
        ("[OBJECT A\n[POLYGON 3 [0 0 0] [1 0 0] [2 0 0]]]", "E045", 2),
        ("[OBJECT A\n[CURVE BSPLINE 3 2 E2\n[KV 0 0 1 1] [0 0] [1 0] [1 1]]]", "E046", 3),
        ("[OBJECT A\n[CURVE BSPLINE 3 2 E2\n[KV 0 0 2 1 1] [0 0] [1 0] [1 1]]]", "E046", 3),
        ("[OBJECT A\n[CURVE BSPLINE 2 3 E2 [KV 0 0 0 1 1] [0 0] [1 0]]]", "E047", 2),
        ("[OBJECT A\n[CURVE BSPLINE 2 0 E2 [KV 0 1] [0 0] [1 0]]]", "E044", 2),
        ("[OBJECT A\n[CURVE BEZIER 2 Q2 [0 0] [1 0]]]", "E047", 2),
        ("[OBJECT A\n[CURVE BEZIER 2 P2 [1 0 0]\n[0 1 0]]]", "E048", 3),
        ("[OBJECT A\n[CURVE POWER 2 E2 [0 0] [1 0]]]", "E049", 2),
        ("[OBJECT A\n[TRISRF GREGORY 2 E3 [0 0 0]]]", "E049", 2),
        ('[OBJECT A\n[STRING "open]\n]', "E050", 2),
        ('[OBJECT A\n[POLYGON 3 [[N "open] 0 0 0]\n[1 0 0] [0 1 0]]]', "E050", 2),
        ("[OBJECT A\n[POLYGON 3 [0 0 0] [1 0 0] [0 1 0]]\n[NUMBER 1]]", "E041", 3),
        ("[OBJECT A\n[CURVE BEZIER 2 E2 [0 0] [1 0]]\n[POLYLINE 1 [0 0 0]]]", "E041", 3),
        ("[OBJECT A [NUMBER 1]\n[NUMBER 2]]", "E041", 2),
        ("[OBJECT A [NUMBER 1]\n[OBJECT B [NUMBER 1]]]", "E041", 2),
        ("nothing but a comment", "W042", 1),
        ("[OBJECT A\n[POLYGON [0 0 0] [1 0 0] [0 1 0]]]", "E043", 2),
        ("[OBJECT A\n[POLYLINE [0 0 0] [COLOR 3]]]", "E043", 2),
        ("", "W042", 1),
        ("[OBJECT A\n[INSTANCE B 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1]]", "E051", 2),
        ("[OBJECT A\n[INSTANCE A 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1]]", "E051", 2),
    ],
)
def test_mistakes_are_told_with_their_line(text, code, line):
    assert (code, line) in codes(text)


def test_brackets_that_are_left_over_behind_a_mistake_are_not_told_each():
    assert codes("[OBJECT A [NUMBER 1]] ] ] ]\n[OBJECT B [NUMBER 1]] ]") == [("E040", 1), ("E040", 2)]


def test_all_mistakes_of_a_file_are_told_at_once():
    text = "[OBJECT A\n[POINT 1 2]\n[POINT 1 2 x]\n]\n[OBJECT B\n[POLYGON 2 [0 0 0] [1 1 1]]]"
    assert codes(text) == [("E044", 2), ("E044", 3), ("E045", 6)]


def test_misspelt_kinds_get_a_suggestion():
    _, problems = parse("[OBJECT A [SURFASE BEZIER 2 2 E3]]")
    assert "did you mean 'SURFACE'?" in str(problems.errors[0])


def test_deep_nesting_is_refused_and_does_not_break():
    assert codes("[OBJECT A " * 5000)[0][0] == "E052"
    assert codes("[OBJECT A " * 90 + "]" * 90) == []


def test_counts_are_not_believed():
    assert codes("[OBJECT A\n[POLYGON 2000000000 [0 0 0]]]") == [("E043", 2)]
    assert codes("[OBJECT A\n[SURFACE BEZIER 100 100000000 E3 [0 0 0]]]")[0][0] in ("E043", "E049")


def test_packed_files_are_read_within_bounds():
    problems = Problems()
    data = gzip.compress(HEXAPOD.encode())
    assert count(read(Source.decode("a.itd.gz", data), problems)) == count(parse(HEXAPOD)[0])
    bomb = gzip.compress(b" " * (1 << 27))
    read(Source.decode("a.itd.gz", bomb), problems)
    read(Source.decode("a.itd.gz", data[:100]), problems)
    assert [p.code for p in problems] == ["E049", "E049"]


def lzw(text):
    """Pack as Unix compress does, in codes of nine bits, cleared before they would grow."""
    table, codes_, last = {bytes([k]): k for k in range(256)}, [], b""
    size = 257
    for k in range(len(text)):
        longer = last + text[k : k + 1]
        if longer in table:
            last = longer
            continue
        codes_.append(table[last])
        table[longer], size, last = size, size + 1, text[k : k + 1]
        if size == 511:
            codes_ += [table[last], 256, *[0] * (-(len(codes_) + 2) % 8)]
            table, size, last = {bytes([k]): k for k in range(256)}, 257, b""
    codes_ += [table[last]] if last else []
    bits = sum(code << 9 * k for k, code in enumerate(codes_))
    return b"\x1f\x9d\x90" + bits.to_bytes(-(-9 * len(codes_) // 8), "little")


@given(st.binary(max_size=3000))
def test_what_compress_packed_is_unpacked(data):
    from cbsim.formats.irit.packed import unpacked

    problems = Problems()
    made = unpacked(Source.decode("a.itd.Z", lzw(b"x" + data)), problems)
    assert made is not None
    assert made.data == b"x" + data


def test_binary_files_are_refused_by_name():
    problems = Problems()
    assert read(Source.decode("a.ibd", b"abc"), problems) is None
    assert problems.errors[0].code == "E049"


# --- properties -------------------------------------------------------------------------------------------------------
NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).map(float)
TRIPLES = st.tuples(NUMBERS, NUMBERS, NUMBERS)
WORDS = st.text(st.sampled_from("ABCXYZ_019"), min_size=1, max_size=8).map(lambda t: "N" + t)
TEXTS = st.text(st.characters(codec="latin-1", exclude_characters="\n\r\0\x85", exclude_categories=["Cc"]), max_size=12)
ATTRIBUTES = st.lists(
    st.one_of(
        st.builds(Attribute, WORDS, st.lists(WORDS, max_size=3).map(tuple)),
        st.builds(lambda n, t: Attribute(n, (t,), quoted=True), WORDS, TEXTS),
    ),
    max_size=2,
).map(tuple)
POLYS = st.builds(
    lambda kind, points, attributes: Poly(kind, tuple(points), attributes),
    st.sampled_from(["POLYLINE", "POINTLIST"]),
    st.lists(TRIPLES, min_size=1, max_size=4),
    ATTRIBUTES,
)
CURVES = st.builds(
    lambda points: Freeform("CURVE", "BEZIER", (len(points),), (len(points),), "E3", (), tuple(points)),
    st.lists(TRIPLES, min_size=1, max_size=5),
)
VALUES = st.one_of(
    st.builds(Number, NUMBERS), st.builds(Text, TEXTS), st.builds(Point, TRIPLES), st.builds(Vector, TRIPLES),
    st.builds(Plane, st.tuples(*[NUMBERS] * 4)), st.builds(Matrix, st.tuples(*[NUMBERS] * 16)),
    st.builds(lambda v: ControlPoint("E2", v), st.tuples(NUMBERS, NUMBERS)),
    POLYS, CURVES,
)  # fmt: skip
LEAVES = st.builds(lambda name, value, attributes: IritObject(name, (value,), attributes), WORDS, VALUES, ATTRIBUTES)
OBJECTS = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda n, items, a: IritObject(n, tuple(items), a), WORDS, st.lists(inner, max_size=3), ATTRIBUTES
    ),
    max_leaves=8,
)


@given(st.lists(OBJECTS, max_size=3).map(lambda items: IritFile(tuple(items))))
def test_what_is_written_reads_back_as_it_is(spec):
    again, problems = parse(write(spec))
    assert again == spec
    assert all(p.code >= "E070" or p.code.startswith("W") for p in problems)  # a list may look like a walker


TOKENS = st.sampled_from(
    [
        "[",
        "]",
        "[OBJECT",
        "A",
        "[POLYGON",
        "[CURVE",
        "[SURFACE",
        "BEZIER",
        "BSPLINE",
        "[TRIMSRF",
        "[MODEL",
        "[KV",
        "[KVP",
        "E3",
        "P2",
        "1",
        "2",
        "3",
        "0.5",
        "-1",
        "1e9",
        "NONE",
        '"text"',
        '"open',
        "[INSTANCE",
        "[POINT",
        "[STRING",
        "[TRIMCRV",
        "[MDLTSRF",
        "[MULTIVAR",
        "[PLANE",
        "[1",
        "2",
        "3]",
        "x",
    ]
)


@given(st.lists(TOKENS, max_size=60).map(" ".join))
def test_any_words_give_a_spec_or_located_problems(text):
    spec, problems = parse(text)
    assert spec is not None
    assert all(p.location.line for p in problems)
    write(spec)
    count(spec)


@given(st.binary(max_size=300))
def test_any_bytes_give_a_spec_or_located_problems(data):
    problems = Problems()
    for head in (b"", b"[OBJECT A ", b"\x1f\x8b", b"\x1f\x9d\x90"):
        read(Source.decode("any.itd", head + data), problems)
    assert all(p.location.line for p in problems)


# --- real files -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("path", DATA, ids=lambda p: p.name)
def test_real_files_are_read_without_a_complaint_counted_and_written_back(path):
    text = path.read_text()
    spec, problems = parse(text, str(path))
    assert not [str(p) for p in problems]
    found = count(spec)
    words = text.upper()
    for word, key in {"OBJECT": "objects", **KINDS}.items():
        if word not in {"PLANE", "POINT", "VECTOR"}:  # which are attributes, too
            assert found[key] == sum(words.count(f"[{word}{blank}") for blank in " \t\n"), key
    assert parse(write(spec))[0] == spec


def volume_and_area(path):
    spec, problems = parse(path.read_text(), str(path))
    known = instances(spec.objects)
    pieces = [piece for item in spec.objects for piece in tessellate(item, known, problems)]
    a, b, c = np.concatenate([piece.triangles for piece in pieces]).swapaxes(0, 1)
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0, area


@pytest.mark.parametrize(
    ("name", "volume", "area"),
    [
        ("ir_cube", -1.0, 6.0),
        ("pl_cncyl", -13.5662, 43.8343),
        ("pl_sold1", -20.0, 69.0),
        ("pl_sold3", -0.0406789, 1.22695),
        ("il_icsdr", -17.4535, 34.6409),
    ],
)
def test_real_solids_have_the_volumes_of_the_reference(name, volume, area):
    for path in (p for p in DATA if p.stem == name):
        assert volume_and_area(path) == pytest.approx((volume, area), rel=1e-5)


def test_a_box_of_the_tests_is_a_box():
    spec, _ = parse(f"[OBJECT A {box((0, 0, 0), (1, 2, 3))}]")
    (piece,) = tessellate(spec.objects[0], {}, Problems())
    assert len(piece.triangles) == 12
    a, b, c = piece.triangles.swapaxes(0, 1)
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0 == pytest.approx(-6.0)
