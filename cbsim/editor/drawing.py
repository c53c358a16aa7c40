"""Drawing of objects, selection handles, goals, sensor fields of view and snapping hints."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pygame

from cbsim.arrays import Floats
from cbsim.editor.objects.placement import nearest_point, place_of, said_place
from cbsim.editor.objects.preview import Preview
from cbsim.editor.objects.stops import stops_of
from cbsim.editor.session_state import SessionState
from cbsim.palette import PAINT, SCENE, WORDS
from cbsim.spec.objects import Goal, Kind
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.layers import bodies, labels

__all__ = ["corner_handles", "draw_objects", "goal_places", "turn_handle"]

Covers = Callable[[pygame.Rect], bool]

HANDLE = 5.0  # [points] half the side of a handle
SQUARE = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
SPECK = 12.0  # [points] smallest half length at which an object has corner handles
LABEL = 17.0  # [points] text height of the label of a dragged object
STALK = 26.0  # [points] distance from an object's front to its rotation handle


def draw_objects(
    canvas: Canvas, session: SessionState, covers: Covers, box: tuple[tuple[int, int], tuple[int, int]] | None
) -> None:
    """Draw all editable objects, and the selection box; labels avoid what is covered."""
    preview = session.preview()
    view = preview.view(session.camera, session.options)
    for _ in bodies.draw_static_meshes(canvas, view):
        pass
    for row in session.selected:
        _draw_fields(canvas, session, preview, row)
    _draw_goals(canvas, session, preview)
    bodies.draw(canvas, view)
    if session.options.shown.get("names", True):
        session.options.selected = session.selected[-1] if session.selected else None
        labels.draw_names(canvas, view)
    _draw_selection(canvas, session, preview, covers)
    for row in preview.lost:
        x, y = view.places[row].tolist()
        canvas.disc((x, y), 9.0 * canvas.points, SCENE.paint, PAINT.danger, 2.0)
        canvas.text((x, y), "?", WORDS.danger, 19)
    _draw_snap(canvas, session)
    if box is not None:
        (x, y), (u, v) = box
        canvas.line([(x, y), (u, y), (u, v), (x, v)], PAINT.measure, 1.5, closed=True)


def _outline(session: SessionState, preview: Preview, row: int) -> Floats:
    """Pixels (n, 2) of an object's outline."""
    pose = preview.pose(row)
    flat = preview.stage.bodies[row].outline
    points = np.concatenate([flat, np.zeros((len(flat), 1))], axis=1)
    return session.camera.to_screen(pose.apply(points)[:, :2])


def corner_handles(session: SessionState, preview: Preview, row: int) -> Floats:
    """Pixels (4, 2) of an object's resize handles; empty for meshes, and for objects drawn too small."""
    x, y = 0.5 * np.asarray(preview.stage.bodies[row].size[:2])
    if preview.actors[row].item.kind is Kind.MESH or max(x, y) * session.camera.scale < SPECK * session.points:
        return np.zeros((0, 2))
    corners = np.array([(x, y, 0.0), (-x, y, 0.0), (-x, -y, 0.0), (x, -y, 0.0)])
    return session.camera.to_screen(preview.pose(row).apply(corners)[:, :2])


def turn_handle(session: SessionState, preview: Preview, row: int) -> Floats:
    """Pixel (2,) of an object's rotation handle, ahead of its front."""
    pose = preview.pose(row)
    ahead = 0.5 * preview.stage.bodies[row].size[1] + STALK * session.points / session.camera.scale
    direction = np.array([-math.sin(pose.heading), math.cos(pose.heading)])
    return session.camera.to_screen(pose.position[:2] + ahead * direction)


def goal_places(session: SessionState, row: int) -> list[tuple[int, Floats]]:
    """Numbers of an object's goals or script entries, and pixels (2,) of their markers.

    Goals without a position are omitted.
    """
    ends = session.preview().ends[row]
    return [(number, session.camera.to_screen(end)) for number, end in enumerate(ends) if end is not None]


