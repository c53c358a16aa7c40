"""Scripts: values and precedence as IRIT has them, limits, and mistakes with their lines."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.errors import Problems
from cbsim.formats.irit import read, write
from cbsim.formats.irit.script.functions import FUNCTIONS, IGNORED, UNSUPPORTED
from cbsim.formats.irit.structure import find_walker
from cbsim.formats.irit.tessellate import tessellate
from cbsim.formats.reader import Source
from cbsim.models.irit import count
from cbsim.spec.irit.objects import Attribute, Freeform, Number, Point, Poly, Text, Vector
from tests.common import shared_files
from tests.models.irit.texts import parse

SCRIPTS = [path for path in shared_files("irit") if path.suffix == ".irt"]


def run(text):
    return parse(text, "test.irt")


def value(expression, before=""):
    """What an expression is, as an object."""
    spec, problems = run(f'{before}save("x", {expression});')
    assert not len(problems), [str(p) for p in problems]
    return spec.objects[0]


def number(expression, before=""):
    found = value(expression, before).value
    assert isinstance(found, Number), found
    return found.value


def problems_of(text):
    return [(p.code, p.location.line) for p in run(text)[1]]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("-2^2", 4), ("2^3^2", 64), ("2-3-4", -5), ("2+3*4", 14), ("12/4/3", 1), ("(2+3)*4", 20), ("!0", 1),
        ("1 < 2", 1), ("2 == 2 && 3 != 4", 1), ("0 || 1 && 0", 0), ("pi", math.pi), ("TRUE", 1), ("sin(pi/6)", 0.5),
        ("max(2, sqr(3))", 9), ('"a" == "a"', 1), ('"a" < "b"', 1), ("floor(-1.5)", -2), ("power(2, 10)", 1024),
        ("vector(1,2,3)*vector(4,5,6)", 32), ("coord(vector(1,2,3)^vector(4,5,6), 1)", 6), ("sizeof(list(1,2,3))", 3),
        ("nth(list(5,6), 2)", 6), ("coord(ctlpt(e2,7,8), 0)", 1), ("coord(ctlpt(p2,9,7,8), 0)", 9),
        ("coord(rotz(90), 1)", 1), ("coord(tx(5)*sc(2), 12)", 10), ("coord((tx(5)*sc(2))^-1, 12)", -5),
        ("volume(box(vector(0,0,0),1,-2,3))", 6), ("area(box(vector(0,0,0),1,2,3))", 22), ("1e-2", 0.01),
    ],
)  # fmt: skip
def test_expressions_have_the_values_of_irit(expression, expected):
    assert number(expression) == pytest.approx(expected, abs=1e-12)


def test_assignment_binds_as_loosely_as_comparison_from_the_right():
    assert number("a", "a = 2 == 2;") == 1.0
    assert number("x", "x = 3 && 0;") == 3.0


def test_names_know_no_case_and_comments_are_left_out():
    before = "# a comment\nAbc = 4; COMMENT $ b = ;;; $ # more\n"
    assert number("aBC", before) == 4.0


def test_loops_branches_and_functions_work():
    assert number("s", "s = 0; for (i = 1, 1, 10, s = s + i);") == 55.0
    assert number("s", "s = 0; for (i = 10, -2.5, 0, s = s + 1);") == 5.0
    assert number("n", "n = 1; while (n < 100, n = n * 2);") == 128.0
    factorial = "f = function(x): return = x; f = function(x): if (x <= 1, return = 1, return = x * f(x - 1));"
    assert number("f(10)", factorial) == 3628800.0
    assert number("f(3)", "f = function(x):y:z: y = x + x: z = y + y: return = x + y + z;") == 21.0
    assert number("g", "g = 1; p = procedure(v): g = v; p(7);") == 7.0
    assert number("y", "y = 5; f = function(x):y: y = x: return = y; z = f(9);") == 5.0


def test_lists_grow_in_place_and_copies_are_their_own():
    spec, _ = run('l = nil(); snoc(1, l); m = l; snoc(2, l); save("l", l); save("m", m); save("n", l + m);')
    assert [len(item.members) for item in spec.objects] == [2, 1, 3]


def test_texts_join():
    assert value('"a" + "b" + 3').value == Text("ab3")


def test_points_move_with_matrices_in_their_order():
    found = value("point(1, 0, 0) * rotz(90) * trans(vector(0, 0, 2))").value
    assert isinstance(found, Point)
    assert found.xyz == pytest.approx((0.0, 1.0, 2.0))
    assert isinstance(value("vector(1,2,3) * 2").value, Vector)


@pytest.mark.parametrize(
    ("solid", "volume", "slack"),
    [
        ("box(vector(-1,-1,-1), 2, 2, 2)", 8.0, 1e-12),
        ("box(vector(1,1,1), -2, -2, -2)", 8.0, 1e-12),
        ("gbox(vector(0,0,0), vector(1,0,0), vector(1,1,0), vector(0,0,3))", 3.0, 1e-12),
        ("gbox(vector(0,0,0), vector(1,1,0), vector(1,0,0), vector(0,0,3))", 3.0, 1e-12),
        ("cylin(vector(0,0,0), vector(0,3,4), 2, 3)", 20 * math.pi, 0.03),
        ("cone(vector(0,0,1), vector(6,0,0), 1, 1)", 2 * math.pi, 0.03),
        ("con2(vector(0,0,0), vector(0,0,3), 1, 2, 3)", 7 * math.pi, 0.03),
        ("sphere(vector(1,2,3), 2)", 32 / 3 * math.pi, 0.05),
        ("torus(vector(0,0,0), vector(1,1,0), 3, 1)", 6 * math.pi**2, 0.05),
        ("extrude(poly(list(point(0,0,0), point(1,0,0), point(0,1,0)), false), vector(1,1,4), 3)", 2.0, 1e-12),
        (
            "surfrev(ctlpt(e3,0,0,-1) + ctlpt(e3,2,0,0)) ^ surfrev(ctlpt(e3,2,0,0) + ctlpt(e3,0,0,1))",
            8 / 3 * math.pi,
            0.01,
        ),
    ],
)
@pytest.mark.parametrize("mirror", ["", " * scale(vector(1, -1, 1))", " * rx(40) * tx(3)"])
def test_solids_are_closed_with_normals_inwards_mirrored_or_not(solid, volume, slack, mirror):
    pieces = tessellate(value(solid + mirror), {}, Problems())
    a, b, c = np.concatenate([piece.triangles for piece in pieces]).swapaxes(0, 1)
    assert np.cross(b - a, c - a).sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)  # closed
    found = np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0
    if "surfrev" not in solid:  # the sense of a surface is that of its parameters
        assert found < 0.0
    assert abs(found) == pytest.approx(volume, rel=slack)


def test_minus_turns_the_sides_of_a_solid_round():
    (one,), (other,) = (tessellate(value(f"{sign}box(vector(0,0,0),1,1,1)"), {}, Problems()) for sign in ("", "-"))
    inside = [
        np.einsum("ij,ij->", *(p.triangles[:, 0], np.cross(p.triangles[:, 1], p.triangles[:, 2]))) for p in (one, other)
    ]
    assert inside[0] == pytest.approx(-inside[1])


def test_circles_are_round_and_curves_pass_through_their_ends():
    length = "crv = circle(vector(1,2,3), 2); p = ceval(crv, 1.3);"
    found = value("coerce(p, point_type)", length).value
    assert np.linalg.norm(np.array(found.xyz) - (1, 2, 3)) == pytest.approx(2.0)
    made = value("cbspline(3, list(ctlpt(e2,0,0), ctlpt(e2,1,1), ctlpt(e2,2,0), ctlpt(e2,5,5)), list(kv_open))").value
    assert isinstance(made, Freeform)
    assert made.knots[0].values == (0, 0, 0, 1, 2, 2, 2)


def test_rows_of_a_surface_run_along_its_first_parameter_so_orders_and_knots_are_those_of_the_manual():
    """Five rows of three points: the first knots are of the three, the second of the five."""
    rows = ", ".join(f"list({', '.join(f'ctlpt(e3, {i}, {j}, {i * j})' for i in range(3))})" for j in range(5))
    knots = "list(list(1, 1, 1, 2, 2, 2), list(3, 3, 3, 4, 5, 6, 6, 6))"
    before = f"s = sbspline(3, 3, list({rows}), {knots}); b = sbezier(list({rows}));"
    assert value("s", before).value.lengths == (3, 5)
    assert value("s", before).value.orders == (3, 3)
    for surface, last in (("s", "2, 6"), ("b", "1, 1")):
        corner = [number(f"coord(seval({surface}, {last}), {k})", before) for k in (1, 2, 3)]
        assert corner == pytest.approx([2.0, 4.0, 8.0], abs=1e-12)
    beside = [number(f"coord(seval(b, 1, 0), {k})", before) for k in (1, 2)]
    assert beside == pytest.approx([2.0, 0.0], abs=1e-12), "the end of the first row"


def test_colours_and_attributes_stay_with_a_value():
    item = value("b", 'b = box(vector(0,0,0),1,1,1); color(b, 4); attrib(b, "rgb", "1,2,3"); attrib(b, "width", 0.5);')
    assert item.attributes == (
        Attribute("COLOR", ("4",)), Attribute("RGB", ("1,2,3",), quoted=True), Attribute("WIDTH", ("0.5",)),
    )  # fmt: skip


def test_caret_merges_polygons_without_a_boolean():
    item = value("box(vector(0,0,0),1,1,1) ^ box(vector(5,0,0),1,1,1)")
    assert len([poly for poly in item.items if isinstance(poly, Poly)]) == 12


@pytest.mark.parametrize("sign", ["+", "-", "*", "/"])
def test_booleans_are_refused_with_their_line(sign):
    text = f"a = box(vector(0,0,0),1,1,1);\nb = sphere(vector(0,0,0),1);\n\nc = a {sign} b;\nd = c * rx(3);\n"
    assert problems_of(text) == [("E064", 4)]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a = 1\nb = 2;", "E060", 2), ("a = (1;\nb = 2;", "E060", 1), ("a = 1 ? 2;", "E060", 1),
        ("\nfor(1);", "E060", 2),
        ("\na = bx(1);", "E061", 2), ("a = boolone(1);", "E061", 1), ("a = 1;\nc = aa + 1;", "E062", 2),
        ("a = sin(list());", "E063", 1), ("a = 1 + list();", "E063", 1), ("a = 1 / 0;", "E063", 1),
        ("a = box(vector(0,0,0),1,1);", "E063", 1), ("a = nth(list(1), 2);", "E063", 1), ('a = "open;', "E050", 1),
        ("a = poly(list(point(0,0,0), point(1,1,1)), false);", "E045", 1),
        ("for (i = 1,\n0, 5, i);", "E065", 2), ("while (1, 1);", "E065", 1),
        ("f = function(x): return = x;\nf = function(x): return = f(x);\ny = f(1);", "E065", 2),
        ('save("../x", 1);', "E066", 1), ('include("/etc/passwd");', "E066", 1), ('a = load("nowhere");', "E011", 1),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_line(text, code, line):
    assert (code, line) in problems_of(text)


def test_what_follows_from_a_mistake_is_not_told_again():
    text = "a = offset(1);\nb = a + 1;\nc = list(b, b);\nd = nowhere;\n"
    assert problems_of(text) == [("E061", 1), ("E062", 4)]


@pytest.mark.parametrize("call", ['error("stop here")', 'if (1 == 1, error("stop here"))', "f(1)", 'include("ends")'])
def test_an_error_of_the_script_itself_ends_it_with_its_message(tmp_path, call):
    (tmp_path / "ends.irt").write_text('error("stop here");\nsave("b", 2);\n')
    text = f'f = function(x): error("stop here"): return = x;\nsave("a", 1);\n{call};\nsave("c", nowhere);\n'
    spec, problems = parse(text, str(tmp_path / "main.irt"))
    (problem,) = problems.errors
    assert (problem.code, problem.location.line) == ("E067", {"f(1)": 1, 'include("ends")': 1}.get(call, 3))
    assert problem.message.endswith("'stop here'")
    assert [item.name for item in spec.objects] == ["A"]


def test_misspelt_functions_get_a_suggestion():
    assert "did you mean 'cylin'?" in str(run("a = cylinn(1);")[1].errors[0])


@pytest.mark.parametrize("name", ["random", "bbox", "compose", "Silhouette", "textgeom", "gridxyz", "cregion"])
def test_functions_of_irit_that_are_not_supported_are_told_by_name_with_no_other_one_suggested(name):
    (problem,) = run(f"a = {name}(1);")[1]
    assert problem.code == "E061"
    assert f"'{name.lower()}' of IRIT is not supported" in problem.message
    assert not problem.hint


@pytest.mark.parametrize("name", ["pause", "clntview", "viewmsave", "printfile"])
def test_what_only_shows_something_is_read_over(name):
    assert problems_of(f'{name}("x", 1);\na = 2;') == []


@pytest.mark.parametrize("call", ['chdir("/tmp")', 'system("rm x")', 'setname(list(1), 0, "a")'])
def test_what_would_change_what_comes_after_and_does_nothing_is_told(call):
    _, problems = run(f"x = 1;\n{call};")
    (problem,) = problems
    assert (problem.code, problem.location.line) == ("W061", 2)


def test_a_line_that_fails_whenever_it_is_come_to_is_told_once():
    belts = "belt = function(r):\n  return = offset(r, 0.1);\nb = belt(1);\nc = belt(2);\n"
    assert problems_of(belts) == [("E061", 2)]
    assert problems_of(f"{belts}d = offset(1, 1); d = offset(1, 2);\nd = offset(1, 3);") == [
        ("E061", 2),
        ("E061", 5),
        ("E061", 6),
    ]


def test_reset_forgets_variables_but_no_functions_and_brings_constants_back():
    made = "f = function(x): return = x + 1; a = 5; pi = 3; reset();"
    assert number("f(pi)", made) == pytest.approx(math.pi + 1.0)
    assert problems_of(f"{made} b = a;") == [("E062", 1)]


@pytest.mark.parametrize("call", ['fnfree("F")', 'freeuserdeffuncs(list("f"))', "freealluserdeffuncs()"])
def test_functions_of_the_script_can_be_forgotten_and_variables_stay(call):
    made = "f = function(x): return = x; a = 5;"
    assert number("a", f"{made} {call};") == 5.0
    assert problems_of(f"{made} {call}; b = f(1);") == [("E061", 1)]


def test_a_function_that_is_not_there_cannot_be_forgotten():
    (problem,) = run('foot = function(x): return = x; fnfree("fot");')[1]
    assert (problem.code, problem.hint) == ("E062", "did you mean 'foot'?")


def test_attributes_are_propagated_to_parts_of_lists_and_widths_are_attributes():
    spec, problems = run('a = list(1, list(2, 3)); attrprop(a, "u", 7); b = 4; awidth(b, 0.5); save("x", list(a, b));')
    assert not len(problems)
    text = write(spec)
    assert text.count("[U 7]") == 5
    assert "[WIDTH 0.5]" in text


def test_merged_geometry_of_two_kinds_is_written_apart_and_reads_back():
    spec, problems = run(
        "c = cbezier(list(ctlpt(E3, 0, 0, 0), ctlpt(E3, 1, 0, 0)));"
        'save("both", c ^ poly(list(vector(0, 0, 0), vector(1, 0, 0), vector(0, 1, 0)), FALSE));'
    )
    assert not len(problems), [str(p) for p in problems]
    again, more = parse(write(spec))
    assert not len(more), [str(p) for p in more]
    assert again == spec
    assert (count(spec)["curves"], count(spec)["polygons"]) == (1, 1)


@pytest.mark.parametrize(("made", "expected"), [("d * tx(1)", (0, 1, 2, 3, 4, 5)), ("-d", (2, 1, 0, 5, 4, 3))])
def test_attributes_of_control_points_go_with_them(tmp_path, made, expected):
    points = " ".join(f'[[RGB "{k},0,0"] {k % 3} {k // 3} 0]' for k in range(6))
    (tmp_path / "d.itd").write_text(f"[OBJECT D [SURFACE BEZIER 3 2 E3 {points}]]")
    spec, problems = parse(f'd = load("d");\nsave("x", {made});\n', str(tmp_path / "main.irt"))
    (surface,) = spec.objects[0].items
    assert not len(problems), [str(p) for p in problems]
    assert [mark[0].words for mark in surface.marks] == [(f"{k},0,0",) for k in expected]


def test_scripts_include_others_of_their_folder_ten_deep_at_most(tmp_path):
    (tmp_path / "one.irt").write_text("x = 5;\ny = boxx(1);\n")
    main = tmp_path / "main.irt"
    main.write_text('include("one");\nsave("x", x);\n')
    problems = Problems()
    spec = read(Source.decode(main, main.read_bytes()), problems)
    assert spec.objects[0].value == Number(5.0)
    (problem,) = problems
    assert problem.location[:2] == (str(tmp_path / "one.irt"), 2)
    main.write_text('include("main");\n')
    problems = Problems()
    read(Source.decode(main, main.read_bytes()), problems)
    assert [p.code for p in problems] == ["E065"]


def test_data_files_are_loaded_and_links_out_of_the_folder_are_not(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.itd").write_text("[OBJECT S [NUMBER 1]]")
    (inner / "link.itd").symlink_to(tmp_path / "secret.itd")
    (inner / "a.itd").write_text("[OBJECT A [OBJECT B [NUMBER 2]] [OBJECT C [POINT 1 2 3]]]")
    main = inner / "main.irt"
    main.write_text('a = load("a");\nsave("n", nth(a, 1));\nb = load("link");\n')
    problems = Problems()
    spec = read(Source.decode(main, main.read_bytes()), problems)
    assert spec.objects[0].value == Number(2.0)
    assert [(p.code, p.location.line) for p in problems] == [("E010", 3)]


@pytest.mark.parametrize(
    "text",
    [
        "a = list(1); for (i = 1, 1, 60, a = list(a, a)); save(\"x\", a);",
        "a = list(1); for (i = 1, 1, 90, a = list(a)); save(\"x\", a);",
        "s = \"ab\"; for (i = 1, 1, 99, s = s + s);",
        "a = box(vector(0,0,0),1,1,1); for (i = 1, 1, 40, a = a ^ a);",
        "x = list(1); for (i = 1, 1, 60, attrib(x, \"a\", x): attrib(x, \"b\", x)); save(\"x\", x);",
        "a = " + "(" * 3000 + "1;", "a = " + "-" * 20000 + "1;", "a = " + "1+" * 20000 + "1;",
        "a = " + "x=" * 20000 + "1;",
    ],
)  # fmt: skip
def test_what_grows_without_end_is_stopped(text):
    spec, problems = run(text)
    assert {p.code for p in problems} == {"E065"}
    count(spec)


WORDS = st.sampled_from(
    [
        "a",
        "b",
        "return",
        "=",
        "==",
        "+",
        "-",
        "*",
        "/",
        "^",
        "(",
        ")",
        "(",
        ")",
        ",",
        ":",
        ";",
        ";",
        "1",
        "0",
        "2.5",
        '"t"',
        "list(",
        "box(",
        "vector(1,2,3)",
        "point(0,0,1)",
        "for(",
        "while(",
        "if(",
        "function(",
        "nth(",
        "snoc(",
        'save("x",',
        "view(",
        "trans(",
        "sphere(",
        "poly(",
        "cbezier(",
        "ctlpt(",
        "e3",
        "p2",
        "kv_open",
        "!",
        "&&",
        "free(",
        "pi",
        "attrib(",
        "coerce(",
        "surfrev(",
        "extrude(",
        "gpolygon(",
        "circle(",
        "include(",
        "load(",
        "rx(30)",
    ]
)


@settings(deadline=None)
@given(st.lists(WORDS, max_size=40).map(" ".join))
def test_any_words_give_a_spec_or_located_problems(text):
    spec, problems = run(text)
    assert all(p.location.line for p in problems)
    assert parse(write(spec))[0] == spec
    count(spec)


@given(st.binary(max_size=200))
def test_any_bytes_give_a_spec_or_located_problems(data):
    problems = Problems()
    read(Source.decode("any.irt", data), problems)
    assert all(p.location.line for p in problems)


def test_every_function_says_how_it_is_used_and_stands_in_one_table_only():
    for name, function in FUNCTIONS.items():
        assert re.match(rf"{name}\(", function.usage)
    assert not set(FUNCTIONS) & IGNORED
    assert not set(FUNCTIONS) & UNSUPPORTED


QUADRUPED = """
leg = function(x, side):
    return = list(con2(vector(x, 0.3 * side, 0.5), vector(0, 0.4 * side, 0.2), 0.05, 0.04, 3),
                  cone(vector(x, 0.7 * side, 0.7), vector(0, 0.2 * side, -0.7), 0.05, 1),
                  point(x, 0.3 * side, 0.5), point(x, 0.7 * side, 0.7), point(x, 0.9 * side, 0));
