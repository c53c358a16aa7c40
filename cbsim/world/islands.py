"""`Island`: a model in a World, compiled for the rigid-body core: its rows, its constants, its start.

Its state is its rows in the table of bodies and nothing besides: every step starts cold, so that a Snapshot is the
whole truth. It has its own gravity and its own step, a whole number of which make one of the World.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

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
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.world.scene import Model
from cbsim.world.snapshot import Snapshot
from cbsim.world.tables import Floats, Ints

__all__ = ["Island", "island_of"]

PURE = SolverOptions(warm_start=False)  # a step depends on the Snapshot before it alone


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
    settings, counts : ndarray
        Options of the solver.
    start : (bodies, 13)
        State at the start: position, velocity, orientation, angular velocity.
    """

    name: str
    spec: MechanismSpec
    compiled: Compiled
    rows: Ints
    steps: int
    settings: Floats
    counts: Ints
    start: Floats
    _rooms: list[Rooms] = field(default_factory=list, repr=False)

    def state_of(self, snapshot: Snapshot) -> Floats:
        """Gather its state (bodies, 13) from a Snapshot."""
        columns = snapshot.columns
        parts = (columns.position, columns.velocity, columns.orientation, columns.angular_velocity)
        return np.concatenate([part[self.rows] for part in parts], axis=1)

    def write(self, snapshot: Snapshot, state: Floats) -> None:
        """Write its state (bodies, 13) to a Snapshot."""
        columns, rows = snapshot.columns, self.rows
        columns.position[rows], columns.velocity[rows] = state[:, :3], state[:, 3:6]
        columns.orientation[rows], columns.angular_velocity[rows] = state[:, 6:10], state[:, 10:]

    def follow(self, state: Floats, steps: int, time: float) -> Floats:
        """Advance by steps of the World.

        Parameters
        ----------
        state : ndarray, shape (bodies, 13)
            Left as it is.
        steps : int
        time : float
            Of the state [s].

        Returns
        -------
        ndarray, shape (n, bodies, 13)
            States after each step; fewer than asked for if the solver fails on the way.

        Raises
        ------
        StepError
            If it fails in the first of them.
        """
        rooms = self._rooms.pop() if self._rooms else Rooms(self.compiled)
        path, report = np.empty((steps * self.steps + 1, *state.shape)), np.zeros(c.REPORT)
        inputs, external = np.zeros((1, max(1, self.compiled.inputs))), np.zeros((len(state), 6))
        rooms.advance(
            state.copy(), inputs, external, self.settings, self.counts, len(path) - 1, path, report, own=False
        )
        done = len(path) - 1 if report[c.STATUS] == c.SOLVED else int(report[c.STEP_REACHED])
        if done < self.steps:
            when = time + done * self.spec.timestep
            raise step_error(self.spec, self.compiled, path[done], rooms.others, report, when)
        self._rooms.append(rooms)
        return np.asarray(path[self.steps : done + 1 : self.steps])

    def energy(self, snapshot: Snapshot) -> float:
        """Mechanical energy [J] of its bodies in gravity and springs, half a step before the Snapshot."""
        return mechanical_energy(self.spec, self.state_of(snapshot))

    def constraint_error(self, snapshot: Snapshot) -> float:
        """Largest violation of a joint [m, half rad]."""
        return float(np.abs(violations(self.compiled, self.state_of(snapshot))).max(initial=0.0))

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that its motion follows from."""
        yield from (np.asarray(table) for table in (*self.compiled.model, self.steps, self.settings, self.counts))


def island_of(model: Model, first: int) -> Island:
    """Compile a model whose bodies take the rows from ``first`` on.

    Raises
    ------
    ModelError
        If it cannot be simulated.
    """
    spec = model.figure.spec
    compiled = compile_mechanism(spec)
    settings, counts = PURE.encode(spec.timestep, spec.gravity, spec.input_scaling, False)
    rows = np.arange(first, first + len(spec.bodies))
    return Island(model.name, spec, compiled, rows, model.steps, settings, counts, start_state(model.figure, compiled))
