"""Tracks: motion of objects in a recording, with reached goals and speed limits.

A recording is read once, and only objects that may be plotted are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.errors import RecordingError, UsageError, did_you_mean
from cbsim.evaluation.judge import scene_of
from cbsim.evaluation.rules.limits import Limits
from cbsim.evaluation.rules.track import Track
from cbsim.geometry.pose import heading, rotate
from cbsim.plot.request import PlotRequest
from cbsim.recording.individuals import Individuals
from cbsim.recording.outlines import Body, bodies_of
from cbsim.recording.recording import Recording
from cbsim.road.drawing import Road, road_of
from cbsim.spec.road import PointId
from cbsim.world.motion import ABSENT_BELOW, MOTION
from cbsim.world.scene import Scene

__all__ = ["MOST", "ObjectTrack", "Run", "runs_of"]

MOST = 12  # objects plotted by default
NEAR = 2.0  # [m] distance within which a goal counts as reached
NEXT = 1e-9  # [s] tolerance of requested times
EDGE = 1e-12  # relative tolerance of times, which are products of steps


@dataclass(frozen=True, eq=False)
class ObjectTrack:
    """Motion of one object.

    Attributes
    ----------
    body : Body
    times : ndarray, shape (n,)
        [s].
    motion : ndarray, shape (n, 13)
        As in `cbsim.recording.batch.MOTION`.
    reached : tuple of int
        Rows at which it is nearest to its goals, in order, up to the first goal not reached.
    limits : ndarray, shape (n,)
        Speed limit at its position [m/s]; nan if unknown.
    """

    body: Body
    times: Floats
    motion: Floats
    reached: tuple[int, ...]
    limits: Floats

    @property
    def places(self) -> Floats:
        """Positions of its centre in the plane (n, 2) [m]."""
        return self.motion[:, :2]

    @cached_property
    def headings(self) -> Floats:
        """Headings (n,) [rad]."""
        return np.atleast_1d(heading(self.motion[:, MOTION["orientation"]]))

    @cached_property
    def speeds(self) -> Floats:
        """Speeds (n,) [m/s] along the forward axis; magnitudes for model bodies, which have no forward axis."""
        velocity = self.motion[:, MOTION["velocity"]]
        if self.body.kind == "model":
            return np.asarray(np.linalg.norm(velocity, axis=1))
        forward = rotate(self.motion[:, MOTION["orientation"]], np.array([0.0, 1.0, 0.0]))
        return np.asarray((forward * velocity).sum(axis=1))

    @cached_property
    def accelerations(self) -> Floats:
        """Change of speed over the previous step (n,) [m/s²]; nan at the first, and as a car appears."""
        found = np.full(len(self.times), np.nan)
        found[1:] = np.diff(self.speeds) / np.diff(self.times)
        found[2:][~np.isfinite(self.speeds[:-2])] = np.nan  # a car has moved no way yet where it appears
        return found

    @cached_property
    def distance(self) -> Floats:
        """Distance travelled (n,) [m]."""
        ways = np.nan_to_num(np.linalg.norm(np.diff(self.motion[:, :3], axis=0), axis=1))
        return np.where(self.there, np.concatenate([[0.0], ways.cumsum()]), np.nan)

    @property
    def there(self) -> NDArray[np.bool_]:
        """Where its position is known (n,)."""
        return np.isfinite(self.motion[:, 0])

    def row(self, time: float) -> int:
        """Return the row nearest in time, of those with a known position."""
        away = np.where(self.there, np.abs(self.times - time), np.inf)
        return int(away.argmin())

    def outline(self, row: int) -> Floats:
        """Corners (k, 2) of its outline in the world [m]."""
        cosine, sine = np.cos(self.headings[row]), np.sin(self.headings[row])
        return np.asarray(self.body.outline @ np.array([[cosine, sine], [-sine, cosine]]) + self.places[row])

    def during(self, rows: NDArray[np.bool_]) -> ObjectTrack:
        """Select a span of rows (n,), with the goals reached in it."""
        first = int(rows.argmax())
        reached = tuple(row - first for row in self.reached if rows[row])
        return ObjectTrack(self.body, self.times[rows], self.motion[rows], reached, self.limits[rows])


@dataclass(frozen=True, eq=False)
class Run:
    """Plot data of one recording.

    Attributes
    ----------
    name : str
        Name in the legend.
    recording : Recording
    road : Road or None
    tracks : list of ObjectTrack
        Tracks of the plotted objects.
    others : list of ObjectTrack
        Static objects.
    span : tuple of float
        First and last time shown [s].
    left_out : int
        Number of moving objects that are not plotted because there are too many.
    """

    name: str
    recording: Recording
    road: Road | None
    tracks: list[ObjectTrack]
    others: list[ObjectTrack]
    span: tuple[float, float]
    left_out: int


def runs_of(recordings: Sequence[Recording], request: PlotRequest) -> list[Run]:
    """Gather the plot data of recordings.

    Raises
    ------
    UsageError
        If there are none, or none has a requested object or a step within the time span.
    RecordingError
        If a recording has no steps.
    FileError
        If a source file that one carries is missing or invalid.
    """
    if not recordings:
        raise UsageError("a plot is of one recording at least")
    request.check()
    held = [Individuals(one) for one in recordings]
    known = list(dict.fromkeys(name for one in held for name in one.header.objects.names))
    for name in request.objects:
        if name not in known:
            hint = did_you_mean(name, known)
            listed = ", ".join(known[:40]) or "none"
            raise UsageError(f"no object '{name}'; there is {listed}" + (f" ({hint})" if hint else ""))
    named = zip(recordings, held, _names(recordings), strict=True)
    runs = [_run(one, whole, name, request) for one, whole, name in named]
    for time in request.at:
        if not any(first - NEXT <= time <= last + NEXT for first, last in (run.span for run in runs)):
            there = ", ".join(f"{run.span[0]:g} s to {run.span[1]:g} s" for run in runs)
            raise UsageError(f"at {time:g} s nothing is shown; there is {there}")
    return runs


def _names(recordings: Sequence[Recording]) -> list[str]:
    """Name recordings by their files, numbered if names repeat."""
    stems = [Path(one.path).stem if one.path is not None else one.header.scenario for one in recordings]
    return [f"{stem} ({k + 1})" if stems.count(stem) > 1 else stem for k, stem in enumerate(stems)]


def _run(recording: Recording, individuals: Individuals, name: str, request: PlotRequest) -> Run:
    header = individuals.header
    scene = scene_of(recording) if recording.sources else None
    bodies = bodies_of(header, scene)
    times, motion = _walk(individuals, str(recording.path or "the recording"), request)
    shown = _shown(times, header.step, request)
    found = [header.objects.row(one) for one in dict.fromkeys(request.objects)]
    rows = [row for row in found if row is not None]
    left_out = 0
    if not request.objects:
        ranked = sorted(header.moving, key=lambda row: bodies[row].kind != "autonomous")
        moving = (
            [row for row in ranked if np.ptp(motion[row][shown, :7], axis=0).any()]
            or ranked
            or list(range(len(bodies)))
        )
        rows, left_out = moving[:MOST], max(0, len(moving) - MOST)
    whole = [_track(scene, row, bodies[row], times, motion.get(row), header.objects[row]) for row in rows]
    tracks = [track.during(shown) for track in whole]
    still = [row for row in range(len(bodies)) if row not in rows and row not in header.moving]
    others = [_track(None, row, bodies[row], times[:1], None, header.objects[row]) for row in still]
    road = None if scene is None or scene.roadmap is None else road_of(scene.roadmap)
    span = float(times[shown][0]), float(times[shown][-1])
    return Run(name, recording, road, tracks, others, span, left_out)


def _walk(recording: Individuals, source: str, request: PlotRequest) -> tuple[Floats, dict[int, Floats]]:
    """Return times (n,) and, by row, the motion (n, 13) of moving objects that may be plotted."""
    header, names = recording.header, recording.header.objects.names
    columns = [k for k, row in enumerate(header.moving) if not request.objects or names[row] in request.objects]
    chosen = [header.moving[k] for k in columns]
    steps, parts = [np.zeros(0, np.int64)], list[Floats]()
    for batch in recording.batches():
        steps.append(batch.steps)
        parts.append(batch.motion[:, columns])
    times = np.asarray(np.concatenate(steps) * header.step)
    if not len(times):
        raise RecordingError(f"{source}: error: there is no step in it to plot")
    motion = np.concatenate(parts)
    motion[~np.isfinite(motion)] = np.nan  # values of a diverged run become gaps
    motion[motion[:, :, 2] < ABSENT_BELOW] = np.nan  # so do those of absent cars
    return times, {row: motion[:, column] for column, row in enumerate(chosen)}


def _shown(times: Floats, step: float, request: PlotRequest) -> NDArray[np.bool_]:
    """Return which times (n,) lie within the requested span."""
    slack = EDGE * max(step, float(np.abs(times).max()))
    shown = (times >= request.begin - slack) & (times <= request.end + slack)
    if not shown.any():
        there = f"there is {times[0]:g} s to {times[-1]:g} s"
        raise UsageError(f"no step from {request.begin:g} s to {request.end:g} s; {there}")
    return np.asarray(shown)


def _track(
    scene: Scene | None, row: int, body: Body, times: Floats, motion: Floats | None, item: dict[str, list[float]]
) -> ObjectTrack:
    if motion is None:
        motion = np.tile(np.array([*item["position"], *item["orientation"], *np.zeros(6)]), (len(times), 1))
    track = ObjectTrack(body, times, motion, (), np.full(len(times), np.nan))
    if scene is None or scene.roadmap is None:
        return track
    roadmap = scene.roadmap
    actor = scene.actors[row] if row < len(scene.actors) else None
    points = [PointId(one.segment, one.lane, one.waypoint or 0) for one in (actor.goals if actor is not None else ())]
    goals = [roadmap.position(point) for point in points if roadmap.has(point)]
    return replace(track, reached=_reached(track.places, goals), limits=_limits(scene, track))


def _reached(places: Floats, goals: Sequence[Floats]) -> tuple[int, ...]:
    """Find the rows of positions (n, 2) [m] nearest to each goal, within the first visit after the previous goal."""
    rows, after = list[int](), 0
    for goal in goals:
        away = np.linalg.norm(places[after:] - goal, axis=1)
        near = np.flatnonzero(away <= NEAR)
        if not len(near):
            break
        ends = np.flatnonzero(np.diff(near) > 1)
        stay = near[: ends[0] + 1] if len(ends) else near
        after += int(stay[away[stay].argmin()])
        rows.append(after)
    return tuple(rows)


def _limits(scene: Scene, track: ObjectTrack) -> Floats:
    """Speed limit at each position (n,) [m/s] according to the mission; nan if there is none."""
    roadmap, mission = scene.roadmap, scene.mission
    nothing = np.full(len(track.times), np.nan)
    given = {one.segment for one in (mission.speed_limits or ()) if one.maximum} if mission is not None else set()
    if roadmap is None or mission is None or not given:
        return nothing
    rule = Limits(roadmap, mission)
    lines = np.asarray(rule.corridors.index.match(track.places, track.headings).lane)
    twice = np.concatenate([track.motion[:1], track.motion])  # `Track` includes the preceding step
    found = rule.maximum(Track(np.zeros(len(twice)), 1.0, twice, 0.0, 0.0), lines)
    on_line = np.array([bool(given & {int(end) for end in ends}) for ends in rule.corridors.segments] + [False])
    in_zone = np.array([zone.number in given for zone in roadmap.network.zones] + [False])
    known = np.where(lines >= 0, on_line[lines], in_zone[roadmap.zone_at(track.places)])
    return np.where(known, found, nothing)
