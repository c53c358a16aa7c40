"""Massless links that are merged into a joint of the core; their poses follow from the bodies at its ends.

Three revolute joints in a row become a ball joint of the core. Their angles follow from the relative rotation of both
ends, as three successive rotations about axes that need not be orthogonal: the second from the angle between first and
last axis, the others by rotating one vector to another (Paden and Kahan's subproblems; R. Murray, Z. Li, S. Sastry, A
Mathematical Introduction to Robotic Manipulation, 1994, §3.2). Of the two solutions, that of the start is taken; the
solutions meet where the axes become coplanar.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import solve, times
from cbsim.geometry.pose import multiply
from cbsim.models.shift.assembly import Assembled
from cbsim.models.shift.behaviour import matrices
from cbsim.models.shift.build import Built, Names
from cbsim.models.shift.chains import Edge
from cbsim.models.shift.network import GROUND, Place
from cbsim.spec.mechanism.bodies import Body
from cbsim.spec.mechanism.shapes import Shape
from cbsim.spec.mechanism.state import step_quaternion

__all__ = ["ShiftMasslessLinks", "massless_links_of"]


class Step(NamedTuple):
    """A joint on the way along a chain.

    Attributes
    ----------
    near, on : Place
        Its frame in the body of the first side, and the other body in its frame.
    axis : ndarray, shape (3,)
    start : float
        Its coordinate at the start, about or along that axis.
    turns : bool
        It turns; else it slides.
    """

    near: Place
    axis: Floats
    on: Place
    start: float
    turns: bool


class Row(NamedTuple):
    """A chain of joints through bodies without mass.

    Attributes
    ----------
    ends : (int, int)
        Rows of the bodies at its ends in the state; -1 for the ground.
    origins : (Place, Place)
        Frames of those bodies in the file, in the frames of the state.
    steps : list of Step
        From the first end to the other.
    centers : ndarray, shape (joints - 1, 3)
        Centres of mass of the bodies between.
    """

    ends: tuple[int, int]
    origins: tuple[Place, Place]
    steps: list[Step]
    centers: Floats


class _Kind:
    """Chains of the same kinds of joints in the same order, computed together; leading axis: states, then chains."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.ends = np.array([row.ends for row in rows])
        self.origins = [_stacked([row.origins[end] for row in rows]) for end in (0, 1)]
        steps = list(zip(*(row.steps for row in rows), strict=True))
        self.turns = [step[0].turns for step in steps]
        self.near = [_stacked([one.near for one in step]) for step in steps]
        self.on = [_stacked([one.on for one in step]) for step in steps]
        self.axes = [np.array([one.axis for one in step]) for step in steps]
        self.centers = np.array([row.centers for row in rows])
        self.whole, self.spins = self._at_zero()
        self.branch = self._branch(np.array([[step.start for step in row.steps if step.turns] for row in rows]))

    def _at_zero(self) -> tuple[Floats, list[Floats]]:
        """With all joints at zero: the rotation from end to end, and the axes of revolute joints, at the first end."""
        rotation = np.broadcast_to(np.eye(3), (len(self.ends), 3, 3))
        spins = []
        for near, on, axes, turns in zip(self.near, self.on, self.axes, self.turns, strict=True):
            rotation = times(rotation, near[0])
            if turns:
                spins.append(_times(rotation, axes))
            rotation = times(rotation, on[0])
        return rotation, spins

    def _branch(self, start: Floats) -> Floats:
        """Return the solution at the start, of two, by angles (chains, 3): the sign of half of their difference."""
        if not self.spins:
            return np.ones(len(start))
        flat, tall, _ = self._bends()
        return np.where(math.sin(start[:, 1] - math.atan2(tall, flat)) < 0.0, -1.0, 1.0)

    def _bends(self) -> tuple[Floats, Floats, Floats]:
        """Return coefficients of cosine and sine of the second angle, and the constant, of the axes' inner product."""
        one, two, three = self.spins
        along = (one * two).sum(-1) * (two * three).sum(-1)
        return (one * three).sum(-1) - along, (one * np.cross(two, three)).sum(-1), along

    def place(self, x: Floats, rotation: Floats) -> tuple[Floats, Floats]:
        """Find centres (n, chains, bodies, 3) and rotations (n, chains, bodies, 3, 3) of what is between."""
        first, last = (self._end(end, x, rotation) for end in (0, 1))
        back = first[1].swapaxes(-1, -2)
        angles = self._angles(times(back, last[1]))
        goal = _times(back, last[0] - first[0])
        lengths = self._lengths(angles, goal)
        here, centers, turned = (np.zeros(3), np.eye(3)), [], []
        for step in range(len(self.turns) - 1):
            here = self._walk(here, step, angles, lengths)
            spin = times(first[1], here[1])
            turned.append(spin)
            centers.append(first[0] + _times(first[1], here[0]) + _times(spin, self.centers[:, step]))
        return np.stack(centers, axis=2), np.stack(turned, axis=2)

    def _end(self, end: int, x: Floats, rotation: Floats) -> tuple[Floats, Floats]:
        rows, (turn, point) = self.ends[:, end], self.origins[end]
        return x[:, rows] + _times(rotation[:, rows], point), times(rotation[:, rows], turn)

    def _walk(
        self, here: tuple[Floats, Floats], step: int, angles: list[Floats], lengths: list[Floats]
    ) -> tuple[Floats, Floats]:
        """Compose the motion of one joint; its angle or length is the next in `angles` or `lengths`."""
        point, rotation = here
        (near, at), (on, on_at), axis = self.near[step], self.on[step], self.axes[step]
        point, rotation = point + _times(rotation, at), times(rotation, near)
        place = sum(self.turns[:step])
        if self.turns[step]:
            rotation = times(rotation, _spins(axis, angles[place]))
        else:
            point = point + _times(rotation, axis) * lengths[step - place][..., None]
        return point + _times(rotation, on_at), times(rotation, on)

    def _angles(self, apart: Floats) -> list[Floats]:
        """Find the angles of the joints that turn, of the rotation (n, chains, 3, 3) from end to end."""
        if not self.spins:
            return []
        one, two, three = self.spins
        whole = times(apart, self.whole.swapaxes(-1, -2))
        flat, tall, along = self._bends()
        cosine = ((one * _times(whole, three)).sum(-1) - along) / math.hypot(flat, tall)
        second = math.atan2(tall, flat) + self.branch * math.acos(np.clip(cosine, -1.0, 1.0))
        middle = _spins(two, second)
        first = _between(one, _times(middle, three), _times(whole, three))
        rest = times(times(_spins(one, first), middle).swapaxes(-1, -2), whole)
        across = np.cross(three, np.eye(3)[np.abs(three).argmin(-1)])
        return [first, second, _between(three, across, _times(rest, across))]

    def _lengths(self, angles: list[Floats], goal: Floats) -> list[Floats]:
        """Find the lengths of the joints that slide, of the vector (n, chains, 3) from end to end."""
        sliding = [step for step, turns in enumerate(self.turns) if not turns]
        if not sliding:
            return []
        nothing = [np.zeros(goal.shape[:-1]) for _ in sliding]
        here, ways = (np.zeros(3), np.eye(3)), []
        for step in range(len(self.turns)):
            if step in sliding:
                ways.append(np.broadcast_to(_times(times(here[1], self.near[step][0]), self.axes[step]), goal.shape))
            here = self._walk(here, step, angles, nothing)
        found = solve(np.stack(ways, axis=-1), (goal - here[0])[..., None])
        return [np.asarray(found[..., k, 0], float) for k in range(len(sliding))]

    def tables(self) -> Iterator[NDArray[np.generic]]:
        """All numbers that it depends on."""
        yield from (self.ends, np.array(self.turns), self.centers, self.branch, *self.axes)
        for rotation, point in (*self.origins, *self.near, *self.on):
            yield from (rotation, point)


