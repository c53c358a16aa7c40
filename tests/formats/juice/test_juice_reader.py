"""What a Juice file may hold: every dialect, its defaults, and every complaint with its line."""

from __future__ import annotations

import pytest

from cbsim.errors import Problems
from cbsim.formats import recognise
from cbsim.formats.juice import read, write
from cbsim.formats.reader import Source
from cbsim.lint.files import lint_files
from cbsim.models.juice import count
from cbsim.models.juice.description import description_of
from cbsim.spec.juice import Attitude, BodyShape, Clockwork, JointKind, Network
from cbsim.spec.objects import Triple
from tests.models.juice.texts import body_text, codes, hinge_text, model_text, told

PRE = """<Model>
<Friction>25</Friction><ERP>1</ERP><CFM>0.01</CFM><Gravity>5</Gravity>
<Body><Component><ID>7</ID><Name>Thigh</Name><Position><X>1</X><Y>2</Y><Z>3</Z></Position>
<Rotation><H>10</H><P>20</P><R>30</R></Rotation><Twin>0</Twin></Component>
<Dimensions><X>1</X><Y>2</Y><Z>4</Z></Dimensions><Mass>3</Mass></Body>
<Body><Component><ID>8</ID><Position><X>0</X><Y>0</Y><Z>0</Z></Position>
<Orientation><H>1</H><P>2</P><R>3</R></Orientation></Component></Body>
<RevoluteJoint><Joint><Component><ID>9</ID></Component><Body1>7</Body1><Body2>8</Body2></Joint>
<Length>0.5</Length><Diameter>0.25</Diameter><RestAngle>0</RestAngle></RevoluteJoint>
<Behavior><Name>Walk</Name><Enabled>1</Enabled><MotionLink><JointID>9</JointID><Enabled>1</Enabled><Phase>90</Phase>
<Amplitude>25</Amplitude><GainP>20</GainP><GainI>0</GainI><MaxForce>150</MaxForce></MotionLink></Behavior>
</Model>"""

THIRD = """<JuiceFile FileVersion="1" SerializationVersion="2">
<DynamicsConstants><ODE.Standard><Gravity>3</Gravity><ERP>0.8</ERP><CFM>0.001</CFM><Friction>7</Friction><Bounce>0.5</Bounce>
</ODE.Standard><ODE.Iterative><Gravity>4</Gravity><Iterations>20</Iterations></ODE.Iterative><Novodex/></DynamicsConstants>
<Model><Bodies><Body><SerializationID>3</SerializationID><ID>1</ID></Body></Bodies></Model></JuiceFile>"""


def test_a_file_is_known_by_its_root_whatever_its_name():
    for text in (model_text(), PRE, THIRD):
        assert recognise(Source("x", text, text.encode())).name == "juice"


def test_what_a_file_does_not_say_has_the_defaults_that_juice_shipped_with():
    model, problems = told(model_text(body_text(1) + body_text(2), hinge_text(3, 1, 2), head="<CFM>0.001</CFM>"))
    assert (model.gravity, model.friction, model.erp, model.cfm) == (9.81, 10.0, 0.5, 0.001)
    assert (model.standard_speed, model.speed_factor, model.pose_delay, model.pose_phase) == (15.0, 1.0, 1.0, 0.0)
    body, joint = model.bodies[0], model.joints[0]
    assert (body.shape, body.mass, body.box, body.ball_diameter) == (BodyShape.BOX, 1.0, Triple(1, 1, 1), 1.0)
    assert (joint.gain, joint.max_force, joint.has_low, joint.length, joint.diameter) == (10.0, 100.0, False, 1.0, 0.25)
    assert [p.code for p in problems] == ["W932"]
    assert "Gravity (9.81), Friction (10), ERP (0.5)" in problems.warnings[0].message


def test_the_y_of_a_position_is_a_coordinate_and_that_of_a_rotation_the_yaw():
    extra = "<Rotation><Y>10</Y><P>20</P><R>30</R></Rotation>"
    model, _ = told(model_text(body_text(1, extra, z=4)))
    assert model.bodies[0].position == Triple(0, 0, 4)
    assert model.bodies[0].attitude == Attitude(10, 20, 30)


def test_bodies_without_shapes_are_boxes_of_their_dimensions():
    model, problems = told(model_text(body_text(1, "<Dimensions><X>1</X><Y>2</Y><Z>3</Z></Dimensions>")))
    assert model.bodies[0].box == Triple(1, 2, 3)
    assert model.dialect == "early"
    assert not list(problems)


