"""Files made to break or to stall: circles and walls of instances, polygons that cross themselves, tall orders."""

from __future__ import annotations

import random

import numpy as np
import pytest

from cbsim.errors import ModelError, Problems
from cbsim.formats.irit.polygons import cut_ears, polygon
from cbsim.formats.irit.tessellate import TRIANGLES, instances, tessellate
from cbsim.models.irit import count
from cbsim.models.irit.description import describe
from cbsim.paths import Files
from tests.common import ROOT
from tests.models.irit.texts import codes, parse, walker

STILL = "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"
NUMBERS = [0, 1e-9, 1e-3, 0.1, 0.3, 0.5, 1, 1.5, 2, 10, 1e6, 1e11, -1, -0.4]


def pieces_of(text):
    spec, problems = parse(text)
    known, told = instances(spec.objects), Problems()
    return [piece for item in spec.objects for piece in tessellate(item, known, told)], problems, told


def test_long_chains_of_instances_are_followed_in_linear_time():
    rows = [f"[OBJECT A{k} [INSTANCE A{k + 1} {STILL}]]" for k in range(2000)]
    assert codes("\n".join([*rows, "[OBJECT A2000 [NUMBER 1]]"])) == []
    assert {code for code, _ in codes("\n".join([*rows, f"[OBJECT A2000 [INSTANCE A0 {STILL}]]"]))} == {"E051"}


@pytest.mark.parametrize("leaf", ["[POLYGON 3 [0 0 0] [1 0 0] [0 1 0]]", "[POINT 1 2 3]"])
def test_instances_of_instances_are_drawn_up_to_a_bound_and_that_is_told(leaf):
    two = [f"[INSTANCE B{k} {STILL}] " * 2 for k in range(20)]
    rows = [f"[OBJECT B0 {leaf}]", *(f"[OBJECT B{k} {uses}]" for k, uses in enumerate(two, 1))]
    pieces, problems, told = pieces_of("\n".join(rows))
    assert not len(problems)
    assert sum(len(piece.triangles) for piece in pieces) <= 40 * TRIANGLES
    assert {p.code for p in told} <= {"W056"}


def test_an_instance_is_drawn_where_it_is_moved_to_and_mirrored_right():
    text = "[OBJECT A [POLYGON 3 [0 0 0] [1 0 0] [0 1 0]]]\n[OBJECT B [INSTANCE A -1 0 0 0 0 1 0 0 0 0 1 0 5 0 0 1]]"
    (one, other), problems, _ = pieces_of(text)
    assert not len(problems)
    normal = [np.cross(*(p.triangles[0, 1:] - p.triangles[0, 0])) for p in (one, other)]
    assert normal[0] == pytest.approx(normal[1])
    assert sorted(other.triangles[0, :, 0]) == pytest.approx([4.0, 5.0, 5.0])


def test_polygons_are_cut_whole_whatever_their_corners():
    chance = random.Random(1)
    for size in (3, 4, 7, 30, 120):
        angles = np.sort([chance.uniform(0, 2 * np.pi) for _ in range(size)])
        radius = np.array([chance.uniform(0.2, 1.0) for _ in range(size)])
        star = np.stack([radius * np.cos(angles), radius * np.sin(angles)], axis=1)
        if np.diff(angles).max(initial=0.0) > 3.0 or angles[0] - angles[-1] + 2 * np.pi > 3.0:
            continue
        after = np.roll(star, -1, axis=0)
        area = 0.5 * float((star[:, 0] * after[:, 1] - star[:, 1] * after[:, 0]).sum())
        parts = star[cut_ears(star)]
        a, b = parts[:, 1] - parts[:, 0], parts[:, 2] - parts[:, 0]
        pieces = 0.5 * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
        assert len(parts) == size - 2
        assert pieces.min() > -1e-12  # none lies over another
        assert pieces.sum() == pytest.approx(area)


def test_polygons_that_cross_themselves_or_fold_are_cut_somehow():
    chance = random.Random(2)
    for size in (5, 40, 400):
        points = np.array([[chance.uniform(-1, 1) for _ in range(3)] for _ in range(size)])
        points[:, 2] = 0.0
        assert len(polygon(points)) == size - 2
    folded = np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0), (1, 0, 0), (1, 1, 0)], float)
    assert len(polygon(folded)) == 3


