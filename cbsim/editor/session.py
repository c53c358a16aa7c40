"""`Session`: a user at work on a document, without a window: it takes events, and gives pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pygame

from cbsim.editor import making, placing
from cbsim.editor.document import Document
from cbsim.editor.edits import Addition, Edit
from cbsim.editor.filing import Filing
from cbsim.editor.goals import stops_of
from cbsim.editor.keys import ACTIONS
from cbsim.editor.mouse import Mouse
from cbsim.editor.panels import Panels
from cbsim.editor.picture import draw_objects
from cbsim.editor.prompt import Prompt, Question
from cbsim.editor.staging import Staged, Staging
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
    from cbsim.editor.trial import Trial, Waiting

__all__ = ["RunWith", "Session"]

SNAP = 12.0  # [points] what is put no farther from a waypoint than this goes to it
MARGIN, NEAR = 15.0, 8.0  # [m] around all objects, and around some, that are fitted into the picture


class RunWith(NamedTuple):
    """What a document is run with: paths of its network and its mission, and planners as `cbsim.load` takes them."""

    rndf: str | None = None
    mdf: str | None = None
    planner: tuple[tuple[str, str], ...] = ()


class Session:
    """A user in front of a document over a network.

    Parameters
    ----------
    document : Document
    roadmap : RoadMap or None
    run : RunWith
        What it is run with.
    saved : bytes, optional
        What the file holds on disk; None where there is none yet.
    points : float
        Pixels in a point.
    state : Path, optional
        Folder for unsaved work, as `cbsim.editor.rescue.Rescue`.

    Attributes
    ----------
    selected : list of int
        Rows of the objects that are worked on; the last one leads.
    goal : int or None
        Of the leading object, the goal or entry of its script that is worked on.
    tool : Kind, "goals", "script" or None
        What a click puts down.
    mods : int
        Keys such as shift that are held, as pygame counts them.
    draft : dict
        Row → what an object will be if the mouse lets go now.
    draw_fully : bool
        As of a viewer's session; a window has no time.
    wait : callable or None
        Shows how far the loading of a run is; None where there is no window.
    problems : list of Problem
        What is wrong with the file.
    """

    def __init__(
        self,
        document: Document,
        roadmap: RoadMap | None,
        run: RunWith = RunWith(),  # noqa: B008 - it never changes
        *,
        saved: bytes | None = None,
        points: float = 1.0,
        state: Path | None = None,
    ) -> None:
        self.document, self.roadmap, self.run_with, self.points = document, roadmap, run, points
        self.files = Files([document.path, *filter(None, (run.rndf, run.mdf))])
        self.staging = Staging(roadmap, self.files, document.path.parent)
        self.camera, self.options = Camera(), DisplayOptions()
        self.selected: list[int] = []
        self.goal: int | None = None
        self.tool: Kind | str | None = None
        self.draft: dict[int, TrafficObject] = {}
        self.clipboard: list[TrafficObject] = []
        self.prompt: Prompt | None = None
        self.question: Question | None = None
        self.trial: Trial | None = None
        self.wait: Waiting | None = None
        self.helping, self.running, self.draw_fully = False, True, True
        self.hover: tuple[int, int] = (-1, -1)
        self.mods = 0
        self.message = ""
        self.problems: list[Problem] = []
        self.static_layers, self.panels, self.mouse = StaticLayerCache(), Panels(self), Mouse(self)
        self.refresh()
        self.fit()
        self.filing = Filing(self, saved, state)

    # --- what is shown -----------------------------------------------------------------------------------------------
    @property
    def objects(self) -> Sequence[TrafficObject]:
        """Objects as they are shown: those of the document, with what the mouse is about to do."""
        if not self.draft:
            return self.document.objects
        return [self.draft.get(row, item) for row, item in enumerate(self.document.objects)]

    @property
    def leading(self) -> TrafficObject | None:
        """The object that fields and goals are told of."""
        return self.objects[self.selected[-1]] if self.selected else None

    @property
    def snap(self) -> float:
        """How far waypoints draw [m]."""
        return SNAP * self.points / self.camera.scale

    def staged(self) -> Staged:
        """Stage the objects as they are shown."""
        objects = self.objects
        if self._shown is None or self._shown[0] is not self.document.objects or self._shown[1] != self.draft:
            self._shown = (
                self.document.objects,
                dict(self.draft),
                self.staging.stage(objects, self.document.spec.name),
            )
        return self._shown[2]

    _shown: tuple[Sequence[TrafficObject], Mapping[int, TrafficObject], Staged] | None = None

    def refresh(self) -> None:
        """Look at the document again: what is wrong with it, and what of the selection is still there."""
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
        """Make the picture."""
        if self.trial is not None:
            self.trial.viewer.draw_fully = self.draw_fully
            self.trial.draw(surface)
            return
        if surface.get_size() != self.camera.size:
            self.camera = self.camera.resized(surface.get_size())
        canvas = Canvas(surface, self.points)
        self.static_layers.draw(canvas, self.staging.ground_view(self.camera, self.options), draw_fully=self.draw_fully)
        draw_objects(canvas, self)
        self.panels.draw(canvas)

    def tick(self, seconds: float) -> None:
        """Let wall time pass [s]."""
        if self.trial is not None:
            self.trial.tick(seconds)
        else:
            self.filing.keep()

    def handle(self, event: pygame.event.Event) -> None:
        """Take an event of the window."""
        if event.type in {pygame.KEYDOWN, pygame.KEYUP}:
            self.mods = event.mod  # as of this event: the keyboard itself may be further on already
        if event.type == pygame.QUIT:
            self._leave_trial()
            self.filing.close()
            return
        if self.trial is not None:
            if not self.trial.handle(event):
                self._leave_trial()
            return
        if self.question is not None:
            answer = self.question.handle(event)
            if answer is not None:
                self.question = None
                answer.act()
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
    def do(self, edit: Edit, select: Sequence[int] | None = None) -> bool:
        """Do a step of work; what keeps it from being done is told."""
        self.draft.clear()
        try:
            self.document.do(edit)
        except UsageError as error:
            self.message = str(error)
            return False
        if select is not None:
            self.selected = list(select)
        self.refresh()
        return True

    def change(self, label: str, items: Mapping[int, TrafficObject]) -> bool:
        """Change objects; those that stay what they are do not count."""
        different = {row: item for row, item in items.items() if item != self.document.objects[row]}
        self.draft.clear()
        return not different or self.do(Edit(label, different))

    def add(self, item: TrafficObject, like: int | None = None) -> bool:
        """Add an object, and select it."""
        return self.add_all([(item, like)], "copy" if like is not None else f"add {item.kind}")

    def add_all(self, items: Sequence[tuple[TrafficObject, int | None]], label: str) -> bool:
        """Add objects, and select them."""
        known = list(self.document.objects)
        added = list[Addition]()
        for item, like in items:
            fresh = making.unique(item, known, self.document.version)
            known.append(fresh)
            added.append(Addition(fresh, like))
        first = len(self.document.objects)
        return self.do(Edit(label, added=tuple(added)), range(first, first + len(added)))

    def put_down(self, pixel: tuple[int, int], kind: Kind) -> bool:
        """Put a new object of a kind at a pixel."""
        place = self.camera.to_world(pixel)
        item = placing.moved(making.BEGINNINGS[kind], self.roadmap, place, snap=self.snap)
        return self.add(placing.aligned(item, self.roadmap))

    def undo(self) -> None:
        """Undo a step."""
        label = self.document.undo()
        self.message = f"undone: {label}" if label else "there is nothing to undo"
        self.refresh()

    def redo(self) -> None:
        """Do again what was undone."""
        label = self.document.redo()
        self.message = f"done again: {label}" if label else "there is nothing to do again"
        self.refresh()

    # --- the file ----------------------------------------------------------------------------------------------------
    def take(self, document: Document) -> None:
        """Go on with another document in the place of this one."""
        self.document = document
        self.files = Files([document.path, *filter(None, (self.run_with.rndf, self.run_with.mdf))])
        self.staging.move(self.files, document.path.parent)
        self._shown = None
        self.refresh()

    def try_out(self) -> None:
        """Run the document as it stands; what keeps it from running is told."""
        from cbsim.editor.trial import Trial, load_trial

        rndf, mdf, planner = self.run_with
        self.filing.keep()  # a planner is anybody's program, and can take this one down with it
        try:
            world = load_trial(self.document, rndf, mdf, dict(planner), self.wait)
            self.trial = Trial(world, self.camera, self.points)
        except CbsimError as error:
            self.message = f"it cannot be run: {error}".splitlines()[0]
        except WindowClosedError:
            self.message = "closed before it could be run"
            self.filing.close()

    def _leave_trial(self) -> None:
        if self.trial is not None:
            self.trial.close()
            self.trial = None

    def turn_picture(self, angle: float) -> None:
        """Turn the picture [rad]."""
        self.camera = self.camera.turned(angle)

    # --- selection and place -----------------------------------------------------------------------------------------
    def select(self, rows: Iterable[int]) -> None:
        """Select objects."""
        self.selected, self.goal = list(dict.fromkeys(rows)), None

    def holds(self, mods: int) -> bool:
        """Tell whether one of some keys such as shift is held."""
        return bool(self.mods & mods)

    def fit(self, rows: Iterable[int] | None = None) -> None:
        """Show some objects, or all there is."""
        staged = self.staged()
        chosen = list(range(len(staged.actors))) if rows is None else list(rows)
        places = staged.state.position[chosen, :2]
        margin = MARGIN if rows is None else NEAR
        parts = [places - margin, places + margin] if len(places) else []
        if rows is None and self.roadmap is not None and len(self.roadmap.positions):
            parts.append(self.roadmap.positions)
        if parts:
            points, size = np.concatenate(parts), self.camera.size
            free = self.panels.free(size, self.points)
            fitted = self.camera.resized(free.size).fitted(points.min(axis=0), points.max(axis=0)).resized(size)
            self.camera = fitted.panned(free.centerx - 0.5 * size[0], free.centery - 0.5 * size[1])