legs = nil();
for (s = 1, -2, -1, for (i = 0, 1, 1, snoc(leg(0.6 - 1.2 * i, s), legs)));
save("quad", list(box(vector(-0.8, -0.3, 0.4), 1.6, 0.6, 0.2), legs, 0.2, 0.4, 10, "cross"));
"""


def test_a_script_makes_a_walker():
    spec, problems = run(QUADRUPED)
    assert not len(problems), [str(p) for p in problems]
    assert find_walker(spec, problems).pairs == 2
    again, more = parse(write(spec))
    assert again == spec
    assert not len(more)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.name)
def test_real_scripts_run_or_say_where_they_cannot(path):
    problems = Problems()
    spec = read(Source.decode(path, path.read_bytes()), problems)
    assert all(p.location.line for p in problems)
    assert not [str(p) for p in problems if p.code == "E060"]  # the grammar is whole
    count(spec)
    if path.stem in {"ir_chckr", "platonic", "primitiv", "primsrfs", "printf", "quad_plain"}:
        assert not [str(p) for p in problems]


@pytest.mark.parametrize(
    ("text", "code"),
    [('save("x", sphere(vector(0, 1e308, 1), 1e308));', "E063"), ('a = 1e400; save("x", a);', "E060")],
)
def test_numbers_whose_squares_are_too_large_are_refused(text, code):
    _, problems = run(text)
    assert problems.errors[0].code == code
