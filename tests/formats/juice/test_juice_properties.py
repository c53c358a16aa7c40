"""Whatever the bytes: a model or located errors; whatever the model: it is read back as it was written."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.errors import ModelError, Problems
from cbsim.formats.juice import read, write
from cbsim.formats.reader import Source
from cbsim.models.juice import count
from cbsim.models.juice.build import Choices, build
from cbsim.models.juice.program import driven_joints
from cbsim.spec.juice import (
    FUNCTIONS,
    Attitude,
    BodyShape,
    Clockwork,
    ClockworkMotor,
    Edge,
    FunctionNode,
    JointKind,
    JuiceBody,
    JuiceJoint,
    JuiceModel,
    MotorNode,
    Network,
    SourceNode,
)
from cbsim.spec.objects import Triple
from tests.formats.juice.test_juice_reader import MOTOR, PRE, THIRD, behaviour, network, node
from tests.models.juice.texts import body_text, hinge_text, model_text

TEXTS = [
    text.encode()
    for text in (
        PRE,
        THIRD,
        model_text(body_text(1) + body_text(2, "<Shape>4</Shape>"), hinge_text(3, 1, 2, "<HiStopFlag>1</HiStopFlag>")),
        behaviour(MOTOR.format(3, 1)),
        network(
            node("MotorNode", 11, "<JointID>3</JointID><MotorType>2</MotorType>"),
            node("WaveNode", 12, "<DutyCycle>50</DutyCycle>") + node("MultiplyNode", 14),
            node("MotionSourceNode", 13, "<MotionSource>7</MotionSource><BodyFeedbackSource>1</BodyFeedbackSource>"),
            [(13, 12), (12, 14), (14, 11)],
        ),
    )
]


def read_bytes(data):
    """Read, and see that there is a model or an error, that every problem has its line, and what is sound is built."""
    problems = Problems()
    model = read(Source.decode("hostile.jm", data), problems)
    assert model is not None or problems.errors
    assert all(p.location.path == "hostile.jm" and (p.location.line or 0) >= 1 for p in problems)
    if model is not None:
        counts = count(model)
        assert counts["bodies"] == len(model.bodies)
        assert all(np.isfinite(value) for value in counts.values())
        if model.bodies and not problems.errors:
            assert built_or_refused(model)
    return model, problems


def built_or_refused(model):
    """Whether a model without errors becomes a mechanism, or is refused by the name of a part."""
    try:
        return bool(build(model, 0.01, Choices(), driven_joints(model)).spec.bodies)
    except ModelError as refusal:
        return bool(refusal.subject)


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_any_bytes_give_a_model_or_located_errors(data):
    read_bytes(data)


@given(st.sampled_from(TEXTS), st.data())
@settings(deadline=None)
def test_a_file_with_pieces_taken_out_doubled_or_spoilt_is_read_or_refused_with_its_lines(text, data):
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, max(0, len(text) - 1)))
        stop = min(len(text), start + data.draw(st.integers(0, 120)))
        how = data.draw(st.sampled_from(["out", "twice", "spoilt", "number"]))
        piece = {"out": b"", "twice": text[start:stop] * 2, "spoilt": data.draw(st.binary(max_size=6))}
        number = data.draw(
            st.sampled_from([b"nan", b"1e400", b"-1", b"0", b"1e-300", b"1e12", b"<", b"&x;", b"9" * 500])
        )
        text = text[:start] + piece.get(how, number) + text[stop:]
    read_bytes(text)


IDS = st.integers(1, 2**32 - 1)
NUMBERS = st.floats(-1e12, 1e12) | st.integers(-1000, 1000).map(float)
SOME = st.floats(0, 1e12)
SIZES = st.floats(1e-6, 1e6)
NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="￾￿"), max_size=12)
TRIPLES = st.builds(Triple, NUMBERS, NUMBERS, NUMBERS)
ATTITUDES = st.builds(Attitude, NUMBERS, NUMBERS, NUMBERS)
EXTENTS = st.builds(Triple, SIZES, SIZES, SIZES)
PLACES = {"x": NUMBERS, "y": NUMBERS}
MOTORS = st.builds(ClockworkMotor, IDS, st.booleans(), NUMBERS, st.integers(0, 4), NUMBERS, NUMBERS)
SOURCES = st.integers(1, 15)
CLOCKWORKS = st.builds(
    Clockwork, NAMES, st.booleans(), NUMBERS, st.lists(MOTORS, max_size=3).map(tuple), SOURCES, st.integers(0, 4),
    st.booleans(), IDS,
)  # fmt: skip
MOTOR_NODES = st.builds(MotorNode, IDS, NAMES, joint=IDS, type=st.integers(1, 2), **PLACES)
SOURCE_NODES = st.builds(SourceNode, IDS, NAMES, source=SOURCES, feedback=IDS, **PLACES)


@st.composite
def functions(draw):
    kind = draw(st.sampled_from(sorted(FUNCTIONS)))
    numbers = [float(draw(st.booleans())) if name == "AddFirst" else draw(NUMBERS) for name, _ in FUNCTIONS[kind]]
    return FunctionNode(kind, draw(IDS), draw(NAMES), numbers=tuple(numbers))


@st.composite
def networks(draw):
    nodes = draw(st.lists(MOTOR_NODES | SOURCE_NODES | functions(), max_size=8, unique_by=lambda node: node.id))
    ends = st.sampled_from([node.id for node in nodes]) if nodes else IDS
    edges = draw(st.lists(st.builds(Edge, ends, ends, NUMBERS), max_size=8))
    sorted_in = [tuple(n for n in nodes if isinstance(n, kind)) for kind in (MotorNode, FunctionNode, SourceNode)]
    return Network(draw(NAMES), draw(st.booleans()), draw(NUMBERS), *sorted_in, tuple(edges))


def parts(ids, names):
    return {"id": st.just(ids), "name": NAMES, "position": TRIPLES, "attitude": ATTITUDES, "twin": names}


@st.composite
def models(draw):
    ids = draw(st.lists(IDS, min_size=1, max_size=4, unique=True))
    known, few = st.sampled_from([0, *ids]), st.lists(IDS, max_size=4, unique=True)
    sizes = {"box": EXTENTS, "tube_length": SIZES, "tube_diameter": SIZES, "ball_diameter": SIZES, "mass": SIZES}
    shapes = st.sampled_from(list(BodyShape))
    bodies = [draw(st.builds(JuiceBody, shape=shapes, **sizes, **parts(number, known))) for number in ids]
    ends = {"body1": known, "body2": known, "gain": SOME, "max_force": SOME, "diameter": NUMBERS}
    stops = {"low": NUMBERS, "high": NUMBERS, "has_low": st.booleans(), "has_high": st.booleans()}
    kinds = st.sampled_from(list(JointKind))
    joints = [draw(st.builds(JuiceJoint, kinds, **ends, **stops, **parts(number, st.just(0)))) for number in draw(few)]
    behaviours = tuple(draw(st.lists(CLOCKWORKS | networks(), max_size=3)))
    constants = [draw(one) for one in (NUMBERS, SOME, st.floats(0.01, 1), SOME, NUMBERS, NUMBERS, SOME, NUMBERS)]
    return JuiceModel(*constants, tuple(bodies), tuple(joints), behaviours, draw(st.floats(0, 1)))


@given(models())
@settings(deadline=None)
def test_a_model_that_is_written_is_read_back_as_it_was(model):
    text = write(model)
    problems = Problems()
    again = read(Source("m.jm", text, text.encode()), problems)
    assert not problems.errors
    assert again == model
    assert write(again) == text


@pytest.mark.parametrize("text", TEXTS)
def test_texts_of_these_tests_have_no_errors(text):
    assert not read_bytes(text)[1].errors
