"""What a mouse drags: objects, the handles that turn and resize them, goals, the picture, a box around objects.

Each gives, while it goes on, a draft of the objects that are changed; letting go makes one step of work of it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pygame

from cbsim.editor import goals, placing
from cbsim.editor.placing import place_of, value_near
from cbsim.spec.objects import ShapeKind, TrafficObject

if TYPE_CHECKING:
    from cbsim.editor.session import Session

__all__ = ["Box", "Drag", "Look", "Move", "MoveGoal", "Resize", "Turn"]

Pixel = tuple[int, int]

SIZE_GRAIN = 0.05  # [m] of sizes that a mouse gives
LEAST = 0.1  # [m] no side becomes shorter under the mouse
TURN_GRAIN, TURN_SNAP = 1.0, 15.0  # [deg] of turns by the mouse, and with shift held


class Drag(Protocol):
    """Something that goes on from a press of the mouse until it lets go."""

    def move(self, session: Session, pixel: Pixel, before: Pixel, /) -> None:
        """Follow the mouse to a pixel, from where it was before."""

    def drop(self, session: Session) -> None:
        """Let go."""


class Move:
    """Objects follow the mouse: the one that was pressed draws to waypoints and lanes, the others keep beside it."""

    def __init__(self, session: Session, row: int, pixel: Pixel) -> None:
        self.row = row
        self.starts = {k: session.document.objects[k] for k in session.selected}
        grip = session.camera.to_world(pixel)
        self.hold = place_of(self.starts[row], session.roadmap)[0] - grip

    def move(self, session: Session, pixel: Pixel, _before: Pixel) -> None:
        """Put the objects where the mouse is; with alt held, exactly there."""
        free = session.holds(pygame.KMOD_ALT)
        start, roadmap = self.starts[self.row], session.roadmap
        place = session.camera.to_world(pixel) + self.hold
        led = placing.moved(start, roadmap, place, snap=session.snap, free=free)
        way = place_of(led, roadmap)[0] - place_of(start, roadmap)[0]
        session.draft = {self.row: led}
        for row, item in self.starts.items():
            if row != self.row:
                session.draft[row] = placing.moved(item, roadmap, place_of(item, roadmap)[0] + way, free=free)

    def drop(self, session: Session) -> None:
        """Leave them there."""
        session.change("move", dict(session.draft))


class Turn:
    """An object points to the mouse."""

    def __init__(self, row: int) -> None:
        self.row = row

    def move(self, session: Session, pixel: Pixel, _before: Pixel) -> None:
        """Turn it by whole degrees, with shift held by 15 of them relative to its lane, with alt by tenths."""
        item, roadmap = session.document.objects[self.row], session.roadmap
        place, _ = place_of(item, roadmap)
        x, y = (session.camera.to_world(pixel) - place).tolist()
        if math.hypot(x, y) * session.camera.scale < 2.0:
            return
        _, lane = placing.frame_of(item.anchor, roadmap)
        grain = math.radians(_turn_grain(session))
        relative = round(math.remainder(math.atan2(-x, y) - lane, math.tau) / grain) * grain
        session.draft = {self.row: placing.turned(item, roadmap, lane + relative)}

    def drop(self, session: Session) -> None:
        """Leave it so."""
        session.change("turn", dict(session.draft))


def _turn_grain(session: Session) -> float:
    if session.holds(pygame.KMOD_SHIFT):
        return TURN_SNAP
    return 0.1 if session.holds(pygame.KMOD_ALT) else TURN_GRAIN


class Resize:
    """A corner of an object follows the mouse, the opposite one goes the other way."""

    def __init__(self, row: int) -> None:
        self.row = row

    def move(self, session: Session, pixel: Pixel, _before: Pixel) -> None:
        """Make it as wide and as long as the mouse says; what is round stays round."""
        item = session.document.objects[self.row]
        staged = session.staged()
        pose = staged.pose(self.row)
        away = session.camera.to_world(pixel) - pose.position[:2]
        cos, sin = math.cos(pose.heading), math.sin(pose.heading)
        half = np.abs(np.array([(cos, sin), (-sin, cos)]) @ away)
        session.draft = {self.row: _sized(item, *(2.0 * half).tolist())}

    def drop(self, session: Session) -> None:
        """Leave it so."""
        session.change("resize", dict(session.draft))


def _sized(item: TrafficObject, width: float, length: float) -> TrafficObject:
    """Give an object a width and a length [m]."""
    if item.shape in {ShapeKind.SPHERE, ShapeKind.CYLINDER}:
        width = length = max(width, length)
    x = max(value_near(item.size.x, width, SIZE_GRAIN), LEAST)
    y = max(value_near(item.size.y, length, SIZE_GRAIN), LEAST)
    z = {ShapeKind.SPHERE: x, ShapeKind.WHEEL: y}.get(item.shape, item.size.z)
    return replace(item, size=item.size._replace(x=x, y=y, z=z))


class MoveGoal:
    """A goal follows the mouse from waypoint to waypoint, the end of an entry of a script anywhere."""

    def __init__(self, row: int, number: int) -> None:
        self.row, self.number = row, number

    def move(self, session: Session, pixel: Pixel, _before: Pixel) -> None:
        """Take the waypoint below the mouse, or the place."""
        item = goals.moved_stop(session, self.row, self.number, pixel)
        if item is not None:
            session.draft = {self.row: item}

    def drop(self, session: Session) -> None:
        """Leave it there."""
        session.change("move goal", dict(session.draft))


class Look:
    """The picture follows the mouse, or turns with it."""

    def __init__(self, turns: bool) -> None:
        self.turns = turns

    def move(self, session: Session, pixel: Pixel, before: Pixel) -> None:
        """Move the picture, or turn it about its middle."""
        if not self.turns:
            session.camera = session.camera.panned(pixel[0] - before[0], pixel[1] - before[1])
            return
        middle = 0.5 * np.asarray(session.camera.size)
        one, other = np.asarray(before) - middle, np.asarray(pixel) - middle
        angle = math.atan2(float(other[1]), float(other[0])) - math.atan2(float(one[1]), float(one[0]))
        session.camera = session.camera.turned(angle)

    def drop(self, session: Session) -> None:
        """There is nothing to be done."""


class Box:
    """A box that selects what is in it."""

    def __init__(self, start: Pixel) -> None:
        self.start = self.end = start

    def move(self, _session: Session, pixel: Pixel, _before: Pixel) -> None:
        """Draw it up to the mouse."""
        self.end = pixel

    def drop(self, session: Session) -> None:
        """Select the objects whose middles are in it, besides those that are."""
        low, high = np.minimum(self.start, self.end), np.maximum(self.start, self.end)
        places = session.camera.to_screen(session.staged().state.position[:, :2])
        inside = np.flatnonzero(((places >= low) & (places <= high)).all(axis=1))
        session.select([*session.selected, *inside.tolist()])
