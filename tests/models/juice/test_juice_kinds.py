"""Every real model runs 10 s and does what its kind does, which ODE does with it, too."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

import cbsim
from cbsim.coupling.instance_steps import follow
from cbsim.dynamics.energy import mechanical_energy
from cbsim.dynamics.loop_closure import violations
from tests.common import SHARED
from tests.models.juice.test_juice_real import SOUND, name_of

TIME = 10.0  # [s]
SAMPLED = 10  # steps from one look at energy and closure to the next


class Kind(NamedTuple):
    """What a model does.

    Attributes
    ----------
    up : float or None
        Component up of the z axis of its heaviest body in the end, at least.
    least, most : float
        How far its centre of mass goes along the ground from its landing on (1 s) [m].
    speed : float
        Of its fastest body in the last half second, at most [m/s].
    """

    up: float | None = None
    least: float = 0.0
    most: float = np.inf
    speed: float = np.inf


RESTS = Kind(most=1.0, speed=0.3)  # falls, and lies or sits still
STANDS = Kind(up=0.95, most=2.0, speed=1.0)
MARCHES = Kind(up=0.85, most=6.0)  # stays about where it is, upright, and moves
FALLS = Kind()  # or swings on: it needs a driver
KINDS = {
    **dict.fromkeys(
        ("Bug.jm", "SimpleBoarder.jm", "SimpleHex.jm", "SimpleHex2.jm", "Segwack1.jm", "bigsixpack.jm",
         "Ed209-Complex.jpm", "DeathTollCritter.jm", "DeathTollCritter4.jm", "pterosaur.jm", "pterosaur2.jm",
         "pterosaur_balljoints.jm",
         "pterosaur_hinges_backup.jm", "Boarder.jm", "HingeLoop.jm", "BoxStack.jm"), STANDS,
    ),
    **dict.fromkeys(
        ("NewManypedeSegment.jm", "ManypedeSegment.jpm", "chicken_legs_three.jpm", "cw.jpm", "cw2.jpm", "cw4.jpm",
         "ComplexDogNoJoints.jpm", "simple_dog_no_joints.jpm", "test2.jpm", "test3.jpm", "fourdolls.jm",
         "fourdolls_capsules.jm", "JointTest.jm", "JoystickTest.jpm", "JustOneBox.jm", "NewLoadSaveTest.jpm",
         "SpinTest.jpm", "Test.jpm", "adam-bustedODEPinning.jm", "networktest2.jm", "simpletest.jm", "tmp.jm"), RESTS,
    ),
    **dict.fromkeys(
        ("Hexapod.jpm", "ChickenLegsTwo_WithBehaviors.jpm", "FeedbackTest.jpm", "FeedbackTest1.jpm", "Gyro.jm",
         "Spinner.jm", "FeedbackTest_Continuous.jpm", "FeedbackTest_MatrixedConversion.jpm", "networktest3.jm",
         "bird.jm", "bird1.jm",
         "puppeteer.jm", "pterosaur_hinges.jm", "Ed209.jpm"), MARCHES,
    ),
    "BoarderTest.jm": Kind(up=0.95, most=2.0, speed=1.5),  # stands; its head swings on a free ball since it landed
    "Handmade4Segment.jm": Kind(up=0.8, least=20.0),  # ODE 27
    "Quadrapod3_bak.jm": Kind(up=0.95, least=22.0),  # ODE 28
    "SnakeSpheres.jm": Kind(least=8.0),  # ODE 12
    "Sidewinder.jpm": Kind(least=8.0),  # ODE 16
    "BirdWalker.jpm": Kind(up=0.9, least=6.0),  # ODE 11
    "simpleant2.jm": Kind(up=0.9, least=20.0),  # ODE 28
    "SimpleAnt3.jpm": Kind(up=0.8, least=2.5),  # ODE 4
    "ComplexDog.jpm": Kind(up=0.9, least=4.0),  # ODE 6
    "SimpleDog_Walking.jpm": Kind(up=0.8, least=2.5),  # ODE 5
    "DogWithTwistySpine.jpm": Kind(up=0.9, least=1.5),  # ODE 4
    "SimpleAnt.jpm": Kind(up=0.8, least=0.5),  # ODE 1.2
    "DihnoTest.jpm": Kind(up=0.7, least=1.0),  # ODE 3
    "motorcycle.jm": Kind(least=150.0),  # ODE 191; without a driver it leans over
    **dict.fromkeys(
        ("Mech2.jm", "Dihno.jpm", "Dihno2_Balanced.jpm", "Dihno3.jpm", "DihnoFileTest2.jm", "WobblyBird.jpm",
         "mechaps.jpm", "WalkingTest.jpm", "DeathTollCritter3.jm", "ragdoll.jm", "StackBoxBall.jm",
         "Trebuchet.jm", "Trebuchetsturvat.jm"),
        FALLS,
    ),
}  # fmt: skip
"""File → what it does by itself. Those that fall do so in ODE, too, but for DeathTollCritter3, which stands there: its
spare parts start inside it, and how they come out is chance."""


class Run(NamedTuple):
    """A model's way."""

    instance: object
    states: np.ndarray
    remarks: list
    energies: np.ndarray