class ShiftMasslessLinks:
    """Massless links of a Shift model (`cbsim.spec.mechanism.behaviour.MasslessLinks`).

    Parameters
    ----------
    rows : sequence of Row
    bodies : sequence of Body
        All bodies between, chain by chain.
    turn : ndarray, shape (3, 3)
        From the file's axes to the world's, in which the ground stands.
    """

    def __init__(self, rows: Sequence[Row], bodies: Sequence[Body], turn: Floats) -> None:
        self.bodies, self.turn = tuple(bodies), turn
        ends = np.cumsum([len(row.centers) for row in rows])
        groups: dict[tuple[bool, ...], list[int]] = {}
        for number, row in enumerate(rows):
            groups.setdefault(tuple(step.turns for step in row.steps), []).append(number)
        self.kinds = [_Kind([rows[number] for number in numbers]) for numbers in groups.values()]
        self.places = [
            np.array([np.arange(ends[number] - len(rows[number].centers), ends[number]) for number in numbers])
            for numbers in groups.values()
        ]

    def follow(self, states: Floats, step: float) -> Floats:
        """Find their states (n, links, 13) from states (n, bodies, 13); ``step`` of the model [s]."""
        n, links = len(states), len(self.bodies)
        q = states[..., 6:10]
        before = multiply(q, step_quaternion(-states[..., 10:], step))
        x, rotation = self._with_ground(states[..., :3], q)
        x_before, rotation_before = self._with_ground(states[..., :3] - step * states[..., 3:6], before)
        both = np.concatenate([x, x_before]), np.concatenate([rotation, rotation_before])
        points, turned = np.empty((2 * n, links, 3)), np.empty((2 * n, links, 3, 3))
        for kind, places in zip(self.kinds, self.places, strict=True):
            points[:, places], turned[:, places] = kind.place(*both)
        found = np.empty((n, links, 13))
        found[..., :3], found[..., 3:6] = points[:n], (points[:n] - points[n:]) / step
        found[..., 6:10] = quaternions(turned[:n])
        own = quaternions(times(turned[n:].swapaxes(-1, -2), turned[:n]))
        found[..., 10:] = own[..., 1:] * (2.0 / step)
        return found

    def _with_ground(self, x: Floats, q: Floats) -> tuple[Floats, Floats]:
        """Return positions and rotations, the last row of which is the ground's."""
        n, bodies = q.shape[:2]
        rotation = matrices(q.reshape(-1, 4)).reshape(n, bodies, 3, 3)
        ground = np.broadcast_to(self.turn, (n, 1, 3, 3))
        return np.concatenate([x, np.zeros((n, 1, 3))], axis=1), np.concatenate([rotation, ground], axis=1)

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that their motion depends on."""
        yield self.turn
        for kind in self.kinds:
            yield from kind.tables()


def massless_links_of(
    assembled: Assembled, built: Built, shapes: Mapping[int, Shape], turn: Floats, names: Names
) -> ShiftMasslessLinks | None:
    """Build the massless links of a mechanism; None if there are none.

    Parameters
    ----------
    assembled, built
        The model and its mechanism.
    shapes : mapping
        Number of a body → shape.
    turn : ndarray, shape (3, 3)
        From the file's axes to the world's.
    names : Names
        Names of bodies.
    """
    rows = {number: place for place, number in enumerate(built.bodies)}
    made: list[Row] = []
    bodies: list[Body] = []
    for edge in built.edges:
        if len(edge.ties) < 2:
            continue
        steps, between = _steps(assembled, edge)
        links = [assembled.network.links[number] for number in between]
        ends = edge.one, edge.other
        homes = [Place(np.eye(3), -built.centers[end]) for end in ends]
        made.append(Row(
            (rows.get(ends[0], GROUND), rows.get(ends[1], GROUND)), (homes[0], homes[1]), steps,
            np.array([link.body.center_of_mass for link in links], float),
        ))  # fmt: skip
        bodies += [
            Body(1.0, np.eye(3), shapes.get(number), name=names(link.path, "body"))
            for number, link in zip(between, links, strict=True)
        ]
    return ShiftMasslessLinks(made, bodies, turn) if made else None


def _steps(assembled: Assembled, edge: Edge) -> tuple[list[Step], list[int]]:
    """Joints of a chain from its first end, and the bodies in between."""
    found, between, here = [], [], edge.one
    for number in edge.ties:
        tie, axis = assembled.tree.ties[number], assembled.chain.axes[number]
        forth = tie.parent == here
        near, far = (tie.at_parent, tie.at_child) if forth else (tie.at_child, tie.at_parent)
        turns, start = tie.joint.kind == "revolute", float(assembled.posture.numbers[number])
        found.append(Step(near, axis if forth else -axis, far.inverse, start, turns))
        here = tie.child if forth else tie.parent
        between.append(here)
    return found, between[:-1]


def _stacked(places: Sequence[Place]) -> tuple[Floats, Floats]:
    return np.array([place.rotation for place in places]), np.array([place.origin for place in places])


def _times(rotation: Floats, vector: Floats) -> Floats:
    return np.asarray(times(rotation, vector[..., None])[..., 0])


def _spins(axes: Floats, angles: Floats) -> Floats:
    """Rotations (…, 3, 3) about unit axes (…, 3) (Rodrigues)."""
    x, y, z = np.moveaxis(axes, -1, 0)
    zero = np.zeros_like(x)
    crossing = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*axes.shape[:-1], 3, 3)
    sine, rest = math.sin(angles)[..., None, None], 1.0 - math.cos(angles)[..., None, None]
    return np.asarray(np.eye(3) + sine * crossing + rest * times(crossing, crossing))


def _between(axis: Floats, one: Floats, other: Floats) -> Floats:
    """Angle about a unit axis by which the part across it of one vector turns to that of another."""
    flat = (one * other).sum(-1) - (axis * one).sum(-1) * (axis * other).sum(-1)
    return np.asarray(math.atan2((axis * np.cross(one, other)).sum(-1), flat))


def quaternions(rotations: Floats) -> Floats:
    """Make unit quaternions (…, 4), scalar first and not below 0, of rotations (…, 3, 3), by largest components."""
    r = rotations
    trace = np.trace(r, axis1=-2, axis2=-1)
    diagonal = np.diagonal(r, axis1=-2, axis2=-1)
    squares = np.concatenate([1.0 + trace[..., None], 1.0 + 2.0 * diagonal - trace[..., None]], axis=-1)
    turn = [r[..., 2, 1] - r[..., 1, 2], r[..., 0, 2] - r[..., 2, 0], r[..., 1, 0] - r[..., 0, 1]]
    mixed = {(a, b): r[..., a, b] + r[..., b, a] for a in range(3) for b in range(a + 1, 3)}
    table = np.empty((*r.shape[:-2], 4, 4))
    for k in range(4):
        table[..., k, k] = squares[..., k]
    for k in range(3):
        table[..., 0, k + 1] = table[..., k + 1, 0] = turn[k]
    for (a, b), value in mixed.items():
        table[..., a + 1, b + 1] = table[..., b + 1, a + 1] = value
    largest = squares.argmax(-1)
    q = np.take_along_axis(table, largest[..., None, None], axis=-2)[..., 0, :]
    q = q / np.sqrt((q * q).sum(-1))[..., None]
    return np.asarray(np.where(q[..., :1] < 0.0, -q, q)) + 0.0
