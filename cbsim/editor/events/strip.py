"""Timeline of a scenario's events, above the problems of the editor: drawn, selected, dragged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pygame

from cbsim.editor.documents.scenario_document import ScenarioDocument
from cbsim.editor.event_state import clock_of, end_of, in_steps
from cbsim.editor.events import commands as event_commands
from cbsim.editor.events.layout import RADIUS, Layout, Mark, TimeAxis, lay_out
from cbsim.errors import Problem, Severity
from cbsim.palette import CHROME, PAINT, WORDS
from cbsim.spec.event_order import circle_of
from cbsim.spec.scenario import Scenario
from cbsim.viewer.drawing.canvas import Canvas, Colour

if TYPE_CHECKING:
    from cbsim.editor.session_state import SessionState

__all__ = ["EventStrip", "MoveEvent", "colours_of"]

Pixel = tuple[int, int]

LANE, HEAD = 19.0, 24.0  # [points] height of a lane, and of the scale above them
MOST = 8  # lanes that are shown at once
TEXT = 15.0  # [points] height of names
LEFT, RIGHT = 24.0, 24.0  # [points] margins of the scale
TWICE = 400  # [ms] between the presses of a double click
TICKS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)  # [s]
GRAINS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # [s] resolutions of a mouse
TICK = 70.0  # [points] least distance of numbers on the scale


class MoveEvent:
    """Drags an event along the timeline; a press that doesn't move selects it."""

    def __init__(self, strip: EventStrip, row: int, pixel: Pixel) -> None:
        self.strip, self.row = strip, row
        time = strip.layout.marks[row].time
        self.hold = strip.axis.x(time or 0.0) - pixel[0]

    def move(self, session: SessionState, pixel: Pixel, _before: Pixel) -> None:
        """Show where the event would go: by round times of about two pixels, with alt by steps of the run."""
        document, axis = session.document, self.strip.axis
        if not isinstance(document, ScenarioDocument) or clock_of(document.spec.events, self.row) is None:
            return
        step = document.spec.step
        pixels = 0.0 if session.has_modifier(pygame.KMOD_ALT) else 2.0 * axis.end / (axis.right - axis.left)
        grain = next((grain for grain in GRAINS if grain >= max(pixels, step)), GRAINS[-1]) if pixels > step else step
        time = round(axis.time(pixel[0] + self.hold) / grain) * grain
        session.events.time = in_steps(time, step)

    def finish(self, session: SessionState) -> None:
        """Apply the new time."""
        if session.events.time is not None:
            event_commands.drag_to(session, self.row, session.events.time)
        else:
            event_commands.drag_to(session, self.row, 0.0)  # says why it cannot be moved


