"""Small Juice models of our own as texts, and how tests run them."""

from __future__ import annotations

import numpy as np

from cbsim.coupling.instance_steps import follow
from cbsim.errors import Problems
from cbsim.formats.juice import read
from cbsim.formats.reader import Source
from cbsim.models.juice.description import description_of
from cbsim.spec.juice import BodyShape, Clockwork, ClockworkMotor, JointKind, JuiceBody, JuiceJoint, JuiceModel
from cbsim.spec.objects import Triple
from cbsim.world.model_instances import instance_of
from cbsim.world.scene import Model

BOX = "<Body><ID>1</ID><Name>Box</Name><Position><X>0</X><Y>0</Y><Z>{z}</Z></Position><Mass>{mass}</Mass></Body>"


def model_text(bodies="", joints="", behaviours="", head="", sliders="", balls=""):
    """A file of version 1 with the constants that every file says."""
    constants = "<Gravity>9.81</Gravity><Friction>10</Friction><ERP>1</ERP><CFM>0.01</CFM>"
    return (
        f'<Model FileVersion="1">{head or constants}\n<Bodies>{bodies}</Bodies>\n'
        f"<RevoluteJoints>{joints}</RevoluteJoints>\n<PrismaticJoints>{sliders}</PrismaticJoints>\n"
        f"<SphericalJoints>{balls}</SphericalJoints>\n<Behaviors>{behaviours}</Behaviors>\n</Model>\n"
    )


def body_text(number, *extra, name="Beam", z=1.0):
    position = f"<Position><X>0</X><Y>0</Y><Z>{z}</Z></Position>"
    return f"\n<Body>\n<ID>{number}</ID>\n<Name>{name}</Name>\n{position}\n{''.join(extra)}</Body>"


def hinge_text(number, one, other, *extra):
    return (
        f"\n<RevoluteJoint>\n<ID>{number}</ID>\n<Name>Hinge</Name>\n<Body1>{one}</Body1>\n<Body2>{other}</Body2>\n"
        f"{''.join(extra)}</RevoluteJoint>"
    )


def told(text):
    """Spec and problems of a text."""
    problems = Problems()
    return read(Source.decode("model.jm", text.encode() if isinstance(text, str) else text), problems), problems


def codes(text):
    """Codes and lines of all problems of a text, in the order of the lines."""
    return [(problem.code, problem.location.line) for problem in told(text)[1].in_order()]


def turntable(*behaviours, gain=10.0, max_force=1e6, wheel_mass=1.0, kind=JointKind.HINGE, **rest):
    """A heavy base far from the ground without gravity, and a unit box that turns or slides about the vertical."""
    base = JuiceBody(1, "Base", Triple(0, 0, 50), box=Triple(40, 40, 1), mass=1e6)
    wheel = JuiceBody(2, "Wheel", Triple(0, 0, 52), mass=wheel_mass)
    values = {"gain": gain, "max_force": max_force, **rest.pop("joint", {})}
    joint = JuiceJoint(kind, 3, "Axle", Triple(0, 0, 51), body1=2, body2=1, **values)
    constants = {"gravity": 0.0, "cfm": 0.0, "erp": 1.0, "pose_delay": 0.0, **rest}
    return JuiceModel(**constants, bodies=(base, wheel), joints=(joint,), behaviours=behaviours)


def holding(angle, joint=3):
    """A clockwork that holds a joint at an offset: its engine moves nothing."""
    return Clockwork("Hold", motors=(ClockworkMotor(joint, offset=angle, motion=1, amplitude=0.0),))


def pillar(mass=1.0, shape=BodyShape.BOX, z=0.5, **rest):
    return JuiceBody(1, "Pillar", Triple(0, 0, z), shape=shape, mass=mass, **rest)


class Run:
    """A model that goes on in steps, as a World lets it."""

    def __init__(self, model, step=0.01, controls=(), **options):
        self.description = description_of(model, timestep=step, **options)
        self.instance = instance_of(Model("model", self.description, 1, dict(controls)), 0, 0)
        self.mind = self.instance.memory.copy()
        self.state, self.steps, self.step = self.instance.start.copy(), 0, step

    def go(self, time):
        """States (n + 1, bodies, 13) from here on."""
        states, minds = follow(self.instance, self.state, self.mind, self.steps, round(time / self.step))
        path = np.concatenate([self.state[None], states])
        self.state, self.mind, self.steps = states[-1], minds[-1], self.steps + len(states)
        return path

    def coordinates(self):
        return self.description.behaviour.servos.coordinates(self.state)
