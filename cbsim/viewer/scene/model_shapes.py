"""Geometry of models for drawing: triangles of bodies and markers of joints, by body row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.pose import rotate
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.shapes import EmptyShape
from cbsim.world.figures import triangles_of
from cbsim.world.frames import Frame
from cbsim.world.places import frame_of
from cbsim.world.scene import Model, Scene

__all__ = ["JointMarker", "bones_of", "colours_of", "joints_of", "triangles_of_models"]

FREE = 6  # degrees of freedom of an unconstrained joint
LENGTH, SLENDERNESS = (
    0.12,
    4.0,
)  # default joint size: length as a fraction of the model's extent, and length per diameter


@dataclass(frozen=True, eq=False)
class JointMarker:
    """Marker of a joint.

    Attributes
    ----------
    name, kind : str
        Names of the joint and of its prototype.
    row : int
        Row of the body whose frame is used; -1 for the world.
    place, axis : ndarray, shape (3,)
        Joint position [m] and axis of rotation or translation in that frame; a zero axis for a ball joint.
    length, diameter : float
        [m]
    slides : bool
        Whether the joint is prismatic.
    """

    name: str
    kind: str
    row: int
    place: Floats
    axis: Floats
    length: float
    diameter: float
    slides: bool


def triangles_of_models(models: Sequence[Model], first: int) -> dict[int, Floats]:
    """Triangles (k, 3, 3) [m] of all bodies of models; body rows start at ``first``."""
    sized = [(model.scale, body.shape) for model in models for body in model.description.bodies]
    return {first + place: scale * triangles_of(shape) for place, (scale, shape) in enumerate(sized)}


def colours_of(models: Sequence[Model], first: int) -> dict[int, tuple[int, int, int]]:
    """Colours of the model bodies whose shapes define one."""
    bodies = [body for model in models for body in model.description.bodies]
    plain = EmptyShape().color[:3]
    own = {first + place: body.shape.color[:3] for place, body in enumerate(bodies)}
    found = dict[int, tuple[int, int, int]]()
    for row, colour in own.items():
        if not np.array_equal(colour, plain):
            red, green, blue = np.clip(np.round(255.0 * colour), 0, 255).astype(int).tolist()
            found[row] = (red, green, blue)
    return found


def bones_of(models: Sequence[Model], first: int) -> dict[int, Floats]:
    """Joint positions (k, 3) [m] of bodies without a shape, in body frames; they are drawn as a skeleton."""
    found = dict[int, list[Floats]]()
    for model in models:
        rows = {body: first + place for place, body in enumerate(model.description.bodies)}
        for joint in model.description.spec.joints:
            for part, vertex in zip((joint.parent, joint.child), joint.translational.vertices, strict=True):
                if isinstance(part, Body) and joint.dof < FREE and not len(triangles_of(part.shape)):
                    found.setdefault(rows[part], []).append(model.scale * np.asarray(vertex, float))
        first += len(rows)
    return {row: np.array(points) for row, points in found.items()}


def joints_of(scene: Scene, first: int) -> list[JointMarker]:
    """Markers of constrained joints, and of joints with a drawing size in their file (drives may constrain them).

    `first` is the row of the first body of a model.
    """
    found = list[JointMarker]()
    for model in scene.models:
        frame = frame_of(model, scene)
        spec = model.description.spec
        rows = {body: first + place for place, body in enumerate(spec.bodies)}
        size = LENGTH * _reach(spec.joints)
        for joint in spec.joints:
            drawn = model.description.drawn
            length, diameter = drawn.get(joint.name, (size, size / SLENDERNESS))
            if joint.dof < FREE or joint.name in drawn:
                found.append(_mark(joint, rows, frame, (frame.scale * length, frame.scale * diameter)))
        first += len(model.description.bodies)
    return found


def _reach(joints: Sequence[JointConstraint]) -> float:
    """Median distance of joints from their bodies [m]."""
    vertices = [np.linalg.norm(vertex) for joint in joints for vertex in joint.translational.vertices]
    lengths = [float(length) for length in vertices if length > 1e-9]
    return 2.0 * float(np.median(lengths)) if lengths else 1.0


def _mark(joint: JointConstraint, rows: dict[Body, int], frame: Frame, size: tuple[float, float]) -> JointMarker:
    """Create the marker of a joint from its first free axis; ball and fixed joints have none."""
    slide, turn = joint.translational, joint.rotational
    axis, slides = np.zeros(3), False
    if turn.free in {1, 2}:
        axis = np.asarray(rotate(turn.orientation_offset, turn.masks.free[0]))
    elif 0 < slide.free < 3:
        axis, slides = np.asarray(slide.masks.free[0], float), True
    place = frame.scale * np.asarray(slide.vertices[0], float)
    if not isinstance(joint.parent, Origin):
        return JointMarker(joint.name, joint.prototype, rows[joint.parent], place, axis, *size, slides)
    place, axis = frame.position + rotate(frame.orientation, place), np.asarray(rotate(frame.orientation, axis))
    return JointMarker(joint.name, joint.prototype, -1, place, axis, *size, slides)
