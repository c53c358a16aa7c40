"""Mouse interaction: place, select, drag, turn, resize, set goals and move the camera."""

from __future__ import annotations

import math

import pygame

from cbsim.editor import goals
from cbsim.editor.documents.scenario_document import ScenarioDocument
from cbsim.editor.drags import BoxSelection, CameraDrag, Drag, Move, MoveGoal, Resize, Turn
from cbsim.editor.drawing import corner_handles, goal_places, turn_handle
from cbsim.editor.events.places import place_at
from cbsim.editor.panels import Panels
from cbsim.editor.session_state import SessionState
from cbsim.spec.objects import Kind
from cbsim.viewer.pick import body_at

__all__ = ["Mouse"]

Pixel = tuple[int, int]

NOTCH = 1.15  # zoom factor per notch of the wheel
STILL = 4.0  # [points] a press that moves less is a click
GRIP = 10.0  # [points] radius of a handle's hit area


class Mouse:
    """Mouse state of a session."""

    def __init__(self, session: SessionState, panels: Panels) -> None:
        self.session, self._panels = session, panels
        self._pressed: Pixel | None = None
        self._at: Pixel = (0, 0)
        self._drag: Drag | None = None
        self._moved = False
        self._click: int | None = None  # row selected alone if the press turns out to be a click

    @property
    def box(self) -> tuple[Pixel, Pixel] | None:
        """Corners of the selection box, if one is being drawn."""
        return (self._drag.start, self._drag.end) if isinstance(self._drag, BoxSelection) and self._moved else None

    def handle(self, event: pygame.event.Event) -> None:
        """Handle an event."""
        session = self.session
        if event.type == pygame.MOUSEBUTTONDOWN and event.button in {1, 2, 3} and self._pressed is None:
            self._press(event.button, event.pos)
        elif event.type == pygame.MOUSEMOTION:
            session.hover = event.pos
            self._move(event.pos)
        elif event.type == pygame.MOUSEBUTTONUP and event.button in {1, 2, 3}:
            self._release()
        elif event.type == pygame.MOUSEWHEEL:
            notches = getattr(event, "precise_y", 0.0) or float(event.y)
            if self._panels.strip.box.collidepoint(session.hover):
                self._panels.strip.scroll(notches)
                return
            at = session.hover if session.hover[0] >= 0 else None
            session.camera = session.camera.zoomed(NOTCH**notches, at)

    def cancel(self) -> bool:
        """Cancel the current drag; False if there is none."""
        busy, self._drag, self._pressed = self._drag is not None and self._moved, None, None
        self.session.draft.clear()
        self.session.events.time = self.session.events.place = None
        return busy

    def _press(self, button: int, pixel: Pixel) -> None:
        session = self.session
        session.hover, session.message = pixel, ""
        if button != 1:
            self._begin(pixel, CameraDrag(turns=True))
        elif self._panels.strip.box.collidepoint(pixel) and not session.helping:
            held = self._panels.strip.press(pixel)
            if held is not None:
                self._begin(pixel, held)
        elif self._panels.press(pixel):
            return
        elif isinstance(session.tool, Kind):
            put = session.place_new(pixel, session.tool)
            if put and not session.has_modifier(pygame.KMOD_SHIFT):
                session.tool = None
        elif session.tool is not None:
            goals.add_at(session, pixel, whole_lane=session.has_modifier(pygame.KMOD_SHIFT))
        else:
            self._begin(pixel, self._grip(pixel))

    def _begin(self, pixel: Pixel, drag: Drag) -> None:
        self._pressed = self._at = pixel
        self._drag, self._moved = drag, False

    def _grip(self, pixel: Pixel) -> Drag:
        """Start the drag for a press at a pixel, selecting an object if necessary."""
        session = self.session
        shift = session.has_modifier(pygame.KMOD_SHIFT)
        self._click = None
        editable = not isinstance(session.document, ScenarioDocument)
        held = place_at(session, pixel)
        if held is not None:
            return held
        goal, handle = (self._goal(pixel), self._handle(pixel)) if editable else (None, None)
        if handle is not None and (goal is None or handle[0] <= goal[0]):
            return handle[1]
        found = body_at(session.preview().view(session.camera, session.options), pixel, session.points)
        if goal is not None and (found not in session.selected or handle is not None):
            return self._hold(goal[1])
        if found is None:
            if shift:
                return BoxSelection(pixel)
            self._click = -1
            return CameraDrag(turns=False)
        self._choose(found, shift=shift)
        return Move(session, found, pixel) if editable and found in session.selected else CameraDrag(turns=False)

    def _handle(self, pixel: Pixel) -> tuple[float, Drag] | None:
        """Find the nearest handle of the only selected object, and its distance from a pixel."""
        session = self.session
        if len(session.selected) != 1:
            return None
        row, preview = session.selected[0], session.preview()
        away = math.dist(turn_handle(session, preview, row).tolist(), pixel)
        if away < GRIP * session.points:
            return away, Turn(row)
        corners = [math.dist(corner, pixel) for corner in corner_handles(session, preview, row).tolist()]
        away = min(corners, default=math.inf)
        return (away, Resize(row)) if away < 0.8 * GRIP * session.points else None

    def _goal(self, pixel: Pixel) -> tuple[float, MoveGoal] | None:
        """Find the nearest goal of the selected objects, and its distance from a pixel."""
        session = self.session
        found = [
            (math.dist(at.tolist(), pixel), -place, row, number)
            for place, row in enumerate(session.selected)
            for number, at in goal_places(session, row)
        ]
        away, _, row, number = min(found, key=lambda one: (*one[:2], -one[3]), default=(math.inf, 0, 0, 0))
        return (away, MoveGoal(row, number)) if away < GRIP * session.points else None

    def _hold(self, goal: MoveGoal) -> Drag:
        """Activate a goal and start dragging it."""
        session = self.session
        session.selected.remove(goal.row)
        session.selected.append(goal.row)
        session.goal = goal.number
        return goal

    def _choose(self, row: int, *, shift: bool) -> None:
        """Select a pressed object; one of several stays part of the selection until it is clicked."""
        session = self.session
        if shift:
            others = [other for other in session.selected if other != row]
            session.select(others if row in session.selected else [*others, row])
        elif row in session.selected:
            self._click = row
            session.selected.remove(row)
            session.selected.append(row)
        else:
            session.select([row])

    def _move(self, pixel: Pixel) -> None:
        if self._pressed is None or self._drag is None:
            return
        if not self._moved and math.dist(self._pressed, pixel) < STILL * self.session.points:
            return
        self._moved = True
        self._drag.move(self.session, pixel, self._at)
        self._at = pixel

    def _release(self) -> None:
        drag, self._drag, self._pressed = self._drag, None, None
        if drag is not None and self._moved:
            drag.finish(self.session)
            self.session.draft.clear()
        elif drag is not None and isinstance(drag, CameraDrag) and not drag.turns and self._click == -1:
            self.session.select([])
        elif isinstance(drag, Move) and self._click is not None and len(self.session.selected) > 1:
            self.session.select([self._click])
