"""Progress window that stays responsive while a background thread loads.

The first load of a scenario compiles kernels for a minute or more. SDL must handle events in the main thread, so the
work runs in another one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, TypeVar

import pygame

from cbsim.errors import printable
from cbsim.palette import CHROME, SCENE
from cbsim.viewer.actions import CLOSE, chords_of
from cbsim.viewer.drawing.canvas import Canvas, points_for
from cbsim.viewer.screen import SIZE, open_screen

__all__ = [
    "Progress",
    "WindowClosedError",
    "draw_progress",
    "has_background_work",
    "run_in_progress_window",
    "run_with_progress",
]

Result = TypeVar("Result")

PERIOD = 0.03  # [s] polling period of events
SHOW_DELAY = 0.25  # [s] work that takes less shows no progress, which would flicker
DEFERRED = {
    pygame.KEYDOWN, pygame.KEYUP, pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP, pygame.MOUSEMOTION, pygame.MOUSEWHEEL,
}  # fmt: skip
WIDTH, HEIGHT, MARGIN = 620.0, 150.0, 24.0  # [points] size of the panel
MIN_MARGIN = 12.0  # [points] smallest distance from the panel to the window's edges
CACHE_NOTE = "compiled kernels are kept for later starts; 'cbsim warmup' compiles all of them ahead"

_threads: list[threading.Thread] = []
"""Threads started so far."""


@dataclass
class Progress:
    """Progress of the work, written by one thread and displayed by another.

    Attributes
    ----------
    stage : str
        Current phase.
    done, total : int
        Compiled functions of the current kernel, and their total; 0 if nothing is being compiled.
    has_compiled : bool
        Whether anything was compiled.
    """

    stage: str = "loading"
    done: int = 0
    total: int = 0
    has_compiled: bool = False

    def enter(self, stage: str) -> None:
        """Enter a phase."""
        self.stage = stage

    def count(self, done: int, total: int) -> None:
        """Update the number of compiled functions and their total."""
        self.done, self.total = done, total
        self.has_compiled = self.has_compiled or total > 0

    @property
    def message(self) -> str:
        """The phase as text."""
        if not self.total:
            return f"{self.stage} …"
        if self.done + 1 < self.total:
            return f"{self.stage}: compiling kernels, {self.done} of {self.total} functions"
        return f"{self.stage}: compiling kernels, generating machine code"


class _BackgroundTask(Generic[Result]):
    """Work in a daemon thread."""

    def __init__(self, function: Callable[[Progress], Result]) -> None:
        self.progress = Progress()
        self.future: Future[Result] = Future()
        self._function = function
        self._ended = threading.Event()
        thread = threading.Thread(target=self._run, name="cbsim work", daemon=True)
        _threads.append(thread)
        thread.start()

    def _run(self) -> None:
        try:
            self.future.set_result(self._function(self.progress))
        except BaseException as error:
            self.future.set_exception(error)
        finally:
            self._ended.set()

    def has_ended(self, within: float) -> bool:
        """Wait up to some seconds; returns whether the work has ended."""
        return self._ended.wait(within)


class WindowClosedError(Exception, Generic[Result]):
    """The user closed the window before the work finished; the work continues.

    Attributes
    ----------
    future : Future
        Future of the work's result.
    """

    def __init__(self, future: Future[Result]) -> None:
        super().__init__("the window was closed")
        self.future = future


def has_background_work() -> bool:
    """Return whether background work is running; exiting the interpreter would then block or crash."""
    return any(thread.is_alive() for thread in _threads)


def run_in_progress_window(work: Callable[[Progress], Result], name: str, size: tuple[int, int] = SIZE) -> Result:
    """Run work in another thread while a window shows its progress.

    The window stays open afterwards. Key and mouse events received meanwhile are posted again in order. If the work
    fails, the window is closed.

    Parameters
    ----------
    work : callable
        Called with a `Progress` to update. It must not use pygame's events or window, nor call planners, whose time
        limits need the main thread.
    name : str
        What is being opened, for display.
    size : tuple of int
        Window size [pixels].

    Returns
    -------
    object
        Result of the work.

    Raises
    ------
    WindowClosedError
        If the user closes the window.
    UsageError
        If there is no display.
    Exception
        Whatever the work raises.
    """
    surface = open_screen(size)
    pygame.display.set_caption(f"loading {printable(name)} - cbsim")
    pygame.key.set_repeat()  # key repeat is handled by `KeyRepeat`
    surface.fill(SCENE.ground)
    pygame.display.flip()
    try:
        return run_with_progress(work, name)
    except BaseException:
        pygame.display.quit()
        raise


def run_with_progress(work: Callable[[Progress], Result], name: str) -> Result:
    """Run work as `run_in_progress_window` does, in the window that is already open; it always stays open."""
    job = _BackgroundTask(work)
    kept = _show_until_done(job, name)
    result = job.future.result()
    for event in kept:
        pygame.event.post(event)
    return result


def _show_until_done(job: _BackgroundTask[Result], name: str) -> list[pygame.event.Event]:
    """Show progress until the work has ended; returns the deferred key and mouse events."""
    kept: list[pygame.event.Event] = []
    began, shown = time.monotonic(), ("", 0, 0, 0)
    has_ended = False
    while not has_ended:
        has_ended = job.has_ended(PERIOD)
        for event in pygame.event.get():
            if _closes(event):
                raise WindowClosedError(job.future)
            if event.type in DEFERRED:
                _defer(kept, event)
            else:
                shown = ("", 0, 0, 0)  # the window may have been uncovered or resized
        elapsed, progress = time.monotonic() - began, job.progress
        now = (progress.stage, progress.done, progress.total, int(elapsed))
        if not has_ended and elapsed > SHOW_DELAY and now != shown:
            _show(name, progress, elapsed)
            shown = now
    return kept


def _show(name: str, progress: Progress, elapsed: float) -> None:
    surface = pygame.display.get_surface()
    if surface is not None:
        draw_progress(surface, name, progress, elapsed)
        pygame.display.flip()


def _closes(event: pygame.event.Event) -> bool:
    """Return whether an event closes the window."""
    return event.type == pygame.QUIT or (event.type == pygame.KEYDOWN and bool(set(CLOSE) & set(chords_of(event))))


def _defer(kept: list[pygame.event.Event], event: pygame.event.Event) -> None:
    """Defer an event; of consecutive mouse motions, only the last one is kept."""
    if kept and kept[-1].type == event.type == pygame.MOUSEMOTION and kept[-1].buttons == event.buttons:
        kept.pop()
    kept.append(event)


def draw_progress(surface: pygame.Surface, name: str, progress: Progress, elapsed: float) -> None:
    """Draw the progress panel.

    Parameters
    ----------
    surface : pygame.Surface
    name : str
        What is being opened.
    progress : Progress
    elapsed : float
        Time since the work began [s].
    """
    width, height = surface.get_size()
    points = min(points_for(height), width / (WIDTH + 2 * MIN_MARGIN), height / (HEIGHT + 2 * MIN_MARGIN))
    canvas = Canvas(surface, points)
    canvas.fill(SCENE.ground)
    box = pygame.Rect(0, 0, round(WIDTH * points), round(HEIGHT * points))
    box.center = (width // 2, height // 2)
    canvas.panel(box, alpha=1.0)
    left, right = box.x + MARGIN * points, box.right - MARGIN * points

    def level(down: float) -> float:
        return box.y + down * points

    passed = canvas.text((right, level(32)), f"{int(elapsed)} s", CHROME.soft, 19, anchor="right")
    canvas.text((left, level(32)), _truncated(canvas, name, passed.x - 2 * left + box.x), CHROME.ink, 24, anchor="left")
    canvas.text((left, level(66)), progress.message, CHROME.soft, 18, anchor="left")
    if progress.total:
        share = left + (right - left) * progress.done / progress.total
        canvas.line([(left, level(94)), (right, level(94))], CHROME.track, 6.0)
        if progress.done:
            canvas.line([(left, level(94)), (share, level(94))], CHROME.accent, 6.0)
    if progress.has_compiled:
        canvas.text((left, level(124)), CACHE_NOTE, CHROME.soft, 16, anchor="left")


def _truncated(canvas: Canvas, name: str, width: float) -> str:
    """Truncate a name to a width [pixels], keeping its end."""
    text = printable(name)
    while len(text) > 2 and canvas.extent(text, 24)[0] > width:
        text = f"…{text[2:]}"
    return text
