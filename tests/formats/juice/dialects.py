"""Whole Juice files of every dialect as hypothesis strategies: trees and loops of bodies, motors, behaviours."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

from cbsim.spec.juice import FUNCTIONS, JointKind

ODDITIES = ("", "<Colour>red</Colour>", "<!-- c -->", "<SerializationID>1</SerializationID>")
DIALECTS = ("1", "early", "pre-1", "3")
NAMES = ("Left Leg", "Right Leg", "Torso", "Torso", "", "origin", "base", "x/y", "&lt;b&gt;", "Fuß", "a" * 70)
ANGLES = (0.0, 0.0, 90.0, -90.0, 180.0, 45.0, -720.0, 33.3)


class File(NamedTuple):
    """A file, and what it holds."""

    text: str
    dialect: str
    bodies: int
    joints: int
    mass: float


def tag(name, *inside):
    return f"<{name}>{''.join(map(str, inside))}</{name}>"


def whole(draw, least, most):
    return draw(st.integers(least, most))


def pick(draw, values):
    return draw(st.sampled_from(values))


def spelt(draw, value):
    """A number as programs and people write it."""
    text = pick(draw, ["{:g}", "{:.6e}", " {:.5f}\n", "{:+.4f}"]).format(value)
    return text.replace("e-0", "e-00")


def three(draw, name, values, tags="XYZ"):
    return tag(name, *(tag(t, spelt(draw, value)) for t, value in zip(tags, values, strict=True)))


def some(draw, *parts):
    """Parts as Juice writes them, or some of them in another order, with what a stranger left there."""
    if whole(draw, 0, 3):
        return "".join(parts)
    kept = draw(st.permutations(parts))[: draw(st.integers(0, len(parts)))]
    return "".join([*kept, pick(draw, ODDITIES)])


@st.composite
def files(draw, most=8):
    """Draw a `File` without errors."""
    dialect = pick(draw, DIALECTS)
    count = whole(draw, 1, most)
    ids = draw(st.lists(st.integers(1, 2**32 - 1), min_size=3 * count, max_size=3 * count, unique=True))
    mine, theirs = ids[:count], ids[count:]
    masses = [pick(draw, [0.1, 0.25, 1.0, 10.0]) for _ in mine]
    bodies = [_body(draw, dialect, number, mass, k) for k, (number, mass) in enumerate(zip(mine, masses, strict=True))]
    ends = [(mine[whole(draw, 0, k - 1)], mine[k]) for k in range(1, count) if whole(draw, 0, 4)]
    if count > 1:
        closing = st.lists(st.sampled_from(mine), min_size=2, max_size=2, unique=True).map(tuple)
        ends += draw(st.lists(closing, max_size=count))
    joints = [(draw(st.sampled_from(list(JointKind))), number, *two) for number, two in zip(theirs, ends, strict=False)]
    names = [number for _, number, *_ in joints] or [1]
    lists = {kind: [_joint(draw, dialect, *joint) for joint in joints if joint[0] is kind] for kind in JointKind}
    behaviours = [_behaviour(draw, dialect, mine, names) for _ in range(whole(draw, 0, 2))]
    text = _model(draw, dialect, bodies, lists, behaviours)
    return File(text, dialect, count, len(joints), sum(masses))


def _model(draw, dialect, bodies, lists, behaviours):
    constants = [
        tag("Gravity", spelt(draw, pick(draw, [9.81, 0.0, 20.0, -3.0]))),
        tag("Friction", "75"),
        tag("ERP", pick(draw, ["1", ".5", "0.01"])),
        tag("CFM", pick(draw, ["0", "1e-005", "0.1"])),
    ]
    engine = [tag("StandardSpeed", 35), tag("SpeedFactor", -1.27), tag("PoseDelay", 0), tag("PosePhase", 90)]
    if dialect == "pre-1":
        flat = [*bodies, *(joint for joints in lists.values() for joint in joints), *behaviours]
        return tag("Model", *constants, *flat)
    sections = [tag("Bodies", *bodies), *(tag(f"{kind}s", *joints) for kind, joints in lists.items())]
    sections.append(tag("Behaviors", *behaviours))
    sections = draw(st.permutations(sections))
    if dialect == "3":
        standard = tag("ODE.Standard", *constants, tag("Bounce", 0.5))
        constants = tag("DynamicsConstants", standard, tag("ODE.Iterative", tag("Iterations", 20)), tag("Novodex"))
        model = tag("Model", some(draw, *engine), *sections)
        return f'<JuiceFile FileVersion="1" SerializationVersion="2">{constants}{model}</JuiceFile>'
    return f'<Model FileVersion="1">{some(draw, *constants, *engine)}{"".join(sections)}</Model>'


def _component(draw, dialect, number, place):
    yaw = "H" if dialect == "pre-1" else "Y"
    rotation = pick(draw, ["Rotation", "Orientation"]) if dialect == "pre-1" else "Rotation"
    angles = [pick(draw, ANGLES) for _ in range(3)]
    parts = [
        tag("ID", number),
        tag("Name", pick(draw, NAMES)),
        three(draw, "Position", place),
        three(draw, rotation, angles, (yaw, "P", "R")),
        tag("Twin", 0),
    ]
    return tag("Component", *parts) if dialect == "pre-1" else "".join(parts)


def _body(draw, dialect, number, mass, place):
    size = [pick(draw, [0.05, 0.5, 1.0, 3.0]) for _ in range(3)]
    head = _component(draw, dialect, number, (1.5 * place, 0.0, 2.0))
    if dialect in ("early", "pre-1"):
        return tag("Body", head, three(draw, "Dimensions", size), tag("Mass", mass))
    tube = [
        tag("TubeLength", spelt(draw, size[0])),
        tag("TubeDiameter", spelt(draw, size[1])),
        tag("BallDiameter", size[2]),
    ]
    shape = tag("Shape", whole(draw, 1, 4))
    return tag("Body", head, tag("Mass", mass), some(draw, three(draw, "BoxDimensions", size), *tube, shape))


def _joint(draw, dialect, kind, number, one, other):
    place = [whole(draw, -4, 8) / 2.0 for _ in range(3)]
    head = _component(draw, dialect, number, place) + tag("Body1", one) + tag("Body2", other)
    size = ([] if kind is JointKind.BALL else [tag("Length", 0.5)]) + [tag("Diameter", 0.25)]
    if dialect == "pre-1":
        return tag(kind, tag("Joint", head), *size, tag("RestAngle", 0), tag("GainP", 10), tag("GainI", 0))
    stops = [
        tag("LoStopValue", whole(draw, -200, 60)),
        tag("HiStopValue", whole(draw, -60, 200)),
        tag("LoStopFlag", pick(draw, "01tF")),
        tag("HiStopFlag", pick(draw, "01Yn")),
    ]
    return tag(kind, head, some(draw, tag("Gain", 10), tag("MaxForce", pick(draw, [0, 100, 1e6])), *stops, *size))


def _behaviour(draw, dialect, bodies, joints):
    joint, body = st.sampled_from([*joints, 12345]), st.sampled_from([*bodies, 0])
    if dialect == "pre-1":
        links = [
            tag("MotionLink", tag("JointID", draw(joint)), tag("Phase", 90), tag("Amplitude", 30), tag("GainP", 20))
            for _ in range(whole(draw, 0, 3))
        ]
        return tag("Behavior", tag("Name", "Walk"), tag("Enabled", 1), *links)
    if draw(st.booleans()):
        motors = [
            tag(
                "ClockworkMotor",
                tag("JointID", draw(joint)),
                some(
                    draw,
                    tag("MotionType", whole(draw, 0, 4)),
                    tag("Phase", 90),
                    tag("Amplitude", -30),
                    tag("Offset", 10),
                    tag("Enabled", "true"),
                ),
            )
            for _ in range(whole(draw, 0, 4))
        ]
        source = [tag("MotionSource", whole(draw, 1, 15)), tag("FeedbackSource", draw(body))]
        return tag(
            "Clockwork",
            tag("ClockworkMotors", *motors),
            some(draw, *source, tag("AmpModSource", whole(draw, 0, 4))),
        )
    return _network(draw, joint, body)


def _network(draw, joint, body):
    motors = [
        tag(
            "MotorNode",
            tag("ID", k),
            tag(pick(draw, ["JointID", "MotorID"]), draw(joint)),
            tag("MotorType", whole(draw, 1, 2)),
        )
        for k in range(1, whole(draw, 1, 3) + 1)
    ]
    sources = [
        tag(
            "MotionSourceNode",
            tag("ID", 10 + k),
            tag("MotionSource", whole(draw, 0, 15)),
            tag("BodyFeedbackSource", draw(body)),
        )
        for k in range(whole(draw, 0, 3))
    ]
    kinds = draw(st.lists(st.sampled_from(sorted(FUNCTIONS)), max_size=6))
    number = st.sampled_from(["0", "1", "-1", "100", ".5", "-30.25"])
    functions = [
        tag(kind, tag("ID", 20 + k), *(tag(name, draw(number)) for name, _ in FUNCTIONS[kind]))
        for k, kind in enumerate(kinds)
    ]
    nodes = st.sampled_from([*range(1, 4), *range(10, 13), *range(20, 27)])
    edges = [
        tag("Edge", tag("Source", draw(nodes)), tag("Destination", draw(nodes)), tag("Factor", draw(number)))
        for _ in range(whole(draw, 0, 10))
    ]
    lists = {"MotorNodes": motors, "FunctionNodes": functions, "MotionSourceNodes": sources, "Edges": edges}
    return tag("NetworkBehavior", tag("Name", "Net"), *(tag(name, *parts) for name, parts in lists.items()))
