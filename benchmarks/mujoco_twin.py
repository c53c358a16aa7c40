"""The same mechanism in MuJoCo: from bodies, joints and contacts of ours to MJCF, and from our state to its.

Bodies' frames are at their centres of mass, as ours are; every link is placed by its joint's coordinates. Orbital
joints are two hinges one after the other, bounds of Spherical ones the cone of the widest, as MuJoCo has neither.
What a mechanism here does not use (other joints than Floating, Revolute, Prismatic, Orbital and Spherical, contacts but
spheres on planes) is refused.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cbsim.geometry.pose import rotate
from cbsim.multibody import Mechanism, get_minimal_state
from cbsim.multibody.mechanism import JointConstraint
from cbsim.spec.mechanism.bodies import Origin

__all__ = ["Twin", "mjcf", "positions"]

KINDS = {"Revolute": "hinge", "Prismatic": "slide", "Spherical": "ball", "Orbital": "hinge"}


def mjcf(
    mechanism: Mechanism,
    *,
    integrator: str = "Euler",
    cone: str = "elliptic",
    stiff: bool = False,
    extra: str = "",
    sites: dict[str, str] | None = None,
    motors: bool = False,
) -> str:
    """Write a mechanism as MJCF.

    Parameters
    ----------
    integrator, cone : str
        MuJoCo's own words.
    stiff : bool
        Contacts as hard as MuJoCo advises (solref 2 h, solimp 0.99 0.999 0.001, impratio 100) instead of its defaults.
    extra : str
        Elements to put at the end: equality constraints of a loop.
    sites : dict
        Bodies that bear a site at the lower end of their rod, and its name.
    motors : bool
        A motor for every freedom, so that there are as many inputs as ours has.
    """
    gravity = " ".join(repr(float(g)) for g in mechanism.gravity)
    hard = f'solref="{2 * mechanism.timestep} 1" solimp="0.99 0.999 0.001"' if stiff else ""
    parents = {joint.child.name: joint for joint in reversed(mechanism.joints)}  # the first to reach a body carries it
    lines = [
        "<mujoco>",
        '<compiler angle="radian" autolimits="false" balanceinertia="false"/>',
        f'<option timestep="{mechanism.timestep}" gravity="{gravity}" integrator="{integrator}" cone="{cone}"'
        + (' impratio="100"/>' if stiff else "/>"),
        f'<default><geom {hard} condim="3"/></default>',
        "<worldbody>",
    ]
    if mechanism.contacts:
        lines.append('<geom name="ground" type="plane" size="100 100 1" contype="2" conaffinity="1" friction="0 0 0"/>')
    roots = [joint for joint in parents.values() if isinstance(joint.parent, Origin)]
    for joint in roots:
        lines += _body(mechanism, joint, parents, sites or {})
    lines += ["</worldbody>", extra, *(_motors(mechanism) if motors else []), "</mujoco>"]
    return "\n".join(lines)


def _body(mechanism: Mechanism, joint: JointConstraint, parents: dict[str, Any], sites: dict[str, str]) -> list[str]:
    body = joint.child
    turned = joint.rotational.orientation_offset
    at = joint.translational.vertices[0] - rotate(turned, joint.translational.vertices[1])
    inertia = body.inertia
    six = (inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2])
    lines = [
        f'<body name="{body.name}" pos="{_words(at)}" quat="{_words(turned)}">',
        f'<inertial pos="0 0 0" mass="{body.mass}" fullinertia="{_words(six)}"/>',
        *_joints(joint),
    ]
    for contact in mechanism.contacts:
        if contact.parent is body:
            model = contact.model
            lines.append(
                f'<geom type="sphere" size="{max(model.contact_radius, 1e-3)}" pos="{_words(model.contact_origin)}"'
                f' mass="0" contype="1" conaffinity="2" priority="1" friction="{model.mu} 0 0"/>'
            )
    for other in parents.values():
        if other.parent is body:
            lines += _body(mechanism, other, parents, sites)
    if body.name in sites:
        lines.append(f'<site name="{sites[body.name]}" pos="0 0 -0.5"/>')
    return [*lines, "</body>"]


def _joints(joint: JointConstraint) -> list[str]:
    if joint.prototype == "Floating":
        return [f'<freejoint name="{joint.name}"/>']
    kind = KINDS[joint.prototype]
    half = joint.translational if kind == "slide" else joint.rotational
    axes = [None] if kind == "ball" else list(half.masks.free)
    if kind == "slide":  # our axis stands in the parent's frame, theirs in the child's
        axes = [rotate(joint.rotational.orientation_offset * (1, -1, -1, -1), axis) for axis in axes]
    offsets = np.zeros(half.free) if half.spring_offset is None else np.ravel(half.spring_offset)
    limits = np.full((2, half.free), np.inf) if half.joint_limits is None else np.array(half.joint_limits)
    if kind == "ball":
        limits = np.array([[0.0], [np.abs(limits).max()]])
    lines = []
    for number, axis in enumerate(axes):
        pose = [f'pos="{_words(joint.translational.vertices[1])}"']
        if axis is not None:
            pose.append(f'axis="{_words(axis)}"')
        if half.spring:
            pose.append(f'stiffness="{half.spring}"' + (f' springref="{offsets[number]}"' if axis is not None else ""))
        if half.damper:
            pose.append(f'damping="{half.damper}"')
        if np.isfinite(limits[:, number]).all():
            pose.append(f'limited="true" range="{_words(limits[:, number])}"')
        lines.append(f'<joint name="{_name(joint, number)}" type="{kind}" {" ".join(pose)}/>')
    return lines


def _name(joint: JointConstraint, number: int) -> str:
    return joint.name if number == 0 else f"{joint.name}_{number + 1}"


def _motors(mechanism: Mechanism) -> list[str]:
    lines = ["<actuator>"]
    for joint in mechanism.joints:
        single = joint.prototype == "Orbital"
        for k in range(joint.dof):
            gear = np.zeros(6)
            gear[0 if single else k] = 1.0
            lines.append(f'<motor joint="{_name(joint, k if single else 0)}" gear="{_words(gear)}"/>')
    return [*lines, "</actuator>"]


def _words(values: Any) -> str:
    return " ".join(repr(float(value)) for value in np.ravel(values))


class Twin:
    """A mechanism's MuJoCo model and state, started where the mechanism is."""

    def __init__(self, mechanism: Mechanism, **options: Any) -> None:
        self.mechanism = mechanism
        text = mjcf(mechanism, **options)
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        self.model.opt.timestep = mechanism.timestep
        self.reset()

    def reset(self) -> None:
        """Put MuJoCo where the mechanism is: its minimal coordinates and velocities, by the names of joints."""
        data, mechanism = self.data, self.mechanism
        mujoco.mj_resetData(self.model, data)
        x = get_minimal_state(mechanism)
        for number, joint in enumerate(mechanism.joints):
            index = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, joint.name)
            if index < 0:
                continue
            at, to = (x[part] for part in mechanism.minimal_index(number))
            q, v = self.model.jnt_qposadr[index], self.model.jnt_dofadr[index]
            if joint.prototype == "Floating":
                data.qpos[q : q + 3], data.qvel[v : v + 6] = at[:3], to
                data.qpos[q + 3 : q + 7] = _quaternion(at[3:])
            elif joint.prototype == "Spherical":
                data.qpos[q : q + 4], data.qvel[v : v + 3] = _quaternion(at), to
            else:  # coordinates of several hinges stand side by side
                data.qpos[q : q + len(at)], data.qvel[v : v + len(to)] = at, to
        mujoco.mj_forward(self.model, data)

    def advance(self, steps: int) -> None:
        """Make a number of steps in one call."""
        mujoco.mj_step(self.model, self.data, nstep=steps)

    def is_sane(self) -> bool:
        """Whether nothing flew away or became no number: else its time per step means nothing."""
        return bool(np.isfinite(self.data.qpos).all() and np.abs(self.data.xpos).max() < 1e3)


def _quaternion(vector: Any) -> Any:
    angle = float(np.linalg.norm(vector))
    axis = np.asarray(vector) / angle if angle > 0.0 else np.zeros(3)
    return np.concatenate([[np.cos(0.5 * angle)], np.sin(0.5 * angle) * axis])


def positions(twin: Twin) -> Any:
    """Positions of the bodies' centres (bodies, 3) [m], in the mechanism's order."""
    return np.array([twin.data.body(body.name).xipos for body in twin.mechanism.bodies])
