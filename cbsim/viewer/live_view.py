"""Window that follows a run driven elsewhere (``cbsim run --view``)."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from cbsim.recording.batch import header_of
from cbsim.recording.drawings import PERIOD
from cbsim.recording.recorder import Recorder
from cbsim.simulation.loop import Run, step_count
from cbsim.viewer.scene.model_controls import ModelControls
from cbsim.viewer.scene.source import TimelineRecorder
from cbsim.viewer.scene.stage import stage_of
from cbsim.viewer.scene.timeline import Timeline
from cbsim.viewer.session import Session
from cbsim.viewer.window import Window
from cbsim.world.world import World

__all__ = ["LiveView"]

END_DELAY = 2.0  # [s] how long the final state stays visible, with the checks decided at the end


class LiveView:
    """A run observer that feeds a window; closing the window lets the run continue without it.

    Parameters
    ----------
    world : World
    speed : float
        Initial playback speed relative to simulated time.
    """

    error = ""
    warnings: Sequence[str] = ()

    def __init__(self, world: World, speed: float = 1.0) -> None:
        self.world, self.speed = world, speed
        self.stage = stage_of(header_of(world, world.settings.seed), world.scene)
        self.timeline = Timeline(self.stage)
        self.end = step_count(world.settings.duration, world.step) * world.step
        self.listeners: Sequence[Recorder] = (TimelineRecorder(self.timeline, world),)
        self.controls = ModelControls(world)
        self._wanted = -math.inf
        self._window: Window | None = None

    def advance_to(self, until: float) -> float:
        """Request simulation up to a time [s]; returns the latest available time [s]."""
        self._wanted = max(self._wanted, min(until, self.end))
        return self.timeline.last

    def on_start(self, run: Run) -> None:
        """Open the window."""
        run.advance(0)  # delivers the initial state
        session = Session(self, speed=self.speed)
        self._window = Window(session, f"{self.stage.name} - cbsim")
        self._show(run)

    def on_step(self, run: Run) -> None:
        """Draw frames until the next step is due."""
        if run.annotations is not None:
            self.warnings = run.annotations.warnings
            if self._window is None:
                run.annotations.period = PERIOD  # the window is closed; a recording may still need annotations
        self._show(run)

    def _show(self, run: Run) -> None:
        window = self._window
        if window is None:
            return
        if self._wanted <= self.timeline.last + 1e-9 and window.session.playing and self._wanted > window.session.time:
            window.session.time = self._wanted
        while self._wanted <= self.timeline.last + 1e-9 and run.snapshot.time < self.end - 1e-9:
            if not window.turn():
                window.close()
                self._window = None
                return
        self.controls.apply(run)

    def close(self) -> None:
        """Show the final state for a moment, then close the window if it is still open."""
        window = self._window
        if window is None:
            return
        window.session.time = self.timeline.last
        until = time.monotonic() + END_DELAY
        while time.monotonic() < until and window.turn():
            pass
        window.close()
        self._window = None
