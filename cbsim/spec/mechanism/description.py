"""Description of a mechanism: named parts, step and gravity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cbsim.errors import ModelError
from cbsim.spec.mechanism.bodies import Body, Node, Origin
from cbsim.spec.mechanism.colliders import Collider
from cbsim.spec.mechanism.contacts import ContactConstraint
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.values import floats, number, vector

__all__ = ["MechanismSpec"]


@dataclass(frozen=True, eq=False)
class MechanismSpec:
    """Parts and parameters of a mechanism.

    Parameters
    ----------
    origin : Origin
        The world.
    bodies : sequence of Body
        In the order of the maximal state.
    joints : sequence of JointConstraint
        In the order of the inputs.
    contacts : ContactConstraint or sequence of them
        Nested sequences are flattened, since `contact_constraint` makes lists.
    timestep : float
        Length of a step [s].
    gravity : float or array_like, shape (3,)
        Acceleration [m/s²]; a number is along z.
    input_scaling : float, optional
        Impulse per input. Without, the timestep: inputs are forces and torques. With 1 they are impulses.
    colliders : sequence of Collider
        What is solid.
    """

    origin: Origin
    bodies: Any
    joints: Any
    contacts: Any = ()
    timestep: float = 0.01
    gravity: Any = -9.81
    input_scaling: float | None = None
    colliders: Any = ()

    def __post_init__(self) -> None:
        who, settle = "mechanism", object.__setattr__
        if not isinstance(self.origin, Origin):
            raise ModelError(f"origin is {self.origin!r}, expected an Origin", subject=who)
        for kind, what in (
            (Body, "bodies"),
            (JointConstraint, "joints"),
            (ContactConstraint, "contacts"),
            (Collider, "colliders"),
        ):
            settle(self, what, tuple(_flat(getattr(self, what), kind, what)))
        if not self.bodies:
            raise ModelError("has no bodies", subject=who)
        settle(self, "timestep", number(self.timestep, who, "timestep"))
        if self.timestep <= 0.0:
            raise ModelError(f"timestep is {self.timestep:g} s, expected more than 0", subject=who)
        is_number = not floats(self.gravity, who, "gravity", "a number or 3 numbers").ndim
        pull = (0.0, 0.0, number(self.gravity, who, "gravity")) if is_number else self.gravity
        settle(self, "gravity", vector(pull, who, "gravity"))
        if self.input_scaling is not None:
            settle(self, "input_scaling", number(self.input_scaling, who, "input_scaling"))
            if self.input_scaling == 0.0:
                raise ModelError("input_scaling is 0: no input would do anything", subject=who)
        self._name()
        self._check_kinematic()

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All parts in the order of their numbers: origin, joints, bodies, contacts, colliders."""
        return (self.origin, *self.joints, *self.bodies, *self.contacts, *self.colliders)

    def _name(self) -> None:
        """Name unnamed parts by kind and number; refuse duplicate names and parts."""
        for node in self.nodes:
            if not isinstance(node.name, str):
                raise ModelError(f"a part has the name {node.name!r}, expected text", subject="mechanism")
        taken = {node.name for node in self.nodes}
        kinds = ["origin"] + ["joint"] * len(self.joints) + ["body"] * len(self.bodies)
        kinds += ["contact"] * len(self.contacts) + ["collider"] * len(self.colliders)
        for number_, (node, kind) in enumerate(zip(self.nodes, kinds, strict=True)):
            if not node.name:
                name, extra = f"{kind}_{number_}", 0
                while name in taken:
                    extra += 1
                    name = f"{kind}_{number_}_{extra}"
                taken.add(name)
                object.__setattr__(node, "name", name)
        for node, times in Counter(self.nodes).items():
            if times > 1:
                raise ModelError(f"stands {times} times in the mechanism", subject=f"'{node.name}'")
        for name, times in Counter(node.name for node in self.nodes).items():
            if times > 1:
                raise ModelError(f"{times} parts have this name", subject=f"'{name}'")

    def _check_kinematic(self) -> None:
        """Refuse a kinematic body that something else than a plain floating joint on the world carries."""
        carried: dict[Body, list[JointConstraint]] = {body: [] for body in self.bodies if body.kinematic}
        for joint in self.joints if carried else ():
            if joint.child in carried:
                carried[joint.child].append(joint)
        for body, joints in carried.items():
            if len(joints) != 1 or not _is_bare(joints[0]):
                raise ModelError(
                    "is kinematic, expected one joint: Floating on the origin, without spring, damper, limits, drives",
                    subject=f"body '{body.name}'",
                )


def _is_bare(joint: JointConstraint) -> bool:
    """Whether a joint leaves its child free in the world and does nothing to it."""
    free = isinstance(joint.parent, Origin) and joint.dof == 6
    limited = joint.translational.joint_limits is not None or joint.rotational.joint_limits is not None
    return free and not (joint.spring or joint.damper or joint.drives or limited)


def _flat(value: Any, kind: type, what: str) -> list[Any]:
    if isinstance(value, kind):
        return [value]
    if not isinstance(value, Sequence):
        raise ModelError(f"{what} are {value!r}, expected a sequence of {kind.__name__}", subject="mechanism")
    flat: list[Any] = []
    for item in value:
        if isinstance(item, (list, tuple)) and kind is ContactConstraint:
            flat += _flat(item, kind, what)
        elif isinstance(item, kind):
            flat.append(item)
        else:
            raise ModelError(f"{what} hold {item!r}, expected a {kind.__name__}", subject="mechanism")
    return flat
