"""Start state of a model description: its coordinates, with closed loops, set down on the ground if requested."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from cbsim.arrays import Floats
from cbsim.dynamics.compile import Compiled
from cbsim.dynamics.detection.solids import pieces_of
from cbsim.dynamics.failure import step_error
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.minimal import minimal_to_maximal
from cbsim.dynamics.loop_closure import CLOSED, check_mobility, close
from cbsim.dynamics.options import SolverOptions
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.geometry.linear import norm, times
from cbsim.geometry.pose import conjugate, rotate
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.colliders import HalfSpace
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.model_description import ModelDescription

__all__ = ["start_state"]

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def start_state(description: ModelDescription, compiled: Compiled) -> Floats:
    """Compute the maximal state (bodies, 13) at the start of a compiled description, at rest by default.

    Raises
    ------
    ModelError
        If a loop cannot be closed, or leaves nothing to move.
    """
    if description.state is not None:
        return np.array(description.state)
    spec, tables = description.spec, compiled.model
    x: list[float] = []
    for j in compiled.spanning.links:
        joint = spec.joints[j]
        coordinates = description.start.get(joint.name, ())
        x += [*coordinates, *[0.0] * (2 * joint.dof - len(coordinates))]
    minimal = np.array(x)
    if compiled.spanning.loop_joints:
        minimal = close(spec, compiled, minimal, closed=max(CLOSED, description.tolerance or 0.0))
        check_mobility(spec, compiled, minimal)
    z = np.zeros((len(spec.bodies), 13))
    minimal_to_maximal(tables.links, tables.link, tables.joint, minimal, spec.timestep, z)
    if description.set_down:
        _set_down(spec, compiled, z)
    if description.velocities is not None:
        _set_moving(description, description.velocities, compiled, z)
    return z


def _set_moving(
    description: ModelDescription, velocities: Mapping[str, tuple[float, ...]], compiled: Compiled, z: Floats
) -> None:
    """Write the velocities of the half step before the start, from those at the start itself.

    A step from the velocities at the node ends with those of the half step after it. The velocities of the half step
    before are their reflection, so that the first step has the momentum of the node.
    """
    spec = description.spec
    for row, body in zip(z, spec.bodies, strict=True):
        given = velocities.get(body.name, (0.0,) * 6)
        row[3:6], row[10:13] = given[:3], given[3:]
    inputs, external = np.zeros((1, max(1, compiled.inputs))), np.zeros((len(z), 6))
    if description.behaviour is not None:
        memory = np.array(description.behaviour.memory, float)
        description.behaviour.act(0.0, z.copy(), memory, inputs[0, : compiled.inputs], external)
    options = SolverOptions(nodal_start=True)
    if description.tolerance is not None:
        options = replace(options, rtol=description.tolerance, btol=max(description.tolerance, 1e-10))
    settings, counts = options.encode(spec.timestep, spec.gravity, spec.input_scaling, False)
    after, report = z.copy(), np.zeros(c.REPORT)
    workspaces = SolverWorkspaces(compiled)
    workspaces.advance(after, inputs, external, settings, counts, 1, np.zeros((0, 0, 13)), report, own=False)
    if report[c.STATUS] != c.SOLVED:
        raise step_error(spec, compiled, z, workspaces.others, report, 0.0, workspaces.other_colliders)
    z[:, 3:6], z[:, 10:13] = 2.0 * z[:, 3:6] - after[:, 3:6], 2.0 * z[:, 10:13] - after[:, 10:13]


def _set_down(spec: MechanismSpec, compiled: Compiled, z: Floats) -> None:
    """Move bodies that are free to rise to where their lowest contact touches."""
    place = {body: i for i, body in enumerate(spec.bodies)}
    standing: set[Body | Origin] = {spec.origin}
    for j in compiled.spanning.links:
        joint = spec.joints[j]
        if joint.parent not in standing:
            continue
        if not joint.dof:
            standing.add(joint.child)
            continue
        turned = z[place[joint.parent], 6:10] if isinstance(joint.parent, Body) else UPRIGHT
        if not _rises(joint, turned):
            continue
        above = _carried_by(spec, compiled, joint.child)
        gaps = [
            contact.model.collision.meet(z[place[contact.parent], :3], z[place[contact.parent], 6:10]).distance
            for contact in spec.contacts
            if not isinstance(contact.child, Body) and contact.parent in above
        ]
        gaps += _gaps_of_solids(spec, z, place, above)
        for body in above if gaps else ():
            z[place[body], 2] -= min(gaps)


def _gaps_of_solids(spec: MechanismSpec, z: Floats, place: Mapping[Body, int], bodies: set[Body]) -> list[float]:
    """Heights of solid shapes of bodies above the half-spaces that they collide with."""
    grounds = [k for k in spec.colliders if isinstance(k.owner, Origin) and isinstance(k.shape, HalfSpace)]
    gaps = []
    for ground, solid in itertools.product(grounds, spec.colliders):
        if not isinstance(solid.owner, Body) or solid.owner not in bodies:
            continue
        if not (ground.group & solid.meets and solid.group & ground.meets):
            continue
        normal = rotate(ground.shape.orientation_offset, ground.shape.normal)
        row = z[place[solid.owner]]
        depth = float(times(normal, row[:3] - ground.shape.position_offset))
        into = rotate(conjugate(row[6:10]), -normal)
        gaps += [(depth - piece.reach(into)) / float(normal[2]) for piece in pieces_of(solid) if normal[2] > 0.0]
    return gaps


def _rises(joint: JointConstraint, turned: Floats) -> bool:
    """Whether a joint lets its body move vertically, given the orientation (4,) of its parent."""
    free = rotate(turned, joint.translational.masks.free)
    return bool(len(free)) and bool(norm(times(free, (0.0, 0.0, 1.0))) > 1.0 - 1e-9)


def _carried_by(spec: MechanismSpec, compiled: Compiled, body: Body) -> set[Body]:
    """Find a body and all its descendants."""
    found = {body}
    for j in compiled.spanning.links:
        if spec.joints[j].parent in found:
            found.add(spec.joints[j].child)
    return found
