"""Clockworks and networks compiled to functions that request positions and velocities of joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cbsim.arrays import Floats
from cbsim.formats.juice.networks import order_of
from cbsim.geometry import elementary as math
from cbsim.models.juice.controls import PHASE, SOURCES
from cbsim.models.juice.waves import clockwork, wave
from cbsim.spec.juice import (
    Clockwork,
    FunctionNode,
    JointKind,
    JuiceModel,
    Motion,
    MotorNode,
    MotorType,
    Network,
    Source,
)

__all__ = ["Ask", "attitude_of", "driven_joints", "program_of"]

Value = Callable[["Ask"], float]
Run = Callable[["Ask"], None]
ATTITUDES = (Source.YAW, Source.PITCH, Source.ROLL)
CLAMP, CLAMPED = 180.0, 178.0  # range of a joystick's positions [degrees or m]


class Ask:
    """State and requests of behaviours in one step.

    Attributes
    ----------
    state : ndarray, shape (bodies, 13)
    memory : list of float
        Phase of the engine [rad], and controls.
    positions, velocities : list
        Sums per motor [degrees or m; rad/s]; None without requests.
    """

    __slots__ = ("memory", "positions", "state", "velocities")

    def __init__(self, motors: int, state: Floats, memory: list[float]) -> None:
        self.state, self.memory = state, memory
        self.positions: list[float | None] = [None] * motors
        self.velocities: list[float | None] = [None] * motors

    def add_position(self, motor: int, value: float) -> None:
        """Request a position."""
        self.positions[motor] = value + (self.positions[motor] or 0.0)

    def add_velocity(self, motor: int, value: float) -> None:
        """Request a velocity."""
        self.velocities[motor] = value + (self.velocities[motor] or 0.0)


def driven_joints(model: JuiceModel) -> frozenset[int]:
    """Joints that enabled behaviours may drive, which need motors."""
    sound = {joint.id: joint.kind for joint in model.sound_joints() if joint.kind is not JointKind.BALL}
    found: set[int] = set()
    for one in model.behaviours:
        if not one.enabled:
            continue
        if isinstance(one, Clockwork):
            found |= {motor.joint for motor in one.motors if motor.enabled}
        else:
            acting = set(order_of(one).acting)
            found |= {motor.joint for motor in one.motors if motor.id in acting}
    return frozenset(found & set(sound))


def program_of(model: JuiceModel, motors: Mapping[int, int], places: Mapping[int, int]) -> list[Run]:
    """Compile the enabled behaviours to functions.

    Parameters
    ----------
    model : JuiceModel
    motors : mapping
        ID of a joint with a motor → its number.
    places : mapping
        ID of a body → its row in the state.
    """
    kinds = {joint.id: joint.kind for joint in model.joints}
    runs: list[Run] = []
    for one in model.behaviours:
        if one.enabled and isinstance(one, Clockwork):
            runs += _clockwork(one, motors, places, kinds)
        elif one.enabled and isinstance(one, Network):
            runs.append(_network(one, motors, places, kinds))
    return runs


def attitude_of(state: Floats, body: int, source: int) -> float:
    """Yaw, or pitch times cos(roll), or roll times cos(pitch), of a body [degrees], as Juice computed them.

    Notes
    -----
    The yaw has ``y z`` in place of the correct ``x y``, and the pitch changes its sign beyond a quarter turn, as in
    Juice, whose models depend on it.
    """
    w, x, y, z = state[body, 6:10].tolist()
    if source == Source.YAW:
        low = w * w + x * x - y * y - z * z
        high = 2.0 * (w * z + y * z)
        angle = math.atan(high / low) if low else math.copysign(0.5 * math.pi, high)
        return math.degrees(angle + math.pi if low < 0.0 else angle)
    low, high = w * w - x * x - y * y + z * z, 2.0 * (w * x + y * z)
    pitch = math.atan(high / low) if low else math.copysign(0.5 * math.pi, high)
    if low < 0.0:
        pitch = -pitch
    roll = math.asin(max(-1.0, min(1.0, -2.0 * (x * z - w * y))))
    return math.degrees(pitch * math.cos(roll) if source == Source.PITCH else roll * math.cos(pitch))


def _value(source: int, feedback: int, places: Mapping[int, int]) -> Value | None:
    """Find what a source says: degrees of the engine or of a body, −1 to 1 of a control; None for what is never set."""
    if source == Source.ENGINE:
        return lambda ask: math.degrees(ask.memory[PHASE])
    if source in ATTITUDES:
        row = places.get(feedback)
        return None if row is None else lambda ask: attitude_of(ask.state, row, source)
    if source not in SOURCES:
        return None
    plus, minus = SOURCES[source]
    if minus < 0:
        return lambda ask: ask.memory[plus]
    return lambda ask: ask.memory[plus] - ask.memory[minus]


# --- clockworks -------------------------------------------------------------------------------------------------------
def _clockwork(
    one: Clockwork, motors: Mapping[int, int], places: Mapping[int, int], kinds: Mapping[int, JointKind]
) -> list[Run]:
    gain = float(one.gain) / 100.0
    other = SOURCES[Source.JOYSTICK1_X + one.amplitude_source - 1][0] if 1 <= one.amplitude_source <= 4 else None
    value = _value(one.source, one.feedback, places)

    def factor(ask: Ask) -> float:
        return gain if other is None else gain * ask.memory[other]

    runs: list[Run] = []
    for motor in one.motors:
        if not motor.enabled or motor.joint not in motors:
            continue
        number, offset, amplitude = motors[motor.joint], float(motor.offset), float(motor.amplitude)
        if one.source == Source.ENGINE:
            run = _turning(
                number, offset, amplitude, math.radians(motor.phase), motor.motion, factor, kinds[motor.joint]
            )
            runs += [] if run is None else [run]
        elif one.source in ATTITUDES:
            runs.append(_leaning(number, offset, factor, value))
        else:
            runs.append(_steered(number, offset, amplitude, factor, value))
    return runs


def _turning(
    number: int, offset: float, amplitude: float, phase: float, motion: int, factor: Value, kind: JointKind
) -> Run | None:
    """Make a motor that follows the engine; None asks nothing."""
    if motion == Motion.CONTINUOUS:
        if kind is JointKind.HINGE:
            return None
        return lambda ask: ask.add_position(number, offset + math.degrees(phase + ask.memory[PHASE]))
    if motion not in (Motion.SINE, Motion.DOUBLE_SINE, Motion.STEP):
        return None
    return lambda ask: ask.add_position(
        number, offset + amplitude * factor(ask) * clockwork(motion, phase + ask.memory[PHASE])
    )


def _leaning(number: int, offset: float, factor: Value, value: Value | None) -> Run:
    """Make a motor that follows the attitude of a body; its amplitude does not count, as in Juice."""
    return lambda ask: ask.add_position(number, offset + (0.0 if value is None else value(ask) * factor(ask)))


def _steered(number: int, offset: float, amplitude: float, factor: Value, value: Value | None) -> Run:
    """Make a motor that follows a joystick or keys."""

    def run(ask: Ask) -> None:
        wanted = offset + (0.0 if value is None else value(ask) * amplitude * factor(ask))
        ask.add_position(number, wanted if abs(wanted) <= CLAMP else math.copysign(CLAMPED, wanted))

    return run


# --- networks ---------------------------------------------------------------------------------------------------------
def _network(one: Network, motors: Mapping[int, int], places: Mapping[int, int], kinds: Mapping[int, JointKind]) -> Run:
    order = order_of(one)
    slot = {node: k for k, node in enumerate(order.acting)}
    into: dict[int, list[tuple[int, float]]] = {node: [] for node in slot}
    for edge in one.edges:
        if edge.destination in slot and edge.source in slot:
            into[edge.destination].append((slot[edge.source], float(edge.factor)))
        elif edge.destination in into and edge.source in order.idle:
            into[edge.destination].append((len(slot), float(edge.factor)))  # its activation stays zero
    nodes = {node.id: node for node in one.nodes}
    steps: list[Callable[[Ask, list[float]], float]] = []
    for number in order.acting:
        node = nodes[number]
        if isinstance(node, FunctionNode):
            steps.append(_function(node, into[number]))
        elif isinstance(node, MotorNode):
            steps.append(_motor(node, into[number], motors, kinds))
        else:
            steps.append(_sourced(_value(node.source, node.feedback, places)))

    def run(ask: Ask) -> None:
        activation = [0.0] * (len(steps) + 1)
        for k, step in enumerate(steps):
            activation[k] = step(ask, activation)

    return run


def _sourced(value: Value | None) -> Callable[[Ask, list[float]], float]:
    if value is None:
        return lambda _ask, _activation: 0.0
    return lambda ask, _activation: value(ask)


def _sum(into: list[tuple[int, float]], activation: list[float]) -> float:
    total = 0.0
    for k, factor in into:
        total += factor * activation[k]
    return total


def _function(  # noqa: PLR0911 (one for each kind)
    node: FunctionNode, into: list[tuple[int, float]]
) -> Callable[[Ask, list[float]], float]:
    match node.kind, tuple(map(float, node.numbers)):
        case "ArithmeticNode", (add, by, first):
            if first:
                return lambda _, a: (_sum(into, a) + add) * by
            return lambda _, a: _sum(into, a) * by + add
        case "WaveNode", (duty, span, offset):
            return lambda _, a: wave(_sum(into, a), duty) * span + offset
        case "ConstantNode", (value,):
            return lambda _, a: _sum(into, a) + value
        case "LimitNode", (low, high):
            return lambda _, a: max(low, min(high, _sum(into, a)))
        case "AbsoluteValueNode", ():
            return lambda _, a: abs(_sum(into, a))

    def product(_: Ask, a: list[float]) -> float:
        total = 1.0
        for k, factor in into:
            total *= factor * a[k]
        return total

    return product


def _motor(
    node: MotorNode, into: list[tuple[int, float]], motors: Mapping[int, int], kinds: Mapping[int, JointKind]
) -> Callable[[Ask, list[float]], float]:
    number = motors.get(node.joint)
    asks: Callable[[Ask, int, float], None] | None = None
    if number is not None and node.type == MotorType.POSITION:
        asks = Ask.add_position
    elif number is not None and node.type == MotorType.VELOCITY and kinds[node.joint] is JointKind.HINGE:
        asks = Ask.add_velocity

    def run(ask: Ask, activation: list[float]) -> float:
        wanted = _sum(into, activation)
        if asks is not None and number is not None:
            asks(ask, number, wanted)
        return wanted

    return run
