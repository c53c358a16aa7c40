"""Shapes of Juice bodies: visual and ground contact geometry, and overlaps at the start."""

from __future__ import annotations

import itertools

from cbsim.spec.juice import BodyShape, JuiceBody
from cbsim.spec.mechanism.shapes import Box, Capsule, Cylinder, Shape, Sphere

__all__ = ["ground_points", "is_flat", "shape_of"]


def shape_of(body: JuiceBody, *, capped: bool = False) -> Shape:
    """Shape of a body; a cylinder with caps if asked for, whose inertia Juice gave to it."""
    if body.shape == BodyShape.BOX:
        x, y, z = map(float, body.box)
        return Box(x, y, z)
    if body.shape == BodyShape.SPHERE:
        return Sphere(0.5 * float(body.ball_diameter))
    tube = Capsule if body.shape == BodyShape.CAPSULE or capped else Cylinder
    return tube(0.5 * float(body.tube_diameter), float(body.tube_length))


def is_flat(body: JuiceBody) -> bool:
    """Whether a body is a flat cylinder, which rolls on its rim: no fixed points of it touch."""
    return body.shape == BodyShape.CYLINDER


def ground_points(body: JuiceBody) -> tuple[list[tuple[float, ...]], float]:
    """Centres of the balls by which a body touches the ground, in its frame [m], and their radius [m]."""
    if body.shape == BodyShape.BOX:
        half = [0.5 * float(edge) for edge in body.box]
        return [
            tuple(s * h for s, h in zip(signs, half, strict=True)) for signs in itertools.product((-1, 1), repeat=3)
        ], 0.0
    if body.shape == BodyShape.SPHERE:
        return [(0.0, 0.0, 0.0)], 0.5 * float(body.ball_diameter)
    reach = 0.5 * float(body.tube_length)
    return [(0.0, 0.0, -reach), (0.0, 0.0, reach)], 0.5 * float(body.tube_diameter)
