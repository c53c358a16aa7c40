"""Row `data` of the blueprint: derivatives of a step by all that it is given, held against differences of the step.

There, the matrix of derivatives of the residual by the data, at u = 0, against differences of the residual. Here the
solver map itself, at solutions polished to `kappa`, with inputs that are not zero. Row `damper`, there the Jacobians
of rotational dampers, is the same for two bodies after a second of motion with dampers alone.
"""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.multibody import gallery, get_joint, set_limits, set_minimal_velocities
from cbsim.spec.mechanism.joints import PROTOTYPES
from tests.multibody.blueprint.mechanisms import equipped, in_motion
from tests.multibody.common import KINDS
from tests.multibody.differences import check

KAPPA = 1e-4
STEP = {False: 2e-5, True: 2e-6}  # of the differences: with contacts the step bends a hundred times as much
LOOPED = 1e-5  # with both contacts and loops, which are closed to 1e-13 m: differences divide that by their step
REACHED = 1e-7  # of the largest entry; the differences themselves are off by as much
EQUIPMENT = [(0.0, 0.0), (2.0, 0.3)]


@pytest.mark.parametrize(("spring", "damper"), EQUIPMENT)
@pytest.mark.parametrize("name", gallery.GALLERY)
def test_gradients_of_every_mechanism_are_differences_of_its_step(name, spring, damper):
    mechanism = equipped(gallery.build(name), spring, damper)
    x, u = in_motion(mechanism, 0.1, 0.2, KAPPA)
    is_looped = mechanism.compiled.spanning.loop_joints and mechanism.touching
    check(mechanism, x, u, kappa=KAPPA, e=LOOPED if is_looped else STEP[bool(mechanism.touching)], tolerance=REACHED)


@pytest.mark.parametrize("law", ["impact", "linear", "nonlinear"])
@pytest.mark.parametrize("name", ["block", "sphere"])
def test_gradients_of_every_law_of_contact_are_differences_of_the_step(name, law):
    mechanism = gallery.build(name, contact_type=law, velocity=(0.4, 0.2, 0.0))
    x, u = in_motion(mechanism, 0.1, 0.2, KAPPA)
    check(mechanism, x, u, kappa=KAPPA, e=STEP[True], tolerance=REACHED)


@pytest.mark.parametrize(("spring", "damper"), EQUIPMENT)
@pytest.mark.parametrize("twisted", [False, True], ids=["snake", "twister"])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_five_bodies_on_every_joint_are_differences_of_the_step(kind, twisted, spring, damper):
    mechanism = equipped(gallery.snake(5, joint=kind, twisted=twisted, gravity=-9.81), spring, damper)
    x, u = in_motion(mechanism, 0.1, 0.2)
    check(mechanism, x, u, e=STEP[False], tolerance=REACHED)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_dampers_are_differences_of_the_step(kind):
    mechanism = equipped(gallery.snake(2, joint=kind), 0.0, 0.3)
    set_minimal_velocities(mechanism, "joint_1", np.linspace(0.5, 1.0, sum(PROTOTYPES[kind])))
    x, u = in_motion(mechanism, 1.0, 0.01)
    check(mechanism, x, u, e=STEP[False], tolerance=REACHED)


def test_gradients_against_bounds_are_differences_of_the_step():
    mechanism = gallery.chain(3)
    set_limits(mechanism, {"joint_1": (0.78, 1.0), "joint_2": (-0.01, 0.01), "joint_3": (-0.5, 0.0)})
    x, u = in_motion(mechanism, 0.1, 0.2, KAPPA)
    place, _ = get_joint(mechanism, "joint_1").minimal_index
    assert np.all(x[place] < 0.79)  # it leans on its bound
    check(mechanism, x, u, kappa=KAPPA, e=STEP[True], tolerance=REACHED)


@pytest.mark.parametrize("name", ["ant", "halfcheetah", "hopper", "humanoid", "quadruped", "walker"])
def test_gradients_of_robots_with_all_their_contacts_and_bounds_are_differences_of_the_step(name):
    mechanism = equipped(gallery.build(name, limited=True, body_contacts=True), 10.0, 0.5)
    x, u = in_motion(mechanism, 0.1, 0.2, KAPPA)
    check(mechanism, x, u, kappa=KAPPA, e=STEP[True], tolerance=REACHED)