def test_tall_orders_and_many_parameters_are_bounded():
    points = " ".join("[0 0 0]" for _ in range(200))
    assert codes(f"[OBJECT A [CURVE BEZIER 200 E3 {points}]]") == [("E049", 1)]
    assert codes("[OBJECT A [MULTIVAR BEZIER 12 1 1 1 1 1 1 1 1 1 1 1 1 E1 [0]]]") == [("E049", 1)]
    rows = " ".join(f"[{i} {j} {i * j}]" for j in range(100) for i in range(100 - j))
    pieces, problems, _ = pieces_of(f"[OBJECT A [TRISRF BEZIER 100 E3 {rows}]]")
    assert not len(problems)
    assert np.isfinite(pieces[0].triangles).all()


@pytest.mark.parametrize(("size", "is_tangled"), [(1, False), (2, False), (3, False), (12, False), (300, True)])
def test_trimming_loops_of_any_shape_are_taken_or_told(size, is_tangled):
    chance = random.Random(3)
    surface = "[SURFACE BEZIER 2 2 E3 [0 0 0] [1 0 0] [0 1 0] [1 1 0]]"
    points = " ".join(f"[{chance.uniform(-0.5, 1.5)} {chance.uniform(-0.5, 1.5)}]" for _ in range(size))
    knots = " ".join(map(str, [0, *range(size), size - 1]))
    basis = f"BSPLINE {size} 2 E2 [KV {knots}]" if size > 1 else "BEZIER 1 E2"
    loop = f"[TRIMCRV [TRIMCRVSEG [CURVE {basis} {points}]]]"
    pieces, problems, told = pieces_of(f"[OBJECT A [TRIMSRF {surface} {loop}]]")
    assert not len(problems)
    assert [p.code for p in told] == ["W056"] * is_tangled
    for piece in pieces:
        assert ((piece.triangles[..., :2] > -1e-9) & (piece.triangles[..., :2] < 1 + 1e-9)).all()


def test_a_round_hole_in_a_trimmed_surface_leaves_the_rest():
    surface = "[SURFACE BEZIER 2 2 E3 [0 0 0] [4 0 0] [0 4 0] [4 4 0]]"
    square = "[TRIMCRV [TRIMCRVSEG [CURVE BSPLINE 5 2 E2 [KV 0 0 1 2 3 4 4] [0 0] [1 0] [1 1] [0 1] [0 0]]]]"
    corners = [(1, 1, 0), (0.7071067811865476, 1, 1), (1, 0, 1), (0.7071067811865476, -1, 1), (1, -1, 0)]
    corners += [(0.7071067811865476, -1, -1), (1, 0, -1), (0.7071067811865476, 1, -1), (1, 1, 0)]
    points = " ".join(f"[{w} {w * (0.5 + 0.25 * x)} {w * (0.5 + 0.25 * y)}]" for w, x, y in corners)
    hole = f"[TRIMCRV [TRIMCRVSEG [CURVE BSPLINE 9 3 P2 [KV 0 0 0 1 1 2 2 3 3 4 4 4] {points}]]]"
    pieces, problems, _ = pieces_of(f"[OBJECT A [TRIMSRF {surface} {square} {hole}]]")
    assert not len(problems)
    a, b, c = pieces[0].triangles.swapaxes(0, 1)
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    assert area == pytest.approx(16.0 - np.pi, rel=2e-3)  # the circle is a polygon of 32 corners


@pytest.mark.parametrize("seed", range(4))
def test_walkers_of_any_numbers_walk_or_are_refused(seed):
    chance = random.Random(seed)
    walked = 0
    for _ in range(60):
        changes = {
            k: chance.choice(NUMBERS) for k in ("length", "height", "rotate", "walk", "angle") if chance.random() < 0.3
        }
        for what in ("root", "knee", "foot"):
            if chance.random() < 0.3:
                changes[what] = tuple(
                    chance.choice([chance.uniform(-1.5, 1.5), chance.choice(NUMBERS)]) for _ in range(3)
                )
        spec, problems = parse(walker(pairs=chance.choice([1, 2, 3]), **changes))
        count(spec)
        if problems.errors:
            continue
        settings = {
            "flag": chance.choice(["none", "0,0", "1,1", "-3,2", "1e7,0"]),
            "slope": chance.choice(["0", "9", "50,-50"]),
        }
        try:
            walk = describe(spec, settings, 0.05, ROOT, Files(), Problems()).motion
        except ModelError:
            continue
        memory, state = walk.memory, walk.first.copy()
        for k in range(60):
            walk.move(0.05 * k, 0.05, state, memory)
        assert np.isfinite(state).all()
        walked += 1
    assert walked
