"""The lists of a 2N-legged model: found by their structure, refused with the line of what is wrong."""

from __future__ import annotations

import pytest

from cbsim.errors import Problems
from cbsim.formats import recognise
from cbsim.formats.irit.structure import find_walker
from cbsim.formats.reader import Source
from cbsim.models.irit import count
from tests.common import shared
from tests.models.irit.texts import HEXAPOD, box, codes, leg, parse, walker


def found(text):
    return {code for code, _ in codes(text)}


def test_a_hexapod_is_found_and_counted():
    spec, problems = parse(HEXAPOD)
    assert not len(problems)
    made = find_walker(spec, problems)
    assert (made.pairs, made.rotate, made.walk, made.angle, made.gait) == (3, 0.3, 0.6, 10.0, "cross")
    assert [one.name for one in made.legs] == [f"{side} {k}" for side in ("left", "right") for k in (1, 2, 3)]
    counts = count(spec)
    assert (counts["bodies"], counts["joints"], counts["loops"], counts["degrees_of_freedom"]) == (13, 12, 0, 24)
    assert counts["mass"] > 0.0


def test_names_are_free_and_objects_at_the_top_form_a_list():
    inner = HEXAPOD.split("\n", 1)[1].rsplit("]", 1)[0]
    spec, problems = parse(inner)
    assert len(spec.objects) == 6
    assert find_walker(spec, problems) is not None
    assert not len(problems)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"rotate": 1.5}, "E073"),
        ({"walk": -0.1}, "E073"),
        ({"angle": 0}, "E074"),
        ({"angle": 200}, "E074"),
        ({"gait": "diagonal"}, "E075"),
        ({"pairs": 1, "gait": "parallel", "walk": 0.1, "rotate": 0.1}, "E075"),
        ({"knee": (0.0, 0.5, 1.0)}, "E076"),
        ({"foot": (0.0, 1.5, 1.4)}, "E076"),
        ({"height": -1.0, "root": (0, 0.5, 1.0), "knee": (0, 1.1, 1.35), "foot": (0, 1.5, 0)}, "E077"),
        ({"pairs": 1, "walk": 1.0, "length": 4.0}, "E078"),
        ({"angle": 60}, "W074"),
        ({"rotate": 0.7}, "W076"),
        ({"foot": (0.0, 1.5, -0.3)}, "W072"),
        ({"root": (0.0, -0.5, 1.0)}, "W071"),
    ],
)
def test_wrong_numbers_are_told_by_name(changes, code):
    assert code in found(walker(**changes))


def test_a_body_below_the_ground_is_told_and_nothing_of_feet_that_are_on_it():
    low = walker(height=-0.7, root=(0, 0.5, 1.0), knee=(0, 1.1, 1.35), foot=(0, 1.5, 0))
    assert found(low) == {"E077"}


def test_where_a_body_is_off_its_axis_is_told_without_signs_of_nothing():
    aside = HEXAPOD.replace(box((-1.2, -0.5, 0.8), (1.2, 0.5, 1.2)), box((-1.1, -0.5, 0.8), (1.3, 0.5, 1.2)))
    (problem,) = parse(aside)[1]
    assert "x = 0.1, y = 0," in problem.message


def test_types_of_step_know_no_case_and_no_blanks():
    assert found(walker(gait="  CROSS ")) == set()
    _, problems = parse(walker(gait="crosss"))
    assert "did you mean 'cross'?" in str(problems.errors[0])


def test_lists_of_the_wrong_length_are_told_with_their_line():
    text = HEXAPOD.replace("[OBJECT A [NUMBER 0.3]]\n", "")
    assert ("E070", 1) in codes(text)
    short = HEXAPOD.replace("[OBJECT NONE [POINT 0.9 1.5 0]]\n", "")
    (problem,) = parse(short)[1]
    assert problem.code == "E072"
    assert short.splitlines()[problem.location.line - 1].startswith("[OBJECT LEG")


def test_an_odd_number_of_legs_and_none_are_refused():
    one = leg((0, 0.5, 1), (0, 1.1, 1.35), (0, 1.5, 0))
    assert "E071" in found(walker(legs=one))
    assert "E071" in found(walker(legs=""))


def test_a_body_without_geometry_is_refused():
    text = HEXAPOD.replace(box((-1.2, -0.5, 0.8), (1.2, 0.5, 1.2)), "[POINTLIST 1 [0 0 1]]")
    assert "E079" in found(text)


def test_points_may_be_vectors_or_control_points():
    text = HEXAPOD.replace("[POINT 0.9 1.5 0]", "[CTLPT E3 0.9 1.5 0]").replace("[POINT 0.9 1.1", "[VECTOR 0.9 1.1")
    assert text != HEXAPOD
    assert not found(text)
    assert find_walker(parse(text)[0], Problems()) == find_walker(parse(HEXAPOD)[0], Problems())


def test_the_real_quadruped_and_its_script_are_walkers():
    for name in ("quad_cross.itd", "quad_plain.irt"):
        path = shared("irit", "synthetic_2N_legged", name)
        spec, problems = parse(path.read_text(), str(path))
        assert not [str(p) for p in problems]
        assert count(spec)["bodies"] == 9


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.irt", "model = sphere(vector(0, 0, 0), 1);\n"),
        ("b.itd", "samples: 3\n[OBJECT A [NUMBER 1]]\n"),
        ("c", "[object A [number 1]]\n"),
        ("d.txt", '# a model\nlegs = nil();\nsave("x", legs);\n'),
        ("e.irt", "x = 1;\n"),
    ],
)
def test_files_are_known_by_what_stands_in_them(name, text):
    assert recognise(Source(name, text, text.encode())).name == "irit"
