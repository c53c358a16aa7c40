"""Bodies: outlines of vehicles with steering wheels, shaded meshes and models, joints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pygame
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry.pose import rotate
from cbsim.palette import PAINT, SCENE, KindColour
from cbsim.viewer.drawing.canvas import Canvas, Colour
from cbsim.viewer.layers.solids import draw_solids, draw_solids_in_pieces, solid_of
from cbsim.viewer.layers.vehicles import draw_wheels
from cbsim.viewer.view import View, kind_of

__all__ = ["draw", "draw_joints", "draw_static_meshes", "half_of"]

DOT = 4.5  # [points] bodies of a smaller radius are drawn as dots
DETAILED = 14.0  # [points] bodies of a larger radius show their wheels
CLEAR = 0.45  # opacity of joints
SMALL = 0.25  # fraction of the picture's size: half the extent of the largest body that labels avoid
UPRIGHT = 0.99  # cosine of the tilt up to which a body is drawn as upright
PLATE = np.array([(-0.9, -0.45), (0.9, -0.45), (0.0, 0.9)])  # arrow that points forward


def draw_static_meshes(canvas: Canvas, view: View) -> Iterator[None]:
    """Draw static meshes."""
    moving = set(view.stage.moving)
    rows = [row for row in view.visible.tolist() if row in view.stage.solids and row not in moving]
    yield from draw_solids_in_pieces(canvas, view, [row for row in rows if view.stage.bodies[row].kind == "mesh"])


def draw(canvas: Canvas, view: View) -> None:
    """Draw all visible bodies: solids from the lowest to the highest, then outlines."""
    moving, stage = set(view.stage.moving), view.stage
    seen = view.visible.tolist()
    canvas.layout.bodies += _boxes(canvas, view)
    if not view.is_flat:
        draw_solids(canvas, view, seen)
        return
    solid = [row for row in seen if row in stage.solids and (row in moving or stage.bodies[row].kind != "mesh")]
    draw_solids(canvas, view, solid)
    plain = np.array([row for row in seen if row not in stage.solids], np.int64)
    if len(plain):
        _plain(canvas, view, plain)


def _boxes(canvas: Canvas, view: View) -> list[pygame.Rect]:
    """Bounding boxes of bodies [pixels], except very large ones such as terrain."""
    half = half_of(view, view.visible)
    small = (half < SMALL * np.array(canvas.size)).all(axis=1)
    middle, half = view.places[view.visible][small], half[small]
    low, size = np.floor(middle - half).astype(int).tolist(), np.ceil(2.0 * half).astype(int).tolist()
    return [pygame.Rect(*corner, *extent) for corner, extent in zip(low, size, strict=True)]


def half_of(view: View, rows: NDArray[np.int64]) -> Floats:
    """Half the width and height (k, 2) of bodies' bounding boxes [pixels]; models use their bounding radius."""
    reach = view.stage.radius[rows] * view.camera.scale
    half = np.stack([reach, reach], axis=1)
    if view.is_flat:
        boxed = np.array([view.stage.bodies[row].kind != "model" for row in rows.tolist()], bool)
        turn = view.headings[rows] - view.camera.angle
        cos, sin = np.abs(np.cos(turn)), np.abs(np.sin(turn))
        width, length = 0.5 * view.camera.scale * view.stage.sizes[rows, :2].T
        half[boxed] = np.stack([cos * width + sin * length, sin * width + cos * length], axis=1)[boxed]
    return half


def _plain(canvas: Canvas, view: View, rows: NDArray[np.int64]) -> None:
    """Draw bodies as outlines."""
    stage = view.stage
    reach = stage.radius[rows] * view.camera.scale / canvas.points
    rise = 1.0 - 2.0 * (view.state.orientation[rows, 1] ** 2 + view.state.orientation[rows, 2] ** 2)
    order = np.lexsort((rows, view.state.position[rows, 2]))
    dots = dict[tuple[KindColour, bool], list[int]]()
    for row, far, up in zip(rows[order].tolist(), reach[order].tolist(), rise[order].tolist(), strict=True):
        look = kind_of(stage.bodies[row].kind)
        if far < DOT:
            dots.setdefault((look, bool(view.letter)), []).append(row)
        elif up < UPRIGHT:
            _tilted(canvas, view, row, look)
        else:
            _body(canvas, view, row, look, detailed=far > DETAILED)
    for (look, ghost), chosen in dots.items():
        _dots(canvas, view, chosen, look, ghost=ghost)


