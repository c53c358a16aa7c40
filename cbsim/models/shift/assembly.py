"""Assembly of a Shift model: closing of loops from the file's coordinates, consistent rates, degrees of freedom."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.errors import Problems
from cbsim.formats.shift.bodies import tensor_of
from cbsim.formats.values import quote
from cbsim.geometry.elementary import square
from cbsim.geometry.linear import cholesky, eigh, lstsq, norm, null_space, pinv, solve, times
from cbsim.models.shift.kinematics import Chain, Posture, crossed
from cbsim.models.shift.network import Network, Place, network_of
from cbsim.models.shift.tree import Tree, tree_of
from cbsim.spec.shift.model import ShiftModel

__all__ = ["RANK", "Assembled", "assemble", "close", "mass_matrix", "mobility"]

CLOSED = 1e-8  # [m, rad] largest gap of an assembled loop
DONE = 1e-13  # [m, rad]
STEP = 0.2  # [rad, m] largest change of a coordinate in an iteration, so that loops do not flip over
ROUNDS = 400
NEAR_ROUNDS = 60  # iterations with a pseudoinverse: at a double root gaps halve in each
PATIENCE, NEAR_PATIENCE, PROGRESS = 25, 10, 0.98  # iterations in which gaps have to shrink to this share
HALF_TURN = 2.0  # [rad] turn from which a loop may be half a turn off: sines shrink from a quarter turn on
DAMPING = 1e-3  # damping of Levenberg's steps [m², rad²]
NEAR = 1e-2  # [m, rad] gaps below which steps are not damped
LARGEST = 20_000_000  # products of bodies, or rows of loops, and coordinates: 160 MB each
MOST_WORK = 100_000_000  # rows of loops times coordinates times the fewer of them: half a second for one iteration
MOST_CLOSING = 1_000_000_000  # the same in all iterations that close loops from one start: 5 s
MOST_COUPLED = 1200  # coordinates in one mass matrix: 15 s
RANK = 1e-6  # least relative singular value that counts
LIGHTEST = 1e-12  # inertia that is none, to the largest of a few coordinates, or to that of many before others give way
MANY = 32  # coordinates whose motion without inertia is found by axes
SPREAD = 0.1  # [rad, m] distance from the start at which mobility is also evaluated
MISMATCH = 1e-6  # of rates that do not fit their loops, to the largest of them
SAME = 1e-9  # [rad, model sizes] by which a joint may differ that is held: a dead centre leaves little, but more
HELD = 1e-3  # of motions that loops hold fast, to the largest of a joint
LENGTHS = {"revolute": (False,), "prismatic": (True,), "spherical": (False,) * 3, "float": (True,) * 3 + (False,) * 3}
MOVED = 1e-3  # [m, rad] smaller changes of coordinates are not reported


class Assembled(NamedTuple):
    """An assembled model.

    Attributes
    ----------
    network, tree, chain
        Those of the model.
    posture : Posture
        Coordinates at the start, with closed loops.
    poses : list of Place
        Poses of bodies at the start; the ground is the last.
    rates : ndarray
        Rates of the coordinates at the start, consistent with the loops.
    gap : float
        Norm of the gaps of loops in the file.
    nearby : callable
        Finds other postures with closed loops near the start, once.
    stiff : frozenset of int
        Joints that loops lock: the bodies that they connect move as one.
    """

    network: Network
    tree: Tree
    chain: Chain
    posture: Posture
    poses: list[Place]
    rates: Floats
    gap: float
    nearby: Callable[[], tuple[Posture, ...]]
    stiff: frozenset[int] = frozenset()


_last: list[tuple[ShiftModel, Assembled | None, Problems]] = []  # newest result, for checks and counts


def assemble(model: ShiftModel, problems: Problems) -> Assembled | None:
    """Assemble a model; None if it has errors, all of which are reported.

    The last result is kept, since a file is checked, counted and described one after the other.
    """
    if problems.errors:
        return _assemble(model, problems)
    known = next((entry for entry in _last if entry[0] is model), None)
    if known is None:
        own = Problems()
        known = (model, _assemble(model, own), own)
        _last[:] = [known]
    problems.extend(known[2])
    return known[1]


def _assemble(model: ShiftModel, problems: Problems) -> Assembled | None:
    network = network_of(model, problems)
    if problems.errors or not network.links:
        return None
    tree = tree_of(network, problems)
    freedoms, rows = sum(tie.joint.freedoms for tie in tree.ties), 6 * len(tree.chords)
    if (len(network.links) + rows) * freedoms > LARGEST or _work(rows, freedoms) > MOST_WORK:
        text = f"{len(network.links)} bodies in {len(tree.chords)} loops are more than can be put together"
        problems.error("E998", text, model.location)
        return None
    chain = Chain(network, tree)
    start = _floating(chain, chain.start())
    before = chain.gaps(start, chain.poses(start))
    posture, gaps = close(chain, start)
    poses = chain.poses(posture)
    if np.abs(gaps).max(initial=0.0) > CLOSED:
        row = int(np.abs(gaps).max(axis=1).argmax())
        tie = tree.ties[tree.chords[row]]
        text = f"joint {quote(':'.join(tie.path))} closes a loop that cannot be closed from here: it stays open by"
        hint = "initial_displacement of its joints may be far off"
        problems.error("E988", f"{text} {np.abs(gaps[row]).max():.3g} m or rad", tie.joint.location, hint)
        return None
    _tell_moved(chain, start, posture, float(norm(before)), problems)
    rates = _fitting(chain, posture, poses, problems)
    nearby = cache(partial(_nearby, chain, posture))
    stiff = _held_fast(chain, posture, poses, nearby, problems)
    found = Assembled(network, tree, chain, posture, poses, rates, float(norm(before)), nearby, stiff)
    check_mass(found, problems)
    return found


def _work(rows: int, freedoms: int) -> int:
    """Count the products that solving for all coordinates takes, but for a factor."""
    return rows * freedoms * min(rows, freedoms)


def _held_fast(
    chain: Chain,
    posture: Posture,
    poses: list[Place],
    nearby: Callable[[], tuple[Posture, ...]],
    problems: Problems,
) -> frozenset[int]:
    """Find joints that loops hold fast, as the bars of a truss: W990 for the first.

    They have no rate at the start, and are where they were wherever else loops close nearby: at a dead centre, a piston
    has no rate either, but moves. Lengths count by the size of the model, and singular values that the digits of a file
    may have left of none do not count, so that nothing that moves is held.
    """
    if not chain.tree.chords or not chain.size:
        return frozenset()
    size = max(float(np.abs([pose.origin for pose in poses]).max()), 1e-9)
    kinds = [kind for tie in chain.tree.ties for kind in LENGTHS.get(tie.joint.kind, ())]
    slope = chain.slope(posture, poses) * np.where(kinds, size, 1.0)
    slope.reshape(-1, 6, chain.size)[:, :3] /= size
    free = null_space(slope, HELD)
    moves = np.sqrt(square(free).sum(axis=0)) > HELD
    ties = enumerate(zip(chain.tree.ties, chain.first, strict=True))
    stiff = [n for n, (tie, at) in ties if tie.joint.freedoms and not moves[at : at + tie.joint.freedoms].any()]
    others = nearby() if stiff else ()
    stiff = [n for n in stiff if others and all(_agree(posture, other, n, size) for other in others)]
    if stiff:
        tie = chain.tree.ties[stiff[0]]
        more = f" and {len(stiff) - 1} more" if len(stiff) > 1 else ""
        text = f"joint {quote(':'.join(tie.path))}{more} cannot move: loops hold what it ties as one body"
        problems.warning("W990", text, tie.joint.location)
    return frozenset(stiff)


def _floating(chain: Chain, start: Posture) -> Posture:
    """Set float joints that close loops, and constrain nothing, to the relative pose of their bodies."""
    poses, places = chain.poses(start), list(start.places)
    for number in chain.tree.chords:
        tie = chain.tree.ties[number]
        if tie.joint.kind == "float":
            places[number] = (poses[tie.parent] @ tie.at_parent).inverse @ poses[tie.child] @ tie.at_child
    return Posture(start.numbers, places)


def close(chain: Chain, start: Posture) -> tuple[Posture, Floats]:
    """Close loops from a posture: also the gaps that are left, with turns as rotation vectors.

    Levenberg's steps, in which no coordinate is changed by more than `STEP`. A turn counts by its sine, which lets
    lengths go first; where that ends half a turn off, it is done again with whole angles.
    """
    found, gaps = start, chain.gaps(start, chain.poses(start), whole=True)
    for whole in (False, True):
        if np.abs(gaps).max(initial=0.0) > DONE:
            found = _descend(chain, start, whole=whole)
            gaps = chain.gaps(found, chain.poses(found), whole=True)
        if np.abs(gaps).max(initial=0.0) <= CLOSED or norm(gaps[:, 3:], axis=1).max(initial=0.0) < HALF_TURN:
            break
    return found, gaps


def _descend(chain: Chain, posture: Posture, *, whole: bool) -> Posture:
    """Minimise the gaps of loops; returns the best posture."""
    best, least, worse, near = posture, np.inf, 0, 0
    mark, since = np.inf, 0
    rounds = min(ROUNDS, MOST_CLOSING // max(1, _work(6 * len(chain.tree.chords), chain.size)))
    for number in range(rounds if chain.size else 1):
        poses = chain.poses(posture)
        gaps = chain.gaps(posture, poses, whole=whole).ravel()
        size = float(np.abs(gaps).max(initial=0.0))
        worse = 0 if size < least else worse + 1
        if size < least:
            best, least = posture, size
        if least < PROGRESS * mark:
            mark, since = least, number
        elif number - since >= (NEAR_PATIENCE if size <= NEAR else PATIENCE):
            break  # nothing closes here
        near += size <= NEAR
        if size < DONE or (least < CLOSED and worse > 2) or near > NEAR_ROUNDS:
            break
        slope = chain.slope(posture, poses, whole=whole)
        if size > NEAR:
            way = solve(times(slope.T, slope) + DAMPING * np.eye(chain.size), times(slope.T, -gaps))
        else:
            way = lstsq(slope, -gaps, rcond=RANK)
        posture = chain.move(posture, way * min(1.0, STEP / max(1e-300, float(np.abs(way).max(initial=0.0)))))
    return best


def _tell_moved(chain: Chain, start: Posture, posture: Posture, gap: float, problems: Problems) -> None:
    """Report coordinates that had to be changed to close the loops."""
    change = np.abs(posture.numbers - start.numbers)
    if not chain.tree.chords or change.max(initial=0.0) < MOVED:
        return
    tie = chain.tree.ties[int(change.argmax())]
    text = f"loops are open by {gap:.3g} as the file has them; they were closed, which moves joint"
    text += f" {quote(':'.join(tie.path))} by {change.max():.3g} to {posture.numbers[int(change.argmax())]:.6g}"
    problems.warning("W988", f"{text}, the most of all", tie.joint.location)


def _fitting(chain: Chain, posture: Posture, poses: list[Place], problems: Problems) -> Floats:
    """Change rates as little as their loops ask for, all together (docs/formats/shift.md)."""
    given = chain.rates()
    if not chain.tree.chords or not given.any():
        return given
    slope = chain.slope(posture, poses)
    rates = np.asarray(given - times(pinv(slope, rcond=RANK), times(slope, given)))
    change = np.abs(rates - given)
    if change.max() > MISMATCH * np.abs(given).max():
        owner = max(n for n, first in enumerate(chain.first) if first <= int(change.argmax()))
        while not chain.tree.ties[owner].joint.freedoms:
            owner -= 1
        tie = chain.tree.ties[owner]
        text = f"start rates do not fit their loops; the nearest that do are taken: joint {quote(':'.join(tie.path))}"
        old, new = given[int(change.argmax())], rates[int(change.argmax())]
        problems.warning("W989", f"{text} has {new:.6g} for {old:.6g}", tie.joint.location)
    return rates


def _nearby(chain: Chain, posture: Posture) -> tuple[Posture, ...]:
    """Postures with closed loops near the start, if there are any."""
    random = np.random.Generator(np.random.Philox(0))
    tries = [close(chain, chain.move(posture, random.uniform(-SPREAD, SPREAD, chain.size))) for _ in range(2)]
    return tuple(moved for moved, gaps in tries if np.abs(gaps).max() < CLOSED)


def _agree(one: Posture, other: Posture, tie: int, size: float) -> bool:
    """Whether a joint is the same in two postures, but for rounding."""
    (here, at), (there, to) = one.places[tie], other.places[tie]
    apart = (abs(one.numbers[tie] - other.numbers[tie]), *np.abs(here - there).ravel(), *np.abs(at - to) / size)
    return bool(max(apart) < SAME)


def mobility(assembled: Assembled) -> int:
    """Count degrees of freedom: coordinates less the rank of the loops' slope, at the start and at two poses nearby.

    A start may be singular, as that of a flat four-bar linkage, so the largest rank counts.
    """
    chain = assembled.chain
    if not chain.tree.chords:
        return chain.size
    postures = (assembled.posture, *assembled.nearby())
    return min(len(null_space(chain.slope(posture, chain.poses(posture)), RANK)) for posture in postures)


def mass_matrix(assembled: Assembled, coordinates: Ints | None = None, screws: Floats | None = None) -> Floats:
    """Make the mass matrix of the coordinates at the start, of all or of some, as if no loop were closed."""
    chain, links = assembled.chain, assembled.network.links
    chosen = np.arange(chain.size) if coordinates is None else coordinates
    screws = (chain.screws(assembled.posture, assembled.poses) if screws is None else screws)[chosen]
    matrix = np.zeros((len(chosen), len(chosen)))
    on_way = chain.on_way[:-1, chosen]
    for number in np.flatnonzero(on_way.any(axis=1)):
        link, pose, ways = links[number], assembled.poses[number], on_way[number]
        own = np.flatnonzero(ways)
        if link.body.is_massless:
            continue
        motion = screws[own] * ways[own, None]
        center = times(pose.rotation, np.array(link.body.center_of_mass)) + pose.origin
        speed = motion[:, 3:] + crossed(motion[:, :3], center)
        tensor = times(times(pose.rotation, tensor_of(link.body.inertia)), pose.rotation.T)
        matrix[np.ix_(own, own)] += link.body.mass * times(speed, speed.T)
        matrix[np.ix_(own, own)] += times(times(motion[:, :3], tensor), motion[:, :3].T)
    return matrix


def groups(chain: Chain) -> list[Ints]:
    """Split coordinates into groups that move disjoint sets of bodies."""
    group = np.arange(chain.size)
    ways = [np.flatnonzero(row) for row in chain.on_way]
    for number in chain.tree.chords:
        tie = chain.tree.ties[number]
        own = np.arange(chain.first[number], chain.first[number] + tie.joint.freedoms)
        ways.append(np.concatenate([own, ways[tie.parent], ways[tie.child]]))
    for way in ways:
        for other in np.unique(group[way])[1:]:
            group[group == other] = group[way].min()
    return [np.flatnonzero(group == number) for number in np.unique(group)]


def _without_inertia(matrix: Floats) -> Floats | None:
    """Find a motion (n,) that a mass matrix (n, n) does not resist; of many coordinates by a factor, not by axes."""
    if len(matrix) <= MANY:
        values, vectors = eigh(matrix)
        return None if values[0] > LIGHTEST * values[-1] else vectors[:, 0]
    factor = cholesky(matrix, LIGHTEST)
    lost = np.flatnonzero(np.diag(factor) == 0.0)
    if not len(lost):
        return None
    k = int(lost[0])
    way = np.zeros(len(matrix))
    way[: k + 1] = [*-factor[k, :k], 1.0]
    for n in range(k - 1, -1, -1):  # of Lᵀ way = -row k, from its end
        way[n] /= factor[n, n]
        way[:n] -= factor[n, :n] * way[n]
    return way


def check_mass(assembled: Assembled, problems: Problems) -> None:
    """Refuse a model with a motion without inertia: E990, naming the joint that moves most in it."""
    chain = assembled.chain
    slope, screws = (find(assembled.posture, assembled.poses) for find in (chain.slope, chain.screws))
    for chosen in groups(chain):
        if len(chosen) > MOST_COUPLED:
            text = f"{len(chosen)} coordinates that move each other's bodies are more than can be put together"
            problems.error("E998", text, assembled.network.model.location)
            return
        rows = slope[:, chosen]
        rows = rows[np.abs(rows).max(axis=1, initial=0.0) > 0.0]
        free = np.eye(len(chosen))
        if len(rows):
            free = null_space(rows, RANK).T
        if not free.shape[1]:
            continue
        matrix = mass_matrix(assembled, chosen, screws)
        way = _without_inertia(times(times(free.T, matrix), free) if len(rows) else matrix)
        if way is None:
            continue
        most = int(chosen[int(np.abs(times(free, way)).argmax())])
        tie = chain.tree.ties[
            max(n for n, t in enumerate(chain.tree.ties) if t.joint.freedoms and chain.first[n] <= most)
        ]
        text = f"nothing has mass that would resist a motion of joint {quote(':'.join(tie.path))}"
        problems.error("E990", text, tie.joint.location, "give what it carries a mass and an inertia")
        return
