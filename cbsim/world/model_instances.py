"""`ModelInstance`: a model in a World, compiled for the rigid-body core: its rows, its constants, its start.

Its state consists of its rows in the table of bodies and the controller state of its behaviour or motion. Every step
starts cold, so nothing is hidden between steps. It has its own frame, units, gravity and step, a whole number of which
make one step of the World.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.dynamics.compile import Compiled, compile_mechanism
from cbsim.dynamics.energy import mechanical_energy
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.loop_closure import violations
from cbsim.dynamics.options import SolverOptions
from cbsim.dynamics.start_state import start_state
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.errors import ModelError
from cbsim.spec.mechanism.behaviour import Behaviour, MasslessLinks, Motion
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.world.frames import WORLD_FRAME, Frame
from cbsim.world.scene import Model
from cbsim.world.snapshot import Snapshot

__all__ = ["ModelInstance", "SolverFallbacks", "instance_of", "solver_fallbacks_of"]

PURE = SolverOptions(warm_start=False)  # cold start: a step depends on the Snapshot before it alone
HARD: tuple[dict[str, Any], ...] = (  # settings tried in turn for steps without a solution
    {"btol": 1e-3, "max_iter": 200},
    {"btol": 1e-2, "max_iter": 400},
    {"rtol": 1e-4, "btol": 1e-2, "max_iter": 400},
)

SolverFallbacks = tuple[tuple[Floats, Ints], ...]
"""Settings of the solver: the usual ones, then those tried in turn for steps without a solution."""


@dataclass(frozen=True, eq=False)
class ModelInstance:
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
        Its rows in the table of bodies, in the order of `spec.bodies`; those of its massless links follow.
    steps : int
        Steps of the model in one of the World.
    solver_fallbacks : SolverFallbacks
    start : (bodies, 13)
        State at the start, in the World: position, velocity, orientation, angular velocity.
    controller_rows : slice
        Its rows in the Snapshot column `controller_state`.
    memory : (m,)
        Controller state at the start.
    most_turn : float
        Largest rotation of a body in a step of a model with a behaviour [rad].
    behaviour, motion : Behaviour, Motion or None
        Controller of its joints and bodies, or motion in place of the core.
    massless_links : MasslessLinks or None
        Links without mass, which follow the mechanism.
    frame : Frame
        Its own frame and units in the World.
    tolerance : float or None
        Tolerance of the solver's equations, if its file gives one.
    """

    name: str
    spec: MechanismSpec
    compiled: Compiled
    rows: Ints
    steps: int
    solver_fallbacks: SolverFallbacks
    start: Floats
    controller_rows: slice
    memory: Floats
    behaviour: Behaviour | None = None
    motion: Motion | None = None
    massless_links: MasslessLinks | None = None
    frame: Frame = WORLD_FRAME
    most_turn: float = math.inf
    tolerance: float | None = None
    _workspaces: list[SolverWorkspaces] = field(default_factory=list, repr=False)

    @property
    def controls(self) -> Mapping[str, int]:
        """Name of a control → row in the Snapshot column `controller_state`."""
        controller = self.behaviour or self.motion
        return (
            {}
            if controller is None
            else {name: self.controller_rows.start + place for name, place in controller.controls.items()}
        )

    @property
    def masses(self) -> Floats:
        """Masses of its bodies in the World (bodies,) [kg]."""
        return self.frame.weight * np.array([body.mass for body in self.spec.bodies])

    @property
    def all_rows(self) -> Ints:
        """Its rows in the table of bodies, and those of its massless links."""
        massless_links = 0 if self.massless_links is None else len(self.massless_links.bodies)
        return np.arange(self.rows[0], self.rows[0] + len(self.rows) + massless_links)

    def with_massless_links(self, states: Floats) -> Floats:
        """Add its massless links to states (n, bodies, 13) in the World; return (n, all rows, 13)."""
        if self.massless_links is None:
            return states
        own = self.frame.to_model(states.reshape(-1, 13)).reshape(states.shape)
        riding = self.massless_links.follow(own, self.spec.timestep)
        outside = self.frame.to_world(riding.reshape(-1, 13)).reshape(riding.shape)
        return np.concatenate([states, outside], axis=1)

    def rows_of(self, snapshot: Snapshot) -> Floats:
        """Gather its state (bodies, 13) in the World from a Snapshot."""
        columns = snapshot.columns
        parts = (columns.position, columns.velocity, columns.orientation, columns.angular_velocity)
        return np.concatenate([part[self.rows] for part in parts], axis=1)

    def state_of(self, snapshot: Snapshot) -> Floats:
        """Gather its state (bodies, 13) in its own frame and units from a Snapshot."""
        return self.frame.to_model(self.rows_of(snapshot))

    def controller_state_of(self, snapshot: Snapshot) -> Floats:
        """Copy its controller state (m,) from a Snapshot."""
        return np.array(snapshot.columns.controller_state[self.controller_rows])

    def write(self, snapshot: Snapshot, state: Floats, controller_state: Floats) -> None:
        """Write its state (bodies, 13) in the World and its controller state (m,) to a Snapshot."""
        columns, rows = snapshot.columns, self.all_rows
        state = self.with_massless_links(state[None])[0]
        columns.position[rows], columns.velocity[rows] = state[:, :3], state[:, 3:6]
        columns.orientation[rows], columns.angular_velocity[rows] = state[:, 6:10], state[:, 10:]
        columns.controller_state[self.controller_rows] = controller_state

    def take_workspace(self) -> SolverWorkspaces:
        """Take an idle workspace, or make one."""
        try:
            return self._workspaces.pop()
        except IndexError:
            return SolverWorkspaces(self.compiled)

    def return_workspace(self, workspace: SolverWorkspaces) -> None:
        """Return a workspace for the next step, in this thread or another."""
        self._workspaces.append(workspace)

    def time(self, step: int, n: int) -> float:
        """Time [s] of the model's step n after one of the World: a product, the same in batches of any size."""
        return (step * self.steps + n) * self.spec.timestep

    def energy(self, snapshot: Snapshot) -> float:
        """Mechanical energy [J] of its bodies in gravity and springs, half a step before the Snapshot."""
        return self.frame.work * mechanical_energy(self.spec, self.state_of(snapshot))

    def constraint_error(self, snapshot: Snapshot) -> float:
        """Largest violation of a joint [m, half rad]."""
        found = np.abs(violations(self.compiled, self.state_of(snapshot)))
        return float(max(self.frame.scale * found[:, :3].max(initial=0.0), found[:, 3:].max(initial=0.0)))

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that determine its motion, for the digest of a World."""
        yield from (np.asarray(table) for table in (*self.compiled.model, self.steps))
        yield from (table for settings in self.solver_fallbacks for table in settings)
        yield from (self.start, self.memory, self.frame.table(), np.array([self.most_turn]))
        if self.massless_links is not None:
            yield from self.massless_links.tables()
        for controller in (self.behaviour, self.motion):
            if controller is not None:
                named = "\0".join(f"{name}={place}" for name, place in controller.controls.items())
                yield np.array([*named.encode()], np.uint8)
                yield from controller.tables()


def solver_fallbacks_of(spec: MechanismSpec, tolerance: float | None) -> SolverFallbacks:
    """Encode the settings of the solver that are tried in turn, given the tolerance of a model."""
    first = PURE
    if tolerance is not None:  # sticking contacts creep by the residual of complementarity
        first = replace(PURE, rtol=tolerance, btol=max(tolerance, 1e-10))
    hard = [{**options, "rtol": max(options.get("rtol", 0.0), first.rtol)} for options in HARD]
    chosen = (first, *(replace(first, **options) for options in hard))
    encoded = tuple(one.encode(spec.timestep, spec.gravity, spec.input_scaling, False) for one in chosen)
    for _, counts in encoded:
        counts[c.MAX_RELAXED_ITER] = counts[c.MAX_ITER]  # no extra iterations: a fallback follows
    return encoded


def instance_of(model: Model, first: int, controller_row: int, frame: Frame = WORLD_FRAME) -> ModelInstance:
    """Compile a model into a ModelInstance.

    Parameters
    ----------
    model : Model
    first, controller_row : int
    frame : Frame
        Of the model in the World.

    Raises
    ------
    ModelError
        If it cannot be simulated.
    """
    description = model.description
    if description.behaviour is not None and description.motion is not None:
        raise ModelError("has a behaviour and a motion, which exclude each other", subject=f"model '{model.name}'")
    spec, controller = description.spec, description.behaviour or description.motion
    compiled = compile_mechanism(spec)
    memory = np.zeros(0) if controller is None else np.array(controller.memory, float)
    for name, value in model.controls.items():
        memory[_control(model, name)] = value
    return ModelInstance(
        model.name,
        spec,
        compiled,
        np.arange(first, first + len(spec.bodies)),
        model.steps,
        solver_fallbacks_of(spec, description.tolerance),
        frame.to_world(start_state(description, compiled)),
        slice(controller_row, controller_row + len(memory)),
        memory,
        description.behaviour,
        description.motion,
        description.massless_links,
        frame,
        math.inf if description.most_turn is None else description.most_turn,
        description.tolerance,
    )


def _control(model: Model, name: str) -> int:
    """Find the index of a control in the controller state of a model."""
    controller = model.description.behaviour or model.description.motion
    if controller is None or name not in controller.controls:
        raise ModelError(f"has no control '{name}'", subject=f"model '{model.name}'")
    return controller.controls[name]
