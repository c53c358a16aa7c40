"""Trial runs: the current document, saved or not, run in the viewer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any

import pygame

from cbsim.editor.documents.text_document import TextDocument
from cbsim.loading.load import load_scene
from cbsim.paths import Files, stored_name
from cbsim.simulation.rehearsal import compiled
from cbsim.viewer.drawing.camera import Camera
from cbsim.viewer.progress_window import Progress
from cbsim.viewer.scene.source import LiveSource
from cbsim.viewer.session import Session as Viewer
from cbsim.world.compile import compile_world
from cbsim.world.world import World

__all__ = ["TrialRun", "Waiting", "load_trial_run"]

Waiting = Callable[[Callable[[Progress], World], str], World]
"""Creates a World while a window shows the progress, given a display name."""


def load_trial_run(
    document: TextDocument[Any],
    rndf: str | None,
    mdf: str | None,
    planner: Mapping[str, str],
    wait: Waiting | None = None,
) -> World:
    """Load a document from memory.

    Parameters
    ----------
    document : TextDocument
    rndf, mdf : str or None
        Network and mission.
    planner : mapping
        As in `cbsim.load`.
    wait : callable, optional
        Shows the progress; also compiles the kernels of the run.

    Raises
    ------
    FileError, ModelError, UsageError
        As in `cbsim.load`.
    """
    named = [name for name in (rndf, mdf) if name is not None]
    files = Files([document.path, *named])
    files.seen[stored_name(document.path)] = document.data  # read instead of the file on disk
    request = document.request(rndf, mdf, planner)

    def load() -> World:
        return compile_world(load_scene(request, files=files))

    if wait is None:
        return load()
    return wait(partial(compiled, load), document.path.name)


class TrialRun:
    """A trial run.

    Parameters
    ----------
    world : World
        Created by `load_trial_run`.
    camera : Camera
        Initial camera.
    points : float
        Pixels per point.

    Raises
    ------
    UsageError
        If a planner has no vehicle to drive.
    """

    def __init__(self, world: World, camera: Camera, points: float = 1.0) -> None:
        self._exits = ExitStack()
        self._source = self._exits.enter_context(LiveSource(world))
        self.viewer = Viewer(self._source, points=points)
        self.viewer.escape()  # keeps the editor's camera; with nothing selected, esc returns to the editor
        self.viewer.camera = camera
        self.viewer.message = "this is a run: f5 or esc goes back to work"

    def handle(self, event: pygame.event.Event) -> bool:
        """Handle an event; returns False to leave the run."""
        if event.type == pygame.KEYDOWN and event.key == pygame.K_F5:
            return False
        viewer = self.viewer
        if event.type == pygame.KEYDOWN and event.key == pygame.K_ESCAPE:
            open_ = viewer.helping or viewer.measuring or viewer.options.measure or viewer.options.selected is not None
            if not open_:
                return False
        viewer.handle(event)
        return viewer.running

    def tick(self, seconds: float) -> None:
        """Advance by some wall time [s]."""
        self.viewer.tick(seconds)

    def draw(self, surface: pygame.Surface) -> None:
        """Draw a frame."""
        self.viewer.draw(surface)

    def happened(self) -> dict[str, float]:
        """Return when events of the scenario have come true so far [s], by name."""
        return {event.name: event.time for event in reversed(self._source.timeline.events) if event.kind == "event"}

    def close(self) -> None:
        """End the run."""
        self._exits.close()