def _draw_fields(canvas: Canvas, session: SessionState, preview: Preview, row: int) -> None:
    for field in preview.fields(row):
        corners = session.camera.to_screen(field.corners)
        if canvas.sees(corners):
            canvas.area(corners, PAINT.beam, alpha=0.1)
            canvas.line(corners, PAINT.laser, 1.0, closed=True)
            middle = corners[1 + len(corners[1:]) // 2]
            canvas.text(middle.tolist(), field.conf, PAINT.laser, 14, halo=SCENE.paint)


def _draw_goals(canvas: Canvas, session: SessionState, preview: Preview) -> None:
    for row in session.selected:
        way = preview.stage.goals.get(row)
        if way is not None:
            places = session.camera.to_screen(way)
            canvas.line(places, SCENE.paint, 3.5)
            canvas.line(places, PAINT.goal, 1.5)
        for number, at in goal_places(session, row):
            chosen = row == session.selected[-1] and number == session.goal
            stop = stops_of(preview.actors[row].item)[number]
            side = (9.0 if chosen else 7.0) * canvas.points
            square = at + side * SQUARE
            canvas.area(square, PAINT.selected if chosen else SCENE.paint)
            canvas.line(square, PAINT.goal, 1.5, closed=True)
            canvas.text(at.tolist(), str(number + 1), WORDS.goal, 15)
            said = f"{stop.speed:g} m/s" + (f", {stop.pause:g} s" if stop.pause else "")
            said += " and all before it" if isinstance(stop, Goal) and stop.waypoint is None else ""
            canvas.text((at[0] + 1.6 * side, at[1]), said, PAINT.goal, 14, anchor="left", halo=SCENE.paint)


def _draw_selection(canvas: Canvas, session: SessionState, preview: Preview, covers: Covers) -> None:
    points = canvas.points
    for row in session.selected:
        corners = _outline(session, preview, row)
        canvas.line(corners, SCENE.ink, 4.5, closed=True)
        canvas.line(corners, PAINT.selected, 2.5, closed=True)
    if len(session.selected) == 1:
        row = session.selected[0]
        middle = session.camera.to_screen(preview.pose(row).position[:2])
        handle = turn_handle(session, preview, row)
        canvas.line(np.stack([middle, handle]), SCENE.ink, 1.5)
        canvas.disc(handle.tolist(), HANDLE * points, PAINT.selected, SCENE.ink, 1.5)
        for corner in corner_handles(session, preview, row):
            side = (HANDLE - 1.0) * points
            square = corner + side * SQUARE
            canvas.area(square, PAINT.selected)
            canvas.line(square, SCENE.ink, 1.5, closed=True)
    for row in session.draft:
        _draw_draft(canvas, session, preview, row, covers)


def _draw_draft(canvas: Canvas, session: SessionState, preview: Preview, row: int, covers: Covers) -> None:
    """Label the position of a dragged object, and mark the waypoint that it would be anchored to."""
    item, points = preview.actors[row].item, canvas.points
    at = session.camera.to_screen(place_of(item, session.roadmap)[0])
    if item.anchor is not None and session.roadmap is not None and session.roadmap.has(item.anchor):
        spot = session.camera.to_screen(session.roadmap.position(item.anchor))
        canvas.line(np.stack([spot, at]), PAINT.measure, 1.5)
        canvas.disc(spot.tolist(), 6.0 * points, None, PAINT.measure, 2.0)
    size = f"   {item.size.x:g} x {item.size.y:g} m" if item.kind is not Kind.MESH else ""
    said = f"{said_place(item)}   {math.degrees(item.orientation_offset.z):.1f} deg{size}"
    away = max(30.0 * points, 0.7 * max(item.size[:2]) * session.camera.scale)
    wide, high = canvas.extent(said, LABEL)
    places = [(0.0, -away - 0.5 * high), (0.0, away + 0.5 * high), (-away - 0.5 * wide, 0.0), (away + 0.5 * wide, 0.0)]
    boxes = [pygame.Rect(0, 0, wide, high) for _ in places]
    for box, (x, y) in zip(boxes, places, strict=True):
        box.center = round(at[0] + x), round(at[1] + y)
    whole = canvas.surface.get_rect()
    clear = (box for box in boxes if whole.contains(box) and not covers(box))
    canvas.text(next(clear, boxes[0]).center, said, SCENE.ink, LABEL, halo=SCENE.paint)


def _draw_snap(canvas: Canvas, session: SessionState) -> None:
    """Draw a ring around the waypoint that a click would use."""
    if session.tool is None or session.hover[0] < 0 or session.roadmap is None:
        return
    point = nearest_point(session.roadmap, session.camera.to_world(session.hover), session.snap)
    if point is not None:
        at = session.camera.to_screen(session.roadmap.position(point)).tolist()
        canvas.disc(at, 9.0 * canvas.points, None, PAINT.measure, 2.5)
        canvas.text((at[0], at[1] - 18.0 * canvas.points), str(point), PAINT.measure, 16, halo=SCENE.paint)
