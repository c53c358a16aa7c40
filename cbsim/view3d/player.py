"""Playback controls of a viser page: play, pause, step, speed and scrubbing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from cbsim.arrays import Floats

__all__ = ["Player"]

SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "4", "8")
FRAME_TIME = 1.0 / 60.0  # [s] shortest time between two frames


class Player:
    """Controls on a page and a thread that advances the time. Only recorded nodes are shown, without interpolation.

    Parameters
    ----------
    server : viser.ViserServer
        The page.
    move : callable
        Called with positions (frames, 3) and orientations (frames, 4).
    """

    def __init__(self, server: Any, move: Callable[[Floats, Floats], None]) -> None:
        self.server, self.move = server, move
        self.times, self.x, self.q = np.zeros(1), np.zeros((1, 0, 3)), np.zeros((1, 0, 4))
        self.names: list[Any] = []
        self.frame = 0
        self.speed = 1.0
        self._time = 0.0
        self._before: float | None = None  # wall time of the last update, or None after a pause
        self.lock = threading.RLock()
        self._playing, self._closed = threading.Event(), threading.Event()
        self._controls()
        self._thread = threading.Thread(target=self._run, name="cbsim player", daemon=True)
        self._thread.start()

    def load(self, times: Floats, x: Floats, q: Floats) -> None:
        """Load another motion, at its start."""
        with self.lock:
            self.times, self.x, self.q = times, x, q
            moves = len(times) > 1
            self.slider.max = max(1, len(times) - 1)
            for part in (self.slider, self.button, self.single, self.speeds, self.loops):
                part.visible = moves
            self.show(0)

    def show(self, k: int) -> None:
        """Show node k."""
        with self.lock:
            at = min(max(int(k), 0), len(self.times) - 1)
            self._time = float(self.times[at])
            self._put(at)

    def play(self, on: bool = True) -> None:
        """Start or stop playing."""
        with self.lock:
            self._before = None
            if on and len(self.times) > 1:
                if self.frame >= len(self.times) - 1:
                    self.show(0)
                self._playing.set()
            else:
                self._playing.clear()
        self.button.label = "Pause" if self._playing.is_set() else "Play"

    @property
    def is_playing(self) -> bool:
        """Whether it is playing."""
        return self._playing.is_set()

    def close(self) -> None:
        """Stop the thread."""
        self._closed.set()
        self._playing.set()
        self._thread.join(timeout=5.0)

    def _controls(self) -> None:
        gui = self.server.gui
        self.button = gui.add_button("Play", hint="play or pause")
        self.slider = gui.add_slider("Frame", min=0, max=1, step=1, initial_value=0)
        self.single = gui.add_button_group("Step", ("−10", "−1", "+1", "+10"))
        self.speeds = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        self.loops = gui.add_checkbox("Loop", initial_value=True)
        self.clock = gui.add_markdown("0.000 s")
        naming = gui.add_checkbox("Names", initial_value=False)

        self.button.on_click(lambda _: self.play(not self.is_playing))
        self.slider.on_update(self._scrubbed)
        self.single.on_click(self._stepped)
        self.speeds.on_update(self._paced)
        naming.on_update(lambda _: self._name(naming.value))

    def _scrubbed(self, event: Any) -> None:
        if event.client is not None:  # moved by a user, not by the player itself
            self.play(False)
            self.show(self.slider.value)

    def _stepped(self, event: Any) -> None:
        self.play(False)
        self.show(self.frame + int(event.target.value.replace("−", "-")))

    def _paced(self, _: Any) -> None:
        self.speed = float(self.speeds.value)

    def _name(self, on: bool) -> None:
        for name in self.names:
            name.visible = on

    def _run(self) -> None:
        while self._playing.wait() and not self._closed.is_set():
            now = time.monotonic()
            with self.lock:
                passed = 0.0 if self._before is None else now - self._before
                self._before = now
                self.advance(self.speed * passed)
            time.sleep(max(0.0, FRAME_TIME - (time.monotonic() - now)))

    def advance(self, seconds: float) -> None:
        """Advance the motion by some time [s] if playing; at the end, loop or stop."""
        with self.lock:
            if not self.is_playing or self._closed.is_set():
                return
            first, last = float(self.times[0]), float(self.times[-1])
            self._time += seconds
            if self._time > last and not self.loops.value:
                self.play(False)
                self.show(len(self.times) - 1)
                return
            if self._time > last:
                self._time = first + (self._time - first) % (last - first)
            k = int(np.searchsorted(self.times, self._time, side="right")) - 1
            if k != self.frame:
                self._put(k)

    def _put(self, k: int) -> None:
        self.frame = k
        self.move(self.x[k], self.q[k])
        if self.slider.value != k:
            self.slider.value = k
        self.clock.content = f"{self.times[k]:.3f} s of {self.times[-1]:.3f} s"
