"""`Path`: the whole way as plain lists, with stations, curvature and a speed for every quarter of a metre.

`finish` joins the stretches of a draft, rounds what is too tight for the vehicle, and plans the speed. Everything that
the pilot needs 20 times a second is looked up then, never computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from cbsim.planner.pilot.draft import Draft, Mark, Stretch, length_of, stations_of
from cbsim.planner.pilot.kernels.pace import plan_speeds
from cbsim.planner.pilot.rig import Rig
from cbsim.planner.pilot.smooth import rounded

__all__ = ["Halt", "Path", "Run", "finish"]

Floats = NDArray[np.float64]

STEP = 0.25  # [m] distance of the path's points
EASE = (4.0, 2.0)  # [m] over which a jump of curvature is spread, since a steering wheel turns at a finite rate
BENDS = (0.1, 0.25)  # [1/m] of a gentle bend and a tight one, which those two belong to
SHIFT = 0.4  # [m] that the body is moved inwards in a bend at most
SIDEWAYS = 2.2  # [m/s²] in bends
PULL = 1.5  # [m/s²] speeding up
CRAWL = 0.5  # [m/s] at the very start
BRAKE = 1.6  # [m/s²] slowing down: comfort is 2, the rest is for corrections
STEER_SHARE = 0.8  # of the slew rate of the steering
STOP_GAP = 0.4  # [m] before a stop line; the rules allow 0 to 1
BEYOND = 0.4  # [m] past the finish line


@dataclass(frozen=True, slots=True)
class Halt:
    """A place to come to rest.

    Attributes
    ----------
    station : float
        Of the point that follows the path [m].
    dwell : float
        How long to rest before going on; infinite at the end [s].
    """

    station: float
    dwell: float


@dataclass(frozen=True, slots=True)
class Run:
    """A part of the path that begins and ends at rest, in one gear: rows `first` to `last` inclusive."""

    first: int
    last: int
    reverse: bool


@dataclass
class Path:
    """What the wheel looks up.

    Attributes
    ----------
    x, y, sine, cosine : list of float
        Points [m] and the direction of travel there: (−sin, cos) of the heading.
    heading, curvature, station, speed : list of float
        [rad], [1/m] as it will be steered, [m] along the whole way, [m/s].
    runs : list of Run
    halts : list of Halt
        In the order of travel.
    table : ndarray, shape (n, 5)
        x, y, sine, cosine and station once more, for kernels.
    """

    x: list[float]
    y: list[float]
    sine: list[float]
    cosine: list[float]
    heading: list[float]
    curvature: list[float]
    station: list[float]
    speed: list[float]
    runs: list[Run]
    halts: list[Halt]
    table: Floats


def finish(draft: Draft, rig: Rig, dwell: float) -> Path:
    """Join a draft into a path for a vehicle.

    Parameters
    ----------
    draft : Draft
        With at least one stretch.
    rig : Rig
    dwell : float
        How long to rest at a stop line [s].
    """
    offsets = np.concatenate([[0.0], np.cumsum([length_of(s.points) for s in draft.stretches])])
    pieces: list[tuple[Floats, bool]] = []
    for group in _runs(draft.stretches):
        table, exact = _joined([(draft.stretches[k], float(offsets[k])) for k in group])
        reverse = draft.stretches[group[0]].reverse
        table = table if reverse else _centred(table, exact, rig)
        pieces += [(table, True)] if reverse else rounded(table, rig.radius, rig.curvature_limit)
    columns: list[Floats] = []
    runs, first, begun = [], 0, 0.0
    for table, reverse in pieces:
        rows = _resampled(table)
        rows[:, 0] += begun
        begun = float(rows[-1, 0])
        runs.append(Run(first, first + len(rows) - 1, reverse))
        first += len(rows)
        columns.append(rows)
    rows = np.concatenate(columns)
    halts = _halts(draft, offsets, rows, runs, rig, dwell)
    curvature = np.concatenate([_eased(rows[r.first : r.last + 1]) for r in runs])
    limit = _limits(rows, runs, curvature, rig)
    plan_speeds(np.ascontiguousarray(rows[:, 0]), np.array([h.station for h in halts]), PULL, BRAKE, CRAWL, limit)
    heading = rows[:, 3]
    columns = [rows[:, 1], rows[:, 2], np.sin(heading), np.cos(heading), heading, curvature, rows[:, 0]]
    x, y, sine, cosine, angle, bend, station = (column.tolist() for column in columns)
    table = np.column_stack([columns[0], columns[1], columns[2], columns[3], columns[6]])
    return Path(x, y, sine, cosine, angle, bend, station, limit.tolist(), runs, halts, table)


def _runs(stretches: list[Stretch]) -> list[list[int]]:
    """Numbers of the stretches that are driven without a rest between them for gear or wheels."""
    runs: list[list[int]] = []
    for number, stretch in enumerate(stretches):
        if not runs or stretch.fresh or stretch.reverse != stretches[number - 1].reverse:
            runs.append([])
        runs[-1].append(number)
    return runs


def _joined(group: list[tuple[Stretch, float]]) -> tuple[Floats, NDArray[np.bool_]]:
    """Table (m, 6) of one gear: station, x, y, heading, limit, and the station in the draft, which marks refer to.

    Also tells which rows (m,) belong to exact stretches.
    """
    parts, exact = [], []
    for stretch, offset in group:
        along = offset + stations_of(stretch.points)
        limit = np.full(len(along), stretch.limit)
        parts.append(np.column_stack([along, stretch.points, stretch.headings, limit, along]))
        exact.append(np.full(len(along), stretch.exact))
    table = np.concatenate(parts)
    keep = np.concatenate([[True], np.diff(table[:, 0]) > 1e-6])
    table = table[keep]
    table[:, 3] = np.unwrap(table[:, 3])
    table[:, 0] -= table[0, 0]
    even = _resampled(table)
    last = np.clip(np.searchsorted(table[:, 0], even[:, 0]), 0, len(table) - 1)
    return even, np.concatenate(exact)[keep][last]


def _centred(table: Floats, exact: NDArray[np.bool_], rig: Rig) -> Floats:
    """Move a way inwards in bends, so that the body keeps equal room at both edges of the lane.

    Notes
    -----
    On a bend of curvature κ the outer front corner swings out by nose² κ / 2 more than the side of the body at the
    point that follows the path; half of that is the shift.
    """
    span = min(2 * round(0.5 * EASE[0] / STEP) + 1, (len(table) - 1) // 2 * 2 - 1)
    if span < 3:
        return table
    bend = np.gradient(table[:, 3], table[:, 0])
    bend[exact] = 0.0
    for _ in range(2):
        bend = sliding_window_view(np.pad(bend, span // 2), span).sum(axis=1) / span
    shift = np.clip(0.25 * rig.nose**2 * bend, -SHIFT, SHIFT)
    moved = table.copy()
    moved[:, 1] -= shift * np.cos(table[:, 3])
    moved[:, 2] -= shift * np.sin(table[:, 3])
    moved[:, 3] += np.arctan(np.gradient(shift, table[:, 0]))
    moved[:, 0] = stations_of(moved[:, 1:3])
    return _resampled(moved)


def _resampled(table: Floats) -> Floats:
    """Put rows at equal distances of at most STEP; a limit holds from its row on."""
    count = max(1, math.ceil(table[-1, 0] / STEP - 1e-9))
    grid = np.linspace(0.0, table[-1, 0], count + 1)
    held = np.clip(np.searchsorted(table[:, 0], grid + 1e-9, side="right") - 1, 0, len(table) - 1)
    columns = [np.interp(grid, table[:, 0], table[:, k]) for k in (1, 2, 3, 5)]
    return np.column_stack([grid, *columns[:3], table[held, 4], columns[3]])


def _eased(rows: Floats) -> Floats:
    """Curvature of a run: the turn over some metres around each point, fewer in tight bends, over that distance."""
    station, heading = rows[:, 0], rows[:, 3]

    def turn(reach: Floats) -> Floats:
        low, high = np.maximum(station - reach, station[0]), np.minimum(station + reach, station[-1])
        return np.asarray((np.interp(high, station, heading) - np.interp(low, station, heading)) / (high - low))

    sharp = np.abs(turn(np.full(len(station), 0.5 * EASE[1])))
    span = min(2 * round(EASE[0] / STEP), len(sharp) - 1) // 2 * 2 + 1
    around = np.lib.stride_tricks.sliding_window_view(np.pad(sharp, span // 2, mode="edge"), span).max(axis=1)
    return turn(0.5 * np.interp(around, BENDS, EASE))


def _limits(rows: Floats, runs: list[Run], curvature: Floats, rig: Rig) -> Floats:
    """Speed that limits, bends and the slew of the steering allow, (n,) [m/s]."""
    limit = rows[:, 4].copy()
    bend = np.maximum(np.abs(curvature), 1e-6)
    limit = np.minimum(limit, np.sqrt(SIDEWAYS / bend))
    for run in runs:
        part = slice(run.first, run.last + 1)
        if run.last - run.first > 1:
            change = np.abs(np.gradient(curvature[part], rows[part, 0]))
            limit[part] = np.minimum(limit[part], STEER_SHARE * rig.curvature_rate / np.maximum(change, 1e-6))
    return np.maximum(limit, 0.4)


def _halts(draft: Draft, offsets: Floats, rows: Floats, runs: list[Run], rig: Rig, dwell: float) -> list[Halt]:
    """Places to rest: stop lines, gear changes, the finish and the end of the way."""
    end = float(rows[-1, 0])
    halts = [Halt(float(rows[run.last, 0]), 0.3) for run in runs[:-1]]
    finish = end
    for stretch, along, kind in draft.marks:
        wanted = float(offsets[stretch]) + along
        row = min(int(np.searchsorted(rows[:, 5], wanted)), len(rows) - 1)
        station = float(rows[row, 0]) + wanted - float(rows[row, 5]) - rig.nose
        if kind is Mark.STOP and station - STOP_GAP > 0.0:
            halts.append(Halt(station - STOP_GAP, dwell))
        elif kind is Mark.FINISH:
            finish = min(end, station + BEYOND)
    halts = [halt for halt in halts if halt.station < finish - 0.05]
    return [*sorted(halts, key=lambda halt: (halt.station, halt.dwell)), Halt(finish, math.inf)]
