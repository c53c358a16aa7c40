"""The camera: places and pixels, and what stays where it is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbsim.viewer.drawing.camera import ABOVE, MAX_SCALE, MIN_SCALE, PROJECTIONS, Camera

number = st.floats(-1e4, 1e4)
cameras = st.builds(
    Camera,
    st.tuples(number, number),
    st.floats(0.01, 500.0),
    st.floats(-math.pi, math.pi),
    st.tuples(st.integers(64, 4000), st.integers(64, 4000)),
)
pixels = st.tuples(st.floats(0.0, 4000.0), st.floats(0.0, 4000.0))


@given(cameras, st.tuples(number, number))
def test_a_pixel_of_a_place_is_the_place_of_a_pixel(camera, place):
    assert camera.to_world(camera.to_screen(place)) == pytest.approx(place, abs=1e-7)


@given(cameras, pixels, st.floats(0.5, 2.0), st.floats(-3.0, 3.0))
def test_the_place_below_the_cursor_stays_when_one_comes_nearer_or_turns(camera, pixel, factor, angle):
    place = camera.to_world(pixel)
    for changed in (camera.zoomed(factor, pixel), camera.turned(angle, pixel)):
        assert changed.to_screen(place) == pytest.approx(pixel, abs=1e-5)


@given(cameras, st.floats(-500.0, 500.0), st.floats(-500.0, 500.0))
def test_dragging_moves_what_is_seen_with_the_mouse(camera, right, down):
    place = camera.to_world((100.0, 100.0))
    assert camera.panned(right, down).to_screen(place) == pytest.approx((100.0 + right, 100.0 + down), abs=1e-5)


@given(cameras, st.tuples(number, number), st.tuples(st.floats(0.0, 1e3), st.floats(0.0, 1e3)))
def test_a_box_that_is_fitted_is_seen_whole(camera, low, extent):
    fitted = camera.fitted(low, np.add(low, extent))
    x, y = low
    corners = [(x, y), (x + extent[0], y), (x, y + extent[1]), (x + extent[0], y + extent[1])]
    seen = fitted.to_screen(corners)
    assert (seen > -1e-6).all()
    assert (seen < np.asarray(camera.size) + 1e-6).all()


def test_north_is_up_and_a_turned_picture_has_its_heading_up():
    camera = Camera((0.0, 0.0), 10.0, 0.0, (200, 200))
    assert camera.to_screen((0.0, 5.0)).tolist() == [100.0, 50.0]
    west_up = camera.turned(math.pi / 2)
    assert west_up.to_screen((-5.0, 0.0)) == pytest.approx((100.0, 50.0))


def test_no_factor_leads_out_of_sight():
    assert Camera().zoomed(1e-30).scale == MIN_SCALE
    assert Camera().zoomed(1e30).scale == MAX_SCALE


def test_from_the_east_a_vehicle_shows_its_right_side():
    east = PROJECTIONS[1]
    ahead, up, right = np.eye(3)[[1, 2, 0]]
    assert east.flat(ahead).tolist() == [1.0, 0.0]
    assert east.flat(up).tolist() == [0.0, 1.0]
    assert east.depth(right) == 1.0
    assert ABOVE.depth(up) == 1.0
