"""Panels over the picture: clock, state, events, help and transport controls."""

from __future__ import annotations

import math

import pygame

from cbsim.palette import CHROME, KINDS, MARKINGS, SCENE
from cbsim.viewer import hud
from cbsim.viewer.actions import help_rows
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.keys import ACTIONS, MOUSE
from cbsim.viewer.layers.lasers import without_returns
from cbsim.viewer.pick import waypoint_at
from cbsim.viewer.scene.model_controls import ModelControls, range_of
from cbsim.viewer.session_state import SessionState
from cbsim.viewer.view import View
from cbsim.viewer.widgets import Button, Slider, Widget

__all__ = ["Panels"]

BAR = 38.0  # [points] height of the transport controls
COLUMNS = 3  # columns of the help
INPUTS = 10  # maximum number of input sliders
INPUT = 290.0  # [points] width of an input slider
PLAY, RATE = 46.0, 66.0  # [points] widths of the buttons
MAX_WARNINGS, MAX_LENGTH = 3, 110  # warnings shown at most, and characters of each
STATE = 80.0  # [points] top of the selected body's state table


class Panels:
    """Panels of a session.

    Parameters
    ----------
    session : SessionState
    """

    def __init__(self, session: SessionState) -> None:
        self.session = session
        source = session.source
        self._play = Button(lambda: "||" if session.playing else ">", session.play)
        self._rate = Button(lambda: f"x {session.speed:g}", lambda: session.faster(1))
        self._time = Slider(
            low=lambda: source.timeline.first,
            high=self._known_end,
            value=lambda: session.time,
            set_value=session.seek,
            label=lambda: f"{session.time:.2f} s",
            marks=lambda: [event.time for event in source.timeline.events if event.kind != "passed"],
            limit=lambda: session.known,
        )
        timed = len(source.timeline) > 0
        self._clock: list[Widget] = [self._play, self._time, self._rate] if timed else []
        controls = source.controls
        self._inputs = [] if controls is None else [_slider(controls, name) for name in controls.sliders[:INPUTS]]
        self._fitting = len(self._inputs)
        self._foot = 0
        self._tables: list[hud.Table] = []

    @property
    def widgets(self) -> list[Widget]:
        """Visible widgets."""
        inputs = self._inputs[: self._fitting] if self.session.show_inputs else []
        return [*(self._clock if self.session.transport else []), *inputs]

    def _known_end(self) -> float:
        session = self.session
        return session.end if math.isfinite(session.end) else max(session.source.timeline.last, 1.0)

    @property
    def bar(self) -> float:
        """Height of the transport controls at the bottom [points]."""
        return BAR if self._clock and self.session.transport else 0.0

    @property
    def side(self) -> float:
        """Width of the input sliders at the left [points]."""
        return INPUT + 12.0 if self._inputs and self.session.show_inputs else 0.0

    def place(self, canvas: Canvas, view: View) -> None:
        """Lay out all panels, and reserve their space so that labels avoid it."""
        points, height = canvas.points, canvas.size[1]
        self._foot = height - round(self.bar * points)
        clock = hud.clock_table(self._lines(view)).above(canvas, self._foot)
        self._place_time(canvas)
        self._place_inputs(canvas, clock.box(canvas).bottom)
        state = hud.state_table(view, STATE)
        state = None if state is None else state.above(canvas, self._foot)
        events = self._events(canvas, view, None if state is None else state.box(canvas).bottom)
        self._tables = [table for table in (clock, state, events) if table is not None and table.rows]
        canvas.layout.block(widget.box for widget in self.widgets)
        canvas.layout.block(table.box(canvas) for table in self._tables)
        canvas.layout.block([hud.compass_box(canvas), hud.scale_box(canvas, view, self._foot)])

    def _place_time(self, canvas: Canvas) -> None:
        """Lay out the transport controls at the bottom."""
        points, (width, height) = canvas.points, canvas.size
        top, high = self._foot, height - self._foot
        play, rate = round(PLAY * points), round(RATE * points)
        self._play.box = pygame.Rect(0, top, play, high)
        self._time.box = pygame.Rect(play, top, width - play - rate, high)
        self._rate.box = pygame.Rect(width - rate, top, rate, high)

    def _place_inputs(self, canvas: Canvas, top: int) -> None:
        """Lay out the input sliders at the left below the clock, as many as fit."""
        points = canvas.points
        top = max(top, round(84 * points)) + round(12 * points)
        step, lowest = round(30 * points), self._foot - round(52 * points)
        self._fitting = max(0, min(len(self._inputs), (lowest - top) // step))
        for k, slider in enumerate(self._inputs):
            slider.box = pygame.Rect(round(12 * points), top + k * step, round(INPUT * points), round(28 * points))

    def _events(self, canvas: Canvas, view: View, above: int | None) -> hud.Table | None:
        """Table of the events that fit below `above` [pixels]; an error that stopped the run is always shown."""
        error = self.session.source.error
        for most in range(hud.EVENTS, -1, -1):
            table = hud.events_table(canvas, view, self._foot, error, most)
            if table is None or above is None or table.box(canvas).top > above:
                return table
        return table

    def draw(self, canvas: Canvas, view: View) -> None:
        """Draw all panels at their positions."""
        for widget in self.widgets:
            widget.draw(canvas)
        hud.draw_scale(canvas, view, self._foot)
        hud.draw_compass(canvas, view)
        for table in self._tables:
            table.draw(canvas)
        if self.session.helping:
            self._help(canvas)

    def _lines(self, view: View) -> list[str]:
        session = self.session
        lines = [view.stage.name]
        if session.other is not None:
            lines.append("solid: the first, outlines (B): the second")
        if self._clock:
            factor = "" if math.isnan(session.real_time_factor) else f"   {session.real_time_factor:.2g} x real time"
            end = f" of {session.end:g}" if math.isfinite(session.end) else ""
            lines.append(f"{session.time:.2f}{end} s{factor}" + ("" if session.playing else "   paused"))
        if session.source.timeline.stride > 1:
            lines.append(f"every {session.source.timeline.stride}th step is kept")
        if session.source.timeline.dropped_contacts:
            lines.append(f"{session.source.timeline.dropped_contacts} contacts are not kept")
        if not view.is_flat:
            lines.append(view.projection.name)
        if session.measuring:
            lines.append("measuring: click places")
        point = waypoint_at(view, session.hover, session.points) if session.hover[0] >= 0 else None
        if point is not None:
            lines.append(f"waypoint {point}")
        lines += [f"{name}: no returns" for name in without_returns(view)[:MAX_WARNINGS]]
        lines += [warning[:MAX_LENGTH] for warning in session.source.warnings[:MAX_WARNINGS]]
        if session.message:
            lines.append(session.message)
        return lines

    def _help(self, canvas: Canvas) -> None:
        """Draw all key bindings in columns, and the colour legend."""
        rows = [*help_rows(ACTIONS), ("mouse", ""), *MOUSE]
        width = canvas.size[0]
        points = min(canvas.points, width / 1200.0, self._foot / 620.0)
        per = math.ceil(len(rows) / COLUMNS)
        panel = Canvas(canvas.surface, points)
        box = pygame.Rect(0, 0, round(1160 * points), round((per * 21 + 110) * points))
        box.center = (width // 2, self._foot // 2)
        panel.panel(box, alpha=0.97)
        for k, (keys, said) in enumerate(rows):
            column, line = divmod(k, per)
            x, y = box.x + (16 + 382 * column) * points, box.y + (22 + 21 * line) * points
            if said:
                panel.text((x + 142 * points, y), keys, CHROME.ink, 16, anchor="right")
                panel.text((x + 150 * points, y), said, CHROME.soft, 16, anchor="left")
            else:
                panel.text((x, y), keys, CHROME.accent, 19, anchor="left")
        self._legend(panel, box)

    def _legend(self, canvas: Canvas, box: pygame.Rect) -> None:
        points = canvas.points
        x, y = box.x + 24 * points, box.bottom - 60 * points
        for look in KINDS.values():
            square = pygame.Rect(round(x), round(y - 7 * points), round(24 * points), round(14 * points))
            canvas.surface.fill(look.fill, square)
            pygame.draw.rect(canvas.surface, SCENE.ink, square, 1)
            at = canvas.text((x + 32 * points, y), look.text, CHROME.ink, 16, anchor="left")
            x = at.right + 26 * points
        x, y = box.x + 24 * points, box.bottom - 28 * points
        for name, marking in MARKINGS.items():
            strip = pygame.Rect(round(x), round(y - 7 * points), round(24 * points), round(14 * points))
            canvas.surface.fill(SCENE.asphalt, strip)
            for k in range(marking.lines):
                level = y + (4 * k - 2 * (marking.lines - 1)) * points
                ends = [(x, level), (x + 24 * points, level)]
                if marking.dash is None:
                    canvas.line(ends, marking.colour, 2.0)
                else:
                    canvas.dashes(ends, marking.colour, 2.0 * points, 6 * points, 4 * points)
            at = canvas.text((x + 32 * points, y), name.replace("_", " "), CHROME.ink, 16, anchor="left")
            x = at.right + 26 * points


def _slider(controls: ModelControls, name: str) -> Slider:
    """Create a slider for a model control."""
    span = range_of(name, controls.values[name])
    return Slider(
        low=lambda: span.low,
        high=lambda: span.high,
        value=lambda: controls.values[name],
        set_value=lambda value: controls.set(name, value),
        label=lambda: f"{name}  {span.format(controls.values[name])}",
        label_width=150.0,
    )