def test_a_file_from_before_the_first_version_is_converted():
    model, problems = told(PRE)
    assert [p.code for p in problems] == ["W931"]
    thigh, other = model.bodies
    assert (thigh.id, thigh.name, thigh.attitude, thigh.box) == (7, "Thigh", Attitude(10, 20, 30), Triple(1, 2, 4))
    assert other.attitude == Attitude(1, 2, 3)
    joint = model.joints[0]
    assert (joint.kind, joint.body1, joint.body2, joint.length) == (JointKind.HINGE, 7, 8, 0.5)
    assert (joint.gain, joint.max_force) == (20, 150)  # from the behaviour's link
    motor = model.behaviours[0].motors[0]
    assert (motor.joint, motor.motion, motor.phase, motor.amplitude) == (9, 1, 90, 25)
    assert model.gravity == 5
    again, problems = told(write(model))
    assert again == model
    assert not list(problems)


def test_the_third_dialect_says_physics_for_several_engines_and_that_of_the_standard_one_counts():
    model, problems = told(THIRD)
    assert (model.gravity, model.erp, model.cfm, model.friction, model.bounce) == (3, 0.8, 0.001, 7, 0.5)
    assert model.dialect == "3"
    assert not list(problems)
    assert told(write(model))[0] == model


def test_a_model_is_written_in_juices_own_order():
    model, _ = told(model_text(body_text(1) + body_text(2), hinge_text(3, 1, 2)))
    text = write(model)
    order = [text.index(f"<{tag}>") for tag in (
        "Gravity", "Friction", "ERP", "CFM", "StandardSpeed", "SpeedFactor", "PoseDelay", "PosePhase", "Bodies",
        "RevoluteJoints", "PrismaticJoints", "SphericalJoints", "Behaviors",
    )]  # fmt: skip
    assert order == sorted(order)
    assert text.startswith('<Model FileVersion="1">\n\t<Gravity>9.81</Gravity>\n')


def test_numbers_keep_the_text_they_had():
    text = model_text(body_text(1, "<Mass>3.55271e-015</Mass>"))
    assert "<Mass>3.55271e-015</Mass>" in write(told(text)[0])


def test_names_may_repeat_and_hold_any_text():
    model, problems = told(model_text(body_text(1, name="A &lt; B\n&amp; C") + body_text(2, name="A &lt; B\n&amp; C")))
    assert model.bodies[0].name == model.bodies[1].name == "A < B\n& C"
    assert not list(problems)
    assert told(write(model))[0] == model


def test_an_empty_world_is_a_model_without_bodies():
    model, problems = told(model_text())
    assert count(model) == {"bodies": 0, "joints": 0, "loops": 0, "degrees_of_freedom": 0, "mass": 0.0}
    assert not list(problems)


def test_joints_to_nothing_count_and_are_left_out():
    model, problems = told(model_text(body_text(1) + body_text(2), hinge_text(3, 1, 2) + hinge_text(4, 1, 9)
                                      + hinge_text(5, 2, 2) + hinge_text(6, 0, 0)))  # fmt: skip
    assert count(model) == {"bodies": 2, "joints": 4, "loops": 0, "degrees_of_freedom": 7, "mass": 2.0}
    assert [p.code for p in problems] == ["W933"] * 3


def test_a_second_way_between_two_bodies_is_a_loop():
    model, _ = told(model_text(body_text(1) + body_text(2), hinge_text(3, 1, 2) + hinge_text(4, 2, 1)))
    assert count(model)["loops"] == 1


def test_the_text_of_the_seed_is_read_with_its_elisions():
    bodies = body_text(1) + "\n... more bodies ...\n"
    model, problems = told(model_text(bodies, hinge_text(3, 181668752, 1)))
    assert len(model.bodies) == 1
    assert sorted(p.code for p in problems) == ["W933", "W937"]


def test_references_in_hexadecimal_are_told_and_taken():
    model, problems = told(model_text(body_text(23801680) + body_text(5), hinge_text(3, "016B2F50", 5)))
    assert model.joints[0].body1 == 23801680
    assert [p.code for p in problems] == ["W934"]
    assert not told(model_text(body_text(23801680) + body_text(5), hinge_text(3, "0nothing", 5)))[0].joints[0].body1


