"""``cbsim run --view``: a window that goes along with a run which somebody else drives."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from cbsim.recording.batch import header_of
from cbsim.recording.drawings import PERIOD
from cbsim.recording.recorder import Recorder
from cbsim.simulation.loop import Run, step_count
from cbsim.viewer.session import Session
from cbsim.viewer.source import Feed
from cbsim.viewer.stage import stage_of
from cbsim.viewer.steering import Controls
from cbsim.viewer.tape import Tape
from cbsim.viewer.window import Window
from cbsim.world.world import World

__all__ = ["Onlooker"]

LINGER = 2.0  # [s] for which the end is shown, with the checks that it decides


class Onlooker:
    """A source that grows as a run goes on, and the window on it; closed, it lets the run go on alone.

    Parameters
    ----------
    world : World
    speed : float
        Times as fast as the world, to begin with.
    """

    trouble = ""
    complaints: Sequence[str] = ()

    def __init__(self, world: World, speed: float = 1.0) -> None:
        self.world, self.speed = world, speed
        self.stage = stage_of(header_of(world, world.settings.seed), world.scene)
        self.tape = Tape(self.stage)
        self.end = step_count(world.settings.duration, world.step) * world.step
        self.listeners: Sequence[Recorder] = (Feed(self.tape, world),)
        self.controls = Controls(world)
        self._wanted = -math.inf
        self._window: Window | None = None

    def reach(self, until: float) -> float:
        """Note until when the run is wanted to go."""
        self._wanted = max(self._wanted, min(until, self.end))
        return self.tape.last

    def meet(self, run: Run) -> None:
        """Open the window."""
        run.advance(0)  # hands on what it begins with
        session = Session(self, speed=self.speed)
        self._window = Window(session, f"{self.stage.name} - cbsim")
        self._look(run)

    def after(self, run: Run) -> None:
        """Show pictures until the next step is wanted."""
        if run.thoughts is not None:
            self.complaints = run.thoughts.complaints
            if self._window is None:
                run.thoughts.period = PERIOD  # nobody looks any more; a recording may
        self._look(run)

    def _look(self, run: Run) -> None:
        window = self._window
        if window is None:
            return
        if self._wanted <= self.tape.last + 1e-9 and window.session.playing and self._wanted > window.session.time:
            window.session.time = self._wanted
        while self._wanted <= self.tape.last + 1e-9 and run.snapshot.time < self.end - 1e-9:
            if not window.turn():
                window.close()
                self._window = None
                return
        self.controls.give(run)

    def leave(self) -> None:
        """Show how it ended for a moment, and close the window, if it is open still."""
        window = self._window
        if window is None:
            return
        window.session.time = self.tape.last
        until = time.monotonic() + LINGER
        while time.monotonic() < until and window.turn():
            pass
        window.close()
        self._window = None
