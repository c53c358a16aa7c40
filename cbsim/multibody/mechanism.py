"""`Mechanism`: the mutable interface of the rigid-body core, with one state and one input."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats, Ints
from cbsim.dynamics.compile import compile_mechanism
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.minimal import minimal_to_maximal
from cbsim.dynamics.kernels.step import OUTER
from cbsim.dynamics.kernels.tables import Work
from cbsim.dynamics.loop_closure import check_mobility, close
from cbsim.dynamics.model import Slopes
from cbsim.dynamics.options import SolverOptions, chosen_options
from cbsim.dynamics.springs import diagnose_springs, stiff_springs
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.errors import ModelError, StabilityWarning
from cbsim.formats import write as write_file
from cbsim.geometry.pose import multiply
from cbsim.multibody.contact_report import ContactPoint, points_in
from cbsim.multibody.solution import Solution
from cbsim.multibody.system import System, make_system
from cbsim.spec.mechanism.bodies import Body, Node, Origin
from cbsim.spec.mechanism.colliders import Collider
from cbsim.spec.mechanism.contacts import ContactConstraint
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.state import State, StateRows, step_quaternion
from cbsim.spec.mechanism.stored import StoredMechanism

__all__ = ["Mechanism"]


class Mechanism:
    """Bodies, joints and contacts, with a state and an input of their own.

    Parameters
    ----------
    origin : Origin
        The world.
    bodies : sequence of Body
        In the order of the maximal state.
    joints : sequence of JointConstraint
        In the order of the inputs; every body must depend on the origin by some of them.
    contacts : ContactConstraint or sequence of them
        Lists in it are flattened.
    timestep : float
        Length of a step [s].
    gravity : float or array_like, shape (3,)
        Acceleration [m/s²]; a number is along z.
    input_scaling : float, optional
        Impulse per input. Without, the timestep: inputs are forces and torques. With 1 they are impulses. The inputs
        of motors are velocities whatever it is.
    colliders : sequence of Collider, optional
        What is solid: every one against every other.

    Attributes
    ----------
    origin, bodies, joints, contacts
        As given. At first every coordinate is zero, or near it where loops ask for that. Their
        `id`, `state`, `impulses` and the like are those in the mechanism made last of them.
    mu : float
        Largest violation of complementarity in the last solve on the mechanism's own state: how soft contacts were.

    Raises
    ------
    ModelError
        If it cannot be simulated; the message names the part.

    Warns
    -----
    StabilityWarning
        If explicit springs are too stiff for the timestep, with the step that would do.
    """

    def __init__(
        self,
        origin: Origin,
        bodies: Sequence[Body],
        joints: Sequence[JointConstraint],
        contacts: ContactConstraint | Sequence[Any] = (),
        *,
        timestep: float = 0.01,
        gravity: ArrayLike = -9.81,
        input_scaling: float | None = None,
        colliders: Collider | Sequence[Any] = (),
    ) -> None:
        spec = MechanismSpec(origin, bodies, joints, contacts, timestep, gravity, input_scaling, colliders)
        count = len(spec.bodies)
        self.pose: Floats = np.zeros((count, 13))
        self.after: Floats = np.zeros((count, 13))
        self.external: Floats = np.zeros((count, 6))
        self.clock: Floats = np.array([spec.timestep])
        self.become(spec)
        self.inputs: Floats = np.zeros(self.compiled.inputs)
        self._go_to_zero()
        self._warn_of_springs()

    @classmethod
    def of(cls, spec: MechanismSpec) -> Mechanism:
        """Build one from a description."""
        return cls(
            spec.origin, spec.bodies, spec.joints, spec.contacts,
            timestep=spec.timestep, gravity=spec.gravity, input_scaling=spec.input_scaling, colliders=spec.colliders,
        )  # fmt: skip

    def __reduce__(self) -> Any:
        """Copy and pickle as a description with the state and the input held: the copy has parts of its own."""
        return _restored, (self.spec, self.pose, self.after, self.inputs, self.external)

    def __repr__(self) -> str:
        parts = f"{len(self.bodies)} bodies, {len(self.joints)} joints, {len(self.contacts)} contacts"
        return f"<Mechanism of {parts}, timestep {self.timestep:g} s>"

    def save(self, path: str | Path) -> None:
        """Write a JSON file with description, state and inputs, as `cbsim.multibody.save`."""
        if not isinstance(path, str | Path):
            raise ModelError(f"path is {path!r}, expected the name of a file", subject="save")
        inputs = {joint.name: held for j, joint in enumerate(self.joints) if (held := self.joint_input(j)).any()}
        wrenches = zip(self.bodies, self.external, strict=True)
        external = {body.name: wrench for body, wrench in wrenches if wrench.any()}
        write_file(StoredMechanism(self.spec, self.pose, self.after, inputs, external), path)

    def become(self, spec: MechanismSpec) -> None:
        """Take another description of the same parts: compile it, and lend its parts what they ask for."""
        self.compiled = compile_mechanism(spec)
        self.spec = spec
        self.workspaces = SolverWorkspaces(self.compiled)
        self.slopes: dict[bool, Slopes] = {}  # workspaces for gradients, allocated at first use
        self.plans: dict[Any, Any] = {}  # plans of gradients by parameters, likewise
        self.report: Floats = np.zeros(c.REPORT)
        self.last: Floats = np.zeros(c.REPORT)  # of steps that are not on the own state
        self._settings: dict[tuple[SolverOptions, bool], tuple[Floats, Ints]] = {}
        self.none: Floats = np.zeros((len(spec.bodies), 6))  # no wrench from outside
        self.idle: Floats = np.zeros((1, max(1, self.compiled.inputs)))  # no input
        self.untold: Floats = np.zeros((0, len(spec.bodies), 13))  # without a trajectory
        self.row_of = {j: row for row, j in enumerate(self.compiled.rows)}
        self.touching = self.compiled.touching
        kinds = (spec.joints, spec.bodies, spec.contacts, spec.colliders)
        self.place_of: dict[Node, int] = {node: place for kind in kinds for place, node in enumerate(kind)}
        self.by_name: dict[str, Node] = {node.name: node for node in spec.nodes}
        self.solution = Solution(self)
        for kind in kinds:
            for place, node in enumerate(kind):
                node.bond.place, node.bond.owner = place, self
        for number, node in enumerate(spec.nodes):
            node.bond.id = number
        for i, body in enumerate(spec.bodies):
            rows = StateRows(self.pose[i], self.after[i], self.external[i], self.clock, self.solution.terms_of(i))
            body.bond.state = State(rows)

    @property
    def work(self) -> Work:
        """Workspace of steps that are not on the own state."""
        return self.workspaces.others

    @property
    def own(self) -> Work:
        """Workspace of steps on the own state."""
        return self.workspaces.own

    def _go_to_zero(self) -> None:
        model = self.compiled.model
        x = np.zeros(2 * int(model.link[: model.links, [c.N_TRANS, c.N_ROT]].sum()))
        if self.compiled.spanning.loop_joints:
            x = close(self.spec, self.compiled, x)
            check_mobility(self.spec, self.compiled, x)
        minimal_to_maximal(model.links, model.link, model.joint, x, self.timestep, self.pose)
        self.coast()

    def change(self, joints: Sequence[JointConstraint]) -> None:
        """Take other versions of the same joints; the state stays."""
        self.become(replace(self.spec, joints=tuple(joints)))
        self._warn_of_springs()

    def coast(self) -> None:
        """Let the candidate velocities be the current ones: nothing has been solved from the state at hand."""
        pose, after, h = self.pose, self.after, self.timestep
        after[:] = pose
        after[:, :3] += h * pose[:, 3:6]
        after[:, 6:10] = multiply(pose[:, 6:10], step_quaternion(pose[:, 10:], h))

    def _warn_of_springs(self) -> None:
        message = stiff_springs(diagnose_springs(self.spec, self.compiled, self.pose), self.timestep)
        if message is not None:
            warnings.warn(message, StabilityWarning, stacklevel=3)

    def settings(self, options: SolverOptions | None = None, *, goes_on: bool = False) -> tuple[Floats, Ints]:
        """Options as kernels read them, cached; ``goes_on`` continues from the step solved before."""
        chosen = chosen_options(options)
        found = self._settings.get((chosen, goes_on))
        if found is None:
            self._check_order(chosen)
            found = chosen.encode(self.spec.timestep, self.spec.gravity, self.spec.input_scaling, goes_on)
            self._settings[chosen, goes_on] = found
        return found

    def _check_order(self, options: SolverOptions) -> None:
        """Refuse steps of fourth order with dampers that make them of first."""
        if options.order != 4:
            return
        longest = (4.0 * OUTER - 1.0) * self.timestep
        for j, joint in zip(self.compiled.rows, self.compiled.model.joint, strict=True):
            damper, mass = float(joint[c.DAMPER]), float(joint[c.LEAST_MASS])
            if joint[c.IMPLICIT]:
                raise ModelError("its implicit spring is of first order: order=4 would claim more",
                                 subject=f"joint '{self.joints[j].name}'")  # fmt: skip
            if damper * longest <= mass:
                continue
            text = "its damper is of first order, as are those of joints that close loops: order=4 would claim more"
            if mass > 0.0:
                step = mass / (4.0 * OUTER - 1.0) / damper
                text = f"its damper is too strong for order=4: take order=2, or steps of {step:.2g} s"
            raise ModelError(text, subject=f"joint '{self.joints[j].name}'")

    @property
    def origin(self) -> Origin:
        """The world."""
        return self.spec.origin

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies, in the order of the maximal state."""
        return self.spec.bodies  # type: ignore[no-any-return]

    @property
    def joints(self) -> tuple[JointConstraint, ...]:
        """Joints, in the order of the inputs."""
        return self.spec.joints  # type: ignore[no-any-return]

    @property
    def contacts(self) -> tuple[ContactConstraint, ...]:
        """Contacts."""
        return self.spec.contacts  # type: ignore[no-any-return]

    @property
    def colliders(self) -> tuple[Collider, ...]:
        """What is solid."""
        return self.spec.colliders  # type: ignore[no-any-return]

    @property
    def timestep(self) -> float:
        """Length of a step [s]; may be set."""
        return self.spec.timestep

    @timestep.setter
    def timestep(self, value: float) -> None:
        self._settle(timestep=value)
        self.clock[0] = self.spec.timestep
        self._warn_of_springs()

    @property
    def gravity(self) -> Floats:
        """Acceleration (3,) [m/s²]; may be set, also to a number along z."""
        return self.spec.gravity  # type: ignore[no-any-return]

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._settle(gravity=value)

    @property
    def input_scaling(self) -> float:
        """Impulse per input: the timestep, if nothing else was said; may be set, None for the timestep."""
        return self.timestep if self.spec.input_scaling is None else self.spec.input_scaling

    @input_scaling.setter
    def input_scaling(self, value: float | None) -> None:
        self._settle(input_scaling=value)

    def _settle(self, **changes: object) -> None:
        self.spec = replace(self.spec, **changes)  # type: ignore[arg-type]
        self._settings.clear()

    @property
    def mu(self) -> float:
        """Largest violation of complementarity in the last solve on the mechanism's own state."""
        return float(self.report[c.BILINEAR_LEFT])

    @property
    def system(self) -> System:
        """The graph: who is tied to whom, and in which order nodes leave the linear system."""
        return make_system(self.spec, self.compiled)

    @property
    def root_to_leaves(self) -> list[int]:
        """Numbers of joints, bodies and contacts from the origin outwards; joints that close loops come last."""
        return self.system.order

    @property
    def residual_entries(self) -> dict[str, Floats]:
        """What the last solve on the own state left of every node's equations, by name; zero where they hold."""
        return self.solution.residuals()

    @property
    def data_matrix(self) -> dict[str, Floats]:
        """Numbers that are fixed in a step, by name of the node.

        A joint: inputs, spring, damper. A body: mass, Jxx, Jxy, Jxz, Jyy, Jyz, Jzz, v15, w15, x2, q2. A contact with
        the world: coefficient of friction, radius, origin.
        """
        return self.solution.data()

    def minimal_index(self, joint: int) -> tuple[slice, slice]:
        """Where coordinates and velocities of a joint are in the minimal state; both empty where it closes a loop."""
        first = 0
        for j in self.compiled.spanning.links:
            dof = self.joints[j].dof
            if j == joint:
                return slice(first, first + dof), slice(first + dof, first + 2 * dof)
            first += 2 * dof
        return slice(0, 0), slice(0, 0)

    def input_index(self, joint: int) -> slice:
        """Where the inputs of a joint stand."""
        first = int(self.compiled.model.link[self.row_of[joint], c.INPUT])
        return slice(first, first + self.joints[joint].dof)

    def joint_input(self, joint: int) -> Floats:
        """Return the inputs of a joint, as held."""
        return self.inputs[self.input_index(joint)]

    def half_inputs(self, joint: int) -> tuple[Floats, Floats]:
        """Impulses of the inputs of a joint, as held: a force in the parent's frame, a torque in the joint's."""
        return self.solution.half_inputs(joint)

    def joint_impulses(self, joint: int) -> Floats:
        """Impulses that keep a joint, of the last solve on the own state."""
        return self.solution.joint_impulses(joint)

    def drive_impulses(self, joint: int) -> Floats:
        """Impulses of the drives of a joint, of the last solve on the own state."""
        return self.solution.drive_impulses(joint)

    def contact_impulses(self, contact: int) -> Floats:
        """Impulses of a contact, of the last solve on the own state."""
        return self.solution.contact_impulses(contact)

    def contact_slacks(self, contact: int) -> Floats:
        """Slacks of a contact, of the last solve on the own state."""
        return self.solution.contact_slacks(contact)

    def contact_points(self) -> tuple[ContactPoint, ...]:
        """Contact points of the last solve on the own state, as `cbsim.multibody.contact_points` lists them.

        That solve is the one of `mehrotra`, or the last step of `simulate`; before any there are none.
        """
        return points_in(self.spec, self.compiled, self.own, self.workspaces.own_colliders)


def _restored(spec: MechanismSpec, pose: Floats, after: Floats, inputs: Floats, external: Floats) -> Mechanism:
    """Make a mechanism in a state."""
    made = Mechanism.of(spec)
    made.pose[:], made.after[:], made.inputs[:], made.external[:] = pose, after, inputs, external
    return made
