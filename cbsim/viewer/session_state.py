"""`SessionState`: time, camera, selection and options of a viewer session."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from cbsim.arrays import Floats
from cbsim.viewer.drawing.camera import PROJECTIONS, Camera, Projection
from cbsim.viewer.scene.source import Source
from cbsim.viewer.view import DisplayOptions, View

__all__ = ["SPEEDS", "SessionState"]

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
MAX_TICK = 0.25  # [s] longest wall time that one frame advances the clock, so that a stall causes no jump
START_RADIUS = 60.0  # [m] half the extent shown around the ego at the start


@dataclass
class SessionState:
    """State of the user interface for one source, or for two overlaid ones.

    Attributes
    ----------
    source : Source
    other : Source or None
        Second source, drawn as outlines over the first.
    camera, projection : Camera, Projection
    options : DisplayOptions
    time : float
        Time shown [s].
    playing : bool
    speed : float
        Playback speed relative to simulated time.
    following : bool
        Keep the selected body centred; with `heading_up`, also rotate the picture to its heading.
    transport : bool
        Show the transport controls; screenshots have none.
    points : float
        Pixels per point.
    draw_fully : bool
        Draw every frame completely, however long it takes; windows draw progressively instead.
    """

    source: Source
    other: Source | None = None
    camera: Camera = field(default_factory=Camera)
    projection: Projection = PROJECTIONS[0]
    options: DisplayOptions = field(default_factory=DisplayOptions)
    time: float = 0.0
    playing: bool = True
    speed: float = 1.0
    following: bool = False
    heading_up: bool = False
    helping: bool = False
    show_inputs: bool = True
    measuring: bool = False
    transport: bool = True
    points: float = 1.0
    draw_fully: bool = True
    running: bool = True
    real_time_factor: float = math.nan  # smoothed ratio of simulated time to wall time
    hover: tuple[int, int] = (-1, -1)
    save_picture: Callable[[], str] | None = None
    message: str = ""

    def __post_init__(self) -> None:
        self.time = self.source.timeline.first
        self.look_at_start()

    def covered(self) -> tuple[int, int]:
        """Widths of the strips at the left and at the bottom that panels cover [pixels]."""
        return 0, 0

    def view(self, source: Source | None = None, letter: str = "") -> View:
        """Return the view of a source at the current time."""
        shown = source or self.source
        state = shown.timeline.at(self.time)
        return View(shown.stage, shown.timeline, state, self.camera, self.projection, self.options, letter)

    def tick(self, seconds: float) -> None:
        """Advance by some wall time [s]."""
        if not self.playing:
            self.real_time_factor = math.nan
            return
        wanted = self.time + min(seconds, MAX_TICK) * self.speed
        reached = self.source.advance_to(wanted)
        if self.other is not None:
            reached = max(reached, self.other.advance_to(wanted))
        before, self.time = self.time, max(min(wanted, reached), self.source.timeline.first)
        if seconds > 0.0:
            now = (self.time - before) / seconds
            self.real_time_factor = (
                now
                if math.isnan(self.real_time_factor)
                else self.real_time_factor + 0.1 * (now - self.real_time_factor)
            )
        if reached < wanted and (self.time >= self.end - 1e-9 or self.source.error):
            self.playing = False

    @property
    def end(self) -> float:
        """End time of the source [s]."""
        return max(self.source.end, self.other.end if self.other is not None else 0.0)

    @property
    def known(self) -> float:
        """Latest time that can be shown without simulating [s]."""
        return max(self.source.timeline.last, self.other.timeline.last if self.other is not None else 0.0)

    # time

    def play(self) -> None:
        """Pause or resume; at the end, restart."""
        if self.time >= self.end - 1e-9 and not self.source.error:
            self.time, self.playing = self.source.timeline.first, True
        else:
            self.playing = not self.playing

    def step(self, ahead: int) -> None:
        """Pause, and move by a number of steps."""
        self.playing = False
        step = self.source.stage.step
        if ahead > 0:
            self.source.advance_to(self.time + ahead * step * self.source.timeline.stride)
        self.time = self.source.timeline.neighbour(self.time, ahead)

    def seek(self, time: float) -> None:
        """Go to a time [s], at most the latest known one; never advances a live run."""
        self.time = min(max(time, self.source.timeline.first), self.known)

    def faster(self, notches: int) -> None:
        """Change the playback speed by a number of notches."""
        nearest = min(range(len(SPEEDS)), key=lambda k: abs(math.log(SPEEDS[k] / self.speed)))
        self.speed = SPEEDS[min(max(nearest + notches, 0), len(SPEEDS) - 1)]

    # camera

    def fit(self) -> None:
        """Fit the whole network and all moving bodies of all sources."""
        low, high = self._extent()
        self.following = False
        self._show(low, high)

    def look_at_start(self) -> None:
        """Follow the ego, or fit everything if there is none."""
        self.fit()
        stage = self.source.stage
        ego = next((row for row in stage.moving if stage.bodies[row].kind == "autonomous"), None)
        if ego is not None:
            self.options.selected, self.following = ego, True
            place = self.projection.flat(self.view().state.position[ego])
            self._show(place - START_RADIUS, place + START_RADIUS)

    def _show(self, low: Floats, high: Floats) -> None:
        """Fit a box [m] into the part of the picture not covered by panels."""
        width, height = self.camera.size
        side, bar = self.covered()
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
        """Points (n, 2) [m] that bound a view: its moving bodies (all bodies if none move) and the road."""
        stage, state = view.stage, view.state
        moving = [row for row in stage.moving if view.present[row]]
        rows = moving or [row for row in range(len(stage.bodies)) if view.present[row]]
        places, reach = self.projection.flat(state.position[rows]).reshape(-1, 2), stage.radius[rows].reshape(-1, 1)
        parts = [places - reach, places + reach]
        if view.is_flat and stage.road is not None:
            parts += [lane.left for lane in stage.road.lanes] + [corners for _, corners in stage.road.zones]
        return parts

    def follow(self) -> None:
        """Toggle following the selected body; without a selection, follow the first ego or moving body."""
        if self.options.selected is None:
            bodies, moving = self.source.stage.bodies, self.source.stage.moving
            present = self.view().present
            there = [row for row in moving if present[row]]
            bots = [row for row in there if bodies[row].kind == "autonomous"]
            self.options.selected = next(iter([*bots, *there]), None)
            self.following = self.options.selected is not None
            return
        self.following = not self.following

    def _follow(self) -> None:
        row = self.options.selected
        if not self.following or row is None:
            return
        view = self.view()
        if not view.present[row]:
            return
        if self.heading_up and view.is_flat:
            self.camera = replace(self.camera, angle=float(view.headings[row]))
        self.camera = self.camera.looking_at(self.projection.flat(view.state.position[row]))

    def next_projection(self) -> None:
        """Switch to the next projection."""
        place = (PROJECTIONS.index(self.projection) + 1) % len(PROJECTIONS)
        self.projection = PROJECTIONS[place]
        self.camera = replace(self.camera, angle=0.0)
        self.fit()

    def toggle(self, key: str, default: bool) -> None:
        """Show or hide a layer."""
        self.options.shown[key] = not self.options.shown.get(key, default)

    def select_next(self, ahead: int) -> None:
        """Select the next or previous moving body."""
        present = self.view().present
        rows = [row for row in self.source.stage.moving or range(len(present)) if present[row]]
        if rows:
            here = rows.index(self.options.selected) if self.options.selected in rows else (-1 if ahead > 0 else 0)
            self.options.selected = rows[(here + ahead) % len(rows)]

    def escape(self) -> None:
        """Close the help, else leave measuring, else clear the selection."""
        if self.helping:
            self.helping = False
        elif self.measuring or self.options.measure:
            self.measuring = False
            self.options.measure.clear()
        else:
            self.options.selected, self.following = None, False
