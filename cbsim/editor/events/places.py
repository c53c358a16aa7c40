"""Places of the selected event on the map: waypoints, points and regions, drawn and dragged."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pygame

from cbsim.arrays import Floats
from cbsim.editor.documents.event_edits import ArgumentPath, place_paths
from cbsim.editor.documents.scenario_document import ScenarioDocument
from cbsim.editor.events import commands as event_commands
from cbsim.editor.objects.placement import grain_of, nearest_point
from cbsim.editor.session_state import SessionState
from cbsim.palette import PAINT, SCENE, WORDS
from cbsim.spec.events import Condition, Event, Place
from cbsim.viewer.drawing.canvas import Canvas

__all__ = ["MovePlace", "draw_places", "place_at"]

Pixel = tuple[int, int]

GRIP, DISC = 10.0, 5.0  # [points] radius of a place's hit area, and of its disc
ROUND = 64  # corners of a circle


def _selected(session: SessionState) -> tuple[int, Event] | None:
    row = session.events.row
    if row is None or not isinstance(session.document, ScenarioDocument):
        return None
    return row, session.document.spec.events[row]


def _places(session: SessionState) -> Iterator[tuple[ArgumentPath, Floats]]:
    """Yield the places of the selected event with their positions (2,) [m], as a drag would leave them."""
    chosen = _selected(session)
    for path, place in () if chosen is None else place_paths(*chosen):
        draft = session.events.place
        at = _position(session, draft[1] if draft is not None and draft[0] == path else place)
        if at is not None:
            yield path, at


def _position(session: SessionState, place: Place) -> Floats | None:
    """Position (2,) of a place [m]; None for a waypoint that is not there."""
    if place.waypoint is None:
        return np.array([place.x, place.y])
    if session.roadmap is None or not session.roadmap.has(place.waypoint):
        return None
    return session.roadmap.position(place.waypoint)


def place_at(session: SessionState, pixel: Pixel) -> MovePlace | None:
    """Begin to drag the place of the selected event at a pixel; None if there is none."""
    found = [(math.dist(session.camera.to_screen(at).tolist(), pixel), path) for path, at in _places(session)]
    away, path = min(found, default=(math.inf, None), key=lambda one: one[0])
    return None if path is None or away > GRIP * session.points else MovePlace(path)


class MovePlace:
    """Drags a place of an event: to waypoints near the mouse, with alt anywhere."""

    def __init__(self, path: ArgumentPath) -> None:
        self.path = path

    def move(self, session: SessionState, pixel: Pixel, _before: Pixel) -> None:
        """Show where the place would go."""
        at, free = session.camera.to_world(pixel), session.has_modifier(pygame.KMOD_ALT)
        point = None
        if session.roadmap is not None and (not free or self.path.name == "waypoint"):
            point = nearest_point(session.roadmap, at, math.inf if self.path.name == "waypoint" else session.snap)
        grain = grain_of(session.snap)
        x, y = (round(round(value / grain) * grain, 9) + 0.0 for value in at.tolist())
        session.events.place = self.path, Place(None, x, y) if point is None else Place(point)

    def finish(self, session: SessionState) -> None:
        """Apply the new place."""
        if session.events.place is not None:
            event_commands.move_place(session, *session.events.place)


# --- drawing ---------------------------------------------------------------------------------------------------------
def draw_places(canvas: Canvas, session: SessionState) -> None:
    """Draw regions, circles of distances and places of the selected event."""
    chosen = _selected(session)
    if chosen is None:
        return
    found = list(_places(session))
    corners: dict[ArgumentPath, list[Floats]] = {}
    for path, at in found:
        if path.corner is not None:
            corners.setdefault(path._replace(corner=None), []).append(session.camera.to_screen(at))
    for outline in corners.values():
        canvas.area(np.array(outline), PAINT.measure, alpha=0.25)
        canvas.line(np.array(outline), PAINT.measure, 2.0, closed=True)
    for path, at in found:
        _draw_distance(canvas, session, path, at, chosen[1])
        here = session.camera.to_screen(at).tolist()
        canvas.disc(here, DISC * canvas.points, SCENE.paint, PAINT.measure, 2.0)
        if path.corner is None or (session.events.place is not None and session.events.place[0] == path):
            said = _said(session, path, at)
            canvas.text((here[0], here[1] - 15.0 * canvas.points), said, WORDS.measure, 15, halo=SCENE.paint)


def _said(session: SessionState, path: ArgumentPath, at: Floats) -> str:
    draft = session.events.place
    if draft is None or draft[0] != path:
        return path.name.replace("_", " ")
    place = draft[1]
    return f"x {at[0]:g}  y {at[1]:g} m" if place.waypoint is None else f"waypoint {place.waypoint}"


def _draw_distance(canvas: Canvas, session: SessionState, path: ArgumentPath, at: Floats, event: Event) -> None:
    """Draw the circle of a condition about the distance to a place."""
    condition: Condition | None = event.when if path.action is None else None
    for part in path.parts if condition is not None else ():
        condition = condition.parts[part] if condition is not None else None
    if condition is None or condition.kind != "distance":
        return
    bound = next((condition[name] for name in ("below", "above") if condition[name] is not None), None)
    if isinstance(bound, float):
        angle = np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
        ring = at + bound * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        canvas.line(session.camera.to_screen(ring), PAINT.measure, 2.0, closed=True)
