"""The state in which a figure starts: coordinates as it says, loops closed, set down on the ground if it asks."""

from __future__ import annotations

import numpy as np

from cbsim.dynamics.closure import check_mobility, close
from cbsim.dynamics.compile import Compiled
from cbsim.dynamics.kernels.minimal import minimal_to_maximal
from cbsim.dynamics.model import Floats
from cbsim.geometry.pose import rotate
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.figure import Figure
from cbsim.spec.mechanism.joints import JointConstraint

__all__ = ["start_state"]

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def start_state(figure: Figure, compiled: Compiled) -> Floats:
    """Work out the maximal state (bodies, 13) in which a compiled figure starts, at rest.

    Raises
    ------
    ModelError
        If a loop cannot be closed, or leaves nothing to move.
    """
    spec, tables = figure.spec, compiled.model
    x: list[float] = []
    for j in compiled.spanning.links:
        joint = spec.joints[j]
        coordinates = figure.start.get(joint.name, ())
        x += [*coordinates, *[0.0] * (2 * joint.dof - len(coordinates))]
    minimal = np.array(x)
    if compiled.spanning.chords:
        minimal = close(spec, compiled, minimal)
        check_mobility(spec, compiled, minimal)
    z = np.zeros((len(spec.bodies), 13))
    minimal_to_maximal(tables.links, tables.link, tables.joint, minimal, spec.timestep, z)
    if figure.set_down:
        _set_down(spec, compiled, z)
    return z


def _set_down(spec: MechanismSpec, compiled: Compiled, z: Floats) -> None:
    """Move whatever may rise freely from what stands still to where its lowest contact touches."""
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
        for body in above if gaps else ():
            z[place[body], 2] -= min(gaps)


def _rises(joint: JointConstraint, turned: Floats) -> bool:
    """Whether a joint lets its body move straight up, given how its parent is turned (4,)."""
    free = rotate(turned, joint.translational.masks.free)
    return bool(len(free)) and bool(np.linalg.norm(free @ (0.0, 0.0, 1.0)) > 1.0 - 1e-9)


def _carried_by(spec: MechanismSpec, compiled: Compiled, body: Body) -> set[Body]:
    """Find a body and all that hang on it."""
    found = {body}
    for j in compiled.spanning.links:
        if spec.joints[j].parent in found:
            found.add(spec.joints[j].child)
    return found
