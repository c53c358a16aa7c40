"""The same mechanism in MuJoCo: from bodies, joints and contacts of ours to MJCF, and from our state to its.

Bodies' frames are at their centres of mass, as ours are; every link is placed by its joint's coordinates. What a
mechanism here does not use (other joints than Floating, Revolute, Prismatic and Spherical, contacts but spheres on
planes) is refused.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cbsim.multibody import Mechanism, get_minimal_state
from cbsim.multibody.mechanism import JointConstraint
from cbsim.spec.mechanism.bodies import Origin

__all__ = ["Twin", "mjcf", "positions"]

KINDS = {"Revolute": "hinge", "Prismatic": "slide", "Spherical": "ball"}


def mjcf(
    mechanism: Mechanism,
    *,
    integrator: str = "Euler",
    cone: str = "elliptic",
    stiff: bool = False,
    extra: str = "",
    sites: dict[str, str] | None = None,
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
    lines += ["</worldbody>", extra, "</mujoco>"]
    return "\n".join(lines)


def _body(mechanism: Mechanism, joint: JointConstraint, parents: dict[str, Any], sites: dict[str, str]) -> list[str]:
    body = joint.child
    at = np.subtract(*joint.translational.vertices)
    inertia = body.inertia
    six = (inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2])
    lines = [
        f'<body name="{body.name}" pos="{_words(at)}">',
        f'<inertial pos="0 0 0" mass="{body.mass}" fullinertia="{_words(six)}"/>',
        _joint(joint),
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


def _joint(joint: JointConstraint) -> str:
    if joint.prototype == "Floating":
        return f'<freejoint name="{joint.name}"/>'
    kind = KINDS[joint.prototype]
    half = joint.rotational if kind != "slide" else joint.translational
    pose = [f'pos="{_words(joint.translational.vertices[1])}"']
    if kind != "ball":
        pose.append(f'axis="{_words(half.axis)}"')
    if half.spring:
        offset = 0.0 if half.spring_offset is None else float(np.ravel(half.spring_offset)[0])
        pose.append(f'stiffness="{half.spring}" springref="{offset}"')
    if half.damper:
        pose.append(f'damping="{half.damper}"')
    limits = np.ravel(half.joint_limits) if half.joint_limits is not None else np.array([np.inf])
    if np.isfinite(limits).all():
        pose.append(f'limited="true" range="{_words(limits)}"')
    return f'<joint name="{joint.name}" type="{kind}" {" ".join(pose)}/>'


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
            else:
                data.qpos[q], data.qvel[v] = at[0], to[0]
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
