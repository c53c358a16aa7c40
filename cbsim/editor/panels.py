"""Panels of the editor: tools, fields, problems, hints, prompts and help."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence

import pygame

from cbsim.editor import commands
from cbsim.editor.documents.scenario_document import ScenarioDocument
from cbsim.editor.events import commands as event_commands
from cbsim.editor.events.strip import EventStrip
from cbsim.editor.keys import ACTIONS, MOUSE
from cbsim.editor.objects.fields import fields_of, goal_fields
from cbsim.editor.objects.placement import nearest_point
from cbsim.editor.objects.stops import stops_of
from cbsim.editor.prompt import Prompt
from cbsim.editor.saving.document_store import DocumentStore
from cbsim.editor.session_state import SessionState
from cbsim.errors import Problem, Severity
from cbsim.palette import CHROME, PAINT, WORDS
from cbsim.spec.objects import Controller, Kind
from cbsim.viewer import hud
from cbsim.viewer.actions import help_rows
from cbsim.viewer.drawing.canvas import Canvas, Colour

__all__ = ["Panels"]

WIDE = 290.0  # [points] width of the field table
ROW = 20.0  # [points] height of a line
EDGE = 10.0  # [points] margin at the edges
WRAPPED = 110  # characters per line of a question
WIDEST = 90  # visible characters of a prompt
MOST = 4  # problems shown at most
TOOLS: tuple[tuple[str, Kind | str], ...] = (
    ("bot", Kind.AUTONOMOUS), ("traffic", Kind.DYNAMIC), ("obstacle", Kind.STATIC), ("mesh", Kind.MESH),
    ("goals", "goals"), ("script", "script"),
)  # fmt: skip

Command = Callable[[], object]


class Panels:
    """Panels over the editor's picture.

    Attributes
    ----------
    fields : list of (Rect, str)
        Rectangles of the primary object's fields, and their labels.
    """

    def __init__(self, session: SessionState, store: DocumentStore, start_trial_run: Command) -> None:
        self.session, self._store, self._start_trial_run = session, store, start_trial_run
        self.strip = EventStrip(session)
        self._boxes: list[tuple[pygame.Rect, Command]] = []
        self.fields: list[tuple[pygame.Rect, str]] = []

    def covers(self, box: pygame.Rect) -> bool:
        """Return whether a panel covered part of a rectangle in the last frame."""
        return any(other.colliderect(box) for other, _ in self._boxes)

    def free(self, size: tuple[int, int], points: float) -> pygame.Rect:
        """Return the part of a picture that no panel covers."""
        top = round((3 * EDGE + 2 * hud.ROW + 40.0) * points)
        above = size[1] - (ROW * (min(len(self.session.problems), MOST) + 1) + 8.0) * points
        strip = self.strip.place(size, above, Canvas(pygame.Surface((1, 1)), points))
        bottom = strip.y - round((EDGE + 12.0) * points)
        right = size[0] - (round((WIDE + 2 * EDGE) * points) if self.session.selected else 0)
        whole = pygame.Rect(0, 0, *size)
        part = pygame.Rect(0, top, max(right, 1), max(bottom - top, 1))
        return part if part.width > 0.4 * size[0] and part.height > 0.4 * size[1] else whole

    def press(self, pixel: tuple[int, int]) -> bool:
        """Run the command of the panel element at a pixel; False if there is none."""
        for box, command in reversed(self._boxes):
            if box.collidepoint(pixel):
                command()
                return True
        return False

    def draw(self, canvas: Canvas) -> None:
        """Draw all panels."""
        self._boxes, self.fields = [], []
        bottom = self._problems(canvas)
        box = self.strip.place(canvas.size, bottom, canvas)
        self._boxes.append((box, lambda: None))
        bottom = float(box.y)
        view = self.session.preview_builder.ground_view(self.session.camera, self.session.options)
        hud.draw_scale(canvas, view, bottom)
        self.strip.draw(canvas)
        self._title(canvas)
        self._fields(canvas, bottom)
        self._line(canvas)
        if self.session.helping:
            self._help(canvas)

    # --- title and tools ---------------------------------------------------------------------------------------------
    def _title(self, canvas: Canvas) -> None:
        session, points = self.session, canvas.points
        star = " *" if self._store.dirty else ""
        lines = [(f"{session.document.path.name}{star}   {session.document.format_name}", CHROME.ink)]
        lines.append((self._hint(), CHROME.soft))
        if session.message:
            lines.append((session.message[:110], CHROME.accent))
        if self._store.error:
            lines.append((self._store.error[:110], WORDS.danger))
        box = hud.Table((EDGE, EDGE), lines).draw(canvas)
        is_scenario = isinstance(session.document, ScenarioDocument)
        self._boxes.append((box, lambda: None))
        x, y = box.x, box.bottom + round(6 * points)
        buttons: list[tuple[str, Command, bool]] = [
            (said, lambda tool=tool: commands.pick_tool(session, tool), session.tool == tool)  # type: ignore[misc]
            for said, tool in ([] if is_scenario else TOOLS)
        ]
        if is_scenario:
            buttons.append(("event", lambda: event_commands.ask_action(session, 0.0), False))
        buttons += [("undo", session.undo, False), ("redo", session.redo, False)]
        buttons += [
            ("save", self._store.save, False),
            ("run", self._start_trial_run, False),
            ("?", self._toggle, False),
        ]
        for said, command, chosen in buttons:
            wide = canvas.extent(said, 16)[0] + round(16 * points)
            button = pygame.Rect(x, y, wide, round(26 * points))
            canvas.panel(button, alpha=0.95)
            if chosen:
                canvas.surface.fill(PAINT.selected, button.inflate(-2, -2))
            canvas.text(button.center, said, CHROME.ink, 16)
            self._boxes.append((button, command))
            x += wide + round(4 * points)

    def _toggle(self) -> None:
        self.session.helping = not self.session.helping

    def _hint(self) -> str:
        """Describe the position below the mouse."""
        session = self.session
        if session.hover[0] < 0 or session.roadmap is None:
            return "?: help"
        place = session.camera.to_world(session.hover)
        point = nearest_point(session.roadmap, place, session.snap)
        if point is not None:
            return f"waypoint {point}"
        match = session.roadmap.match(place[None])
        lane = int(match.lane[0])
        if lane < 0:
            return f"x {place[0]:.2f}  y {place[1]:.2f} m"
        curve, first = session.roadmap.lanes[lane], int(session.roadmap.offsets[lane])
        station = float(match.station[0])
        behind = max(int((curve.waypoint_stations <= station + 1e-6).sum()) - 1, 0)
        along = station - float(curve.waypoint_stations[behind])
        side = float(match.offset[0])
        return (
            f"{session.roadmap.ids[first + behind]} {along:+.2f} m, {abs(side):.2f} m {'left' if side > 0 else 'right'}"
        )

    # --- fields ------------------------------------------------------------------------------------------------------
    def _fields(self, canvas: Canvas, bottom: float) -> None:
        """Draw the fields of the primary object at the right; clicking one prompts for its value."""
        session = self.session
        item = session.leading
        if session.events.row is not None and isinstance(session.document, ScenarioDocument):
            self._event(canvas, session.document, session.events.row, bottom)
            return
        if item is None:
            return
        rows = [
            (field.label, field.text, self._asker(field.label)) for field in fields_of(item, session.document.version)
        ]
        stops, what = stops_of(item), "entries of the script" if item.controller is Controller.SCRIPT else "goals"
        if session.goal is not None and session.goal < len(stops):
            fields = goal_fields(item, session.goal, session.document.version)
            rows += [(f.label, f.text, self._asker(f.label)) for f in fields]
        elif stops:
            rows.append((what, f"{len(stops)}: click one", lambda: None))
        count = f"{len(session.selected)} objects, the last is" if len(session.selected) > 1 else "object"
        head = f"{count} {session.selected[-1] + 1}: {item.kind}, line {item.location.line}"
        self._table(canvas, head, rows, bottom)

    def _event(self, canvas: Canvas, document: ScenarioDocument, row: int, bottom: float) -> None:
        """Draw what the selected event says; clicking a line prompts for another text."""
        session, event = self.session, document.spec.events[row]
        rows: list[tuple[str, str, Command]] = [("name", event.name, lambda: event_commands.ask_event_name(session))]
        for key in ("when", "do"):
            text = event_commands.text_of(event, key)
            text = text if len(text) < 25 else text[:24] + "…"
            rows.append((key, text, lambda key=key: event_commands.ask_text(session, key)))  # type: ignore[misc]
        happened = session.events.happened.get(event.name)
        if happened is not None:
            rows.append(("came true [s]", f"{happened:g}", lambda: None))
        self._table(canvas, f"event {row + 1}, line {event.location.line}", rows, bottom)

    def _asker(self, label: str) -> Command:
        return lambda: commands.ask_field(self.session, label)

    def _table(self, canvas: Canvas, head: str, rows: Sequence[tuple[str, str, Command]], bottom: float) -> None:
        points = canvas.points
        wide = round(WIDE * points)
        row = min(ROW * points, (bottom - 2 * EDGE * points) / (len(rows) + 2))
        box = pygame.Rect(canvas.size[0] - wide - round(EDGE * points), round(EDGE * points), wide, 0)
        box.height = round(row * (len(rows) + 1) + 12 * points)
        canvas.panel(box, alpha=0.95)
        self._boxes.append((box, lambda: None))
        left, right = box.x + 8 * points, box.right - 8 * points
        canvas.text((left, box.y + 6 * points + 0.5 * row), head[:44], CHROME.accent, 16, anchor="left")
        for k, (label, text, command) in enumerate(rows, 1):
            line = pygame.Rect(box.x, round(box.y + 6 * points + k * row), wide, round(row))
            if line.collidepoint(self.session.hover):
                canvas.surface.fill((226, 236, 246), line.inflate(-4, 0))
            canvas.text((left, line.centery), label, CHROME.soft, 16, anchor="left")
            shown = text if len(text) < 26 else "…" + text[-25:]
            canvas.text((right, line.centery), shown or "-", CHROME.ink, 16, anchor="right")
            self._boxes.append((line, command))
            self.fields.append((line, label))

    # --- problems ----------------------------------------------------------------------------------------------------
    def _problems(self, canvas: Canvas) -> float:
        """Draw the problems of the file at the bottom, the most severe first; returns the panel's top [pixels]."""
        session, points = self.session, canvas.points
        order = [Severity.ERROR, Severity.WARNING, Severity.INFO]
        problems = sorted(session.problems, key=lambda problem: order.index(problem.severity))
        counts = [sum(problem.severity is severity for problem in problems) for severity in order]
        high = round((ROW * (min(len(problems), MOST) + 1) + 8) * points)
        width, height = canvas.size
        box = pygame.Rect(0, height - high, width, high)
        canvas.panel(box, alpha=0.95)
        self._boxes.append((box, lambda: None))
        named = zip(counts, ("error", "warning", "remark"), strict=True)
        words = ", ".join(f"{count} {word}{'s' * (count > 1)}" for count, word in named if count) or "no problems"
        canvas.text((EDGE * points, box.y + 0.6 * ROW * points), words, CHROME.soft, 16, anchor="left")
        for k, problem in enumerate(problems[:MOST]):
            y = box.y + (ROW * (k + 1) + 4) * points
            line = pygame.Rect(0, round(y), width, round(ROW * points))
            self._boxes.append((line, lambda problem=problem: self._go_to(problem)))  # type: ignore[misc]
            text = f"line {problem.location.line or 1}: {problem.message} [{problem.code}] {problem.hint}"
            most = max(20, int(width / (6.4 * points)))
            canvas.text((EDGE * points, line.centery), text[:most], _colour(problem), 16, anchor="left")
        return float(box.y)

    def _go_to(self, problem: Problem) -> None:
        """Select the object that a problem refers to, and show its line."""
        session, line = self.session, problem.location.line or 0
        rows = [k for k, item in enumerate(session.document.objects) if (item.location.line or 0) <= line]
        if rows and line > 1:
            session.select([rows[-1]])
            session.fit([rows[-1]])
        session.message = f"line {line}: {session.document.line(line)}"

    # --- lines and questions -----------------------------------------------------------------------------------------
    def _line(self, canvas: Canvas) -> None:
        session = self.session
        if session.question is not None:
            answers = [f"{key}: {answer.label}" for key, answer in session.question.answers.items()]
            text = [part for line in session.question.text.split("\n") for part in textwrap.wrap(line, WRAPPED)]
            self._sheet(canvas, [*((line, CHROME.ink) for line in text), ("     ".join(answers), CHROME.accent)])
        elif session.prompt is not None:
            self._sheet(canvas, _prompt_lines(session.prompt))

    def _sheet(self, canvas: Canvas, lines: Sequence[tuple[str, Colour]]) -> None:
        points = canvas.points
        wide = max(canvas.extent(text, 19)[0] for text, _ in lines) + round(40 * points)
        box = pygame.Rect(0, 0, max(wide, round(420 * points)), round((28 * len(lines) + 20) * points))
        box.center = canvas.size[0] // 2, canvas.size[1] // 2
        canvas.panel(box, alpha=0.98)
        pygame.draw.rect(canvas.surface, CHROME.accent, box, max(2, round(2 * points)))
        for k, (text, colour) in enumerate(lines):
            canvas.text((box.x + 20 * points, box.y + (24 + 28 * k) * points), text, colour, 19, anchor="left")

    def _help(self, canvas: Canvas) -> None:
        """Draw all key bindings in columns."""
        rows = [*help_rows([action for action in ACTIONS if action.description]), ("mouse", ""), *MOUSE]
        width, height = canvas.size
        points = canvas.points
        box = pygame.Rect(0, 0, min(width, round(1180 * points)), min(height, round(600 * points)))
        box.center = (width // 2, height // 2)
        canvas.panel(box, alpha=0.98)
        per = math.ceil(len(rows) / 3) + 1
        row = min(22.0, (box.height / points - 40.0) / per)
        for k, (keys, said) in enumerate(rows):
            column, line = divmod(k, per)
            x, y = box.x + (16 + 390 * column) * points, box.y + (24 + row * line) * points
            if not said:
                canvas.text((x, y), keys, CHROME.accent, 19, anchor="left")
                continue
            canvas.text((x + 116 * points, y), keys, CHROME.ink, 15, anchor="right")
            canvas.text((x + 124 * points, y), said, CHROME.soft, 15, anchor="left")


def _prompt_lines(prompt: Prompt) -> list[tuple[str, Colour]]:
    lines = [(prompt.label, CHROME.soft), (_typed(prompt), CHROME.ink)]
    if prompt.choices:
        listed = [choice for choice in prompt.choices if choice.startswith(prompt.text) or prompt.fresh][:6]
        lines.append(("tab: " + "  ".join(listed or prompt.choices[:6]), CHROME.accent))
    if prompt.error:
        lines.append((prompt.error[:100], WORDS.danger))
    return lines


def _typed(prompt: Prompt) -> str:
    """Format a prompt with its caret or bracketed selection, truncated around the caret."""
    first, last = prompt.selection
    text = prompt.text[:first] + (f"[{prompt.text[first:last]}]" if first != last else "|") + prompt.text[last:]
    start = min(max(0, prompt.caret - WIDEST // 2), max(0, len(text) - WIDEST))
    return ("…" if start else "") + text[start : start + WIDEST] + ("…" if start + WIDEST < len(text) else "")


def _colour(problem: Problem) -> Colour:
    return {Severity.ERROR: WORDS.danger, Severity.WARNING: WORDS.warning}.get(problem.severity, CHROME.soft)