@cache
def run_of(path):
    """Ten seconds of a model, as a run starts it; None of one without bodies."""
    instances = cbsim.load(path).instances
    if not instances:
        return None
    (instance,), told = instances, []
    steps = round(TIME / instance.spec.timestep)
    states, _ = follow(instance, instance.start, instance.memory, 0, steps, told)
    assert len(states) == steps
    energies = np.array([mechanical_energy(instance.spec, state) for state in states[::SAMPLED]])
    return Run(instance, states, told, energies)


def distinct():
    """Files without those that stand twice, or hold nothing that moves."""
    first = {}
    for path in SOUND:
        first.setdefault((path.name, path.read_bytes()), path)
    return list(first.values())


EVERY = distinct() if SHARED.exists() else []


def test_the_table_names_every_file_that_has_bodies():
    empty = {"empty.jm", "NetworkTest4.jm", "Segwack.jm"}
    assert {path.name for path in EVERY} <= {*KINDS, *empty}


RELAXED = {"Trebuchetsturvat.jm"}  # does what its kind does, but not without fallback settings


@pytest.mark.slow
@pytest.mark.parametrize("path", EVERY, ids=name_of)
def test_a_real_model_runs_and_does_what_its_kind_does(path):
    run = run_of(path)
    if run is None:
        return
    instance, states = run.instance, run.states
    size = np.ptp(states[0, :, :3], axis=0).max() + 1.0
    assert np.isfinite(states).all()
    relaxed = len(run.remarks) > len(states) // 100
    assert not relaxed or path.name in RELAXED
    error = max(np.abs(violations(instance.compiled, state)).max(initial=0.0) for state in states[::SAMPLED])
    assert error < 1e-6 * size
    gap = max(np.abs(instance.behaviour.points.gaps(state)).max(initial=0.0) for state in states[::SAMPLED])
    assert gap < 0.15  # CFM h F/ERP: 150 kN for an instant at 10 ms and CFM 1e-4, 3 kN at 5e-3
    assert states[1:, :, 2].min() > -0.1  # no body's centre is below the ground
    _check_energy(run)
    _check_kind(run, KINDS.get(path.name, FALLS))
    if relaxed:
        pytest.xfail("more than one step in a hundred is solved with relaxed settings")


def _check_energy(run):
    """Passive models gain none (but what parts them at the start); driven ones stay near what they had."""
    servos = run.instance.behaviour.servos
    most = 8.0 if len(servos) else 1.1
    assert run.energies.max() <= most * run.energies[0] + 1.0


def _check_kind(run, kind):
    states, masses = run.states, np.array([body.mass for body in run.instance.spec.bodies])
    heavy, second = int(np.argmax(masses)), round(1.0 / run.instance.spec.timestep)
    x, y = states[-1, heavy, 7:9]
    if kind.up is not None:
        assert 1.0 - 2.0 * (x * x + y * y) > kind.up
    centres = np.einsum("tbk,b->tk", states[:, :, :2], masses) / masses.sum()
    assert kind.least <= np.linalg.norm(centres[-1] - centres[second]) <= kind.most
    assert np.linalg.norm(states[-second // 2 :, :, 3:6], axis=2).max() <= kind.speed
