"""A window that is open from the start, and shows what is being done while another thread does it.

Loading a scenario for the first time compiles kernels for a minute or more. SDL wants its events taken by the main
thread, so the work goes to another one, and the main thread keeps the window responsive.
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
from cbsim.viewer.canvas import Canvas, points_for
from cbsim.viewer.screen import SIZE, open_screen

__all__ = ["ClosedError", "Progress", "draw_progress", "is_working", "wait_for", "wait_in_window"]

Result = TypeVar("Result")

PERIOD = 0.03  # [s] between two looks at the events
PATIENCE = 0.25  # [s] work that takes no longer shows no progress: it would flicker
KEPT = {
    pygame.KEYDOWN, pygame.KEYUP, pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP, pygame.MOUSEMOTION, pygame.MOUSEWHEEL,
}  # fmt: skip
WIDTH, HEIGHT, MARGIN = 620.0, 150.0, 24.0  # [points] of the panel
SMALLER = 12.0  # [points] by which the panel keeps away from the edges of a small window
LASTING = "compiled kernels are kept for later starts; 'cbsim warmup' compiles all of them ahead"

_threads: list[threading.Thread] = []
"""Those that have been started."""


@dataclass
class Progress:
    """What the work tells of itself; one thread writes it and another one shows it.

    Attributes
    ----------
    stage : str
        What is being done.
    done, total : int
        Functions of a kernel that are compiled, and all it has; 0 while nothing is compiled.
    has_compiled : bool
        Whether anything was compiled.
    """

    stage: str = "loading"
    done: int = 0
    total: int = 0
    has_compiled: bool = False

    def enter(self, stage: str) -> None:
        """Enter a stage."""
        self.stage = stage

    def count(self, done: int, total: int) -> None:
        """Take the functions that are compiled, and how many there are."""
        self.done, self.total = done, total
        self.has_compiled = self.has_compiled or total > 0

    @property
    def said(self) -> str:
        """The stage in words."""
        if not self.total:
            return f"{self.stage} …"
        if self.done + 1 < self.total:
            return f"{self.stage}: compiling kernels, {self.done} of {self.total} functions"
        return f"{self.stage}: compiling kernels, generating machine code"


class _Work(Generic[Result]):
    """Work in a thread of its own, which does not keep the process alive."""

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
        """Wait for the end for some seconds; tells whether it has come."""
        return self._ended.wait(within)


class ClosedError(Exception, Generic[Result]):
    """The user has closed the window before the work was done; the work goes on.

    Attributes
    ----------
    future : Future
        Of its result.
    """

    def __init__(self, future: Future[Result]) -> None:
        super().__init__("the window was closed")
        self.future = future


def is_working() -> bool:
    """Tell whether work goes on in another thread; leaving the interpreter then would wait for it, or crash in it."""
    return any(thread.is_alive() for thread in _threads)


def wait_in_window(work: Callable[[Progress], Result], name: str, size: tuple[int, int] = SIZE) -> Result:
    """Do some work in another thread, with a window that shows its progress.

    The window stays open for what the work was for, and keys and the mouse act there: their events are posted again,
    in order. If the work fails, the window is closed.

    Parameters
    ----------
    work : callable
        Takes a `Progress` to write to. It must not use pygame's events or its window, nor call planners, whose time
        limit needs the main thread.
    name : str
        Of what is opened.
    size : tuple of int
        Of the window [pixels].

    Returns
    -------
    object
        What the work returns.

    Raises
    ------
    ClosedError
        If the user closes the window.
    UsageError
        If there is no display.
    Exception
        Whatever the work raises.
    """
    surface = open_screen(size)
    pygame.display.set_caption(f"loading {printable(name)} - cbsim")
    pygame.key.set_repeat()  # not by SDL
    surface.fill(SCENE.ground)
    pygame.display.flip()
    try:
        return wait_for(work, name)
    except BaseException:
        pygame.display.quit()
        raise


def wait_for(work: Callable[[Progress], Result], name: str) -> Result:
    """Do some work as `wait_in_window`, in a window that is open and stays so, whatever happens."""
    job = _Work(work)
    kept = _watch(job, name)
    result = job.future.result()
    for event in kept:
        pygame.event.post(event)
    return result


def _watch(job: _Work[Result], name: str) -> list[pygame.event.Event]:
    """Show progress until the work has ended; returns what the user has typed and clicked meanwhile."""
    kept: list[pygame.event.Event] = []
    began, shown = time.monotonic(), ("", 0, 0, 0)
    has_ended = False
    while not has_ended:
        has_ended = job.has_ended(PERIOD)
        for event in pygame.event.get():
            if _closes(event):
                raise ClosedError(job.future)
            if event.type in KEPT:
                _keep(kept, event)
            else:
                shown = ("", 0, 0, 0)  # the window may have been uncovered or resized
        elapsed, progress = time.monotonic() - began, job.progress
        now = (progress.stage, progress.done, progress.total, int(elapsed))
        if not has_ended and elapsed > PATIENCE and now != shown:
            _show(name, progress, elapsed)
            shown = now
    return kept


def _show(name: str, progress: Progress, elapsed: float) -> None:
    surface = pygame.display.get_surface()
    if surface is not None:
        draw_progress(surface, name, progress, elapsed)
        pygame.display.flip()


def _closes(event: pygame.event.Event) -> bool:
    """Tell whether an event closes the window."""
    return event.type == pygame.QUIT or (event.type == pygame.KEYDOWN and bool(set(CLOSE) & set(chords_of(event))))


def _keep(kept: list[pygame.event.Event], event: pygame.event.Event) -> None:
    """Keep an event; of motions of the mouse with nothing in between, only the last matters."""
    if kept and kept[-1].type == event.type == pygame.MOUSEMOTION and kept[-1].buttons == event.buttons:
        kept.pop()
    kept.append(event)


def draw_progress(surface: pygame.Surface, name: str, progress: Progress, elapsed: float) -> None:
    """Draw what is being done.

    Parameters
    ----------
    surface : pygame.Surface
    name : str
        Of what is opened.
    progress : Progress
    elapsed : float
        Since the work began [s].
    """
    width, height = surface.get_size()
    points = min(points_for(height), width / (WIDTH + 2 * SMALLER), height / (HEIGHT + 2 * SMALLER))
    canvas = Canvas(surface, points)
    canvas.fill(SCENE.ground)
    box = pygame.Rect(0, 0, round(WIDTH * points), round(HEIGHT * points))
    box.center = (width // 2, height // 2)
    canvas.panel(box, alpha=1.0)
    left, right = box.x + MARGIN * points, box.right - MARGIN * points

    def level(down: float) -> float:
        return box.y + down * points

    passed = canvas.text((right, level(32)), f"{int(elapsed)} s", CHROME.soft, 19, anchor="right")
    canvas.text((left, level(32)), _fitting(canvas, name, passed.x - 2 * left + box.x), CHROME.ink, 24, anchor="left")
    canvas.text((left, level(66)), progress.said, CHROME.soft, 18, anchor="left")
    if progress.total:
        share = left + (right - left) * progress.done / progress.total
        canvas.line([(left, level(94)), (right, level(94))], CHROME.track, 6.0)
        if progress.done:
            canvas.line([(left, level(94)), (share, level(94))], CHROME.accent, 6.0)
    if progress.has_compiled:
        canvas.text((left, level(124)), LASTING, CHROME.soft, 16, anchor="left")


def _fitting(canvas: Canvas, name: str, width: float) -> str:
    """Cut a name to a width [pixels]: the end tells more than the beginning."""
    text = printable(name)
    while len(text) > 2 and canvas.extent(text, 24)[0] > width:
        text = f"…{text[2:]}"
    return text
