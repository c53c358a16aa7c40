"""Every pair of shapes of the table in the documentation: the gap that is found is that of an oracle of its own."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from cbsim.dynamics.kernels import columns as c
from cbsim.errors import ModelError
from cbsim.geometry.pose import rotate
from cbsim.multibody import (
    Box,
    Capsule,
    Collider,
    ConvexHull,
    Cylinder,
    Floating,
    HalfSpace,
    HeightField,
    Mechanism,
    Mesh,
    Origin,
    Pyramid,
    Sphere,
)

PAGE = Path(__file__).parents[2] / "docs" / "multibody.md"
CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
SIDES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
FACES = np.array([[[p, q, r], [p, r, s]] for p, q, r, s in SIDES]).reshape(-1, 3)
CORNERS = np.random.default_rng(8).normal(size=(14, 3)) * 0.2
SHAPES = {
    "sphere": Sphere(0.25, mass=1.0),
    "capsule": Capsule(0.15, 0.4, mass=1.0),
    "box": Box(0.4, 0.3, 0.5, mass=1.0),
    "ellipsoid": Sphere(0.2, mass=1.0, scale=(1.0, 1.5, 0.7)),
    "cylinder": Cylinder(0.2, 0.5, mass=1.0),
    "hull": ConvexHull(points=CORNERS, mass=1.0),
    "pyramid": Pyramid(0.4, 0.5, mass=1.0),
    "mesh": Mesh(vertices=CUBE * (0.2, 0.1, 0.15), faces=FACES, mass=1.0),
    "plane": HalfSpace((0.3, 0.2, 1.0)),
    "height field": HeightField(heights=np.zeros((9, 9)), spacing=0.5),
    "mesh of the world": Mesh(
        vertices=np.r_[CUBE * (2, 2, 0.5), 0.01 * CUBE + (50, 0, 0)], faces=np.r_[FACES, FACES + 8]
    ),
}
STILL = ("plane", "height field", "mesh of the world")


def table():
    """Rows of the table: pair of names → what its cell says."""
    lines = PAGE.read_text("utf-8").split("<!-- pairs -->")[1].strip().splitlines()
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {(row[0], name): cell for row in rows for name, cell in zip(head[1:], row[1:], strict=True) if cell}


def reach(shape, way):
    """Support function (…,) of a shape along directions (…, 3) in its frame, from its definition."""
    way = np.asarray(way, float)
    if isinstance(shape, Sphere):
        return np.linalg.norm(shape.r * shape.scale * way, axis=-1)
    if isinstance(shape, Capsule):
        return shape.r * np.linalg.norm(way, axis=-1) + 0.5 * shape.h * np.abs(way[..., 2])
    if isinstance(shape, Cylinder):
        return shape.r * np.linalg.norm(way[..., :2], axis=-1) + 0.5 * shape.h * np.abs(way[..., 2])
    if isinstance(shape, Box):
        return np.abs(way) @ (0.5 * shape.xyz)
    if isinstance(shape, Pyramid):
        base = [
            (x, y, -0.25 * shape.h) for x in (-0.5 * shape.w, 0.5 * shape.w) for y in (-0.5 * shape.w, 0.5 * shape.w)
        ]
        return (way @ np.array([*base, (0, 0, 0.75 * shape.h)]).T).max(axis=-1)
    corners = shape.points if isinstance(shape, ConvexHull) else shape.triangles.vertices
    return (way @ np.asarray(corners).T).max(axis=-1)


def apart(one, p, q, other, x, r, rng):
    """Signed distance of two convex shapes: the widest gap between parallel planes, over all directions."""

    def gap(n):
        n = n / np.linalg.norm(n, axis=-1, keepdims=True)
        back = rotate(q * (1, -1, -1, -1), -n), rotate(r * (1, -1, -1, -1), n)
        return n @ (p - x) - reach(one, back[0]) - reach(other, back[1])

    starts = rng.normal(size=(4000, 3))
    starts /= np.linalg.norm(starts, axis=1, keepdims=True)
    most = -np.inf
    for first in starts[np.argsort(-gap(starts))[:8]]:
        best = first
        for wide in 0.2 * 0.6 ** np.arange(45):  # closer and closer around what is best
            near = np.concatenate([best[None], best + wide * rng.normal(size=(60, 3))])
            near /= np.linalg.norm(near, axis=1, keepdims=True)
            best = near[np.argmax(gap(near))]
        most = max(most, float(gap(best[None])[0]))
    return most


def found(mechanism, z):
    """Least gap of the contacts that are found, where the step begins."""
    step = mechanism.workspaces.find(z.reshape(-1, 13), mechanism.settings(None)[0])
    gaps = []
    for link, row in zip(step.model.contact_link, step.model.contact, strict=True):
        b, q = link[c.ONE], link[c.OTHER]
        bodies = z.reshape(-1, 13)[step.model.link[[b, q], c.BODY]]
        centre = bodies[0, :3] + rotate(bodies[0, 6:10], row[c.ORIGIN : c.ORIGIN + 3])
        plane, normal = row[c.PLANE : c.PLANE + 3], row[c.NORMAL : c.NORMAL + 3]
        if q >= 0:
            plane, normal = bodies[1, :3] + rotate(bodies[1, 6:10], plane), rotate(bodies[1, 6:10], normal)
        if q >= 0 and link[c.SHAPE] == c.SPHERE:
            gaps.append(np.linalg.norm(centre - plane) - row[c.RADIUS] - row[c.OTHER_RADIUS])
        else:
            gaps.append(normal @ (centre - plane) - row[c.RADIUS])
    return min(gaps, default=np.inf)


def turned(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def test_the_table_has_every_pair():
    names = {name for pair in table() for name in pair}
    assert names == set(SHAPES)
    moving = [name for name in SHAPES if name not in STILL]
    pairs = {frozenset(pair) for pair in table()}
    assert pairs >= {frozenset(pair) for pair in itertools.combinations_with_replacement(moving, 2)}
    assert pairs >= {frozenset(pair) for pair in itertools.product(moving, STILL)}


@pytest.mark.parametrize(("one", "other"), [pair for pair in table() if not set(pair) & set(STILL)])
def test_two_solids_are_as_far_apart_as_the_oracle_says(one, other):
    rng = np.random.default_rng(len(one) + 20 * len(other))
    origin = Origin()
    bodies = [SHAPES[one].body(name="one"), SHAPES[other].body(name="other")]
    solid = [Collider(bodies[0], SHAPES[one]), Collider(bodies[1], SHAPES[other])]
    m = Mechanism(origin, bodies, [Floating(origin, b) for b in bodies], colliders=solid)
    for wanted in (2e-3, 5e-4, -1e-3):
        q, r, way = turned(rng), turned(rng), rng.normal(size=3)
        way /= np.linalg.norm(way)
        far = 0.8
        for _ in range(4):  # by what they are too near or too far, along the way, which is not quite across the gap
            gap = apart(SHAPES[one], np.zeros(3), q, SHAPES[other], far * way, r, rng)
            far += wanted - gap
        gap = apart(SHAPES[one], np.zeros(3), q, SHAPES[other], far * way, r, rng)
        z = np.r_[0, 0, 0, 0, 0, 0, q, 0, 0, 0, far * way, 0, 0, 0, r, 0, 0, 0]
        assert -3e-3 < gap < 3.5e-3
        # along nearest points of shapes a little smaller a gap is a little longer; rims of caps are of twelve points;
        # and what overlaps leaves along one of the ways out, which need not be the shortest
        rough = 0.5 if gap < 0.0 else 0.15 if "cylinder" in (one, other) else 0.03
        assert found(m, z) == pytest.approx(gap, abs=rough * abs(gap))


@pytest.mark.parametrize(("name", "terrain"), [pair for pair in table() if set(pair) & set(STILL)])
def test_a_solid_is_as_high_over_what_stands_as_its_support_says(name, terrain):
    rng = np.random.default_rng(len(name) + 20 * len(terrain))
    origin, body = Origin(), SHAPES[name].body(name="body")
    solid = [Collider(origin, SHAPES[terrain]), Collider(body, SHAPES[name])]
    m = Mechanism(origin, [body], [Floating(origin, body)], colliders=solid)
    up = np.array([0.3, 0.2, 1.0]) / np.sqrt(1.13) if terrain == "plane" else np.array([0.0, 0.0, 1.0])
    top = 0.5 if terrain.startswith("mesh") else 0.0
    for gap in (3e-3, 1e-3, -1e-3):
        q = turned(rng)
        height = gap + float(reach(SHAPES[name], rotate(q * (1, -1, -1, -1), -up))) + top
        z = np.r_[height * up + np.r_[0.013, 0.017, 0.0] * (terrain != "plane"), 0, 0, 0, q, 0, 0, 0]
        assert found(m, z) == pytest.approx(gap, abs=1e-9)


def test_shapes_without_a_routine_are_refused_by_name():
    origin = Origin()
    for shape, reason in (
        (Cylinder(0.2, 0.5, mass=1.0, scale=(1.0, 2.0, 1.0)), "Cylinder"),
        (Capsule(0.2, 0.5, mass=1.0, scale=(1.0, 2.0, 1.0)), "Capsule"),
    ):
        body = Sphere(0.1, mass=1.0).body(name="body")
        with pytest.raises(ModelError, match=rf"collider 'odd': is a {reason}, for which there is no routine"):
            Mechanism(origin, [body], [Floating(origin, body)], colliders=[Collider(body, shape, name="odd")])
