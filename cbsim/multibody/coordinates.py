"""Setting and reading the state of a mechanism: maximal, minimal, joint by joint; inputs and wrenches from outside."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.dynamics.kernels.minimal import maximal_to_minimal as to_minimal
from cbsim.dynamics.kernels.minimal import minimal_to_maximal as to_maximal
from cbsim.dynamics.kernels.step import OUTER
from cbsim.dynamics.loop_closure import close
from cbsim.dynamics.options import SolverOptions, chosen_options
from cbsim.errors import ModelError
from cbsim.multibody.failure import check_state, input_numbers, numbers
from cbsim.multibody.lookup import Key, get_joint, minimal_dimension
from cbsim.multibody.mechanism import Mechanism
from cbsim.multibody.nodal import body_velocities, joint_rates
from cbsim.spec.mechanism.bodies import Body
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.values import floats, vector

__all__ = [
    "add_external_force",
    "close_loops",
    "get_maximal_state",
    "get_minimal_state",
    "maximal_to_minimal",
    "minimal_to_maximal",
    "set_external_force",
    "set_input",
    "set_maximal_state",
    "set_minimal_coordinates",
    "set_minimal_state",
    "set_minimal_velocities",
    "zero_coordinates",
    "zero_velocities",
]


def rows_of(mechanism: Mechanism, z: ArrayLike) -> Floats:
    """Return a copy of a maximal state as a row of 13 per body; flat or in rows it may be given."""
    given = floats(z, "", "the state", f"{13 * len(mechanism.bodies)} numbers")
    count = len(mechanism.bodies)
    if given.shape not in {(13 * count,), (count, 13)}:
        raise ModelError(f"the state has the shape {given.shape}, expected ({13 * count},) or ({count}, 13)")
    return given.reshape(count, 13)


def minimal_to_maximal(mechanism: Mechanism, x: ArrayLike, *, options: SolverOptions | None = None) -> Floats:
    """Turn a minimal state into a maximal one (13 per body,).

    Parameters
    ----------
    x : array_like, shape (minimal_dimension,)
        Joint by joint, from the origin outwards: coordinates [m, rad], then velocities, translations first.
    options : SolverOptions, optional
        Those of the run that starts from the state. With `nodal_start`, velocities are those at the node itself; with
        ``order=4``, differences over the last of the five parts of the step before.

    Notes
    -----
    Without options, velocities are differences over the step before (docs/theory/joints_and_loops.md §8). With two free
    rotations the third component of the angular velocity is the one with which the joint was whole a step before as
    well.
    """
    model, chosen = mechanism.compiled.model, chosen_options(options)
    given = numbers(x, minimal_dimension(mechanism), "the minimal state")
    out = np.empty((len(mechanism.bodies), 13))
    to_maximal(model.links, model.link, model.joint, given, _last_stage(mechanism, chosen), out)
    if chosen.nodal_start:
        body_velocities(model, given, out)
    return out.reshape(-1)


def maximal_to_minimal(mechanism: Mechanism, z: ArrayLike, *, options: SolverOptions | None = None) -> Floats:
    """Turn a maximal state into a minimal one: what the joints of the tree have of it.

    A rotation's coordinate runs from −2π to 2π: q and −q are the same attitude, a turn apart. ``options`` say what
    velocities are, as in `minimal_to_maximal`.
    """
    model, rows, chosen = mechanism.compiled.model, rows_of(mechanism, z), chosen_options(options)
    out = np.empty(minimal_dimension(mechanism))
    to_minimal(model.links, model.link, model.joint, rows, _last_stage(mechanism, chosen), out)
    if chosen.nodal_start:
        joint_rates(model, rows, out)
    return out


def _last_stage(mechanism: Mechanism, options: SolverOptions) -> float:
    """Length [s] of what the velocities of a state are differences over."""
    return mechanism.timestep * (OUTER if options.order == 4 else 1.0)


def get_maximal_state(mechanism: Mechanism) -> Floats:
    """Copy the mechanism's own state: per body x(3), v(3), q(4), w(3)."""
    return mechanism.pose.reshape(-1).copy()


def set_maximal_state(mechanism: Mechanism, z: ArrayLike) -> None:
    """Set the mechanism's own state.

    Raises
    ------
    ModelError
        If a number is none, or an orientation no unit quaternion; the message names the body.
    """
    pose = rows_of(mechanism, z)
    check_state(mechanism, pose)
    mechanism.pose[:] = pose
    mechanism.coast()


def get_minimal_state(mechanism: Mechanism, *, options: SolverOptions | None = None) -> Floats:
    """Return the mechanism's own state as a minimal one; ``options`` as in `maximal_to_minimal`."""
    return maximal_to_minimal(mechanism, mechanism.pose, options=options)


