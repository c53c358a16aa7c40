"""Complete path with stations, curvature and planned speed every quarter of a metre.

`assemble` joins the sections of a `PathBuilder`, widens bends that are too tight for the vehicle, and plans the speed.
A kernel looks values up, 20 times a second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.planner.pilot.path_builder import Mark, PathBuilder, PathSection, length_of, stations_of
from cbsim.planner.pilot.speed_profile import speed_profile
from cbsim.planner.pilot.tight_bends import round_tight_bends
from cbsim.planner.pilot.vehicle_geometry import VehicleGeometry

__all__ = ["Halt", "Path", "Run", "assemble"]

STEP = 0.25  # [m] distance between points of the path
SMOOTHING = (4.0, 2.0)  # [m] lengths over which steps of curvature are smoothed, as steering has a finite rate
SMOOTHING_CURVATURES = (0.1, 0.25)  # [1/m] curvatures of a gentle and a tight bend, to which those two lengths apply
RAMP = 5  # rows: the metre over which the curvature of a kink rises
SHIFT = 0.4  # [m] greatest inward shift of the path in a bend
LATERAL_ACCELERATION = 2.2  # [m/s²] lateral acceleration in bends
STEER_SHARE = 0.8  # planned share of the steering's slew rate
STOP_GAP = 0.4  # [m] before a stop line; the rules allow 0 to 1
BEYOND = 0.4  # [m] past the finish line


@dataclass(frozen=True, slots=True)
class Halt:
    """A place to come to rest.

    Attributes
    ----------
    station : float
        Station of the control point [m].
    dwell : float
        Time at rest before going on; infinite at the end [s].
    """

    station: float
    dwell: float


@dataclass(frozen=True, slots=True)
class Run:
    """A part of the path that begins and ends at rest, in one gear: rows `first` to `last` inclusive."""

    first: int
    last: int
    reverse: bool


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """A path for a vehicle.

    Attributes
    ----------
    table : ndarray, shape (n, 9)
        x and y [m], sine and cosine of the heading, where the direction of travel is (−sine, cosine), station [m],
        heading [rad], smoothed curvature [1/m], planned speed [m/s] and acceleration [m/s²].
    runs : list of Run
    halts : list of Halt
        In the order of travel.
    """

    table: Floats
    runs: list[Run]
    halts: list[Halt]

    def copy(self) -> Path:
        """Return a path that shares nothing that can be written to."""
        return Path(self.table.copy(), list(self.runs), list(self.halts))

    @property
    def station(self) -> Floats:
        """Arc lengths, shape (n,) [m]."""
        return self.table[:, 4]

    @property
    def curvature(self) -> Floats:
        """Smoothed curvatures, shape (n,) [1/m]."""
        return self.table[:, 6]

    @property
    def speed(self) -> Floats:
        """Planned speeds, shape (n,) [m/s]."""
        return self.table[:, 7]


def assemble(builder: PathBuilder, geometry: VehicleGeometry, dwell: float) -> Path:
    """Join the sections of a builder to a path for a vehicle.

    Parameters
    ----------
    builder : PathBuilder
        With at least one section.
    geometry : VehicleGeometry
    dwell : float
        Time at rest at a stop line [s].
    """
    offsets = np.concatenate([[0.0], np.cumsum([length_of(s.points) for s in builder.sections])])
    pieces: list[tuple[Floats, bool]] = []
    for group in _runs(builder.sections):
        table, exact = _joined_sections([(builder.sections[k], float(offsets[k])) for k in group])
        reverse = builder.sections[group[0]].reverse
        table = table if reverse else _shifted_inwards(table, exact, geometry)
        pieces += [(table, True)] if reverse else round_tight_bends(table, geometry.radius, geometry.curvature_limit)
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
    halts = _halts(builder, offsets, rows, runs, geometry, dwell)
    curvature = np.concatenate([_smoothed_curvature(rows[r.first : r.last + 1]) for r in runs])
    limit = _limits(rows, runs, curvature, geometry)
    profile = speed_profile(rows[:, 0], limit, np.array([halt.station for halt in halts]))
    heading = rows[:, 3]
    places = rows[:, 1], rows[:, 2], math.sin(heading), math.cos(heading)
    return Path(np.column_stack([*places, rows[:, 0], heading, curvature, *profile]), runs, halts)


def _runs(sections: list[PathSection]) -> list[list[int]]:
    """Group the indices of sections between which the vehicle does not stop to shift gears or turn the wheels."""
    runs: list[list[int]] = []
    for number, section in enumerate(sections):
        if not runs or section.fresh or section.reverse != sections[number - 1].reverse:
            runs.append([])
        runs[-1].append(number)
    return runs


def _joined_sections(group: list[tuple[PathSection, float]]) -> tuple[Floats, NDArray[np.bool_]]:
    """Table (m, 6) of one gear: station, x, y, heading, limit, and station in the builder, to which marks refer.

    Also returns a mask (m,) of rows that belong to exact sections.
    """
    parts, exact = [], []
    for section, offset in group:
        along = offset + stations_of(section.points)
        limit = np.full(len(along), section.limit)
        parts.append(np.column_stack([along, section.points, section.headings, limit, along]))
        exact.append(np.full(len(along), section.exact))
    table = np.concatenate(parts)
    keep = np.concatenate([[True], np.diff(table[:, 0]) > 1e-6])
    table = table[keep]
    table[:, 3] = np.unwrap(table[:, 3])
    table[:, 0] -= table[0, 0]
    even = _resampled(table)
    last = np.clip(np.searchsorted(table[:, 0], even[:, 0]), 0, len(table) - 1)
    return even, np.concatenate(exact)[keep][last]


def _shifted_inwards(table: Floats, exact: NDArray[np.bool_], geometry: VehicleGeometry) -> Floats:
    """Shift a path inwards in bends, so that the body keeps equal clearance to both edges of the lane.

    Notes
    -----
    On a bend of curvature κ, the outer front corner swings out by nose² κ / 2 more than the side of the body at the
    control point; the shift is half of that.
    """
    span = min(2 * round(0.5 * SMOOTHING[0] / STEP) + 1, (len(table) - 1) // 2 * 2 - 1)
    if span < 3:
        return table
    bend = np.gradient(table[:, 3], table[:, 0])
    bend[exact] = 0.0
    for _ in range(2):
        bend = sliding_window_view(np.pad(bend, span // 2), span).sum(axis=1) / span
    shift = np.clip(0.25 * math.square(geometry.nose) * bend, -SHIFT, SHIFT)
    moved = table.copy()
    moved[:, 1] -= shift * math.cos(table[:, 3])
    moved[:, 2] -= shift * math.sin(table[:, 3])
    moved[:, 3] += math.atan(np.gradient(shift, table[:, 0]))
    moved[:, 0] = stations_of(moved[:, 1:3])
    return _resampled(moved)


def _resampled(table: Floats) -> Floats:
    """Resample rows at equal distances of at most STEP; a limit holds from its row on."""
    count = max(1, math.ceil(table[-1, 0] / STEP - 1e-9))
    grid = np.linspace(0.0, table[-1, 0], count + 1)
    if np.array_equal(grid, table[:, 0]):
        return table.copy()  # it is even already
    held = np.clip(np.searchsorted(table[:, 0], grid + 1e-9, side="right") - 1, 0, len(table) - 1)
    columns = [np.interp(grid, table[:, 0], table[:, k]) for k in (1, 2, 3, 5)]
    return np.column_stack([grid, *columns[:3], table[held, 4], columns[3]])


def _smoothed_curvature(rows: Floats) -> Floats:
    """Curvature of a run, averaged over a window of some metres around each point, shorter in tight bends.

    A kink's average is a step up and a step down. A second, short window makes ramps of them, which the steering can
    follow.
    """
    station, heading = rows[:, 0], rows[:, 3]

    def turn(reach: Floats) -> Floats:
        low, high = np.maximum(station - reach, station[0]), np.minimum(station + reach, station[-1])
        return np.asarray((np.interp(high, station, heading) - np.interp(low, station, heading)) / (high - low))

    sharp = np.abs(turn(np.full(len(station), 0.5 * SMOOTHING[1])))
    span = min(2 * round(SMOOTHING[0] / STEP), len(sharp) - 1) // 2 * 2 + 1
    around = np.lib.stride_tricks.sliding_window_view(np.pad(sharp, span // 2, mode="edge"), span).max(axis=1)
    bend = turn(0.5 * np.interp(around, SMOOTHING_CURVATURES, SMOOTHING))
    return np.asarray(sliding_window_view(np.pad(bend, RAMP // 2, mode="edge"), RAMP).sum(axis=1) / RAMP)


def _limits(rows: Floats, runs: list[Run], curvature: Floats, geometry: VehicleGeometry) -> Floats:
    """Greatest speed within limits, lateral acceleration and the steering's slew rate, (n,) [m/s]."""
    limit = rows[:, 4].copy()
    bend = np.maximum(np.abs(curvature), 1e-6)
    limit = np.minimum(limit, np.sqrt(LATERAL_ACCELERATION / bend))
    for run in runs:
        part = slice(run.first, run.last + 1)
        if run.last - run.first > 1:
            change = np.abs(np.gradient(curvature[part], rows[part, 0]))
            limit[part] = np.minimum(limit[part], STEER_SHARE * geometry.curvature_rate / np.maximum(change, 1e-6))
    return np.maximum(limit, 0.4)


def _halts(
    builder: PathBuilder, offsets: Floats, rows: Floats, runs: list[Run], geometry: VehicleGeometry, dwell: float
) -> list[Halt]:
    """Halts: stop lines, gear changes, the finish and the end of the path."""
    end = float(rows[-1, 0])
    halts = [Halt(float(rows[run.last, 0]), 0.3) for run in runs[:-1]]
    finish = end
    for section, along, kind in builder.marks:
        target = float(offsets[section]) + along
        row = min(int(np.searchsorted(rows[:, 5], target)), len(rows) - 1)
        station = float(rows[row, 0]) + target - float(rows[row, 5]) - geometry.nose
        if kind is Mark.STOP and station - STOP_GAP > 0.0:
            halts.append(Halt(station - STOP_GAP, dwell))
        elif kind is Mark.FINISH:
            finish = min(end, station + BEYOND)
    halts = [halt for halt in halts if halt.station < finish - 0.05]
    return [*sorted(halts, key=lambda halt: (halt.station, halt.dwell)), Halt(finish, math.inf)]
