"""Editor session without a window: handles events and draws frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pygame

from cbsim.editor.documents.text_document import TextDocument
from cbsim.editor.drawing import draw_objects
from cbsim.editor.events import commands as event_commands
from cbsim.editor.events.places import draw_places
from cbsim.editor.keys import ACTIONS
from cbsim.editor.mouse import Mouse
from cbsim.editor.panels import Panels
from cbsim.editor.saving.document_store import DocumentStore
from cbsim.editor.session_state import RunSettings, SessionState
from cbsim.errors import CbsimError
from cbsim.road.roadmap import RoadMap
from cbsim.viewer.actions import find_action
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.progress_window import WindowClosedError
from cbsim.viewer.static_layers import StaticLayerCache

if TYPE_CHECKING:
    from cbsim.editor.trial_run import TrialRun, Waiting

__all__ = ["RunSettings", "Session"]


class Session(SessionState):
    """Session of an editor: its state, with panels, mouse, document store and trial runs.

    Parameters
    ----------
    document, roadmap, run, points
        As of `SessionState`.
    saved : bytes, optional
        Contents of the file on disk; None if it does not exist yet.

    Attributes
    ----------
    draw_fully : bool
        As in the viewer's session.
    run_with_progress : callable or None
        Runs work while showing its progress; None without a window.
    """

    def __init__(
        self,
        document: TextDocument[Any],
        roadmap: RoadMap | None,
        run: RunSettings = RunSettings(),  # noqa: B008 - it never changes
        *,
        saved: bytes | None = None,
        points: float = 1.0,
    ) -> None:
        super().__init__(document, roadmap, run, points=points)
        self.trial_run: TrialRun | None = None
        self.run_with_progress: Waiting | None = None
        self.draw_fully, self._ran = True, b""
        self.static_layers, self.store = StaticLayerCache(), DocumentStore(self, saved)
        self.panels = Panels(self, self.store, self.start_trial_run)
        self.mouse = Mouse(self, self.panels)
        self.fit()

    def free_area(self, size: tuple[int, int]) -> pygame.Rect:
        """Return the part of a picture that no panel covers."""
        return self.panels.free(size, self.points)

    def place_event(self) -> None:
        """Ask what a new event does, at the time below the mouse."""
        event_commands.ask_action(self, self.panels.strip.axis.time(self.hover[0]))

    def cancel_drag(self) -> bool:
        """Cancel the current drag; False if there is none."""
        return self.mouse.cancel()

    def draw(self, surface: pygame.Surface) -> None:
        """Draw a frame."""
        if self.trial_run is not None:
            self.trial_run.viewer.draw_fully = self.draw_fully
            self.trial_run.draw(surface)
            return
        if surface.get_size() != self.camera.size:
            self.camera = self.camera.resized(surface.get_size())
        canvas = Canvas(surface, self.points)
        self.static_layers.draw(
            canvas, self.preview_builder.ground_view(self.camera, self.options), draw_fully=self.draw_fully
        )
        draw_objects(canvas, self, self.panels.covers, self.mouse.box)
        draw_places(canvas, self)
        self.panels.draw(canvas)

    def tick(self, seconds: float) -> None:
        """Advance by some wall time [s]."""
        if self.trial_run is not None:
            self.trial_run.tick(seconds)
        else:
            self.store.keep()

    def handle(self, event: pygame.event.Event) -> None:
        """Handle a window event."""
        if event.type in {pygame.KEYDOWN, pygame.KEYUP}:
            self.mods = event.mod  # as of this event: the keyboard state may be newer
        if event.type == pygame.QUIT:
            self._close_trial_run()
            self.store.close()
            return
        if self.trial_run is not None:
            if not self.trial_run.handle(event):
                self._close_trial_run()
            return
        if self.question is not None:
            answer = self.question.handle(event)
            if answer is not None:
                self.question = None
                answer.callback()
        elif self.prompt is not None and event.type in {pygame.KEYDOWN, pygame.MOUSEBUTTONDOWN}:
            prompt = self.prompt
            if prompt.handle(event) or event.type == pygame.MOUSEBUTTONDOWN:
                self.prompt = None if self.prompt is prompt else self.prompt
        elif event.type == pygame.KEYDOWN:
            action = find_action(ACTIONS, event)
            if action is not None:
                self.message = ""
                action.callback(self)
        else:
            self.mouse.handle(event)

    def start_trial_run(self) -> None:
        """Start a trial run of the document; if it fails, show why."""
        from cbsim.editor.trial_run import TrialRun, load_trial_run

        rndf, mdf, planner = self.run_settings
        self.store.keep()  # a planner is arbitrary code and may crash the process
        try:
            world = load_trial_run(self.document, rndf, mdf, dict(planner), self.run_with_progress)
            self.trial_run, self._ran = TrialRun(world, self.camera, self.points), self.document.data
        except CbsimError as error:
            self.message = f"it cannot be run: {error}".splitlines()[0]
        except WindowClosedError:
            self.message = "closed before it could be run"
            self.store.close()

    def _close_trial_run(self) -> None:
        if self.trial_run is not None:
            self.events.happened, self.events.ran = self.trial_run.happened(), self._ran
            self.trial_run.close()
            self.trial_run = None