def stopped(*extra):
    return model_text(body_text(1) + body_text(2), hinge_text(3, 1, 2, *extra))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<robots/>", ("E931", 1)),
        ('<Model FileVersion="2"/>', ("E932", 1)),
        ("<JuiceFile FileVersion='1'/>", ("E932", 1)),
        ("<Model", ("E020", 1)),
        (model_text(body_text("x")), ("E933", 4)),
        (model_text(body_text(0)), ("E933", 4)),
        (model_text(body_text(2**32)), ("E933", 4)),
        (model_text(body_text("1.5")), ("E933", 4)),
        (model_text("<Body><Name>Lost</Name></Body>"), ("E933", 2)),
        (model_text(body_text(1) + body_text(1)), ("E933", 8)),
        (model_text(body_text(1) + body_text(2), hinge_text(3, 1, 2) + hinge_text(3, 2, 1)), ("E933", 20)),
        (model_text(body_text(1, z="low")), ("E934", 6)),
        (model_text(body_text(1, z="1,5")), ("E934", 6)),
        (model_text(body_text(1, z="nan")), ("E934", 6)),
        (model_text(body_text(1, z="1e400")), ("E935", 6)),
        (model_text(body_text(1, "<Mass>0</Mass>")), ("E935", 7)),
        (model_text(body_text(1, "<Mass>2e12</Mass>")), ("E935", 7)),
        (model_text(body_text(1, "<BoxDimensions><X>1</X><Y>0</Y><Z>1</Z></BoxDimensions>")), ("E935", 3)),
        (model_text(body_text(1, "<Shape>3</Shape><BallDiameter>-1</BallDiameter>")), ("E935", 3)),
        (model_text(body_text(1, "<Shape>0</Shape>")), ("E936", 3)),
        (model_text(body_text(1, "<Shape>5</Shape>")), ("E936", 3)),
        (model_text("", hinge_text(3, 1, 2)), ("E937", 4)),
        (model_text(body_text(1) + body_text(2), hinge_text(3, 1, 2, "<Gain>-1</Gain>")), ("E935", 19)),
        (model_text(body_text(1) + body_text(2), hinge_text(3, 1, 2, "<MaxForce>-1</MaxForce>")), ("E935", 19)),
        (model_text(head="<Gravity>1</Gravity><Friction>-1</Friction><ERP>1</ERP><CFM>1</CFM>"), ("E935", 1)),
        (model_text(head="<Gravity>1</Gravity><Friction>1</Friction><ERP>0</ERP><CFM>1</CFM>"), ("E935", 1)),
        (model_text(head="<Gravity>1</Gravity><Friction>1</Friction><ERP>1.1</ERP><CFM>1</CFM>"), ("E935", 1)),
        (model_text(head="<Gravity>1</Gravity><Friction>1</Friction><ERP>1</ERP><CFM>-1</CFM>"), ("E935", 1)),
    ],
)  # fmt: skip
def test_an_error_is_told_with_its_line(text, expected):
    errors = [(code, line) for code, line in codes(text) if code.startswith("E")]
    assert expected in errors


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (model_text(body_text(1, "<Colour>red</Colour>")), ("W937", 7)),
        (model_text(body_text(1, "<Mass>1</Mass>\n<Mass>2</Mass>")), ("W937", 8)),
        (model_text(body_text(1, "<Twin>2</Twin>") + body_text(2)), ("W935", 3)),
        (model_text(body_text(1, "<Twin>9</Twin>")), ("W935", 3)),
        (model_text(body_text(1, "<Mass></Mass>")), ("W932", 7)),
        (model_text(body_text(1) + body_text(2), hinge_text(3, 1, 2, "<LoStopFlag>?</LoStopFlag>")), ("W932", 19)),
        (stopped("<LoStopValue>1</LoStopValue><LoStopFlag>1</LoStopFlag><HiStopFlag>1</HiStopFlag>"), ("W936", 14)),
        (stopped("<LoStopValue>-180</LoStopValue><LoStopFlag>1</LoStopFlag>"), ("W936", 14)),
    ],
)  # fmt: skip
def test_a_warning_is_told_with_its_line_and_the_model_is_read(text, expected):
    model, problems = told(text)
    assert model is not None
    assert not problems.errors
    assert expected in codes(text)


def test_the_last_of_two_counts_as_in_juice():
    assert told(model_text(body_text(1, "<Mass>1</Mass>\n<Mass>2</Mass>")))[0].bodies[0].mass == 2


