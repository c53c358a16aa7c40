"""`Session`: what a user looks at and does, without a window: it takes events and time, and gives pictures."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pygame
from numpy.typing import NDArray

from cbsim.viewer.actions import find_action
from cbsim.viewer.camera import PROJECTIONS, Camera, Projection
from cbsim.viewer.canvas import Canvas
from cbsim.viewer.keys import ACTIONS
from cbsim.viewer.mouse import Mouse
from cbsim.viewer.panels import Panels
from cbsim.viewer.scenery import Scenery
from cbsim.viewer.source import Source
from cbsim.viewer.view import Looks, View

__all__ = ["SPEEDS", "Session"]

Floats = NDArray[np.float64]

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
LAG = 0.25  # [s] of wall time that one picture may move the clock on: a stall does not become a leap
FIRST_LOOK = 60.0  # [m] around the ego that a picture shows at first


@dataclass
class Session:
    """A user in front of one source, or of two that are laid over each other.

    Attributes
    ----------
    source : Source
    other : Source or None
        The second of two, in outlines over the first.
    camera, projection : Camera, Projection
    looks : Looks
    time : float
        What is shown [s].
    playing : bool
    speed : float
        Times as fast as the world.
    following : bool
        The selected body stays in the middle; `heading_up`: and drives upwards.
    transport : bool
        The widgets of time are shown: in a picture nobody works them.
    points : float
        Pixels in a point.
    patient : bool
        Every picture is drawn in full, however long that takes, which a window has no time for.
    """

    source: Source
    other: Source | None = None
    camera: Camera = field(default_factory=Camera)
    projection: Projection = PROJECTIONS[0]
    looks: Looks = field(default_factory=Looks)
    time: float = 0.0
    playing: bool = True
    speed: float = 1.0
    following: bool = False
    heading_up: bool = False
    helping: bool = False
    steering: bool = True
    measuring: bool = False
    transport: bool = True
    points: float = 1.0
    patient: bool = True
    running: bool = True
    factor: float = math.nan  # simulated time over wall time, lately
    hover: tuple[int, int] = (-1, -1)
    save_picture: Callable[[], str] | None = None
    told: str = ""

    def __post_init__(self) -> None:
        self.time = self.source.tape.first
        self.scenery = Scenery()
        self.panels = Panels(self)
        self.mouse = Mouse(self)
        self.look_first()

    # what is shown

    def view(self, source: Source | None = None, letter: str = "") -> View:
        """Gather what there is to see now."""
        shown = source or self.source
        moment = shown.tape.at(self.time)
        return View(shown.stage, shown.tape, moment, self.camera, self.projection, self.looks, letter)

    def draw(self, surface: pygame.Surface) -> None:
        """Make the picture."""
        if surface.get_size() != self.camera.size:
            self.camera = self.camera.resized(surface.get_size())
        canvas = Canvas(surface, self.points)
        self._follow()
        view = self.view()
        self.panels.place(canvas, view)
        others = [] if self.other is None else [self.view(self.other, "B")]
        self.scenery.draw(canvas, view, *others, patient=self.patient)
        self.panels.draw(canvas, view)

    def tick(self, seconds: float) -> None:
        """Let wall time pass [s]."""
        if not self.playing:
            self.factor = math.nan
            return
        wanted = self.time + min(seconds, LAG) * self.speed
        reached = self.source.reach(wanted)
        if self.other is not None:
            reached = max(reached, self.other.reach(wanted))
        before, self.time = self.time, max(min(wanted, reached), self.source.tape.first)
        if seconds > 0.0:
            now = (self.time - before) / seconds
            self.factor = now if math.isnan(self.factor) else self.factor + 0.1 * (now - self.factor)
        if reached < wanted and (self.time >= self.end - 1e-9 or self.source.trouble):
            self.playing = False

    @property
    def end(self) -> float:
        """When there is nothing more to come [s]."""
        return max(self.source.end, self.other.end if self.other is not None else 0.0)

    @property
    def known(self) -> float:
        """The newest time that can be shown without simulating [s]."""
        return max(self.source.tape.last, self.other.tape.last if self.other is not None else 0.0)

    def handle(self, event: pygame.event.Event) -> None:
        """Take an event of the window."""
        if event.type == pygame.QUIT:
            self.running = False
        elif event.type in {pygame.KEYDOWN, pygame.KEYUP} and self.source.controls and self.source.controls.key(event):
            return
        elif event.type == pygame.JOYAXISMOTION and self.source.controls:
            self.source.controls.stick(event)
        elif event.type == pygame.KEYDOWN:
            action = find_action(ACTIONS, event)
            if action is not None:
                action.act(self)
        else:
            self.mouse.handle(event)

    # time

    def play(self) -> None:
        """Pause or go on; from the end, begin again."""
        if self.time >= self.end - 1e-9 and not self.source.trouble:
            self.time, self.playing = self.source.tape.first, True
        else:
            self.playing = not self.playing

    def step(self, ahead: int) -> None:
        """Stand still some steps ahead, or back."""
        self.playing = False
        step = self.source.stage.step
        if ahead > 0:
            self.source.reach(self.time + ahead * step * self.source.tape.stride)
        self.time = self.source.tape.neighbour(self.time, ahead)

    def seek(self, time: float) -> None:
        """Show another time [s], at most the newest that is known; a live run is not advanced by it."""
        self.time = min(max(time, self.source.tape.first), self.known)

    def faster(self, notches: int) -> None:
        """Play faster by a notch, or slower."""
        nearest = min(range(len(SPEEDS)), key=lambda k: abs(math.log(SPEEDS[k] / self.speed)))
        self.speed = SPEEDS[min(max(nearest + notches, 0), len(SPEEDS) - 1)]

    # place

    def fit(self) -> None:
        """Show the whole network and everything that moves, in both of two sources."""
        low, high = self._extent()
        self.following = False
        self._show(low, high)

    def look_first(self) -> None:
        """Follow the ego; where there is none, show everything."""
        self.fit()
        stage = self.source.stage
        ego = next((row for row in stage.moving if stage.bodies[row].kind == "autonomous"), None)
        if ego is not None:
            self.looks.selected, self.following = ego, True
            place = self.projection.flat(self.view().moment.position[ego])
            self._show(place - FIRST_LOOK, place + FIRST_LOOK)

    def _show(self, low: Floats, high: Floats) -> None:
        """Show a box [m] in what the panels leave of the picture."""
        width, height = self.camera.size
        bar, side = round(self.panels.bar * self.points), round(self.panels.side * self.points)
        least = 4.0 if self.source.stage.road is not None else 0.2
        room = self.camera.resized((max(width - side, 1), max(height - bar, 1))).fitted(low, high, least=least)
        self.camera = room.resized((width, height)).panned(0.5 * side, -0.5 * bar)

    def _extent(self) -> tuple[Floats, Floats]:
        sources = [self.source] if self.other is None else [self.source, self.other]
        points = np.concatenate([part for source in sources for part in self._corners(self.view(source))])
        if not len(points):
            return np.full(2, -10.0), np.full(2, 10.0)
        return points.min(axis=0), points.max(axis=0)

    def _corners(self, view: View) -> list[Floats]:
        """Points (n, 2) [m] that bound what a view has: what moves, or all bodies where nothing does, and the road."""
        stage, moment = view.stage, view.moment
        rows = stage.moving or list(range(len(stage.bodies)))
        places, reach = self.projection.flat(moment.position[rows]).reshape(-1, 2), stage.reach[rows].reshape(-1, 1)
        parts = [places - reach, places + reach]
        if view.is_flat and stage.road is not None:
            parts += [lane.left for lane in stage.road.lanes] + [corners for _, corners in stage.road.zones]
        return parts

    def follow(self) -> None:
        """Keep the selected body in the middle, or let go; where none is selected, take the first bot or what moves."""
        if self.looks.selected is None:
            bodies, moving = self.source.stage.bodies, self.source.stage.moving
            bots = [row for row in moving if bodies[row].kind == "autonomous"]
            self.looks.selected = next(iter([*bots, *moving]), None)
            self.following = self.looks.selected is not None
            return
        self.following = not self.following

    def _follow(self) -> None:
        row = self.looks.selected
        if not self.following or row is None:
            return
        view = self.view()
        if self.heading_up and view.is_flat:
            self.camera = replace(self.camera, angle=float(view.headings[row]))
        self.camera = self.camera.looking_at(self.projection.flat(view.moment.position[row]))

    def look_from(self) -> None:
        """Look from the next direction."""
        place = (PROJECTIONS.index(self.projection) + 1) % len(PROJECTIONS)
        self.projection = PROJECTIONS[place]
        self.camera = replace(self.camera, angle=0.0)
        self.fit()

    def toggle(self, key: str, default: bool) -> None:
        """Show or hide a layer."""
        self.looks.shown[key] = not self.looks.shown.get(key, default)

    def select_next(self, ahead: int) -> None:
        """Select the next body that moves, or the one before."""
        rows = self.source.stage.moving or list(range(len(self.source.stage.bodies)))
        if rows:
            here = rows.index(self.looks.selected) if self.looks.selected in rows else (-1 if ahead > 0 else 0)
            self.looks.selected = rows[(here + ahead) % len(rows)]

    def escape(self) -> None:
        """Leave what is open: help, then measuring, then the selection."""
        if self.helping:
            self.helping = False
        elif self.measuring or self.looks.measure:
            self.measuring = False
            self.looks.measure.clear()
        else:
            self.looks.selected, self.following = None, False
