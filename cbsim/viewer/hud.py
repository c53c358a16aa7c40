"""Head-up display: scale bar, compass, clock, events and the state of the selected body."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pygame

from cbsim.arrays import Floats
from cbsim.palette import CHROME, SCENE, WORDS
from cbsim.viewer.drawing.canvas import Canvas, Colour
from cbsim.viewer.event_colours import word_colour
from cbsim.viewer.layers.time_to_collision import nearest_collisions
from cbsim.viewer.layers.vehicles import steer_angle, wheel_layout_of
from cbsim.viewer.view import View, kind_of

__all__ = [
    "ROW",
    "Table",
    "clock_table",
    "compass_box",
    "draw_compass",
    "draw_scale",
    "events_table",
    "scale_box",
    "state_of",
    "state_table",
]

Line = tuple[str, Colour]

EDGE = 12.0  # [points] margin at the edges of the picture
ROW = 19.0  # [points] height of a line of text
NICE = (1.0, 2.0, 5.0)
EVENTS = 6


class Table(NamedTuple):
    """Lines of text on a panel; `at` is its top left corner [points], negative values count from the far edge."""

    at: tuple[float, float]
    rows: Sequence[Line]
    size: float = 17.0

    def box(self, canvas: Canvas) -> pygame.Rect:
        """Rectangle of the table [pixels]."""
        points = canvas.points
        wide = max((canvas.extent(text, self.size)[0] for text, _ in self.rows), default=0) + round(16 * points)
        high = round((ROW * len(self.rows) + 10) * points)
        x = self.at[0] * points if self.at[0] >= 0 else canvas.size[0] + self.at[0] * points - wide
        y = self.at[1] * points if self.at[1] >= 0 else canvas.size[1] + self.at[1] * points - high
        return pygame.Rect(round(x), round(y), wide, high)

    def above(self, canvas: Canvas, foot: float) -> Table:
        """Drop the last lines that would extend below a height of the picture [pixels]."""
        room = (foot / canvas.points - self.at[1] - 10.0) // ROW
        return self._replace(rows=self.rows[: max(0, int(room))])

    def draw(self, canvas: Canvas) -> pygame.Rect:
        """Draw the table; returns its rectangle."""
        points, box = canvas.points, self.box(canvas)
        canvas.panel(box)
        for k, (text, colour) in enumerate(self.rows):
            y = box.y + (5 + ROW * (k + 0.5)) * points
            canvas.text((box.x + 8 * points, y), text, colour, self.size, anchor="left")
        return box


def scale_of(canvas: Canvas, view: View) -> float:
    """Length of the scale bar [m]: a round number, about a sixth of the picture's width."""
    target = max(canvas.size[0] / 6.0, 80.0 * canvas.points) / view.camera.scale
    power = 10.0 ** math.floor(math.log10(target))
    return max(step * power for step in NICE if step * power <= target)


def scale_box(canvas: Canvas, view: View, bottom: float) -> pygame.Rect:
    """Rectangle of the scale bar and its text [pixels]."""
    edge, high = EDGE * canvas.points, 28.0 * canvas.points
    wide = scale_of(canvas, view) * view.camera.scale
    return pygame.Rect(round(edge), round(bottom - edge - high), round(wide), round(high))


def draw_scale(canvas: Canvas, view: View, bottom: float) -> None:
    """Draw the scale bar above a height of the picture [pixels]."""
    length = scale_of(canvas, view)
    pixels = length * view.camera.scale
    x, y = EDGE * canvas.points, bottom - EDGE * canvas.points
    tick = 5.0 * canvas.points
    bar = [(x, y - tick), (x, y), (x + pixels, y), (x + pixels, y - tick)]
    canvas.line(bar, SCENE.paint, 5.0)
    canvas.line(bar, SCENE.ink, 2.0)
    said = f"{length / 1000.0:g} km" if length >= 1000.0 else f"{length:g} m"
    canvas.text((x + 0.5 * pixels, y - tick), said, SCENE.ink, 16, anchor="above", halo=SCENE.paint)


def compass_box(canvas: Canvas) -> pygame.Rect:
    """Rectangle of the compass [pixels]."""
    side = round(56.0 * canvas.points)
    return pygame.Rect(canvas.size[0] - round(62.0 * canvas.points), round(12.0 * canvas.points), side, side)


