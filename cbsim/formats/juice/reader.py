"""Elements of a Juice file to a `JuiceModel`, whatever the dialect (1, early, before 1, 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cbsim.errors import Problems, Severity
from cbsim.formats.juice.elements import Part
from cbsim.formats.juice.grammar import CONSTANTS
from cbsim.formats.juice.networks import order_of
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

FLAT = ("Body", "Behavior", *JointKind)  # what files before the first version have outside of lists
GARBAGE = "what it holds was never set"


def read_model(root: Part) -> JuiceModel | None:
    """Read a ``Model`` or ``JuiceFile`` element; None if its version is not known."""
    part, constants = root, None
    if root.tag == "JuiceFile":
        root.look_over()
        part = next(root.listed("Model"), root)
        if part is root:
            root.error("E932", "'JuiceFile' has no element 'Model'")
            return None
        constants = _standard(root)
    version = _version(root)
    if version is None:
        return None
    model = _Reader(part, "3" if constants is not None or root is not part else version).model()
    return model if constants is None else replace(model, **constants)


def _version(root: Part) -> str | None:
    """Tell the dialect by the version that the root has."""
    text = root.element.get("FileVersion")
    if text is None and root.tag == "Model":
        return "pre-1"
    if (text or "").strip() in ("1", "1.0"):
        return "1"
    root.error("E932", f"FileVersion is {quote(text or '')}, and only version 1 is known")
    return None


def _standard(root: Part) -> dict[str, Any] | None:
    """Read what the third dialect says for ODE's standard solver; of the others nothing follows here."""
    block = next(root.listed("DynamicsConstants"), None)
    if block is None:
        return None
    block.look_over()
    inner = next(block.listed("ODE.Standard"), None)
    return None if inner is None else inner.items()


class _Reader:
    def __init__(self, part: Part, dialect: str) -> None:
        self.part, self.dialect, self.problems = part, dialect, part.problems
        self.pre = dialect == "pre-1"
        self.motors = self._motors_of_links() if self.pre else {}

    def model(self) -> JuiceModel:
        """Read everything."""
        part = self.part
        part.look_over("Model", extra=FLAT if self.pre else ())
        values = part.items("Model", quiet=True)
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
        """Give the elements of a list, and those outside of one in old files."""
        for part in self.part.listed(group, *(tags if self.pre else ())):
            if part.tag in tags:
                yield part
            else:
                part.look_over(group)
                yield from part.listed(*tags)

    def _tell_defaults(self) -> None:
        """Tell of constants that are missing: in Juice they were the user's preferences."""
        if self.dialect == "3":
            return
        there = {part.tag for part in self.part.children()}
        missing = [f"{item.tag} ({item.default:g})" for item in CONSTANTS if item.tag not in there]
        if missing:
            self.part.warning("W932", f"the model does not say {', '.join(missing)}: the defaults are taken")

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
        """Gain and largest force of joints, which stand at the links of behaviours before they stood at joints."""
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
        own = Problems()
        made = (
            self._network(part._replace(problems=own))
            if part.tag == "NetworkBehavior"
            else self._clockwork(part._replace(problems=own))
        )
        _extend(self.problems, own, soft=not made.enabled)
        return made

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
        told: dict[int, Problems] = {}
        groups = {
            group.tag: group for group in part.listed("MotorNodes", "FunctionNodes", "MotionSourceNodes", "Edges")
        }
        head = part.items()

        def read(group: str, *tags: str) -> Iterator[tuple[Part, dict[str, Any]]]:
            if group in groups:
                groups[group].look_over()
                for one in groups[group].listed(*tags):
                    own = one._replace(problems=Problems())
                    values = own.items()
                    told[values["id"]] = own.problems
                    yield one, values

        motors = tuple(MotorNode(**v, location=p.place) for p, v in read("MotorNodes", "MotorNode"))
        functions = tuple(_function(p, v) for p, v in read("FunctionNodes", *FUNCTIONS))
        sources = tuple(SourceNode(**v, location=p.place) for p, v in read("MotionSourceNodes", "MotionSourceNode"))
        edges: list[Edge] = []
        if "Edges" in groups:
            groups["Edges"].look_over()
            edges = [Edge(**one.items(), location=one.place) for one in groups["Edges"].listed("Edge")]
        made = Network(
            **head, motors=motors, functions=functions, sources=sources, edges=tuple(edges), location=part.place
        )
        acting = set(order_of(made).acting)
        for node, problems in told.items():
            _extend(part.problems, problems, soft=node not in acting and node != 0)
        return made


def _function(part: Part, values: dict[str, Any]) -> FunctionNode:
    numbers = tuple(values.pop(name) for name, _ in FUNCTIONS[part.tag])
    plain = tuple(float(v) if isinstance(v, bool) else v for v in numbers)
    return FunctionNode(part.tag, **values, numbers=plain, location=part.place)


def _extend(problems: Problems, own: Problems, *, soft: bool) -> None:
    """Pass problems on, those of what never acts as warnings: memory that nobody set spoils nothing there."""
    for problem in own:
        if soft and problem.severity is Severity.ERROR and problem.code != "E933":
            text = f"{problem.message} (it never acts: its default is taken)"
            problem = replace(problem, code="W938", severity=Severity.WARNING, message=text)  # noqa: PLW2901
        problems.add(problem)
