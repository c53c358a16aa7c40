"""Editor session without a window: handles events and draws frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pygame

from cbsim.editor import placement, templates
from cbsim.editor.document import Document
from cbsim.editor.document_store import DocumentStore
from cbsim.editor.drawing import draw_objects
from cbsim.editor.edits import Addition, Edit
from cbsim.editor.goals import stops_of
from cbsim.editor.keys import ACTIONS
from cbsim.editor.mouse import Mouse
from cbsim.editor.panels import Panels
from cbsim.editor.preview import Preview, PreviewBuilder
from cbsim.editor.prompt import Prompt, Question
from cbsim.errors import CbsimError, Problem, Problems, UsageError
from cbsim.lint.objects import lint_objects
from cbsim.paths import Files
from cbsim.road.roadmap import RoadMap
from cbsim.spec.objects import Kind, TrafficObject
from cbsim.viewer.actions import find_action
from cbsim.viewer.camera import Camera
from cbsim.viewer.canvas import Canvas
from cbsim.viewer.progress_window import WindowClosedError
from cbsim.viewer.static_layers import StaticLayerCache
from cbsim.viewer.view import DisplayOptions

if TYPE_CHECKING:
    from cbsim.editor.trial_run import TrialRun, Waiting

__all__ = ["RunSettings", "Session"]

SNAP = 12.0  # [points] snap distance of waypoints
MARGIN, NEAR = 15.0, 8.0  # [m] margins around all objects, and around some of them, when fitted into the picture


class RunSettings(NamedTuple):
    """Network, mission and planners used to run a document; planners as in `cbsim.load`."""

    rndf: str | None = None
    mdf: str | None = None
    planner: tuple[tuple[str, str], ...] = ()


class Session:
    """State of the user interface for a document over a network.

    Parameters
    ----------
    document : Document
    roadmap : RoadMap or None
    run : RunSettings
        How the document is run.
    saved : bytes, optional
        Contents of the file on disk; None if it does not exist yet.
    points : float
        Pixels per point.
    state : Path, optional
        Folder for autosaves, as in `cbsim.editor.autosave.Autosave`.

    Attributes
    ----------
    selected : list of int
        Rows of the selected objects; the last one is the primary object.
    goal : int or None
        Active goal or script entry of the primary object.
    tool : Kind, "goals", "script" or None
        What a click places.
    mods : int
        Modifier keys held, as a pygame bit mask.
    draft : dict
        Row → the object as the current drag would leave it.
    draw_fully : bool
        As in the viewer's session.
    run_with_progress : callable or None
        Runs work while showing its progress; None without a window.
    problems : list of Problem
        Problems of the file.
    """

    def __init__(
        self,
        document: Document,
        roadmap: RoadMap | None,
        run: RunSettings = RunSettings(),  # noqa: B008 - it never changes
        *,
        saved: bytes | None = None,
        points: float = 1.0,
        state: Path | None = None,
    ) -> None:
        self.document, self.roadmap, self.run_settings, self.points = document, roadmap, run, points
        self.files = Files([document.path, *filter(None, (run.rndf, run.mdf))])
        self.preview_builder = PreviewBuilder(roadmap, self.files, document.path.parent)
        self.camera, self.options = Camera(), DisplayOptions()
        self.selected: list[int] = []
        self.goal: int | None = None
        self.tool: Kind | str | None = None
        self.draft: dict[int, TrafficObject] = {}
        self.clipboard: list[TrafficObject] = []
        self.prompt: Prompt | None = None
        self.question: Question | None = None
        self.trial_run: TrialRun | None = None
        self.run_with_progress: Waiting | None = None
        self.helping, self.running, self.draw_fully = False, True, True
        self.hover: tuple[int, int] = (-1, -1)
        self.mods = 0
        self.message = ""
        self.problems: list[Problem] = []
        self.static_layers, self.panels, self.mouse = StaticLayerCache(), Panels(self), Mouse(self)
        self.refresh()
        self.fit()
        self.store = DocumentStore(self, saved, state)

    # --- what is shown -----------------------------------------------------------------------------------------------
    @property
    def objects(self) -> Sequence[TrafficObject]:
        """Objects as shown: those of the document, with the draft of the current drag."""
        if not self.draft:
            return self.document.objects
        return [self.draft.get(row, item) for row, item in enumerate(self.document.objects)]

    @property
    def leading(self) -> TrafficObject | None:
        """Primary object, whose fields and goals are shown."""
        return self.objects[self.selected[-1]] if self.selected else None

    @property
    def snap(self) -> float:
        """Snap distance of waypoints [m]."""
        return SNAP * self.points / self.camera.scale

    def preview(self) -> Preview:
        """Return the preview of the objects as shown, cached."""
        objects = self.objects
        if self._shown is None or self._shown[0] is not self.document.objects or self._shown[1] != self.draft:
            self._shown = (
                self.document.objects,
                dict(self.draft),
                self.preview_builder.build(objects, self.document.spec.name),
            )
        return self._shown[2]

    _shown: tuple[Sequence[TrafficObject], Mapping[int, TrafficObject], Preview] | None = None

    def refresh(self) -> None:
        """Update problems and selection after a change of the document."""
        count = len(self.document.objects)
        self.selected = [row for row in self.selected if row < count]
        lead = self.leading
        if lead is None or self.goal is None or self.goal >= len(stops_of(lead)):
            self.goal = None
        problems = Problems(self.document.problems)
        network = None if self.roadmap is None else self.roadmap.network
        lint_objects(self.document.spec, network, self.files, problems)
        self.problems = problems.in_order()

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
        draw_objects(canvas, self)
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

    # --- work --------------------------------------------------------------------------------------------------------
    def apply(self, edit: Edit, select: Sequence[int] | None = None) -> bool:
        """Apply an edit; if it fails, show why."""
        self.draft.clear()
        try:
            self.document.apply(edit)
        except UsageError as error:
            self.message = str(error)
            return False
        if select is not None:
            self.selected = list(select)
        self.refresh()
        return True

    def change(self, label: str, items: Mapping[int, TrafficObject]) -> bool:
        """Change objects; unchanged ones are ignored."""
        different = {row: item for row, item in items.items() if item != self.document.objects[row]}
        self.draft.clear()
        return not different or self.apply(Edit(label, different))

    def add(self, item: TrafficObject, like: int | None = None) -> bool:
        """Add an object and select it."""
        return self.add_all([(item, like)], "copy" if like is not None else f"add {item.kind}")

    def add_all(self, items: Sequence[tuple[TrafficObject, int | None]], label: str) -> bool:
        """Add objects and select them."""
        known = list(self.document.objects)
        added = list[Addition]()
        for item, like in items:
            fresh = templates.with_unique_name(item, known, self.document.version)
            known.append(fresh)
            added.append(Addition(fresh, like))
        first = len(self.document.objects)
        return self.apply(Edit(label, added=tuple(added)), range(first, first + len(added)))

    def place_new(self, pixel: tuple[int, int], kind: Kind) -> bool:
        """Place a new object of a kind at a pixel."""
        place = self.camera.to_world(pixel)
        item = placement.moved(templates.TEMPLATES[kind], self.roadmap, place, snap=self.snap)
        return self.add(placement.aligned(item, self.roadmap))

    def undo(self) -> None:
        """Undo a step."""
        label = self.document.undo()
        self.message = f"undone: {label}" if label else "there is nothing to undo"
        self.refresh()

    def redo(self) -> None:
        """Redo a step."""
        label = self.document.redo()
        self.message = f"done again: {label}" if label else "there is nothing to do again"
        self.refresh()

    # --- the file ----------------------------------------------------------------------------------------------------
    def replace_document(self, document: Document) -> None:
        """Replace the document."""
        self.document = document
        self.files = Files([document.path, *filter(None, (self.run_settings.rndf, self.run_settings.mdf))])
        self.preview_builder.move(self.files, document.path.parent)
        self._shown = None
        self.refresh()

    def start_trial_run(self) -> None:
        """Start a trial run of the document; if it fails, show why."""
        from cbsim.editor.trial_run import TrialRun, load_trial_run

        rndf, mdf, planner = self.run_settings
        self.store.keep()  # a planner is arbitrary code and may crash the process
        try:
            world = load_trial_run(self.document, rndf, mdf, dict(planner), self.run_with_progress)
            self.trial_run = TrialRun(world, self.camera, self.points)
        except CbsimError as error:
            self.message = f"it cannot be run: {error}".splitlines()[0]
        except WindowClosedError:
            self.message = "closed before it could be run"
            self.store.close()

    def _close_trial_run(self) -> None:
        if self.trial_run is not None:
            self.trial_run.close()
            self.trial_run = None

    def turn_picture(self, angle: float) -> None:
        """Rotate the picture [rad]."""
        self.camera = self.camera.turned(angle)

    # --- selection and place -----------------------------------------------------------------------------------------
    def select(self, rows: Iterable[int]) -> None:
        """Select objects."""
        self.selected, self.goal = list(dict.fromkeys(rows)), None

    def has_modifier(self, mods: int) -> bool:
        """Return whether one of some modifier keys is held."""
        return bool(self.mods & mods)

    def fit(self, rows: Iterable[int] | None = None) -> None:
        """Fit some objects, or everything, into the picture."""
        preview = self.preview()
        chosen = list(range(len(preview.actors))) if rows is None else list(rows)
        places = preview.state.position[chosen, :2]
        margin = MARGIN if rows is None else NEAR
        parts = [places - margin, places + margin] if len(places) else []
        if rows is None and self.roadmap is not None and len(self.roadmap.positions):
            parts.append(self.roadmap.positions)
        if parts:
            points, size = np.concatenate(parts), self.camera.size
            free = self.panels.free(size, self.points)
            fitted = self.camera.resized(free.size).fitted(points.min(axis=0), points.max(axis=0)).resized(size)
            self.camera = fitted.panned(free.centerx - 0.5 * size[0], free.centery - 0.5 * size[1])
