"""Literal kinematic traffic: goals and scripts to timed segments (docs/formats/objects.md).

A mover drives straight chords at each goal's speed, with infinite acceleration, and waits after arriving. It
reaches each goal at t = pauses + Σ dᵢ/vᵢ, whatever the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.geometry import elementary as math
from cbsim.geometry.pose import heading_quaternion

__all__ = ["Legs", "Trajectories", "goal_legs", "joined_legs", "lay_out", "script_legs", "trajectory_tables"]

SCRIPT_ANGLES = {
    "ccw_north": lambda angle: angle,
    "cw_north": lambda angle: -angle,
    "ccw_east": lambda angle: angle - 0.5 * math.pi,
}

FOREVER = 1e12  # [s] duration of a leg from which it never ends; sums of longer times could overflow
TURNS, GOES = True, False  # whether a mover turns to a leg that it cannot drive


class Legs(NamedTuple):
    """Straight legs of several movers, without times.

    Attributes
    ----------
    spans : list of (int, int)
        First leg of each mover, and the one after its last.
    turns : list of bool
        Whether each mover turns to a leg that it does not drive.
    ends : (n, 3) [m]
        End of each leg.
    velocities : (n, 3) [m/s]
    orientations : (n, 4)
    distances, speeds, pauses : (n,) [m], [m/s], [s]
        A pause comes after a leg.
    """

    spans: list[tuple[int, int]]
    turns: list[bool]
    ends: Floats
    velocities: Floats
    orientations: Floats
    distances: Floats
    speeds: Floats
    pauses: Floats


class Trajectories(NamedTuple):
    """Segments of several movers, mover after mover.

    Attributes
    ----------
    bodies : (m,) int64
        Row of each mover's body.
    counts : (m,) int64
        Number of its segments.
    starts : (n,) [s]
    origins : (n, 3) [m]
    velocities : (n, 3) [m/s]
    orientations : (n, 4)
    """

    bodies: Ints
    counts: Ints
    starts: Floats
    origins: Floats
    velocities: Floats
    orientations: Floats


def goal_legs(positions: Floats, counts: Sequence[int], places: Floats, speeds: Floats, pauses: Floats) -> Legs:
    """Lay out the legs of movers that follow goals on straight chords.

    Parameters
    ----------
    positions : (m, 3) [m]
        Where they start; their height stays.
    counts : sequence of int
        How many goals each of them has.
    places : (n, 2) [m]
        Goals, mover after mover.
    speeds, pauses : (n,) [m/s], [s]
        A speed of 0, or as good as 0, never arrives.
    """
    spans = _spans(counts)
    ends = np.column_stack([places, np.repeat(positions[:, 2], counts)])
    before = np.empty_like(ends)
    before[1:] = ends[:-1]
    firsts = np.array([first for first, stop in spans if stop > first], np.int64)
    before[firsts] = positions[np.flatnonzero(counts)]
    at_goal = (before[:, 0] == ends[:, 0]) & (before[:, 1] == ends[:, 1])
    for k in np.flatnonzero(at_goal[:-1] & np.isin(np.arange(1, len(ends)), firsts, invert=True)).tolist():
        before[k + 1] = before[k]  # no way at all keeps the place, down to the sign of a zero
    gaps = ends - before
    distances = math.hypot(gaps[:, 0], gaps[:, 1])
    directions = gaps / np.where(distances > 0.0, distances, 1.0)[:, None]
    orientations = heading_quaternion(math.atan2(-directions[:, 0], directions[:, 1]))
    velocities = speeds[:, None] * directions
    return Legs(spans, [GOES] * len(spans), ends, velocities, orientations, distances, speeds, pauses)


def script_legs(
    positions: Floats,
    counts: Sequence[int],
    speeds: Floats,
    pauses: Floats,
    distances: Floats,
    angles: Floats,
    sense: str,
) -> Legs:
    """Lay out the legs of movers that follow a script: turn in place, drive, wait (D9).

    Parameters
    ----------
    positions : (m, 3) [m]
        Where they start.
    counts : sequence of int
        How many entries each of them has.
    speeds, pauses, distances, angles : (n,) [m/s], [s], [m], [rad]
        Entries, mover after mover.
    sense : str
        ``ccw_north``, ``cw_north`` or ``ccw_east``.
    """
    spans, headings = _spans(counts), SCRIPT_ANGLES[sense](angles)
    ways = np.column_stack([-math.sin(headings), math.cos(headings), np.zeros(len(headings))])
    steps = distances[:, None] * ways
    velocities = speeds[:, None] * steps / np.where(distances > 0.0, distances, 1.0)[:, None]
    ends = np.empty_like(steps)
    for position, (first, stop) in zip(positions, spans, strict=True):
        for k in range(first, stop):
            position = position + steps[k] if distances[k] > 0.0 else position  # noqa: PLW2901
            ends[k] = position
    return Legs(spans, [TURNS] * len(spans), ends, velocities, heading_quaternion(headings), distances, speeds, pauses)


def joined_legs(one: Legs, other: Legs) -> Legs:
    """Put the movers of two tables into one, in that order."""
    n = len(one.speeds)
    spans = one.spans + [(first + n, stop + n) for first, stop in other.spans]
    columns = [np.concatenate(pair) for pair in zip(one[2:], other[2:], strict=True)]
    return Legs(spans, one.turns + other.turns, *columns)


def lay_out(
    bodies: Sequence[int], order: Sequence[int], positions: Floats, orientations: Floats, initial: Floats, legs: Legs
) -> Trajectories:
    """Give legs their times: each mover waits, drives leg by leg, and rests after the last.

    Parameters
    ----------
    bodies : sequence of int
        Row of the body of each mover.
    order : sequence of int
        Movers in the order of the result.
    positions, orientations : (m, 3) [m], (m, 4)
        Start poses.
    initial : (m,) [s]
        Pause before the first leg.
    legs : Legs
    """
    movers, rest = len(bodies), len(legs.speeds)
    distances, speeds, pauses = legs.distances.tolist(), legs.speeds.tolist(), legs.pauses.tolist()
    rows: list[tuple[float, int, int, int]] = []  # start, place, orientation, velocity; those of movers, then of legs
    counts: list[int] = []
    for mover, wait in zip(order, initial[np.asarray(order, np.int64)].tolist(), strict=True):
        time, point, turn, begin = 0.0, mover, mover, len(rows)
        if wait > 0.0:
            rows.append((time, point, turn, rest))
            time += wait
        for k in range(*legs.spans[mover]):
            distance = distances[k]
            if legs.turns[mover]:
                turn = movers + k
            if speeds[k] * FOREVER < distance:
                break
            if distance > 0.0:
                turn = movers + k
                rows.append((time, point, turn, k))
                time += distance / speeds[k]
                point = movers + k
            if pauses[k] > 0.0:
                rows.append((time, point, turn, rest))
                time += pauses[k]
        rows.append((time, point, turn, rest))
        counts.append(len(rows) - begin)
    table = np.array(rows, float).reshape(-1, 4)
    points, turns, moves = table[:, 1:].T.astype(np.int64)
    return Trajectories(
        np.array([bodies[mover] for mover in order], np.int64),
        np.array(counts, np.int64),
        table[:, 0].copy(),
        np.concatenate([positions, legs.ends])[points],
        np.concatenate([legs.velocities, np.zeros((1, 3))])[moves],
        np.concatenate([orientations, legs.orientations])[turns],
    )


def _spans(counts: Sequence[int]) -> list[tuple[int, int]]:
    """Range of each of several consecutive lists of given lengths."""
    stops = np.cumsum(np.asarray(counts, np.int64)).tolist()
    return [(stop - count, stop) for stop, count in zip(stops, counts, strict=True)]


def trajectory_tables(
    trajectories: Trajectories, vehicles: Sequence[int], guided: Sequence[int] = ()
) -> dict[str, Any]:
    """Assemble the segments of all bodies into the tables of `Constants`, for literal movers and followers.

    Parameters
    ----------
    trajectories : Trajectories
    vehicles : sequence of int
        Rows of vehicles, which follow their segments by physics; all others move literally.
    guided : sequence of int
        Rows of bodies that move on their segments as events tell them.
    """
    bodies, counts, start, origin, velocity, orientation = trajectories
    last = np.cumsum(counts) - 1
    first = last - counts + 1
    drives, directed = np.isin(bodies, vehicles), np.isin(bodies, np.asarray(guided, np.int64))
    literal, speeds = ~(drives | directed), math.hypot(velocity[:, 0], velocity[:, 1])
    return {
        "mover_body": bodies[literal],
        "mover_first": first[literal],
        "mover_last": last[literal],
        "guided_body": bodies[directed],
        "guided_first": first[directed],
        "guided_last": last[directed],
        "guided_speed": np.array(
            [speeds[a : b + 1].max() for a, b in zip(first[directed], last[directed], strict=True)], float
        ),
        "segment_start": start,
        "segment_origin": origin,
        "segment_velocity": velocity,
        "segment_orientation": orientation,
        "segment_station": _stations(start, speeds, first),
        "follower_vehicle": np.searchsorted(np.asarray(vehicles, np.int64), bodies[drives]),
        "follower_first": first[drives],
        "follower_last": last[drives],
    }


def _stations(start: Floats, speed: Floats, first: np.ndarray) -> Floats:
    """Trajectory length [m] from each body's start to each of its segments."""
    length = np.append(np.diff(start) * speed[:-1], 0.0)[: len(start)]
    length[first[1:] - 1] = 0.0  # a body's last segment has no end
    way = np.concatenate([[0.0], np.cumsum(length)])[:-1]
    return np.asarray(way - np.repeat(way[first], np.diff(np.append(first, len(start)))))
