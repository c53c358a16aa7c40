"""Checks of a whole Juice model: references, sizes, stops, cycles of networks."""

from __future__ import annotations

from collections.abc import Iterable

from cbsim.errors import Problems
from cbsim.formats.juice.networks import order_of
from cbsim.formats.values import quote
from cbsim.spec.juice import (
    Clockwork,
    JointKind,
    JuiceBody,
    JuiceJoint,
    JuiceModel,
    Motion,
    MotorType,
    Network,
    Source,
    SourceNode,
)

__all__ = ["check_structure"]

ATTITUDES = (Source.YAW, Source.PITCH, Source.ROLL)
Named = JuiceBody | JuiceJoint


def check_structure(model: JuiceModel, problems: Problems) -> None:
    """Check a model, collecting all problems."""
    _Checker(model, problems).run()


class _Checker:
    def __init__(self, model: JuiceModel, problems: Problems) -> None:
        self.model, self.problems = model, problems
        self.bodies = {body.id: body for body in model.bodies}
        self.joints = {joint.id: joint for joint in model.joints}
        self.sound = {joint.id for joint in model.sound_joints()}

    def run(self) -> None:
        """Apply every rule."""
        model = self.model
        if model.joints and not model.bodies:
            self.problems.error("E937", "there are joints, but no bodies", model.joints[0].location)
        self._unique("bodies", model.bodies)
        self._unique("joints", model.joints)
        for body in model.bodies:
            self._sizes(body)
            self._twin(body, self.bodies)
        for joint in model.joints:
            self._ends(joint)
            self._stops(joint)
            self._twin(joint, self.joints)
        for behaviour in model.behaviours:
            self._clockwork(behaviour) if isinstance(behaviour, Clockwork) else self._network(behaviour)

    def _unique(self, what: str, parts: Iterable[Named]) -> None:
        first: dict[int, Named] = {}
        for part in parts:
            if part.id in first:
                text = f"two {what} have the ID {part.id}: {quote(first[part.id].name)} and {quote(part.name)}"
                self.problems.error("E933", text, part.location, also=first[part.id].location)
            elif part.id:
                first[part.id] = part

    def _sizes(self, body: JuiceBody) -> None:
        if min(body.size) <= 0.0:
            text = f"a {body.shape.name.lower()} has the sizes {', '.join(f'{float(v):g}' for v in body.size)} m"
            self.problems.error("E935", f"body {quote(body.name)}: {text}, expected all more than 0", body.location)

    def _twin(self, part: Named, known: dict[int, JuiceBody] | dict[int, JuiceJoint]) -> None:
        if not part.twin:
            return
        twin = known.get(part.twin)
        if twin is None:
            self.problems.warning(
                "W935", f"{quote(part.name)} has a twin {part.twin}, which is not there", part.location
            )
        elif twin.twin != part.id:
            text = f"{quote(part.name)} has the twin {quote(twin.name)}, whose twin is another"
            self.problems.warning("W935", text, part.location, also=twin.location)

    # --- joints -------------------------------------------------------------------------------------------------------
    def _ends(self, joint: JuiceJoint) -> None:
        missing = [end for end in (joint.body1, joint.body2) if end not in self.bodies]
        if missing:
            text = f"joint {quote(joint.name)} ties a body {missing[0]}, which is not there; the joint is left out"
            self.problems.warning("W933", text, joint.location)
        elif joint.body1 == joint.body2:
            body = self.bodies[joint.body1]
            text = f"joint {quote(joint.name)} ties {quote(body.name)} to itself; it is left out"
            self.problems.warning("W933", text, joint.location, also=body.location)

    def _stops(self, joint: JuiceJoint) -> None:
        if joint.kind is JointKind.BALL:
            return
        if joint.has_low and joint.has_high and joint.low > joint.high:
            text = (
                f"joint {quote(joint.name)} has its low stop {joint.low:g} above the high one {joint.high:g}: none acts"
            )
            self.problems.warning("W936", text, joint.location)
        for has, value in ((joint.has_low, joint.low), (joint.has_high, joint.high)):
            if has and joint.kind is JointKind.HINGE and abs(value) >= 180.0:
                text = f"hinge {quote(joint.name)} has a stop at {value:g} degrees, which never acts beyond ±180"
                self.problems.warning("W936", text, joint.location)

    # --- behaviours ---------------------------------------------------------------------------------------------------
    def _clockwork(self, one: Clockwork) -> None:
        if one.enabled:
            self._source(one, "MotionSource", one.source, one.feedback, unset=False)
            if one.amplitude_source not in range(5):
                text = f"AmpModSource is {one.amplitude_source}, expected 0 (none) to 4; it is taken as none"
                self.problems.warning("W938", text, one.location)
        for motor in one.motors:
            if motor.joint not in self.joints:
                self._no_joint(motor.joint, one.name, motor)
            acts = one.enabled and motor.enabled and motor.joint in self.sound
            if acts and one.source == Source.ENGINE and motor.motion not in tuple(Motion):
                text = f"MotionType is {motor.motion}, expected 0 (none) to 4 (continuous)"
                self.problems.error("E936", text, motor.location)

    def _source(self, part: Clockwork | SourceNode, tag: str, source: int, feedback: int, *, unset: bool) -> None:
        if source not in tuple(Source) or (source == Source.NONE and not unset):
            self.problems.error("E936", f"{tag} is {source}, expected 1 (main engine) to 15 (keys)", part.location)
        elif source in ATTITUDES and feedback not in self.bodies:
            text = f"{quote(part.name)} follows the attitude of a body {feedback}, which is not there: it is zero"
            self.problems.warning("W934", text, part.location)

    def _no_joint(self, joint: int, name: str, part: object) -> None:
        text = f"{quote(name)} moves a joint {joint}, which is not there"
        self.problems.warning("W934", text, part.location)  # type: ignore[attr-defined]

    def _network(self, one: Network) -> None:
        places = {node.id: node for node in one.nodes}
        seen: set[int] = set()
        for node in one.nodes:
            if node.id and node.id in seen:
                text = f"two nodes of the network {quote(one.name)} have the ID {node.id}"
                self.problems.error("E933", text, node.location, also=places[node.id].location)
            seen.add(node.id)
        order = order_of(one)
        for edge in order.loose:
            end = edge.source if edge.source not in places else edge.destination
            self.problems.warning("W938", f"an edge leads from or to a node {end}, which is not there", edge.location)
        if order.stuck:
            names = ", ".join(quote(places[node].name) for node in order.stuck[:3])
            text = f"{len(order.stuck)} nodes stand on a circle, or behind one, and never act: {names}"
            self.problems.warning("W938", text, places[order.stuck[0]].location)
        for motor in one.motors:
            if motor.joint not in self.joints:
                self._no_joint(motor.joint, motor.name, motor)
            elif one.enabled and motor.id in order.acting and motor.type not in tuple(MotorType):
                text = f"MotorType is {motor.type}, expected 1 (position) or 2 (velocity)"
                self.problems.error("E936", text, motor.location)
        for node in one.sources if one.enabled else ():
            self._source(node, "MotionSource", node.source, node.feedback, unset=True)