def _dots(canvas: Canvas, view: View, rows: list[int], look: KindColour, *, ghost: bool) -> None:
    """Draw dots: round for bodies with a front, square for others."""
    fill, edge = (SCENE.paint, look.fill) if ghost else (look.fill, SCENE.ink)

    def paint(canvas: Canvas) -> None:
        side = canvas.size[0]
        middle, radius = 0.5 * side, 0.46 * side
        if look.front:
            canvas.disc((middle, middle), radius, edge)
            canvas.disc((middle, middle), 0.75 * radius, fill)
        else:
            canvas.surface.fill(fill, canvas.surface.get_rect().inflate(-0.4 * side, -0.4 * side))

    canvas.draw_sprite(canvas.sprite(("dot", look.text, ghost), 2.0 * DOT, paint), view.places[rows])


def _placed(view: View, row: int, corners: Floats) -> Floats:
    """Convert corners (k, 2) [m] in a body's frame to pixels (k, 2) in the top view."""
    turn = float(view.headings[row])
    cos, sin = np.cos(turn), np.sin(turn)
    at = corners @ np.array([(cos, sin), (-sin, cos)]) + view.state.position[row, :2]
    return view.camera.to_screen(at)


def _body(canvas: Canvas, view: View, row: int, look: KindColour, *, detailed: bool) -> None:
    outline = view.stage.bodies[row].outline
    _fill(canvas, view, _placed(view, row, outline), look)
    if look.front and not view.letter:
        half = 0.5 * np.ptp(outline, axis=0)
        if detailed:
            draw_wheels(canvas, view, row, lambda corners: _placed(view, row, corners))
        tip = PLATE * (0.62 * half[0], 0.28 * half[1]) + (0.0, 0.62 * half[1])
        canvas.area(_placed(view, row, tip), SCENE.paint)


def _fill(canvas: Canvas, view: View, corners: Floats, look: KindColour) -> None:
    if view.letter:
        canvas.line(corners, SCENE.paint, 4.0, closed=True)
        canvas.dashes(np.concatenate([corners, corners[:1]]), look.fill, 2.0 * canvas.points, 6.0, 3.0)
        return
    canvas.area(corners, look.fill)
    canvas.line(corners, SCENE.ink, 1.0, closed=True)


def _tilted(canvas: Canvas, view: View, row: int, look: KindColour) -> None:
    """Draw the outline of a pitched or rolled body as the convex hull of its solid."""
    import shapely

    points = solid_of(view.stage, row).reshape(-1, 3)
    placed = rotate(view.state.orientation[row], points) + view.state.position[row]
    hull = shapely.MultiPoint(view.to_screen(placed)).convex_hull
    if isinstance(hull, shapely.Polygon):
        _fill(canvas, view, np.asarray(hull.exterior.coords)[:-1], look)


def draw_joints(canvas: Canvas, view: View) -> None:
    """Draw joints to scale: a bar along the axis, with two ticks if prismatic; a disc for a ball joint."""
    state = view.state
    for row, points in view.stage.bones.items():
        middle = state.position[row]
        ends = view.to_screen(rotate(state.orientation[row], points) + middle)
        for end in ends:
            canvas.line(np.stack([view.to_screen(middle), end]), SCENE.ink, 2.0)
    for joint in view.stage.joints:
        place, axis = joint.place, joint.axis
        if joint.row >= 0:
            turn = state.orientation[joint.row]
            place, axis = rotate(turn, place) + state.position[joint.row], rotate(turn, axis)
        ends = view.to_screen(np.stack([place - 0.5 * joint.length * axis, place + 0.5 * joint.length * axis]))
        if not canvas.sees(ends, 50.0):
            continue
        _joint(canvas, ends, joint.diameter * view.camera.scale, PAINT.joint, slides=joint.slides)


def _joint(canvas: Canvas, ends: Floats, breadth: float, colour: Colour, *, slides: bool) -> None:
    """Draw a bar between two pixels, or a disc if seen along its axis."""
    least = 3.0 * canvas.points
    along = ends[1] - ends[0]
    length = float(np.hypot(*along))
    breadth = max(breadth, least)
    if length < breadth:
        canvas.disc(ends.mean(axis=0).tolist(), 0.5 * breadth, None, SCENE.paint, 3.0)
        canvas.disc(ends.mean(axis=0).tolist(), 0.5 * breadth, None, colour, 1.5)
        return
    across = 0.5 * breadth * np.array([-along[1], along[0]]) / length
    corners = np.array([ends[0] + across, ends[1] + across, ends[1] - across, ends[0] - across])
    canvas.area(corners, SCENE.paint, alpha=CLEAR)
    canvas.line(corners, colour, 1.5, closed=True)
    if slides:
        for share in (0.3, 0.7):
            middle = ends[0] + share * along
            canvas.line(np.array([middle - 1.6 * across, middle + 1.6 * across]), colour, 1.5)
