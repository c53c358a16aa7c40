"""The canvas and its bundles: what is far away is cut off, what is coarse is not off by a pixel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pygame
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from cbsim.errors import UsageError
from cbsim.spec.drawing import Dots, Line, Text, drawings_of
from cbsim.viewer.drawing.camera import Camera
from cbsim.viewer.drawing.canvas import FAR, Canvas, clipped
from cbsim.viewer.drawing.polyline_batch import PolylineBatch, dashes_of
from cbsim.viewer.screenshot import pixels_of

INK, PAPER = (10, 20, 30), (250, 240, 230)


def sheet(width=64, height=48):
    canvas = Canvas(pygame.Surface((width, height), depth=32))
    canvas.fill(PAPER)
    return canvas


def inked(canvas):
    return (pixels_of(canvas.surface).astype(int) == INK).all(axis=2)


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)), max_size=8), st.floats(0.1, 50.0))
def test_any_places_can_be_drawn(places, width):
    canvas = sheet()
    canvas.area(places, INK)
    canvas.area(places, INK, alpha=0.5)
    canvas.line(places, INK, width)
    canvas.line(places, INK, width, closed=True)
    assert all(
        abs(value) <= FAR + 1e-6
        for area in (True, False)
        for part in clipped(places, area=area)
        for xy in part
        for value in xy
    )


def test_an_area_of_which_all_corners_are_far_away_still_covers_the_picture():
    canvas = sheet()
    canvas.area([(-1e6, -1e6), (1e6, -1e6), (1e6, 1e6), (-1e6, 1e6)], INK)
    assert inked(canvas).all()
    canvas = sheet()
    canvas.line([(-1e7, 24.0), (1e7, 24.0)], INK, 1.0)
    assert inked(canvas)[24].all()


@pytest.mark.parametrize("width", [2.0, 5.0, 9.0])
def test_a_line_is_as_broad_as_it_says(width):
    canvas = sheet()
    canvas.stroke([(0.0, 24.0), (64.0, 24.0)], INK, width)
    assert inked(canvas)[:, 32].sum() == pytest.approx(width, abs=1.01)


def test_text_stands_where_its_anchor_says():
    canvas = sheet(200, 100)
    box = canvas.text((100, 50), "Xg", INK, 20, anchor="topleft")
    assert box.topleft == (100, 50)
    assert canvas.text((100, 50), "Xg", INK, 20, anchor="bottomright").bottomright == (100, 50)
    assert np.abs(np.subtract(canvas.extent("Xg", 20), box.size)).max() <= 2
    assert inked(canvas).any()


@given(st.floats(0.05, 60.0), st.integers(0, 2**31))
def test_coarse_lines_are_off_by_less_than_a_pixel(scale, seed):
    random = np.random.default_rng(seed)
    line = np.cumsum(random.normal(0.0, 5.0, (200, 2)), axis=0)
    (coarse,) = PolylineBatch([line]).simplified(scale).lines
    assert shapely.hausdorff_distance(shapely.LineString(line), shapely.LineString(coarse)) * scale <= 2.0


def test_a_bundle_gives_what_is_seen_and_nothing_else():
    lines = [np.array([(x, 0.0), (x, 1.0)]) for x in (0.0, 100.0, 5.0)]
    camera = Camera((2.5, 0.5), 10.0, 0.0, (100, 100))
    seen = PolylineBatch(lines).visible(camera)
    assert seen == [camera.to_screen(lines[k]).tolist() for k in (0, 2)]
    assert PolylineBatch([]).visible(camera) == []
    assert PolylineBatch(lines).visible(replace(camera, centre=(1e6, 0.0))) == []


def test_dashes_are_as_long_as_they_should_be():
    dashes = dashes_of([np.array([(0.0, 0.0), (10.0, 0.0), (25.0, 0.0)])], 3.0, 9.0)
    assert [dash[:, 0].tolist() for dash in dashes] == [[0.0, 1.5, 3.0], [12.0, 13.5, 15.0], [24.0, 25.0, 25.0]]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3, "draw() returned int"),
        ([3], "draw() returned a int among its drawings"),
        ("text", "draw() returned str"),
    ],
)
def test_what_is_no_drawing_is_told(given, said):
    with pytest.raises(UsageError) as error:
        drawings_of(given)
    assert said in str(error.value)


@pytest.mark.parametrize("points", [[(0.0,)], [(np.nan, 0.0)], "ab", [[1.0, 2.0], [3.0]]])
def test_places_of_drawings_are_checked_where_they_are_made(points):
    with pytest.raises(UsageError):
        Line(points)


def test_drawings_take_points_of_two_and_of_three_numbers():
    assert Line([(1.0, 2.0), (3.0, 4.0)]).places.tolist() == [[1.0, 2.0, 0.0], [3.0, 4.0, 0.0]]
    assert Dots((1.0, 2.0, 3.0), colour=(300, -1, 5)).colour == (255, 0, 5)
    assert Text((1.0, 2.0), text="a\nb").text == "a"
    assert Line([]).places.shape == (0, 3)
    assert drawings_of(None) == ()
    assert len(drawings_of(Line([]))) == 1
    with pytest.raises(UsageError):
        Line([], colour="red")