def draw_compass(canvas: Canvas, view: View) -> None:
    """Draw a north arrow, or the picture's two axes in a side view."""
    width = canvas.size[0]
    centre = np.array([width - 34.0 * canvas.points, 40.0 * canvas.points])
    if not view.is_flat:
        _axes(canvas, centre + 14.0 * canvas.points * np.array([-1.0, 1.0]), view.projection.labels)
        return
    angle = view.camera.angle
    turn = np.array([(math.cos(angle), -math.sin(angle)), (math.sin(angle), math.cos(angle))])
    shape = np.array([(0.0, -20.0), (8.0, 12.0), (0.0, 6.0), (-8.0, 12.0)]) * canvas.points
    canvas.disc(centre.tolist(), 26.0 * canvas.points, CHROME.panel, CHROME.edge, 1.0)
    canvas.area(centre + (shape @ turn.T)[[0, 1, 2]], SCENE.ink)
    canvas.line(centre + shape @ turn.T, SCENE.ink, 1.0, closed=True)
    letter = centre + 19.0 * canvas.points * turn[:, 1]
    canvas.text(letter.tolist(), "N", SCENE.ink, 14)


def _axes(canvas: Canvas, origin: Floats, labels: tuple[str, str]) -> None:
    for direction, label in zip(((1.0, 0.0), (0.0, -1.0)), labels, strict=True):
        tip = origin + 34.0 * canvas.points * np.asarray(direction)
        canvas.line(np.stack([origin, tip]), SCENE.ink, 2.0)
        canvas.text(
            (tip + 8.0 * canvas.points * np.asarray(direction)).tolist(), label, SCENE.ink, 17, halo=SCENE.paint
        )


def titled(lines: Sequence[str]) -> list[Line]:
    """Colour lines of text, the first as a title."""
    return [(line, CHROME.ink if k == 0 else CHROME.soft) for k, line in enumerate(lines)]


def clock_table(lines: Sequence[str]) -> Table:
    """Table of the scenario's name and the time, at the top left."""
    return Table((EDGE, EDGE), titled(lines))


def events_table(canvas: Canvas, view: View, bottom: float, error: str = "", most: int = EVENTS) -> Table | None:
    """Table of the latest contacts, checks and events, and of the error that stopped the run, at the lower right."""
    events = view.state.events[-most:] if most > 0 else []
    rows: list[Line] = [
        (
            f"{event.time:.2f} s  {event.name}" + ("" if event.kind == "contact" else f": {event.kind}"),
            word_colour(event.kind),
        )
        for event in events
    ]
    if error:
        rows.append((error[:110], WORDS.danger))
    return Table((-EDGE, -(canvas.size[1] - bottom) / canvas.points - EDGE), rows, 16.0) if rows else None


def state_of(view: View, row: int) -> list[str]:
    """Return the state of a body as lines of text."""
    body, state = view.stage.bodies[row], view.state
    x, y, z = state.position[row].tolist()
    speed = float(view.speeds[row])
    degrees = math.degrees(float(view.headings[row])) % 360.0
    size = " x ".join(f"{value:.2f}" for value in body.size)
    if not view.present[row]:
        return [view.name_of(row), "absent, or not recorded here"]
    said = [
        view.name_of(row),
        f"{kind_of(body.kind).text}, {body.shape} {size} m",
        f"x {x:z.3f}  y {y:z.3f}  z {z:z.3f} m",
        f"heading {degrees:.2f} deg",
        f"speed {speed:z.3f} m/s  ({speed * 3.6:z.1f} km/h)",
        f"yaw rate {math.degrees(float(state.spin[row, 2])):z.2f} deg/s",
    ]
    if kind_of(body.kind).front:
        said.append(f"front wheels {math.degrees(steer_angle(view, row, wheel_layout_of(view, row))):.1f} deg")
    roadmap = view.stage.roadmap
    if roadmap is not None:
        said.append(lane_of(view, row))
    said += [
        f"time to collision {time:.2f} s with {view.name_of(other)}"
        for one, other, time in nearest_collisions(view)
        if one == row
    ]
    return said


def lane_of(view: View, row: int) -> str:
    """Name the lane that a body is on."""
    roadmap = view.stage.roadmap
    if roadmap is None or not roadmap.lanes:
        return "no lane"
    found = roadmap.match(view.state.position[row : row + 1, :2], view.headings[row : row + 1])
    lane = int(found.lane[0])
    if lane < 0:
        return "off the lanes"
    return f"lane {roadmap.lanes[lane]}  {float(found.offset[0]):+.2f} m left of its middle"


def state_table(view: View, top: float) -> Table | None:
    """Table of the selected body's state, at the right, starting at a height of the picture [points]."""
    row = view.options.selected
    if row is None or row >= len(view.stage.bodies):
        return None
    return Table((-EDGE, top), titled(state_of(view, row)))