def set_minimal_state(mechanism: Mechanism, x: ArrayLike, *, options: SolverOptions | None = None) -> None:
    """Set the mechanism's own state from a minimal one; ``options`` as in `minimal_to_maximal`."""
    mechanism.pose[:] = minimal_to_maximal(mechanism, x, options=options).reshape(-1, 13)
    mechanism.coast()


def set_minimal_coordinates(mechanism: Mechanism, joint: Key | JointConstraint, coordinates: ArrayLike) -> None:
    """Set the coordinates of one joint; what depends on it moves along, all joints keep their velocities."""
    _set_part(mechanism, joint, coordinates, 0)


def set_minimal_velocities(mechanism: Mechanism, joint: Key | JointConstraint, velocities: ArrayLike) -> None:
    """Set the velocities of one joint; what depends on it moves along."""
    _set_part(mechanism, joint, velocities, 1)


def _set_part(mechanism: Mechanism, joint: Key | JointConstraint, values: ArrayLike, half: int) -> None:
    part = get_joint(mechanism, joint)  # type: ignore[arg-type]
    where = mechanism.minimal_index(mechanism.place_of[part])[half]
    if part.dof and where.stop == where.start:
        raise ModelError("closes a loop: its coordinates follow from the others'", subject=f"joint '{part.name}'")
    x = get_minimal_state(mechanism)
    x[where] = vector(values, f"joint '{part.name}'", ("coordinates", "velocities")[half], part.dof)
    set_minimal_state(mechanism, x)


def close_loops(mechanism: Mechanism) -> None:
    """Move the own state as little as it takes to close all loops; joints keep their velocities.

    Raises
    ------
    ModelError
        If none is found that closes them.
    """
    set_minimal_state(mechanism, close(mechanism.spec, mechanism.compiled, get_minimal_state(mechanism)))


def zero_coordinates(mechanism: Mechanism) -> None:
    """Set every joint's coordinates to zero, or near it where loops ask for that; velocities stay."""
    x = get_minimal_state(mechanism)
    for j in mechanism.compiled.spanning.links:
        x[mechanism.minimal_index(j)[0]] = 0.0
    set_minimal_state(mechanism, x)
    if mechanism.compiled.spanning.loop_joints:
        close_loops(mechanism)


def zero_velocities(mechanism: Mechanism) -> None:
    """Set every velocity to zero; bodies stay where they are."""
    mechanism.pose[:, 3:6] = 0.0
    mechanism.pose[:, 10:] = 0.0
    mechanism.coast()


def set_input(mechanism: Mechanism | JointConstraint, u: ArrayLike, joint: Key | JointConstraint | None = None) -> None:
    """Set the inputs of all joints, in their order, or of one; they hold until they are set again.

    Parameters
    ----------
    mechanism : Mechanism or JointConstraint
        A joint stands for itself in the mechanism that was made last of it.
    u : array_like
        Each joint: translations, then rotations, along its free directions. Forces [N] and torques [N m], or impulses
        where `input_scaling` is 1.
    """
    if isinstance(mechanism, JointConstraint):
        _set_joint_input(mechanism.owner, mechanism, u)
    elif joint is not None:
        _set_joint_input(mechanism, joint, u)
    else:
        mechanism.inputs[:] = input_numbers(mechanism, u)


def _set_joint_input(mechanism: Mechanism, joint: Key | JointConstraint, u: ArrayLike) -> None:
    part = get_joint(mechanism, joint)  # type: ignore[arg-type]
    where = mechanism.input_index(mechanism.place_of[part])
    mechanism.inputs[where] = vector(u, f"joint '{part.name}'", "input", part.dof)


def set_external_force(body: Body, *, force: ArrayLike = 0.0, torque: ArrayLike = 0.0, vertex: ArrayLike = 0.0) -> None:
    """Apply a force and a torque from outside, given in the body's frame, instead of what there is.

    Parameters
    ----------
    body : Body
        A part of a mechanism.
    force, torque : array_like, shape (3,)
        [N], [N m].
    vertex : array_like, shape (3,)
        Where the force acts, from the centre of mass [m].

    Notes
    -----
    They hold for one step of `simulate`, and for `mehrotra` until they are set again.
    """
    _check_is_body(body)
    body.state.external[:] = 0.0
    add_external_force(body, force=force, torque=torque, vertex=vertex)


def add_external_force(body: Body, *, force: ArrayLike = 0.0, torque: ArrayLike = 0.0, vertex: ArrayLike = 0.0) -> None:
    """Apply a force and a torque from outside on top of what there is; as `set_external_force`."""
    _check_is_body(body)
    who = f"body '{body.name}'"
    push = vector(force, who, "force")
    body.state.external[:3] += push
    body.state.external[3:] += vector(torque, who, "torque") + np.cross(vector(vertex, who, "vertex"), push)


def _check_is_body(body: object) -> None:
    if not isinstance(body, Body):
        raise ModelError(f"a force acts on {body!r}, expected a body")
