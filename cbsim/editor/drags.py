"""Mouse drags: objects, rotation and resize handles, goals, the camera and selection boxes.

While a drag is in progress it updates a draft of the changed objects; releasing the button applies it as one step.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol

import numpy as np
import pygame

from cbsim.editor import goals
from cbsim.editor.objects import placement
from cbsim.editor.objects.placement import place_of, value_near
from cbsim.editor.session_state import SessionState
from cbsim.spec.objects import ShapeKind, TrafficObject

__all__ = ["BoxSelection", "CameraDrag", "Drag", "Move", "MoveGoal", "Resize", "Turn"]

Pixel = tuple[int, int]

SIZE_GRAIN = 0.05  # [m] resolution of sizes set with the mouse
LEAST = 0.1  # [m] smallest side length
TURN_GRAIN, TURN_SNAP = 1.0, 15.0  # [deg] resolution of angles set with the mouse, and with shift held


class Drag(Protocol):
    """An interaction from pressing to releasing a mouse button."""

    def move(self, session: SessionState, pixel: Pixel, before: Pixel, /) -> None:
        """Follow the mouse to a pixel from its previous position."""

    def finish(self, session: SessionState) -> None:
        """Finish the drag."""


class Move:
    """Moves objects; the grabbed one snaps to waypoints and lanes, the others keep their relative positions."""

    def __init__(self, session: SessionState, row: int, pixel: Pixel) -> None:
        self.row = row
        self.starts = {k: session.document.objects[k] for k in session.selected}
        grip = session.camera.to_world(pixel)
        self.hold = place_of(self.starts[row], session.roadmap)[0] - grip

    def move(self, session: SessionState, pixel: Pixel, _before: Pixel) -> None:
        """Move the objects to the mouse; with alt held, without snapping."""
        free = session.has_modifier(pygame.KMOD_ALT)
        start, roadmap = self.starts[self.row], session.roadmap
        place = session.camera.to_world(pixel) + self.hold
        led = placement.moved(start, roadmap, place, snap=session.snap, free=free)
        way = place_of(led, roadmap)[0] - place_of(start, roadmap)[0]
        session.draft = {self.row: led}
        for row, item in self.starts.items():
            if row != self.row:
                session.draft[row] = placement.moved(item, roadmap, place_of(item, roadmap)[0] + way, free=free)

    def finish(self, session: SessionState) -> None:
        """Apply the new positions."""
        session.change("move", dict(session.draft))


class Turn:
    """Turns an object towards the mouse."""

    def __init__(self, row: int) -> None:
        self.row = row

    def move(self, session: SessionState, pixel: Pixel, _before: Pixel) -> None:
        """Turn by whole degrees; with shift by 15° relative to the lane, with alt by tenths."""
        item, roadmap = session.document.objects[self.row], session.roadmap
        place, _ = place_of(item, roadmap)
        x, y = (session.camera.to_world(pixel) - place).tolist()
        if math.hypot(x, y) * session.camera.scale < 2.0:
            return
        _, lane = placement.frame_of(item.anchor, roadmap)
        grain = math.radians(_turn_grain(session))
        relative = round(math.remainder(math.atan2(-x, y) - lane, math.tau) / grain) * grain
        session.draft = {self.row: placement.turned(item, roadmap, lane + relative)}

    def finish(self, session: SessionState) -> None:
        """Apply the new heading."""
        session.change("turn", dict(session.draft))


def _turn_grain(session: SessionState) -> float:
    if session.has_modifier(pygame.KMOD_SHIFT):
        return TURN_SNAP
    return 0.1 if session.has_modifier(pygame.KMOD_ALT) else TURN_GRAIN


class Resize:
    """Resizes an object symmetrically by one of its corners."""

    def __init__(self, row: int) -> None:
        self.row = row

    def move(self, session: SessionState, pixel: Pixel, _before: Pixel) -> None:
        """Set width and length from the mouse position; round shapes stay round."""
        item = session.document.objects[self.row]
        preview = session.preview()
        pose = preview.pose(self.row)
        away = session.camera.to_world(pixel) - pose.position[:2]
        cos, sin = math.cos(pose.heading), math.sin(pose.heading)
        half = np.abs(np.array([(cos, sin), (-sin, cos)]) @ away)
        session.draft = {self.row: _sized(item, *(2.0 * half).tolist())}

    def finish(self, session: SessionState) -> None:
        """Apply the new size."""
        session.change("resize", dict(session.draft))


def _sized(item: TrafficObject, width: float, length: float) -> TrafficObject:
    """Set an object's width and length [m]."""
    if item.shape in {ShapeKind.SPHERE, ShapeKind.CYLINDER}:
        width = length = max(width, length)
    x = max(value_near(item.size.x, width, SIZE_GRAIN), LEAST)
    y = max(value_near(item.size.y, length, SIZE_GRAIN), LEAST)
    z = {ShapeKind.SPHERE: x, ShapeKind.WHEEL: y}.get(item.shape, item.size.z)
    return replace(item, size=item.size._replace(x=x, y=y, z=z))


class MoveGoal:
    """Moves a goal between waypoints, or the end of a script entry anywhere."""

    def __init__(self, row: int, number: int) -> None:
        self.row, self.number = row, number

    def move(self, session: SessionState, pixel: Pixel, _before: Pixel) -> None:
        """Move to the nearest waypoint, or to the mouse position for a script."""
        item = goals.moved_stop(session, self.row, self.number, pixel)
        if item is not None:
            session.draft = {self.row: item}

    def finish(self, session: SessionState) -> None:
        """Apply the new position."""
        session.change("move goal", dict(session.draft))


class CameraDrag:
    """Pans or rotates the camera."""

    def __init__(self, turns: bool) -> None:
        self.turns = turns

    def move(self, session: SessionState, pixel: Pixel, before: Pixel) -> None:
        """Pan the picture, or rotate it about its centre."""
        if not self.turns:
            session.camera = session.camera.panned(pixel[0] - before[0], pixel[1] - before[1])
            return
        middle = 0.5 * np.asarray(session.camera.size)
        one, other = np.asarray(before) - middle, np.asarray(pixel) - middle
        angle = math.atan2(float(other[1]), float(other[0])) - math.atan2(float(one[1]), float(one[0]))
        session.camera = session.camera.turned(angle)

    def finish(self, session: SessionState) -> None:
        """Do nothing: the camera has already moved."""


class BoxSelection:
    """Selects the objects in a rectangle."""

    def __init__(self, start: Pixel) -> None:
        self.start = self.end = start

    def move(self, _session: SessionState, pixel: Pixel, _before: Pixel) -> None:
        """Extend the rectangle to the mouse."""
        self.end = pixel

    def finish(self, session: SessionState) -> None:
        """Add the objects whose centres lie inside to the selection."""
        low, high = np.minimum(self.start, self.end), np.maximum(self.start, self.end)
        places = session.camera.to_screen(session.preview().state.position[:, :2])
        inside = np.flatnonzero(((places >= low) & (places <= high)).all(axis=1))
        session.select([*session.selected, *inside.tolist()])
