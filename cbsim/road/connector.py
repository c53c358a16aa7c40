"""Connectors: curves of exits, from the waypoint at the end of one lane to the entry of the next.

A network file only permits the exit. Its curve is a Hermite cubic between the headings of both lanes, scaled to a
circular arc where one fits, with a straight run-up if the ends lie at unequal distances from the corner. For a small
change of heading it is a straight line. From one direction of a segment to the other it is a U-turn: straight to the
point abeam, half a circle, straight back.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from cbsim.arrays import Bools, Floats, Ints
from cbsim.errors import ModelError
from cbsim.geometry import elementary as math
from cbsim.geometry.polyline import Pieces, direction, heading, hermite, left_of, wrap
from cbsim.road.curve import DEFAULT_WIDTH
from cbsim.road.roadmap import RoadMap
from cbsim.spec.road import Exit, PointId

__all__ = [
    "U_TURN",
    "Connector",
    "ConnectorKind",
    "connector",
    "connector_kinds",
    "connectors",
    "exit_spans",
    "is_within_segment",
]

STEP = 1.0  # [m] largest distance of samples
STRAIGHT_TURN = np.radians(10.0)  # change of heading up to which a connector is straight
U_TURN = np.radians(120.0)  # change of heading within a segment from which a connector is a U-turn
LOPSIDED = 0.15  # share of the shorter tangent below which a single cubic turns less tightly than an arc
FAR = 2.5  # tangents longer than this many chords lead far away from both ends
SIDE = 0.5  # [m] with less room to the side a U-turn has no half circle


class ConnectorKind(StrEnum):
    """Shape of a connector."""

    STRAIGHT = "straight"
    TURN = "turn"
    U_TURN = "u-turn"


@dataclass(frozen=True, eq=False)
class Connector:
    """The curve of one exit.

    Attributes
    ----------
    source, target : PointId
        Ends of the exit.
    kind : ConnectorKind
        Its shape.
    stations : ndarray, shape (m,)
        Arc length at each sample [m].
    samples : ndarray, shape (m, 2)
        At most 1 m apart [m].
    headings : ndarray, shape (m,)
        Continuous [rad].
    curvatures : ndarray, shape (m, 2)
        Right before and right behind each sample, positive to the left [1/m].
    width : float
        Width of the narrower lane [m].
    turn : float
        Change of heading from lane to lane, positive to the left [rad].
    """

    source: PointId
    target: PointId
    kind: ConnectorKind
    stations: Floats
    samples: Floats
    headings: Floats
    curvatures: Floats
    width: float
    turn: float

    @property
    def length(self) -> float:
        """Arc length [m]."""
        return float(self.stations[-1])

    @property
    def radius(self) -> float:
        """Smallest radius of turn [m]; infinite where straight."""
        turns = np.abs(np.diff(self.headings))
        turning = turns > 1e-9
        return float(np.min(np.diff(self.stations)[turning] / turns[turning], initial=np.inf))


def connectors(roadmap: RoadMap, exits: Sequence[Exit] | None = None) -> tuple[Connector, ...]:
    """Draw the curves of some of `RoadMap.exits`, by default of all, in their order.

    A curve has a sample per metre: for many exits, draw them in parts.
    """
    return _draw(roadmap, roadmap.exits if exits is None else exits)


def connector_kinds(roadmap: RoadMap, exits: Sequence[Exit]) -> list[ConnectorKind]:
    """Determine the kinds of the connectors of some of `RoadMap.exits`, without drawing them."""
    if not exits:
        return []
    *_, straight, u_turn = _ends(roadmap, exits)
    return [_kind(*flags) for flags in zip(straight.tolist(), u_turn.tolist(), strict=True)]


def exit_spans(roadmap: RoadMap, exits: Sequence[Exit]) -> Floats:
    """Measure the straight line from source to target of some of `RoadMap.exits`, shape (n,) [m]."""
    rows = np.array([[roadmap.rows[e.source], roadmap.rows[e.target]] for e in exits], np.int64).reshape(-1, 2)
    return np.asarray(math.hypot(*(roadmap.positions[rows[:, 1]] - roadmap.positions[rows[:, 0]]).T))


def connector(roadmap: RoadMap, source: PointId, target: PointId) -> Connector:
    """Draw the curve of one exit.

    Raises
    ------
    ModelError
        If there is no such exit.
    """
    found = [e for e in roadmap.exits if e.source == source and e.target == target]
    if not found:
        raise ModelError(f"the road network '{roadmap.name}' has no exit '{source}' to '{target}'")
    return _draw(roadmap, tuple(found[:1]))[0]


def _ends(roadmap: RoadMap, exits: Sequence[Exit]) -> tuple[Ints, Floats, Floats, Bools, Bools]:
    """Rows of both ends (e, 2), headings there (e,), and which connectors are straight and which U-turns."""
    rows = np.array([[roadmap.rows[e.source], roadmap.rows[e.target]] for e in exits], np.int64)
    chord = roadmap.positions[rows[:, 1]] - roadmap.positions[rows[:, 0]]
    leave, arrive = _end_headings(roadmap.headings[rows], heading(chord))
    turn = np.abs(wrap(arrive - leave))
    u_turn = np.array([is_within_segment(e) for e in exits]) & (turn > U_TURN)
    return rows, leave, arrive, ~u_turn & (turn < STRAIGHT_TURN), u_turn


def _kind(straight: bool, u_turn: bool) -> ConnectorKind:
    return ConnectorKind.U_TURN if u_turn else ConnectorKind.STRAIGHT if straight else ConnectorKind.TURN


def _draw(roadmap: RoadMap, exits: Sequence[Exit]) -> tuple[Connector, ...]:
    """Collect the pieces of all exits, and sample them in one call."""
    if not exits:
        return ()
    rows, leave, arrive, straight, u_turn = _ends(roadmap, exits)
    a, b = roadmap.positions[rows[:, 0]], roadmap.positions[rows[:, 1]]
    turn = wrap(arrive - leave)
    samples = hermite(_pieces(a, b, leave, arrive, straight, u_turn), STEP)
    widths = np.array([lane.width for lane in roadmap.lanes] + [np.inf])[roadmap.lane_of_row[rows]].min(axis=1)
    parts = [slice(start, stop) for start, stop in itertools.pairwise(samples.offsets.tolist())]
    return tuple(
        Connector(
            source=exits[k].source,
            target=exits[k].target,
            kind=_kind(bool(straight[k]), bool(u_turn[k])),
            stations=samples.stations[part],
            samples=samples.points[part],
            headings=samples.headings[part],
            curvatures=samples.curvatures[part],
            width=float(widths[k]) if np.isfinite(widths[k]) else DEFAULT_WIDTH,
            turn=float(turn[k]),
        )
        for k, part in enumerate(parts)
    )


def is_within_segment(way: Exit) -> bool:
    """Whether an exit leads from one lane of a segment to another; only such can be a U-turn."""
    return way.source.segment == way.target.segment and way.source.lane != way.target.lane


def _end_headings(known: Floats, chord: Floats) -> tuple[Floats, Floats]:
    """Headings at both ends (e,): that of the lane, and the chord's where a zone's edge has none."""
    both = np.where(np.isnan(known), chord[:, None], known)
    return both[:, 0], both[:, 1]


def _pieces(a: Floats, b: Floats, leave: Floats, arrive: Floats, straight: Bools, u_turn: Bools) -> Pieces:
    """Pieces of each connector: straight ahead, turn, straight back; only those needed are kept."""
    chord, out, back = b - a, direction(leave), direction(arrive)
    turn = wrap(arrive - leave)
    side = np.abs(np.sum(chord * left_of(out), axis=1))
    half_circle = u_turn & (side > SIDE)
    before, after = np.where(half_circle, _run_ups_of_half_circle(chord, out), _run_ups_of_arc(chord, out, back))
    before, after = np.where(straight, 0.0, [before, after])
    start, end = a + before[:, None] * out, b - after[:, None] * back
    scale = math.hypot(*(end - start).T) / math.square(math.cos(0.25 * turn))  # a circle's arc, exactly, where one fits
    scale = np.where(half_circle, 2.0 * side, scale)[:, None]
    cuts = np.stack([a, start, end, b], axis=1)
    first, last = (np.where(straight[:, None], chord, scale * along) for along in (out, back))
    leaving = np.stack([before[:, None] * out, first, after[:, None] * back], axis=1)
    arriving = np.stack([before[:, None] * out, last, after[:, None] * back], axis=1)
    wanted = np.stack([before > 0.0, np.any(chord != 0.0, axis=1), after > 0.0], axis=1)
    offsets = np.concatenate([[0], np.cumsum(wanted.sum(axis=1))])
    return Pieces(cuts[:, :3][wanted], cuts[:, 1:][wanted], leaving[wanted], arriving[wanted], offsets, b)


def _run_ups_of_half_circle(chord: Floats, out: Floats) -> Floats:
    """Lengths of the straight parts before and after a U-turn, (2, e) [m]: one of them, to come abeam of the target."""
    ahead = np.sum(chord * out, axis=1)
    return np.stack([np.maximum(ahead, 0.0), np.maximum(-ahead, 0.0)])


def _run_ups_of_arc(chord: Floats, out: Floats, back: Floats) -> Floats:
    """Lengths of the straight parts before and after a turn, (2, e) [m]: the difference of both ends.

    The tangents at both ends cross `p` ahead of one and `q` behind the other. An arc that touches them takes equal
    lengths of both; where they cross far away or close to an end, a single cubic fits better.
    """
    sine = _cross(out, back)
    solid = np.where(sine == 0.0, np.nan, sine)
    p, q = _cross(chord, back) / solid, _cross(out, chord) / solid
    least = np.minimum(p, q)
    fits = (least > LOPSIDED * (p + q)) & (p + q < FAR * math.hypot(*chord.T))
    return np.where(fits, np.stack([p, q]) - least, 0.0)


def _cross(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
