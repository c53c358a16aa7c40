"""The casters against brute force, bit for bit: they leave out beams and triangles, never another arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cbsim.geometry.kernels.bvh import DEPTH
from cbsim.geometry.kernels.rays import ray_ground
from cbsim.geometry.pose import mounting_quaternion
from cbsim.sensing.kernels.rays import cast_body_into
from cbsim.sensing.kernels.shapes import BOX, CAPSULE, SPHERE, matrix_of, turned
from cbsim.sensing.kernels.windows import azimuth_of
from cbsim.world.sensors import beam_directions
from tests.sensing.brute import cast_brute_into
from tests.sensing.scenes import cast_both, even, random_scene, shapes_of

FANS = (
    (-90.0, 90.0, 181),
    (0.0, 360.0, 100),
    (-180.0, 180.0, 256),
    (-135.0, 135.0, 33),
    (350.0, 710.0, 96),
    (90.0, -90.0, 64),
    (-10.0, 5.0, 3),
    (40.0, 40.0, 1),
)
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def same(fast, twin):
    return np.array_equal(fast, twin)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    fan=st.sampled_from(FANS),
    layers=st.sampled_from([(0.0,), (-0.3, -0.1, 0.0, 0.2), (0.5, -0.5, 0.1), (-1.5, -0.02, 1.5)]),
    attitude=st.sampled_from(["level", "tilted", "upside down"]),
)
@example(seed=1, fan=FANS[0], layers=(0.0,), attitude="level")
@example(seed=1, fan=FANS[1], layers=(-1.5, -0.02, 1.5), attitude="upside down")
def test_casters_equal_brute_force_bit_for_bit(seed, fan, layers, attitude):
    rng = np.random.default_rng(seed)
    positions, orientations, shapes = random_scene(rng, int(rng.integers(0, 40)), upright=attitude == "level")
    pitch, roll, yaw = rng.uniform((-0.3, -0.3, -3.2), (0.3, 0.3, 3.2))
    turn = {
        "level": mounting_quaternion(0.0, 0.0, yaw),
        "tilted": mounting_quaternion(pitch, roll, yaw),
        "upside down": mounting_quaternion(pitch, roll + math.pi, yaw),
    }[attitude]
    origin = rng.uniform((-30, -30, -0.5), (30, 30, 3.0))
    own = int(rng.integers(-1, max(len(positions), 1)))
    assert same(*cast_both(origin, turn, even(*fan), layers, positions, orientations, shapes, own=own))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    height=st.sampled_from([0.5, 1.0, 1.0 + 1e-12, 2.0]),
    turns=st.integers(0, 7),
    shift=st.sampled_from([0.0, 1e-15, -1e-15, 1e-9, 0.5]),
)
@example(seed=316094, height=2.0, turns=0, shift=0.0)  # straight above a box
@example(seed=171766, height=1.0, turns=0, shift=0.0)  # on a box
def test_grazing_beams_and_sensors_on_or_inside_bodies_are_decided_alike(seed, height, turns, shift):
    """Boxes on a grid of half metres, turned by eighths: beams run along faces, through corners and from inside."""
    rng = np.random.default_rng(seed)
    positions = rng.integers(-8, 9, (30, 3)) * 0.5
    positions[:, 2] = np.abs(positions[:, 2])
    sizes = rng.integers(0, 9, (30, 3)) * 0.5
    orientations = np.array([mounting_quaternion(0, 0, k * math.pi / 4) for k in rng.integers(0, 8, 30)])
    shapes = shapes_of(np.full(30, BOX), sizes)
    origin = (rng.integers(-4, 5) * 0.5 + shift, rng.integers(-4, 5) * 0.5, height)
    turn = mounting_quaternion(0.0, 0.0, turns * math.pi / 4)
    for layers in ((0.0,), (-math.pi / 4, 0.0, math.pi / 4)):
        for fan in (FANS[0], (0.0, 360.0, 8), FANS[2]):
            assert same(*cast_both(origin, turn, even(*fan), layers, positions, orientations, shapes))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), sigma=st.sampled_from([1e-4, 0.01, 0.5]))
def test_beams_off_their_even_places_are_found_all_the_same(seed, sigma):
    rng = np.random.default_rng(seed)
    positions, orientations, shapes = random_scene(rng, 30, upright=True)
    azimuths = even(*FANS[0]) + sigma * rng.standard_normal(181)
    turn = mounting_quaternion(0.0, 0.0, rng.uniform(-3, 3))
    assert same(*cast_both((0, 0, 1), turn, azimuths, (-0.1, 0.0), positions, orientations, shapes))


def test_more_bodies_than_a_chunk_of_windows_are_all_seen():
    rng = np.random.default_rng(5)
    positions, orientations, shapes = random_scene(rng, 700, upright=True, extent=90.0)
    fast, twin = cast_both((0, 0, 1.5), UPRIGHT, even(*FANS[2]), (-0.05, 0.0, 0.05), positions, orientations, shapes)
    assert same(fast, twin)
    assert np.isfinite(fast).mean() > 0.5


def test_layers_and_beams_keep_the_order_of_the_conf_whatever_their_order_is():
    rng = np.random.default_rng(6)
    positions, orientations, shapes = random_scene(rng, 40, upright=True)
    pitches, azimuths = np.array([-0.2, -0.1, 0.0, 0.1]), even(*FANS[0])
    scene = (positions, orientations, shapes)
    straight, _ = cast_both((0, 0, 1), UPRIGHT, azimuths, pitches, *scene)
    mixed, _ = cast_both((0, 0, 1), UPRIGHT, azimuths[::-1].copy(), pitches[[2, 0, 3, 1]], *scene)
    both = np.isfinite(straight[[2, 0, 3, 1]]) & np.isfinite(mixed[:, ::-1])
    assert both.sum() > 50
    assert np.allclose(straight[[2, 0, 3, 1]][both], mixed[:, ::-1][both], rtol=0, atol=1e-9)


def test_surfaces_within_reach_are_never_left_out_at_its_edge():
    shapes = shapes_of([BOX, SPHERE], [(2, 2, 2), (2, 2, 2)])
    positions = np.array([[0.0, 81.0 - 1e-9, 1.0], [-81.0 + 1e-9, 0.0, 1.0]])
    orientations = np.tile(UPRIGHT, (2, 1))
    fast, twin = cast_both((0, 0, 1), UPRIGHT, even(0, 360, 4), (0.0,), positions, orientations, shapes)
    assert same(fast, twin)
    assert fast[0, :2] == pytest.approx(80.0 - 1e-9, abs=1e-12)


def test_capsule_is_met_at_its_side_and_at_its_caps():
    shapes = shapes_of([CAPSULE], [(2.0, 2.0, 6.0)])  # radius 1, straight from -2 to 2
    lying = np.array([mounting_quaternion(0.0, math.pi / 2, 0.0)])  # along x
    for origin, expected in (((0.0, -5.0, 9.0), 4.0), ((1.9, -5.0, 9.0), 4.0), ((2.6, -5.0, 9.0), 5.0 - 0.8)):
        fast, twin = cast_both(origin, UPRIGHT, even(0, 0, 1), (0.0,), np.array([[0.0, 0.0, 9.0]]), lying, shapes)
        assert same(fast, twin)
        assert fast[0, 0] == pytest.approx(expected, abs=1e-12)
    fast, _ = cast_both((0, 0, 9), UPRIGHT, even(-90, 0, 2), (0.0,), np.array([[0.0, 0.0, 9.0]]), lying, shapes)
    assert fast[0] == pytest.approx([3.0, 1.0])  # from inside: to the cap, to the side


def test_approximate_azimuth_is_as_good_as_the_windows_take_it_to_be():
    angles = np.linspace(-math.pi, math.pi, 20_001)
    found = np.array([azimuth_of(-math.sin(a), math.cos(a)) for a in angles])
    off = np.abs((found - angles + math.pi) % (2 * math.pi) - math.pi)
    assert off.max() < 1.3e-5
    assert np.isfinite(azimuth_of(0.0, 0.0))


def test_fan_directions_are_those_of_the_conf():
    directions = beam_directions(np.array([0.0, math.pi / 2]), (0.0, math.pi / 2))
    assert np.allclose(directions, [[[0, 1, 0], [-1, 0, 0]], [[0, 0, 1], [0, 0, 1]]], atol=1e-15)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_rays_in_any_directions_equal_brute_force_too(seed):
    rng = np.random.default_rng(seed)
    positions, orientations, shapes = random_scene(rng, 30, upright=False)
    directions = rng.normal(0, 1, (4, 60, 3))
    directions /= np.linalg.norm(directions, axis=-1)[..., None]
    origin, turn, own = rng.uniform(-20, 20, 3), mounting_quaternion(*rng.uniform(-3, 3, 3)), int(rng.integers(-1, 30))
    ranges, twin, stack = np.empty((4, 60)), np.empty((4, 60)), np.empty(DEPTH, np.int64)
    m = matrix_of(*turn)
    for ray in np.ndindex(ranges.shape):
        ranges[ray] = ray_ground(origin[2], turned(m, *directions[ray])[2])
    for body in set(range(30)) - {own}:
        cast_body_into(origin, turn, directions, body, positions, orientations, shapes, stack, ranges)
    cast_brute_into(origin, turn, directions, own, positions, orientations, shapes, twin)
    assert same(np.where(ranges <= 100.0, ranges, np.inf), np.where(twin <= 100.0, twin, np.inf))