class EventStrip:
    """The timeline of a session, empty where no scenario is edited.

    Attributes
    ----------
    box : Rect
        What it covered in the last frame.
    axis : TimeAxis
    layout : Layout
        As in the last frame.
    """

    def __init__(self, session: SessionState) -> None:
        self.session = session
        self.box = pygame.Rect(0, 0, 0, 0)
        self.axis = TimeAxis(1.0, 0.0, 1.0)
        self.layout = Layout((), 0)
        self._key: tuple[object, ...] = (None,) * 5
        self._colours: list[Colour] = []
        self._pressed: tuple[int, Pixel] = (-TWICE, (0, 0))

    def height(self, lanes: int, points: float) -> int:
        """Height for a number of lanes [pixels]."""
        below = 6.0 if lanes <= MOST else 18.0
        return round((HEAD + LANE * max(1, min(lanes, MOST)) + below) * points)

    def place(self, size: Pixel, bottom: float, canvas: Canvas) -> pygame.Rect:
        """Lay the events out above a height; returns the rectangle that they cover."""
        document, points = self.session.document, canvas.points
        if not isinstance(document, ScenarioDocument):
            self.box = pygame.Rect(0, round(bottom), size[0], 0)
            return self.box
        events, state = document.spec.events, self.session.events
        self.axis = TimeAxis(max(end_of(document.spec), 1e-6), LEFT * points, size[0] - RIGHT * points)
        key = (document.spec, self.session.problems, state.happened, self.axis, points)
        if any(new is not old for new, old in zip(key[:3], self._key[:3], strict=True)) or key[3:] != self._key[3:]:
            self._key = key
            self.layout = lay_out(events, self.axis, lambda name: canvas.extent(name, TEXT)[0], points, state.happened)
            self._colours = colours_of(document.spec, self.session.problems)
        state.first_lane = min(max(state.first_lane, 0), max(self.layout.lanes - MOST, 0))
        high = self.height(self.layout.lanes, points)
        self.box = pygame.Rect(0, round(bottom) - high, size[0], high)
        return self.box

    def y(self, mark: Mark, points: float) -> float | None:
        """Height of a mark in the picture [pixels]; None if its lane is not shown."""
        lane = mark.lane - self.session.events.first_lane
        return self.box.y + (HEAD + LANE * (lane + 0.5)) * points if 0 <= lane < MOST else None

    # --- mouse -------------------------------------------------------------------------------------------------------
    def row_at(self, pixel: Pixel, points: float) -> int | None:
        """Event whose mark or name is at a pixel."""
        for mark in self.layout.marks:
            y = self.y(mark, points)
            if y is not None and abs(pixel[1] - y) <= 0.5 * LANE * points and mark.left <= pixel[0] <= mark.right:
                return mark.row
        return None

    def press(self, pixel: Pixel) -> MoveEvent | None:
        """Press a button on the strip: select an event and begin to drag it; a double click names it or adds one."""
        session, now = self.session, pygame.time.get_ticks()
        row = self.row_at(pixel, session.points)
        is_double = now - self._pressed[0] < TWICE and math.dist(pixel, self._pressed[1]) < 4.0 * session.points
        self._pressed = (-TWICE if is_double else now, pixel)
        session.events.row = row
        if is_double:
            if row is None:
                event_commands.ask_action(session, self.axis.time(pixel[0]))
            else:
                event_commands.ask_event_name(session)
            return None
        return None if row is None else MoveEvent(self, row, pixel)

    def scroll(self, notches: float) -> None:
        """Show lanes further up or down."""
        self.session.events.first_lane -= round(notches)

    # --- drawing -----------------------------------------------------------------------------------------------------
    def draw(self, canvas: Canvas) -> None:
        """Draw the strip, as it was placed."""
        document = self.session.document
        if not isinstance(document, ScenarioDocument) or not self.box.height:
            return
        canvas.panel(self.box, alpha=0.95)
        self._scale(canvas)
        for mark in self.layout.marks:
            self._links(canvas, mark)
        for mark in self.layout.marks:
            self._mark(canvas, document, mark)
        self._draft(canvas)
        hidden = self.layout.lanes - MOST
        if hidden > 0:
            first = self.session.events.first_lane
            said = f"lanes {first + 1} to {first + MOST} of {self.layout.lanes}"
            place = (self.box.right - 8 * canvas.points, self.box.bottom - 9 * canvas.points)
            canvas.text(place, said + ": wheel", CHROME.soft, 13, anchor="right")

    def _scale(self, canvas: Canvas) -> None:
        points, axis = canvas.points, self.axis
        least = TICK * points * axis.end / (axis.right - axis.left)
        every = next((tick for tick in TICKS if tick >= least), 10.0 ** math.ceil(math.log10(least)))
        y = self.box.y + 13.0 * points
        for k in range(math.floor(axis.end / every + 1e-9) + 1):
            x = axis.x(k * every)
            canvas.line([(x, self.box.y + HEAD * points), (x, self.box.bottom - 4 * points)], CHROME.track, 1.0)
            canvas.text((x, y), f"{k * every:g} s", CHROME.soft, 13)
        end = axis.right
        canvas.line([(end, self.box.y + HEAD * points), (end, self.box.bottom - 4 * points)], CHROME.edge, 2.0)

    def _links(self, canvas: Canvas, mark: Mark) -> None:
        """Lead a line from each event that one waits for to it."""
        y, points = self.y(mark, canvas.points), canvas.points
        for other in mark.awaits:
            before = self.layout.marks[other]
            top = self.y(before, points)
            if y is not None and top is not None and other != mark.row:
                canvas.line([(before.x, top), (before.x, y), (mark.x, y)], CHROME.accent, 1.5)

    def _mark(self, canvas: Canvas, document: ScenarioDocument, mark: Mark) -> None:
        y, points, session = self.y(mark, canvas.points), canvas.points, self.session
        if y is None:
            return
        event, colour = document.spec.events[mark.row], self._colours[mark.row]
        wide = canvas.extent(event.name, TEXT)[0]
        name = pygame.Rect(
            round(mark.text_x) - 2, round(y - 0.45 * LANE * points), wide + 4, round(0.9 * LANE * points)
        )
        chosen = session.events.row == mark.row
        canvas.surface.fill(PAINT.selected if chosen else CHROME.panel, name)
        canvas.text((mark.text_x, y), event.name, colour, TEXT, anchor="left")
        if mark.happened is not None:
            canvas.line([(mark.x, y), (mark.happened_x, y)], CHROME.edge, 1.5)
        r = RADIUS * points
        if mark.time is None:
            canvas.text((mark.x, y), "?", WORDS.danger, 17)
            return
        shape = [(0, -r), (r, 0), (0, r), (-r, 0)] if mark.is_known else [(-0.6 * r, -r), (r, 0), (-0.6 * r, r)]
        corners = [(mark.x + dx, y + dy) for dx, dy in shape]
        canvas.area(corners, PAINT.selected if chosen else CHROME.panel)
        canvas.line(corners, colour, 1.75, closed=True)
        if mark.happened is not None:
            stale = session.events.ran != document.data
            canvas.disc((mark.happened_x, y), 0.75 * RADIUS * points, PAINT.lost if stale else PAINT.plan, colour, 1.0)

    def _draft(self, canvas: Canvas) -> None:
        """Draw the time to which the selected event would be dragged."""
        time, row, points = self.session.events.time, self.session.events.row, canvas.points
        if time is None or row is None:
            return
        x = self.axis.x(time)
        canvas.line([(x, self.box.y + HEAD * points), (x, self.box.bottom)], PAINT.measure, 2.0)
        canvas.text((x, self.box.y + 13.0 * points), f"{time:g} s", WORDS.measure, 16, halo=CHROME.panel)


def colours_of(spec: Scenario, problems: Sequence[Problem]) -> list[Colour]:
    """Colours of events: those of the worst problems that are told of their lines."""
    begin, stuck = spec.at("events").line or 0, set(circle_of(spec.events))
    later = [place.line or 0 for key, place in spec.places.items() if "." not in key]
    starts = [event.location.line or 0 for event in spec.events]
    ends = [*starts[1:], min((line for line in later if line > begin), default=1 << 30)]
    lines = {
        severity: [one.location.line or 0 for one in problems if one.severity is severity] for severity in Severity
    }
    found = []
    for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
        own = range(start, max(end, start + 1))
        is_wrong = row in stuck or any(line in own for line in lines[Severity.ERROR])
        is_doubtful = any(line in own for line in lines[Severity.WARNING])
        found.append(WORDS.danger if is_wrong else WORDS.warning if is_doubtful else CHROME.ink)
    return found