def test_check_tells_what_a_run_would_tell(tmp_path):
    text = model_text(
        body_text(1) + body_text(2),
        hinge_text(3, 1, 2, "<Gain>50</Gain>"),
        f"<Clockwork>{MOTOR.format(3, 1)}</Clockwork>",
    )
    apart = text.replace("<Body1>1</Body1>", "<Body1>9</Body1>")
    for name, whole, words in (("servo", text, "swings"), ("overlap", apart, "overlap")):
        path, problems = tmp_path / f"{name}.jm", Problems()
        path.write_text(whole)
        lint_files([path], None, problems, strict=False)
        assert words in next(p.message for p in problems if p.code == "W939")
        assert all(p.location.line for p in problems)


def behaviour(inner, enabled=1, tag="Clockwork"):
    one = f"<{tag}><Enabled>{enabled}</Enabled>{inner}</{tag}>"
    return model_text(body_text(1) + body_text(2), hinge_text(3, 1, 2), one)


LINK = "<ClockworkMotor><JointID>{}</JointID><MotionType>{}</MotionType></ClockworkMotor>"
MOTOR = f"<ClockworkMotors>{LINK}</ClockworkMotors>"


def test_unknown_sources_and_motions_are_errors_of_behaviours_that_act():
    for inner in (MOTOR.format(3, 7), "<MotionSource>16</MotionSource>", "<MotionSource>0</MotionSource>"):
        assert "E936" in [code for code, _ in codes(behaviour(inner))]
        assert not [code for code, _ in codes(behaviour(inner, enabled=0)) if code != "W938"]
    steered = behaviour(MOTOR.format(3, -842150451) + "<MotionSource>3</MotionSource>")
    assert not codes(steered)  # a joystick asks for no motion


def test_motors_of_joints_that_are_not_there_are_warned_of():
    assert [code for code, _ in codes(behaviour(MOTOR.format(99, 1)))] == ["W934"]
    lost = behaviour("<MotionSource>7</MotionSource><FeedbackSource>9</FeedbackSource>")
    assert [code for code, _ in codes(lost)] == ["W934"]


def node(tag, number, inner=""):
    return f"<{tag}><ID>{number}</ID>{inner}</{tag}>"


def network(motors="", functions="", sources="", edges="", enabled=1):
    led = "".join(f"<Edge><Source>{a}</Source><Destination>{b}</Destination></Edge>" for a, b in edges)
    nodes = f"<MotorNodes>{motors}</MotorNodes><FunctionNodes>{functions}</FunctionNodes>"
    rest = f"<MotionSourceNodes>{sources}</MotionSourceNodes><Edges>{led}</Edges>"
    return behaviour(nodes + rest, enabled, "NetworkBehavior")


def test_numbers_that_were_never_set_are_errors_whether_they_act_or_not():
    spoilt = node("ArithmeticNode", 12, "<Add>-6.27744e+066</Add>")
    motor, source = (
        node("MotorNode", 11, "<JointID>3</JointID>"),
        node("MotionSourceNode", 13, "<MotionSource>1</MotionSource>"),
    )
    acting = network(motor, spoilt, source, [(13, 12), (12, 11)])
    assert [code for code, _ in codes(acting)] == ["E935"]
    idle = network(motor, spoilt, source, [(12, 11)])
    assert [code for code, _ in codes(idle)] == ["E935"]
    off = network(motor, spoilt, source, [(13, 12), (12, 11)], enabled=0)
    assert [code for code, _ in codes(off)] == ["E935"]
    unused = model_text(body_text(1, "<BallDiameter>1e66</BallDiameter>"))
    assert [code for code, _ in codes(unused)] == ["E935"]


def test_an_id_is_a_word_of_32_bits_that_some_print_with_a_sign():
    text = model_text(body_text(-1500000000) + body_text(2**31), hinge_text(3, 2794967296, -(2**31)))
    model, problems = told(text)
    assert not list(problems)
    assert [body.id for body in model.bodies] == [2794967296, 2147483648]
    assert len(model.sound_joints()) == 1
    assert told(write(model))[0] == model


def test_references_beyond_32_bits_are_told_and_dangle():
    model, problems = told(model_text(body_text(1) + body_text(2), hinge_text(3, 99999999999, 2)))
    assert {p.code for p in problems} == {"W934", "W933"}
    assert not model.sound_joints()
    assert {p.code for p in told(model_text(body_text(1, "<Twin>-1</Twin>")))[1]} == {"W935"}


