"""`Agents`: agents of many Worlds, stepped together; what all environments are made of."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.arrays import Floats, Ints
from cbsim.errors import UsageError
from cbsim.evaluation.rules.comfort import WINDOW
from cbsim.gym.course import Course, RoadPieces
from cbsim.gym.functions import NearField, Observe, Reward, WhenDone, default_done, default_reward
from cbsim.gym.kernels.columns import HISTORY, MEASURES, PLACES
from cbsim.gym.kernels.measures import command_into, first_wrong, measure_into
from cbsim.gym.kernels.observe import observe_into
from cbsim.gym.measures import Measures
from cbsim.gym.starts import ROUTE_LIMIT, SEEDS, STARTS, Seeds, Starts, check_seeds, seeds_of
from cbsim.jit import wrapping
from cbsim.sensing import Reading, Scan, sense
from cbsim.simulation.batch import SnapshotBatch
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

__all__ = ["Agents"]

STOP_WITHIN = 1.0  # [m] before a stop line, as DARPA's rules have it (`cbsim.spec.profiles`)
ACTIONS = {False: ("throttle", "steering"), True: ("throttle", "left lever", "right lever")}
NO_ORDERS = np.zeros((0, 0, 0), np.int32)
NO_PIECES = RoadPieces(np.zeros(5), np.zeros(0, np.int64), np.zeros((0, 7, 0), np.float32))


class Agents:
    """Agents of many Worlds of one scenario.

    User functions get it once a step, and return arrays of shape (worlds, agents, …).

    Parameters
    ----------
    world : World
    worlds : int
        How many are stepped together.
    names : sequence of str, optional
        Objects that take commands; by default all.
    observe : callable, optional
        Makes the observations of all agents; `NearField` by default.
    reward, done : callable, optional
        Reward of the last step, and whose episode ends with it; `default_reward` and `default_done` by default.
    start : str
        ``scenario``: agents start where the scenario has them; ``random``: anywhere on lanes, by the map seed;
        ``stop_line``: anywhere on lanes that end at a stop line, 10 m and more before it.
    route_length : float
        Least length of routes [m]; forks are drawn by the map seed.
    repeat : int
        Steps of the World in one step of the environment, with the same action.
    max_steps : int, optional
        Steps after which episodes are truncated.
    seeds : mapping, optional
        ``map``, ``traffic`` and ``sensors`` that are the same in all episodes.
    threads : int, optional
        Threads that step Worlds; by default as many as there are CPUs. The results are the same.

    Attributes
    ----------
    measures : Measures
        What is known of agents, in arrays (worlds, agents).
    table : ndarray, shape (worlds, agents, 25)
        The same in one array, in the order of the fields of `Measures`.
    active : ndarray of bool, shape (worlds, agents)
        Whose episode has not ended. The others brake and stand until their World begins anew.
    steps : ndarray of int, shape (worlds,)
        Steps since the episode began.
    seeds : list of Seeds
        Of the episode of each World.

    Raises
    ------
    UsageError
        If the World or an argument does not fit.
    """

    def __init__(  # noqa: PLR0913 - the public face spells out every option
        self,
        world: World,
        worlds: int = 1,
        names: Sequence[str] | None = None,
        *,
        observe: Observe | None = None,
        reward: Reward | None = None,
        done: WhenDone | None = None,
        start: str = "scenario",
        route_length: float = 300.0,
        repeat: int = 1,
        max_steps: int | None = None,
        seeds: Mapping[str, int] | None = None,
        threads: int | None = None,
    ) -> None:
        if start not in STARTS:
            raise UsageError(f"start is {start!r}, expected one of {', '.join(STARTS)}")
        for name, count in (("worlds", worlds), ("repeat", repeat), ("max_steps", max_steps), ("threads", threads)):
            if count is not None and (not isinstance(count, int | np.integer) or count < 1):
                raise UsageError(f"{name} is {count!r}, expected a whole number of at least 1")
        self.world, self.course = world, Course(world, names)
        self.observe_agents = observe or NearField()
        self.reward, self.done = reward or default_reward, done or default_done
        self.repeat, self.max_steps, self.step_length = repeat, max_steps, repeat * world.step
        self.shape = worlds, len(self.course.names)
        self._starts = Starts(self.course, start, route_length)
        self._fixed, self._base = check_seeds(seeds), world.settings.seed
        self._episodes = np.full(worlds, -1, np.int64)
        self.batch = SnapshotBatch(world, worlds)
        self.table: Floats = np.zeros((*self.shape, MEASURES))
        self.measures = Measures.of(self.table)
        self._routes = np.full((*self.shape, ROUTE_LIMIT), -1, np.int64)
        self._places = np.zeros((*self.shape, PLACES))
        window = 2 * max(1, round(0.5 * WINDOW / world.step)) + 1
        self._history = np.zeros((*self.shape, window, HISTORY))
        self.active = np.zeros(self.shape, bool)
        self.steps = np.zeros(worlds, np.int64)
        self.seeds = [Seeds(0, 0, 0)] * worlds
        self._threads = min(threads or len(os.sched_getaffinity(0)), worlds)
        self._pool = ThreadPoolExecutor(self._threads - 1, "cbsim-gym") if self._threads > 1 else None
        self._parts: dict[tuple[int, int], _Part] = {}
        self._near: dict[NearField, _NearFieldTables] = {}
        self._observed = np.zeros(worlds, bool)  # Worlds whose observations by `observe_agents` have been made

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the agents, in their order."""
        return self.course.names

    @property
    def action_size(self) -> int:
        """Numbers of an action: throttle and steering, or throttle and two levers; each from −1 to 1."""
        return len(ACTIONS[self.course.levers])

    def snapshot(self, index: int) -> Snapshot:
        """Copy the Snapshot of a World."""
        return self.batch.get(index)

    def sense(self, index: int) -> dict[str, Scan | Reading]:
        """Take the readings of all sensors of a World, by key, with noise of the sensors' seed."""
        snapshot = self.snapshot(index)
        snapshot.columns.seed[0] = self.seeds[index].sensors
        return sense(self.world, snapshot)

    def seed(self, seed: int) -> None:
        """Begin anew with the first episode of a seed."""
        if not 0 <= seed < 2**63:
            raise UsageError(f"the seed is {seed!r}, expected a whole number from 0 to 2⁶³ − 1")
        self._base = int(seed)
        self._episodes[:] = -1

    def reset(self, index: int | Sequence[int], seeds: Mapping[str, Any] | None = None) -> None:
        """Begin the next episode of a World, or of several.

        Parameters
        ----------
        index : int or sequence of int
            Of the World.
        seeds : mapping, optional
            ``map``, ``traffic`` and ``sensors`` of this episode; other options are ignored.
        """
        named = {name: value for name, value in (seeds or {}).items() if name in SEEDS}
        given = {**self._fixed, **check_seeds(named)}
        chosen = [index] if isinstance(index, int | np.integer) else index
        for one in chosen:
            self._begin(one, given)
        if len(chosen) == self.shape[0]:
            self._measure(0, self.shape[0])
        else:
            for one in chosen:
                self._measure(one, one + 1)

    def _begin(self, index: int, given: Mapping[str, int]) -> None:
        """Put the agents of a World where its next episode begins."""
        self._episodes[index] += 1
        number = int(self._episodes[index]) * self.shape[0] + index
        self.seeds[index] = seeds_of(self._base, number, given)
        start = self._starts.draw(self.seeds[index])
        self.batch.put(index, start.snapshot)
        self._routes[index], self._places[index] = start.routes, start.places
        self.table[index], self._history[index] = 0.0, 0.0
        self.active[index], self.steps[index], self._observed[index] = True, 0, False

    def check(self, actions: ArrayLike) -> NDArray[np.float32]:
        """Check the actions of all agents, before any of them acts.

        Raises
        ------
        UsageError
            If the shape is wrong, or a number is not within −1 and 1.
        """
        try:
            given = np.ascontiguousarray(actions, np.float32)
        except (TypeError, ValueError):
            raise UsageError(f"actions are no array of numbers: {str(actions)[:80]}") from None
        shape = *self.shape, self.action_size
        if given.size != self.shape[0] * self.shape[1] * self.action_size or given.shape[-1:] != shape[-1:]:
            named = ", ".join(ACTIONS[self.course.levers])
            whole = f"({shape[2]},)" if shape[:2] == (1, 1) else f"({shape[0] * shape[1]}, {shape[2]})"
            raise UsageError(f"actions have the shape {given.shape}, expected {whole}: {named}")
        given = given.reshape(shape)
        wrong = int(first_wrong(given.reshape(-1)))
        if wrong >= 0:
            index, agent, number = (int(part) for part in np.unravel_index(wrong, shape))
            what, value = ACTIONS[self.course.levers][number], float(given[index, agent, number])
            where = f"'{self.names[agent]}' in World {index} at step {int(self.steps[index])}"
            raise UsageError(f"action of agent {where}: {what} is {value:g}, expected a number from -1 to 1")
        return given

    def step(self, actions: ArrayLike) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Take a step of the environment.

        Parameters
        ----------
        actions : array_like, shape (worlds, agents, k)
            Of all agents; those of inactive ones are not used.

        Returns
        -------
        rewards : ndarray, shape (worlds, agents)
            0 for those that were inactive.
        terminated : ndarray of bool
            By `done`, in this step or before.
        truncated : ndarray of bool
            By `max_steps`.

        Raises
        ------
        UsageError
            If an action is wrong; nothing has changed then.
        """
        given, near = self.check(actions), self.observe_agents
        tables = self._tables(near) if isinstance(near, NearField) else None
        self._observed[:] = False
        self._in_threads(lambda first, last: self._advance(first, last, given, tables))
        self._observed[:] = tables is not None
        self.steps += 1
        rewards = np.where(self.active, self.reward(self), 0.0)
        ended = np.asarray(self.done(self), bool) & self.active
        self.active &= ~ended
        over = np.zeros(self.shape[0], bool) if self.max_steps is None else self.steps >= self.max_steps
        truncated = self.active & over[:, None]
        terminated = ~self.active
        self.active &= ~truncated
        return rewards, terminated, truncated

    def observations(self) -> NDArray[Any]:
        """Make the observations of all agents, shape (worlds, agents, …)."""
        return self.observe_agents(self)

    def observe(self, near: NearField, index: int | None = None) -> NDArray[np.float32]:
        """Make observations of surroundings, of one World or of all; the same array each time, written anew."""
        tables = self._tables(near)
        missing = np.arange(self.shape[0]) if near is not self.observe_agents else np.flatnonzero(~self._observed)
        if index is not None:
            self._observe(tables, index, index + 1)
        elif len(missing) == self.shape[0]:
            self._in_threads(lambda first, last: self._observe(tables, first, last))
        else:
            for one in missing.tolist():
                self._observe(tables, one, one + 1)
        if index is None and near is self.observe_agents:
            self._observed[:] = True
        return tables.out

    def _tables(self, near: NearField) -> _NearFieldTables:
        if near not in self._near:
            self._near[near] = _NearFieldTables(self.course, near, self.shape)
        return self._near[near]

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
            self._threads = 1

    def _in_threads(self, work: Callable[[int, int], None]) -> None:
        """Share out the Worlds among threads, of which this is one."""
        bounds = [self.shape[0] * k // self._threads for k in range(self._threads + 1)]
        if self._pool is None:
            work(0, self.shape[0])
            return
        others = [self._pool.submit(work, bounds[k], bounds[k + 1]) for k in range(1, self._threads)]
        try:
            work(bounds[0], bounds[1])
        finally:
            for other in others:
                other.result()

    def _advance(self, first: int, last: int, actions: NDArray[np.float32], tables: _NearFieldTables | None) -> None:
        """Advance some Worlds, and observe them in the same call of a thread: few will begin anew in this step."""
        part = self._part(first, last)
        command_into(*part.command, actions[first:last], part.active)
        for k in range(self.repeat):
            self.batch.advance(first, last)
            measure_into(*part.measure[k == 0])
        if tables is not None:
            self._observe(tables, first, last)

    def _measure(self, first: int, last: int) -> None:
        """Measure agents of Worlds that have just begun."""
        measure_into(*self._part(first, last).measure[True])

    def _observe(self, tables: _NearFieldTables, first: int, last: int) -> None:
        if (first, last) not in tables.arguments:
            tables.arguments[first, last] = self._arguments_of(tables, slice(first, last))
        with wrapping():
            observe_into(*tables.arguments[first, last])

    def _part(self, first: int, last: int) -> _Part:
        """Look up the views of some Worlds' tables; they are the same in all steps."""
        part = self._parts.get((first, last))
        if part is None:
            part = self._parts[first, last] = self._make_part(slice(first, last))
        return part

    def _make_part(self, rows: slice) -> _Part:
        batch, course = self.batch, self.course
        blocks = batch.floats[rows].reshape(-1), batch.ints[rows].reshape(-1), rows.stop - rows.start
        sizes, vehicles = self.world.layout.sizes, np.ascontiguousarray(course.rows[:, 1])
        roads = course.samples, course.offsets, course.numbers, self._routes[rows], self._places[rows]
        before = (
            *(sizes, blocks[:2], blocks[2], course.rows, course.half_lengths, roads),
            *((self._history[rows], course.weights), (self.step_length, STOP_WITHIN)),
            *(batch.contacts[rows], batch.outcomes[rows]),
        )
        measure = (*before, False, self.table[rows]), (*before, True, self.table[rows])
        return _Part((sizes, *blocks, vehicles), self.active[rows], measure)

    def _arguments_of(self, tables: _NearFieldTables, rows: slice) -> tuple[Any, ...]:
        """Arguments of `observe_into` for some Worlds."""
        batch, course, near, pieces = self.batch, self.course, tables.near, tables.pieces
        blocks = batch.floats[rows].reshape(-1), batch.ints[rows].reshape(-1)
        return (
            *(self.world.pack, self.world.layout.sizes, blocks, rows.stop - rows.start),
            *(course.rows, (course.others, tables.orders[rows])),
            *((near.points, near.objects, near.pieces), (near.reach, near.spacing)),
            *((course.samples, course.offsets, self._routes[rows], self._places[rows]), self.table[rows]),
            *((pieces.grid, pieces.cells, pieces.lists), tables.out[rows]),
        )


class _Part(NamedTuple):
    """Arguments of kernels for a range of Worlds; `measure` has those of later steps and of the first."""

    command: tuple[Any, Any, Any, int, Ints]
    active: NDArray[np.bool_]
    measure: tuple[tuple[Any, ...], tuple[Any, ...]]


class _NearFieldTables:
    """Tables of an observation of surroundings, and the array that it is written to."""

    def __init__(self, course: Course, near: NearField, shape: tuple[int, int]) -> None:
        self.near, self.arguments = near, dict[tuple[int, int], tuple[Any, ...]]()
        self.pieces = course.pieces(near.pieces) if near.pieces else NO_PIECES
        self.out = np.zeros((*shape, near.size), np.float32)
        self.orders = NO_ORDERS
        if 0 < near.objects < len(course.others) - 1:
            self.orders = np.tile(np.arange(near.objects, dtype=np.int32), (*shape, 1))
