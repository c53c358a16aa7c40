"""Scenes made by hand for the casters: shapes and poses without a World, random or not."""

from __future__ import annotations

import math

import numpy as np
import trimesh

from cbsim.geometry.forest import plant
from cbsim.geometry.pose import mounting_quaternion
from cbsim.sensing import Scan, readings_between
from cbsim.sensing.kernels.fan import fan_of
from cbsim.sensing.kernels.shapes import BOX, CAPSULE, CYLINDER, MESH, SPHERE, WHEEL
from cbsim.sensing.kernels.still import cast_still_into, scratch_for
from cbsim.world.sensors import beam_directions
from cbsim.world.tables import Shapes
from tests.sensing.brute import cast_brute_into

KINDS = (BOX, SPHERE, CYLINDER, WHEEL, MESH, CAPSULE)


def shapes_of(kinds, sizes, meshes=()):
    """Assemble `Shapes`; `meshes` holds the corners (n, 3, 3) of the bodies that are meshes, in their order."""
    kinds, sizes = np.asarray(kinds, np.int64), np.asarray(sizes, float).reshape(-1, 3)
    forest = plant(meshes)
    first, root = np.zeros(len(kinds), np.int64), np.full(len(kinds), -1, np.int64)
    last, count = np.zeros(len(kinds), np.int64), 0
    for body, tree, corners in zip(np.flatnonzero(kinds == MESH), forest.root, meshes, strict=True):
        first[body], last[body], root[body] = count, count + len(corners), tree if len(corners) else -1
        count += len(corners)
    radii = 0.5 * np.linalg.norm(sizes, axis=1)
    solid = np.ones(len(kinds), np.int64)
    return Shapes(kinds, sizes, radii, solid, forest.triangles, first, last, forest.node_box, forest.node_link, root)


def blob(rng, size):
    """Crumpled ball of 80 triangles that fills a box of that size [m]; corners (80, 3, 3)."""
    ball = trimesh.creation.icosphere(subdivisions=1)
    vertices = ball.vertices * rng.uniform(0.6, 1.0, (len(ball.vertices), 1))
    vertices = vertices - 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    return (vertices / np.ptp(vertices, axis=0) * size)[ball.faces]


def random_scene(rng, count, upright, extent=30.0):
    """Positions, orientations and shapes of bodies of every kind; of upright ones all but a few."""
    kinds = rng.choice(KINDS, count, p=(0.5, 0.1, 0.1, 0.1, 0.1, 0.1))
    sizes = rng.uniform(0.3, 5.0, (count, 3))
    sizes[kinds == SPHERE] = sizes[kinds == SPHERE][:, :1]
    sizes[kinds == CYLINDER, 1] = sizes[kinds == CYLINDER, 0]
    sizes[kinds == WHEEL, 2] = sizes[kinds == WHEEL, 1]
    sizes[kinds == CAPSULE, 1] = sizes[kinds == CAPSULE, 0]
    sizes[kinds == CAPSULE, 2] += sizes[kinds == CAPSULE, 0]
    positions = rng.uniform((-extent, -extent, -1.0), (extent, extent, 4.0), (count, 3))
    tilt = rng.uniform(-3.2, 3.2, (count, 3)) * (1.0, 1.0, 1.0)
    if upright:
        tilt[rng.random(count) < 0.8, :2] = 0.0
    orientations = np.array([mounting_quaternion(*row) for row in tilt]).reshape(-1, 4)
    meshes = [blob(rng, size) for size in sizes[kinds == MESH]]
    return positions, orientations, shapes_of(kinds, sizes, meshes)


def cast_both(origin, turn, azimuths, pitches, positions, orientations, shapes, *, reach=80.0, own=-1):
    """Ranges (layers, beams) by the caster and by brute force; beyond the reach both are infinite."""
    directions = beam_directions(azimuths, tuple(pitches))
    fan = fan_of(azimuths, directions, np.asarray(pitches))
    ranges, twin = np.empty(fan.layers * fan.width), np.empty(directions.shape[:2])
    scratch = scratch_for(len(positions))
    origin, turn = np.asarray(origin, float), np.asarray(turn, float)
    cast_still_into(origin, turn, fan, own, reach, positions, orientations, shapes, *scratch, ranges)
    cast_brute_into(origin, turn, directions, own, positions, orientations, shapes, twin)
    fast = ranges.reshape(fan.layers, fan.width)[:, : fan.beams].copy()
    fast[fast > reach], twin[twin > reach] = np.inf, np.inf
    return fast, twin


def even(start, end, beams):
    """Evenly spaced azimuths [rad] from degrees; a full turn leaves out its last."""
    full = end - start >= 360.0
    return math.radians(start) + math.radians(end - start) / (beams if full else max(beams - 1, 1)) * np.arange(beams)


def scans_between(world, snapshot, after):
    """All scans delivered in (after, the Snapshot's time]."""
    return [reading for _, reading in readings_between(world, snapshot, after) if isinstance(reading, Scan)]