def test_a_list_that_stands_twice_is_told_and_both_count():
    motor, more = node("MotorNode", 11, "<JointID>3</JointID>"), node("MotorNode", 12, "<JointID>3</JointID>")
    sources = node("ConstantNode", 13)
    both = network(motor, sources, "", [(13, 11)]).replace(
        "</NetworkBehavior>",
        f"<MotorNodes>{more}</MotorNodes>\n<Edges><Edge><Source>13</Source><Destination>12</Destination></Edge></Edges>"
        "</NetworkBehavior>",
    )
    model, problems = told(both)
    assert [p.code for p in problems] == ["W937", "W937"]
    line = both[: both.index(more)].count("\n") + 1
    assert [p.location.line for p in problems] == [line, line + 1]
    assert [one.id for one in model.behaviours[0].motors] == [11, 12]
    assert [(edge.source, edge.destination) for edge in model.behaviours[0].edges] == [(13, 11), (13, 12)]
    twice = model_text(body_text(1)).replace("<RevoluteJoints>", f"<Bodies>{body_text(2)}</Bodies><RevoluteJoints>")
    assert [body.id for body in told(twice)[0].bodies] == [1, 2]
    assert [p.code for p in told(twice)[1]] == ["W937"]


def test_the_last_of_several_models_or_constants_of_the_third_dialect_counts_and_is_told():
    block = "<DynamicsConstants><ODE.Standard><Gravity>{}</Gravity></ODE.Standard></DynamicsConstants>"
    inner = "<Model><Bodies><Body><ID>{}</ID></Body></Bodies></Model>"
    text = (
        f'<JuiceFile FileVersion="1">{block.format(1)}{block.format(2)}{inner.format(3)}{inner.format(4)}</JuiceFile>'
    )
    model, problems = told(text)
    assert (model.gravity, model.bodies[0].id) == (2, 4)
    assert [p.code for p in problems.in_order()].count("W937") == 2


def test_the_third_dialect_too_tells_of_constants_that_it_does_not_say():
    bare = THIRD.replace("ODE.Standard>", "ODE.Iterative>")
    model, problems = told(bare)
    assert (model.gravity, model.friction, model.bounce) == (9.81, 10.0, 0.0)
    assert [p.code for p in problems] == ["W932"]
    less = told(THIRD.replace("<CFM>0.001</CFM>", ""))
    assert "CFM (0.01)" in less[1].warnings[0].message
    inside = told(bare.replace("<Model>", "<Model><Gravity>4</Gravity><Friction>5</Friction><ERP>1</ERP><CFM>0</CFM>"))
    assert (inside[0].gravity, inside[0].friction) == (4, 5)
    assert not list(inside[1])


def test_serialization_ids_stand_in_where_there_are_no_others():
    model, problems = told(THIRD.replace("<ID>1</ID>", ""))
    assert model.bodies[0].id == 3
    assert not list(problems)


@pytest.mark.parametrize("shape", ["1.0", "2.", "+3", " 4 "])
def test_whole_numbers_of_choices_may_have_a_point(shape):
    model, problems = told(model_text(body_text(1, f"<Shape>{shape}</Shape>")))
    assert model.bodies[0].shape == int(float(shape))
    assert not list(problems)
    assert "E934" in [code for code, _ in codes(model_text(body_text(1, "<Shape>1.5</Shape>")))]


def test_of_a_ball_neither_gain_nor_force_matters():
    ball = hinge_text(3, 1, 2, "<Gain>-1</Gain><MaxForce>-1</MaxForce>").replace("Revolute", "Spherical")
    assert not codes(model_text(body_text(1) + body_text(2), balls=ball))


def test_attributes_are_told_of_since_juice_has_none():
    model, problems = told(model_text(body_text(1)).replace("<Body>", '<Body Mass="3">'))
    assert model.bodies[0].mass == 1.0
    assert [(p.code, p.location.line) for p in problems] == [("W937", 3)]
    assert "'Mass'" in problems.warnings[0].message


@pytest.mark.parametrize("declared", ["UTF-16", "ISO-8859-1", "windows-1252", "UTF-8"])
def test_a_file_may_have_any_encoding_that_it_declares(declared):
    text = f'<?xml version="1.0" encoding="{declared}"?>' + model_text(body_text(1, name="Bär"))
    problems = Problems()
    model = read(Source.decode("model.jm", text.encode(declared)), problems)
    assert model.bodies[0].name == "Bär"
    assert not list(problems)


