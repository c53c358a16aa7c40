"""`Island`: a model in a World, compiled for the rigid-body core: its rows, its constants, its start.

Its state is its rows in the table of bodies and what its behaviour or motion keeps in mind, and nothing besides:
every step starts cold, so that a Snapshot is the whole truth. It has its own frame and units, its own gravity and its
own step, a whole number of which make one of the World's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.dynamics.closure import violations
from cbsim.dynamics.compile import Compiled, compile_mechanism
from cbsim.dynamics.energy import mechanical_energy
from cbsim.dynamics.failure import step_error
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.options import SolverOptions
from cbsim.dynamics.rooms import Rooms
from cbsim.dynamics.start import start_state
from cbsim.errors import ModelError, StepError
from cbsim.spec.mechanism.behaviour import Behaviour, Motion
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.world.frames import HERE, Frame
from cbsim.world.scene import Model
from cbsim.world.snapshot import Snapshot
from cbsim.world.tables import Floats, Ints

__all__ = ["Island", "island_of", "manners_of", "take_step"]

PURE = SolverOptions(warm_start=False)  # a step depends on the Snapshot before it alone
HARD: tuple[dict[str, Any], ...] = (  # for steps that are not made so, in turn
    {"btol": 1e-3, "max_iter": 200},
    {"btol": 1e-2, "max_iter": 400},
    {"rtol": 1e-4, "btol": 1e-2, "max_iter": 400},
)
NO_PATH = np.zeros((0, 0, 13))

Way = tuple[Floats, Floats]
"""States (n, bodies, 13) and what is kept in mind (n, m) after each step of the World."""


@dataclass(frozen=True, eq=False)
class Island:
    """One model of a World.

    Attributes
    ----------
    name : str
        Of the model.
    spec : MechanismSpec
        What it is made of.
    compiled : Compiled
        Its tables.
    rows : (bodies,) int64
        Its rows in the table of bodies, in the order of `spec.bodies`.
    steps : int
        Steps of the model in one of the World.
    manners : tuple of (ndarray, ndarray)
        Options of the solver: its own, and in turn those for steps that it cannot make so.
    start : (bodies, 13)
        State at the start, in the World: position, velocity, orientation, angular velocity.
    mind : slice
        Its rows in the column of what models keep in mind.
    memory : (m,)
        What it keeps in mind at the start.
    most_turn : float
        How far a body may turn in a step of a model with a behaviour [rad].
    behaviour, motion : Behaviour, Motion or None
        What drives it, or what moves it in place of the core.
    frame : Frame
        Where in the World its own frame is, and how large its units are there.
    """

    name: str
    spec: MechanismSpec
    compiled: Compiled
    rows: Ints
    steps: int
    manners: tuple[tuple[Floats, Ints], ...]
    start: Floats
    mind: slice
    memory: Floats
    behaviour: Behaviour | None = None
    motion: Motion | None = None
    frame: Frame = HERE
    most_turn: float = math.inf
    _rooms: list[Rooms] = field(default_factory=list, repr=False)

    @property
    def controls(self) -> Mapping[str, int]:
        """Name of a control → its place in the column of what models keep in mind."""
        minded = self.behaviour or self.motion
        return {} if minded is None else {name: self.mind.start + place for name, place in minded.controls.items()}

    def rows_of(self, snapshot: Snapshot) -> Floats:
        """Gather its state (bodies, 13) in the World from a Snapshot."""
        columns = snapshot.columns
        parts = (columns.position, columns.velocity, columns.orientation, columns.angular_velocity)
        return np.concatenate([part[self.rows] for part in parts], axis=1)

    def state_of(self, snapshot: Snapshot) -> Floats:
        """Gather its state (bodies, 13) in its own frame and units from a Snapshot."""
        return self.frame.inwards(self.rows_of(snapshot))

    def mind_of(self, snapshot: Snapshot) -> Floats:
        """Copy what it keeps in mind (m,) from a Snapshot."""
        return np.array(snapshot.columns.mind[self.mind])

    def write(self, snapshot: Snapshot, state: Floats, mind: Floats) -> None:
        """Write its state (bodies, 13) in the World and what it keeps in mind (m,) to a Snapshot."""
        columns, rows = snapshot.columns, self.rows
        columns.position[rows], columns.velocity[rows] = state[:, :3], state[:, 3:6]
        columns.orientation[rows], columns.angular_velocity[rows] = state[:, 6:10], state[:, 10:]
        columns.mind[self.mind] = mind

    def follow(self, state: Floats, mind: Floats, step: int, steps: int) -> Way:
        """Advance by steps of the World.

        Parameters
        ----------
        state, mind : ndarray, shape (bodies, 13), (m,)
            In the World; left as they are.
        step : int
            Number of the World's step that they are of.
        steps : int

        Returns
        -------
        states : ndarray, shape (n, bodies, 13)
            After each step; fewer than asked for if the solver fails on the way.
        minds : ndarray, shape (n, m)

        Raises
        ------
        StepError
            If it fails in the first of them.
        """
        if self.frame.plain:
            return self._follow(state, mind, step, steps)
        way = np.empty((steps, *state.shape)), np.empty((steps, len(mind)))
        for k in range(steps):  # through the World in each, so that batches of any size have the same bits
            try:
                states, minds = self._follow(self.frame.inwards(state), mind, step + k, 1)
            except StepError:
                if k == 0:
                    raise
                return _first(way, k)
            way[0][k], way[1][k] = state, mind = self.frame.outwards(states[0]), minds[0]
        return way

    def _follow(self, state: Floats, mind: Floats, step: int, steps: int) -> Way:
        """Advance in its own frame."""
        if self.motion is not None:
            return self._move(self.motion, state.copy(), mind.copy(), step, steps)
        if self.behaviour is not None:
            return self._act(self.behaviour, state.copy(), mind.copy(), step, steps)
        return self._go(state.copy(), step, steps)

    def _go(self, state: Floats, step: int, steps: int) -> Way:
        """Let the core go through all steps in one call."""
        rooms = self._rooms.pop() if self._rooms else Rooms(self.compiled)
        path, report = np.empty((steps * self.steps + 1, *state.shape)), np.zeros(c.REPORT)
        inputs, external = self._nothing()
        done, total = 0, len(path) - 1
        while done < total:
            rooms.advance(state, inputs, external, *self.manners[0], total - done, path[done:], report, own=False)
            if report[c.STATUS] == c.SOLVED:
                done = total
                break
            done += int(report[c.STEP_REACHED])
            if not take_hard_step(rooms, self.manners, state, inputs, external, report):
                break
            done += 1
            path[done] = state
        if done < self.steps:
            when = self.time(step, done)
            raise step_error(self.spec, self.compiled, path[done], rooms.others, report, when)
        self._rooms.append(rooms)
        states = np.asarray(path[self.steps : done + 1 : self.steps])
        return states, np.empty((len(states), 0))

    def _act(self, behaviour: Behaviour, state: Floats, mind: Floats, step: int, steps: int) -> Way:
        """Ask the behaviour before each step of the core."""
        rooms = self._rooms.pop() if self._rooms else Rooms(self.compiled)
        way = self._way(steps)
        (inputs, external), report = self._nothing(), np.zeros(c.REPORT)
        for n in range(steps * self.steps):
            inputs[:], external[:] = 0.0, 0.0
            behaviour.act(self.time(step, n), state.copy(), mind, inputs[0, : self.compiled.inputs], external)
            if not take_step(rooms, self.manners, state, inputs, external, report):
                if n < self.steps:
                    when = self.time(step, n)
                    raise step_error(self.spec, self.compiled, state, rooms.others, report, when)
                return _first(way, n // self.steps)
            if self.most_turn < math.inf:
                _slow_down(state, self.most_turn / self.spec.timestep)
            self._note(way, n, state, mind)
        self._rooms.append(rooms)
        return way

    def _move(self, motion: Motion, state: Floats, mind: Floats, step: int, steps: int) -> Way:
        """Let the motion say where bodies are."""
        way = self._way(steps)
        for n in range(steps * self.steps):
            before, when = state.copy(), self.time(step, n)
            motion.move(when, self.spec.timestep, state, mind)
            if not np.isfinite(state).all():
                if n < self.steps:
                    raise StepError(f"the motion of '{self.name}' left the numbers", time=when, snapshot=before)
                return _first(way, n // self.steps)
            self._note(way, n, state, mind)
        return way

    def time(self, step: int, n: int) -> float:
        """Time [s] of the model's step n after one of the World: a product, the same in batches of any size."""
        return (step * self.steps + n) * self.spec.timestep

    def _nothing(self) -> tuple[Floats, Floats]:
        """Make room for inputs and forces, of zeros."""
        return np.zeros((1, max(1, self.compiled.inputs))), np.zeros((len(self.rows), 6))

    def _way(self, steps: int) -> Way:
        return np.empty((steps, len(self.rows), 13)), np.empty((steps, len(self.memory)))

    def _note(self, way: Way, n: int, state: Floats, mind: Floats) -> None:
        """Keep what a step of the model came to, where one of the World ends with it."""
        if (n + 1) % self.steps == 0:
            way[0][n // self.steps], way[1][n // self.steps] = state, mind

    def energy(self, snapshot: Snapshot) -> float:
        """Mechanical energy [J] of its bodies in gravity and springs, half a step before the Snapshot."""
        return self.frame.work * mechanical_energy(self.spec, self.state_of(snapshot))

    def constraint_error(self, snapshot: Snapshot) -> float:
        """Largest violation of a joint [m, half rad]."""
        found = np.abs(violations(self.compiled, self.state_of(snapshot)))
        return float(max(self.frame.scale * found[:, :3].max(initial=0.0), found[:, 3:].max(initial=0.0)))

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that its motion follows from."""
        yield from (np.asarray(table) for table in (*self.compiled.model, self.steps))
        yield from (table for manner in self.manners for table in manner)
        yield from (self.start, self.memory, self.frame.table(), np.array([self.most_turn]))
        for minded in (self.behaviour, self.motion):
            if minded is not None:
                named = "\0".join(f"{name}={place}" for name, place in minded.controls.items())
                yield np.array([*named.encode()], np.uint8)
                yield from minded.tables()


def manners_of(spec: MechanismSpec, tolerance: float | None) -> tuple[tuple[Floats, Ints], ...]:
    """Encode the options of the solver that are tried in turn, given what a model lets it leave of its equations."""
    first = PURE
    if tolerance is not None:  # what sticks creeps by what complementarity leaves
        first = replace(PURE, rtol=tolerance, btol=max(tolerance, 1e-10))
    hard = [{**options, "rtol": max(options.get("rtol", 0.0), first.rtol)} for options in HARD]
    chosen = (first, *(replace(first, **options) for options in hard))
    return tuple(one.encode(spec.timestep, spec.gravity, spec.input_scaling, False) for one in chosen)


def take_step(
    rooms: Rooms, manners: tuple[tuple[Floats, Ints], ...], state: Floats, inputs: Floats, external: Floats,
    report: Floats,
) -> bool:  # fmt: skip
    """Take one step in place, in the first manner in which it can be made; whether there is one."""
    rooms.advance(state, inputs, external, *manners[0], 1, NO_PATH, report, own=False)
    return bool(report[c.STATUS] == c.SOLVED) or take_hard_step(rooms, manners, state, inputs, external, report)


def take_hard_step(
    rooms: Rooms, manners: tuple[tuple[Floats, Ints], ...], state: Floats, inputs: Floats, external: Floats,
    report: Floats,
) -> bool:  # fmt: skip
    """Take one step in any manner but the first."""
    if report[c.STATUS] == c.TOO_FAST:
        return False
    for manner in manners[1:]:
        rooms.advance(state, inputs, external, *manner, 1, NO_PATH, report, own=False)
        if report[c.STATUS] == c.SOLVED:
            return True
    return False


def _first(way: Way, count: int) -> Way:
    return way[0][:count], way[1][:count]


def island_of(model: Model, first: int, mind: int, frame: Frame = HERE) -> Island:
    """Compile a model whose bodies take the rows from ``first`` on, and what it keeps in mind those from ``mind`` on.

    Parameters
    ----------
    model : Model
    first, mind : int
    frame : Frame
        Where it stands.

    Raises
    ------
    ModelError
        If it cannot be simulated.
    """
    figure = model.figure
    if figure.behaviour is not None and figure.motion is not None:
        raise ModelError("has a behaviour and a motion, which exclude each other", subject=f"model '{model.name}'")
    spec, minded = figure.spec, figure.behaviour or figure.motion
    compiled = compile_mechanism(spec)
    memory = np.zeros(0) if minded is None else np.array(minded.memory, float)
    for name, value in model.controls.items():
        memory[_control(model, name)] = value
    return Island(
        model.name,
        spec,
        compiled,
        np.arange(first, first + len(spec.bodies)),
        model.steps,
        manners_of(spec, figure.tolerance),
        frame.outwards(start_state(figure, compiled)),
        slice(mind, mind + len(memory)),
        memory,
        figure.behaviour,
        figure.motion,
        frame,
        math.inf if figure.most_turn is None else figure.most_turn,
    )


def _slow_down(state: Floats, most: float) -> None:
    """Let no body spin faster than ``most`` [rad/s]."""
    spin = state[:, 10:13]
    squares = (spin * spin).sum(axis=1)
    if squares.max() > most * most:
        spin *= np.minimum(1.0, most / np.sqrt(np.maximum(squares, most * most)))[:, None]


def _control(model: Model, name: str) -> int:
    """Find the place of a control in the memory of a model."""
    minded = model.figure.behaviour or model.figure.motion
    if minded is None or name not in minded.controls:
        raise ModelError(f"has no control '{name}'", subject=f"model '{model.name}'")
    return minded.controls[name]
