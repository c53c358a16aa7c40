"""Reader of Juice files of all dialects (1, early, before 1, 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cbsim.errors import Problems
from cbsim.formats.juice.elements import Part
from cbsim.formats.juice.grammar import CONSTANTS, ELEMENTS
from cbsim.formats.values import quote
from cbsim.spec.juice import (
    FUNCTIONS,
    BodyShape,
    Clockwork,
    ClockworkMotor,
    Edge,
    FunctionNode,
    JointKind,
    JuiceBody,
    JuiceJoint,
    JuiceModel,
    Motion,
    MotorNode,
    Network,
    SourceNode,
)

__all__ = ["read_model"]

FLAT = ("Body", "Behavior", *JointKind)  # elements that files before the first version have outside of lists
GARBAGE = "what it holds was never set"


def read_model(root: Part) -> JuiceModel | None:
    """Read a ``Model`` or ``JuiceFile`` element; None if its version is not known."""
    part, block = root, None
    if root.tag == "JuiceFile":
        root.look_over()
        inner = root.last("Model")
        if inner is None:
            root.error("E932", "'JuiceFile' has no element 'Model'")
            return None
        part, block = inner, _standard(root)
    version = _version(root)
    if version is None:
        return None
    return _Reader(part, version if part is root else "3", block).model()


def _version(root: Part) -> str | None:
    """Determine the dialect by the version of the root."""
    text = root.element.get("FileVersion")
    if text is None and root.tag == "Model":
        return "pre-1"
    if (text or "").strip() in ("1", "1.0"):
        return "1"
    root.error("E932", f"FileVersion is {quote(text or '')}, and only version 1 is known")
    return None


def _standard(root: Part) -> Part | None:
    """Find the third dialect's settings for ODE's standard solver; those of other solvers have no effect."""
    constants = root.last("DynamicsConstants")
    if constants is None:
        return None
    constants.look_over()
    return constants.last("ODE.Standard")


class _Reader:
    def __init__(self, part: Part, dialect: str, block: Part | None) -> None:
        self.part, self.dialect, self.block, self.problems = part, dialect, block, part.problems
        self.pre = dialect == "pre-1"
        self.motors = self._motors_of_links() if self.pre else {}

    def model(self) -> JuiceModel:
        """Read everything."""
        part = self.part
        part.look_over("Model", extra=FLAT if self.pre else ())
        values = part.items("Model", quiet=True)
        if self.block is not None:
            own = self.block.items()
            values |= {item.field: own[item.field] for item in ELEMENTS["ODE.Standard"] if self.block.has(item.tag)}
        self._tell_defaults()
        bodies = [self._body(one) for one in self._all("Bodies", "Body")]
        joints = [self._joint(one, kind) for kind in JointKind for one in self._all(f"{kind}s", kind)]
        behaviours = [
            self._behaviour(one) for one in self._all("Behaviors", "Clockwork", "Behavior", "NetworkBehavior")
        ]
        if self.pre:
            text = "a Juice file from before version 1: it is converted, with H as yaw"
            part.warning("W931", text, "'cbsim convert' writes it as version 1")
        values |= {"bodies": tuple(bodies), "joints": tuple(joints), "behaviours": tuple(behaviours)}
        return JuiceModel(**values, dialect=self.dialect, location=part.place)

    def _all(self, group: str, *tags: str) -> Iterator[Part]:
        """Yield the elements of a list, and those outside of it in old files."""
        for part in self.part.listed(group, *(tags if self.pre else ())):
            if part.tag in tags:
                yield part
            else:
                part.look_over(group)
                yield from part.listed(*tags)

    def _tell_defaults(self) -> None:
        """Report missing constants, which were the user's preferences in Juice."""
        parts = [self.part] if self.block is None else [self.block, self.part]
        missing = [item for item in CONSTANTS if not any(part.has(item.tag) for part in parts)]
        if missing:
            names = ", ".join(f"{item.tag} ({item.default:g})" for item in missing)
            parts[0].warning("W932", f"the model does not say {names}: the defaults are taken")

    # --- bodies and joints --------------------------------------------------------------------------------------------
    def _body(self, part: Part) -> JuiceBody:
        tags = {child.tag for child in part.children()}
        if self.dialect == "1" and "Shape" not in tags and "Dimensions" in tags:
            self.dialect = "early"
        values = part.items()
        shape = values["shape"]
        if shape not in tuple(BodyShape):
            part.error("E936", f"Shape is {shape}, expected 1 (box), 2 (capsule), 3 (sphere) or 4 (cylinder)")
            shape = BodyShape.BOX
        return JuiceBody(**{**values, "shape": BodyShape(shape)}, location=part.place)

    def _joint(self, part: Part, kind: JointKind) -> JuiceJoint:
        joint = JuiceJoint(kind, **part.items(), location=part.place)
        tags = {child.tag for child in part.children()}
        own = self.motors.get(joint.id, {})
        changes: dict[str, Any] = {}
        if "Gain" not in tags and "gain" in own:
            changes["gain"] = own["gain"]
        if "MaxForce" not in tags and "max_force" in own:
            changes["max_force"] = own["max_force"]
        return replace(joint, **changes)

    def _motors_of_links(self) -> dict[int, dict[str, float]]:
        """Gain and largest force of joints from the links of behaviours, where older files have them."""
        found: dict[int, dict[str, float]] = {}
        for behaviour in self.part.listed("Behavior"):
            for link in behaviour.listed("MotionLink"):
                quiet = link._replace(problems=Problems())
                joint = quiet.items("ClockworkMotor", quiet=True)["joint"]
                own = Part(link.element, link.source, Problems()).items("MotionLink", quiet=True)
                for name in ("gain", "max_force"):
                    if own[name] > 0.0:
                        found.setdefault(joint, {}).setdefault(name, own[name])
        return found

    # --- behaviours ---------------------------------------------------------------------------------------------------
    def _behaviour(self, part: Part) -> Clockwork | Network:
        return self._network(part) if part.tag == "NetworkBehavior" else self._clockwork(part)

    def _clockwork(self, part: Part) -> Clockwork:
        values = part.items("Clockwork")
        lists = [part, *part.listed("ClockworkMotors", "MotionLinks")]
        motors = tuple(self._motor(one) for group in lists for one in group.listed("ClockworkMotor", "MotionLink"))
        return Clockwork(**values, motors=motors, location=part.place)

    def _motor(self, part: Part) -> ClockworkMotor:
        values = part.items("ClockworkMotor")
        there = any(True for _ in part.listed("MotionType"))
        if self.pre and (not there or values["motion"] not in tuple(Motion)):
            if there:
                part.warning("W938", f"MotionType is {values['motion']}: {GARBAGE}; it is taken as 1 (sine)")
            values["motion"] = Motion.SINE
        return ClockworkMotor(**values, location=part.place)

    def _network(self, part: Part) -> Network:
        head = part.items()

        def listed(group: str, *tags: str) -> Iterator[Part]:
            for one in part.listed(group):
                one.look_over()
                yield from one.listed(*tags)

        return Network(
            **head,
            motors=tuple(MotorNode(**one.items(), location=one.place) for one in listed("MotorNodes", "MotorNode")),
            functions=tuple(_function(one) for one in listed("FunctionNodes", *FUNCTIONS)),
            sources=tuple(
                SourceNode(**one.items(), location=one.place) for one in listed("MotionSourceNodes", "MotionSourceNode")
            ),
            edges=tuple(Edge(**one.items(), location=one.place) for one in listed("Edges", "Edge")),
            location=part.place,
        )


def _function(part: Part) -> FunctionNode:
    values = part.items()
    numbers = tuple(values.pop(name) for name, _ in FUNCTIONS[part.tag])
    plain = tuple(float(v) if isinstance(v, bool) else v for v in numbers)
    return FunctionNode(part.tag, **values, numbers=plain, location=part.place)
