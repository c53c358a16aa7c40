"""A mechanism of the core with loops in MuJoCo: a tree of its joints, loops closed by points that are to coincide."""

from __future__ import annotations

import numpy as np

from cbsim.geometry.pose import multiply, rotate
from cbsim.spec.mechanism.bodies import Body
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.world.model_instances import ModelInstance

__all__ = ["mjcf_of", "rates_of"]


def tree_of(instance: ModelInstance) -> tuple[dict[Body, JointConstraint], list[JointConstraint]]:
    """Part joints into those that carry bodies and those that close loops."""
    carrying: dict[Body, JointConstraint] = {}
    rest = []
    for joint in instance.spec.joints:
        if joint.child in carrying:
            rest.append(joint)
        else:
            carrying[joint.child] = joint
    return carrying, rest


def mjcf_of(instance: ModelInstance, step: float) -> str | None:
    """Write a mechanism in its start pose as MJCF: joints at zero there, loops closed by points; None if it cannot.

    ``step`` is of the peer [s].
    """
    carrying, rest = tree_of(instance)
    rows = {body: k for k, body in enumerate(instance.spec.bodies)}
    kinds = {(0, 0): "", (0, 1): "hinge", (1, 0): "slide", (0, 3): "ball"}
    if any((j.translational.free, j.rotational.free) not in kinds for j in carrying.values()):
        return None
    if any(j.translational.free for j in rest):
        return None

    def words(values: np.ndarray) -> str:
        return " ".join(repr(float(value)) for value in np.ravel(values))

    def body(joint: JointConstraint) -> str:
        row, kind = rows[joint.child], kinds[joint.translational.free, joint.rotational.free]
        x, q = instance.start[row, :3], instance.start[row, 6:10]
        if isinstance(joint.parent, Body):
            up = instance.start[rows[joint.parent]]
            back = up[6:10] * (1.0, -1.0, -1.0, -1.0)
            x, q = rotate(back, x - up[:3]), multiply(back, q)
        inertia = joint.child.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        found = f'<body name="b{row}" pos="{words(x)}" quat="{words(q)}">'
        found += f'<inertial pos="0 0 0" mass="{joint.child.mass}" fullinertia="{words(inertia)}"/>'
        if kind:
            axis = f'axis="{words(axis_of(joint, q))}"' if kind != "ball" else ""
            found += f'<joint type="{kind}" pos="{words(np.array(joint.translational.vertices[1]))}" {axis}/>'
        inner = "".join(body(one) for one in carrying.values() if one.parent is joint.child)
        return f"{found}{inner}</body>"

    ties = ""
    for joint in rest:
        point = np.array(joint.translational.vertices[1])
        other = f'body2="b{rows[joint.parent]}"' if isinstance(joint.parent, Body) else ""
        reach = [np.zeros(3)] if joint.rotational.free == 3 else [np.zeros(3), np.array(joint.rotational.axis)]
        ties += "".join(f'<connect body1="b{rows[joint.child]}" {other} anchor="{words(point + r)}"/>' for r in reach)
    roots = "".join(body(one) for one in carrying.values() if not isinstance(one.parent, Body))
    gravity = words(np.array(instance.spec.gravity))
    return (
        f'<mujoco><compiler angle="radian" balanceinertia="true"/><option timestep="{step}" gravity="{gravity}"/>'
        f"<worldbody>{roots}</worldbody><equality>{ties}</equality></mujoco>"
    )


def axis_of(joint: JointConstraint, turned: np.ndarray) -> np.ndarray:
    """Axis of a joint in the child's frame, which is turned by a quaternion against the parent's."""
    if joint.rotational.free:
        return np.array(joint.rotational.axis, float)
    return np.asarray(rotate(turned * (1.0, -1.0, -1.0, -1.0), np.array(joint.translational.axis, float)))


def rates_of(instance: ModelInstance) -> np.ndarray:
    """Rates of the joints that carry bodies, in MuJoCo's order, which is that of the tree."""
    carrying, _ = tree_of(instance)
    rows = {body: k for k, body in enumerate(instance.spec.bodies)}
    still = np.array([0.0] * 6 + [1.0] + [0.0] * 6)
    found: list[float] = []

    def visit(parent: Body | None) -> None:
        for joint in carrying.values():
            if (joint.parent if isinstance(joint.parent, Body) else None) is not parent:
                continue
            child = instance.start[rows[joint.child]]
            up = instance.start[rows[parent]] if parent is not None else still
            spin = rotate(child[6:10], child[10:]) - rotate(up[6:10], up[10:])
            if joint.rotational.free == 1:
                found.append(float(rotate(child[6:10], np.array(joint.rotational.axis)) @ spin))
            elif joint.rotational.free == 3:
                found.extend(rotate(child[6:10] * (1.0, -1.0, -1.0, -1.0), spin).tolist())
            elif joint.translational.free == 1:
                turning = rotate(up[6:10], up[10:])
                slides = child[3:6] - up[3:6] - np.cross(turning, child[:3] - up[:3])
                found.append(float(rotate(up[6:10], np.array(joint.translational.axis)) @ slides))
            visit(joint.child)

    visit(None)
    return np.array(found)
