"""`SessionState`: document, selection, tool and camera of an editor session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pygame

from cbsim.editor.documents.edits import Addition, Edit
from cbsim.editor.documents.text_document import TextDocument
from cbsim.editor.event_state import EventState
from cbsim.editor.objects import placement, templates
from cbsim.editor.objects.preview import Preview, PreviewBuilder
from cbsim.editor.objects.stops import stops_of
from cbsim.editor.prompt import Prompt, Question
from cbsim.errors import Problem, Problems, UsageError
from cbsim.paths import Files
from cbsim.road.roadmap import RoadMap
from cbsim.spec.objects import Kind, TrafficObject
from cbsim.viewer.drawing.camera import Camera
from cbsim.viewer.view import DisplayOptions

__all__ = ["RunSettings", "SessionState"]

SNAP = 12.0  # [points] snap distance of waypoints
MARGIN, NEAR = 15.0, 8.0  # [m] margins around all objects, and around some of them, when fitted into the picture


class RunSettings(NamedTuple):
    """Network, mission and planners used to run a document; planners as in `cbsim.load`."""

    rndf: str | None = None
    mdf: str | None = None
    planner: tuple[tuple[str, str], ...] = ()


class SessionState:
    """State of the user interface for a document over a network.

    Parameters
    ----------
    document : TextDocument
    roadmap : RoadMap or None
    run : RunSettings
        How the document is run.
    points : float
        Pixels per point.

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
    events : EventState
        Timeline of a scenario's events.
    problems : list of Problem
        Problems of the file.
    """

    def __init__(
        self,
        document: TextDocument[Any],
        roadmap: RoadMap | None,
        run: RunSettings = RunSettings(),  # noqa: B008 - it never changes
        *,
        points: float = 1.0,
    ) -> None:
        self.document, self.roadmap, self.run_settings, self.points = document, roadmap, run, points
        self.files = Files([document.path, *filter(None, (run.rndf, run.mdf))])
        self.preview_builder = PreviewBuilder(roadmap, self.files, document.path.parent)
        self.camera, self.options = Camera(), DisplayOptions()
        self.selected: list[int] = []
        self.goal: int | None = None
        self.tool: Kind | str | None = None
        self.draft: dict[int, TrafficObject] = {}
        self.events = EventState()
        self.clipboard: list[TrafficObject] = []
        self.prompt: Prompt | None = None
        self.question: Question | None = None
        self.helping, self.running = False, True
        self.hover: tuple[int, int] = (-1, -1)
        self.mods = 0
        self.message = ""
        self.problems: list[Problem] = []
        self.refresh()

    def free_area(self, size: tuple[int, int]) -> pygame.Rect:
        """Return the part of a picture that no panel covers."""
        return pygame.Rect(0, 0, *size)

    def cancel_drag(self) -> bool:
        """Cancel the current drag; False if there is none."""
        return False

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
                self.preview_builder.build(objects, self.document.title),
            )
        return self._shown[2]

    _shown: tuple[Sequence[TrafficObject], Mapping[int, TrafficObject], Preview] | None = None

    def refresh(self) -> None:
        """Update problems and selection after a change of the document."""
        count = len(self.document.objects)
        self.selected = [row for row in self.selected if row < count]
        self.events.keep_valid(self.document)
        lead = self.leading
        if lead is None or self.goal is None or self.goal >= len(stops_of(lead)):
            self.goal = None
        problems = Problems(self.document.problems)
        network = None if self.roadmap is None else self.roadmap.network
        self.document.lint(network, self.files, problems)
        self.problems = problems.in_order()

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
    def replace_document(self, document: TextDocument[Any]) -> None:
        """Replace the document."""
        self.document = document
        self.files = Files([document.path, *filter(None, (self.run_settings.rndf, self.run_settings.mdf))])
        self.preview_builder.move(self.files, document.path.parent)
        self._shown = None
        self.refresh()

    def turn_picture(self, angle: float) -> None:
        """Rotate the picture [rad]."""
        self.camera = self.camera.turned(angle)

    # --- selection and place -----------------------------------------------------------------------------------------
    def select(self, rows: Iterable[int]) -> None:
        """Select objects."""
        self.selected, self.goal = list(dict.fromkeys(rows)), None
        if self.selected:
            self.events.row = None

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
            free = self.free_area(size)
            fitted = self.camera.resized(free.size).fitted(points.min(axis=0), points.max(axis=0)).resized(size)
            self.camera = fitted.panned(free.centerx - 0.5 * size[0], free.centery - 0.5 * size[1])