def test_a_file_of_an_old_windows_that_says_no_encoding_is_read_as_latin_1():
    model, problems = told(model_text(body_text(1, name="Träger")).encode("latin-1"))
    assert model.bodies[0].name == "Träger"
    assert [(p.code, p.location.line) for p in problems] == [("W020", 1)]
    declared = '<?xml version="1.0" encoding="UTF-8"?>' + model_text(body_text(1, name="Träger"))
    assert [p.code for p in told(declared.encode("latin-1"))[1]] == ["E020"]


@pytest.mark.parametrize(
    ("text", "hint"),
    [("1,5", "write a decimal point, not a comma"), ("9.81 m/s^2", "did you mean '9.81'? Juice writes no units"),
     ("90°", "did you mean '90'? Juice writes no units"), ("1d3", ""), ("0x10", ""), ("abc", "")],
)  # fmt: skip
def test_what_is_nearly_a_number_is_told_how_to_write_it(text, hint):
    _, problems = told(model_text(body_text(1, f"<Mass>{text}</Mass>")))
    assert [(p.code, p.hint) for p in problems] == [("E934", hint)]


def test_what_stands_in_a_wrong_place_or_case_is_told_where_it_belongs():
    outside = model_text(head=body_text(1))
    assert [p.hint for p in told(outside)[1] if p.code == "W937"] == ["it belongs in 'Bodies'"]
    _, problems = told(model_text().replace("FileVersion", "fileversion"))
    assert [p.hint for p in problems if p.code == "W937"] == ["did you mean 'FileVersion'?"]


def test_a_part_that_cannot_be_simulated_is_told_where_it_stands(tmp_path):
    thin = "<BoxDimensions><X>1e-200</X><Y>1e-200</Y><Z>1e-200</Z></BoxDimensions>"
    path, problems = tmp_path / "thin.jm", Problems()
    path.write_text(model_text(body_text(1) + body_text(2, thin, name="Thin", z=5)))
    lint_files([path], None, problems, strict=False)
    assert [(p.code, p.location.line) for p in problems] == [("E939", 8)]


def test_numbers_that_are_too_large_are_told_so():
    (problem,) = told(model_text(body_text(1, "<Mass>2e12</Mass>")))[1]
    assert "at most 1e+12" in problem.message


def test_many_bodies_and_joints_are_looked_at_once():
    """A chain of four hundred boxes, each pair of neighbours tied: none overlaps, and every name is its own."""
    many = 400
    bodies = "".join(body_text(k + 1, z=2 * k + 1) for k in range(many))
    model = told(model_text(bodies, "".join(hinge_text(many + k, k, k + 1) for k in range(1, many))))[0]
    problems = Problems()
    made = description_of(model, problems=problems)
    assert not list(problems)
    assert made.spec.bodies[-1].name == f"Beam ({many})"


def test_comments_and_character_data_in_a_number_hold_nothing_and_what_they_hold():
    model, problems = told(model_text(body_text(1, "<Mass><!-- 9 -->2<!-- 8 -->.<![CDATA[5]]><?pi 7?></Mass>")))
    assert model.bodies[0].mass == 2.5
    assert not list(problems)


def test_circles_and_edges_to_nowhere_are_warned_of():
    motor, two = node("MotorNode", 11, "<JointID>3</JointID>"), node("MultiplyNode", 12) + node("MultiplyNode", 13)
    assert [code for code, _ in codes(network(motor, two, "", [(12, 13), (13, 12), (13, 11)]))] == ["W938"]
    assert [code for code, _ in codes(network(motor, "", "", [(99, 11)]))] == ["W938"]
    assert "E933" in [code for code, _ in codes(network(motor + motor))]


def test_behaviours_of_both_kinds_keep_their_order():
    text = model_text(behaviours="<NetworkBehavior><Name>a</Name></NetworkBehavior><Behavior><Name>b</Name></Behavior>"
                                 "<Clockwork><Name>c</Name></Clockwork>")  # fmt: skip
    model = told(text)[0]
    assert [type(one) for one in model.behaviours] == [Network, Clockwork, Clockwork]
    assert [one.name for one in model.behaviours] == ["a", "b", "c"]


def test_entities_external_files_and_deep_nesting_are_refused():
    for data in (
        b'<!DOCTYPE Model [<!ENTITY a "aaaa">]><Model FileVersion="1"/>',
        b'<!DOCTYPE Model SYSTEM "http://example.org/x.dtd"><Model FileVersion="1"/>',
        b"<Model>" + b"<Component>" * 100 + b"</Component>" * 100 + b"</Model>",
    ):
        problems = Problems()
        assert read(Source.decode("x.jm", data), problems) is None
        assert problems.errors[0].code in ("E021", "E022")
