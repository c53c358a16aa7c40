"""The state in which a figure starts: coordinates as it says, loops closed, set down on the ground if it asks."""

from __future__ import annotations

import numpy as np

from cbsim.dynamics.closure import check_mobility, close
from cbsim.dynamics.compile import Compiled
from cbsim.dynamics.kernels.minimal import minimal_to_maximal
from cbsim.dynamics.model import Floats
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.figure import Figure
from cbsim.spec.mechanism.joints import JointConstraint

__all__ = ["start_state"]


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
    """Move whatever may rise freely to where its lowest contact touches."""
    for base in compiled.spanning.links:
        joint = spec.joints[base]
        if not isinstance(joint.parent, Origin) or not _rises(joint):
            continue
        above = _carried_by(spec, compiled, joint.child)
        gaps = [
            contact.model.collision.meet(z[i, :3], z[i, 6:10]).distance
            for contact in spec.contacts
            if not isinstance(contact.child, Body) and (i := above.get(contact.parent)) is not None
        ]
        for i in above.values() if gaps else ():
            z[i, 2] -= min(gaps)


def _rises(joint: JointConstraint) -> bool:
    """Whether a joint of the world lets its body move straight up."""
    free = joint.translational.masks.free
    up = np.array([0.0, 0.0, 1.0])
    return bool(len(free)) and bool(np.linalg.norm(free @ up) > 1.0 - 1e-9)


def _carried_by(spec: MechanismSpec, compiled: Compiled, body: Body) -> dict[Body, int]:
    """Map a body and all that hang on it to their places in the state."""
    found = {body}
    for j in compiled.spanning.links:
        if spec.joints[j].parent in found:
            found.add(spec.joints[j].child)
    return {one: i for i, one in enumerate(spec.bodies) if one in found}
