"""Every real Shift file does what its kind does for ten seconds: closure, energy and motion."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.energy import mechanical_energy
from cbsim.models import read_file
from cbsim.models.shift.fiala import TyreNumbers, side_force
from tests.common import shared, shared_files
from tests.models.shift.benchmarks import four_bars
from tests.models.shift.models import Run, file_of

pytestmark = pytest.mark.slow

FILES = [path for path in shared_files("shift") if path.suffix == ".json"]
REFUSED = {"tire_pac2002", "vehicle_control_magic"}  # tyres of a type that is refused by name
SECONDS, STEP = 10.0, 0.01


def of(*folders, among=lambda _name: True):
    """Files of some folders that run."""
    found = [path for path in FILES if path.parent.name in folders and path.stem not in REFUSED and among(path.stem)]
    return pytest.mark.parametrize("path", found, ids=lambda path: path.stem)


def follow(path, seconds=SECONDS, step=STEP):
    run = Run(file_of(path), step, path)
    states = run.until(seconds)
    assert np.isfinite(states).all()
    size = max(1.0, float(np.abs(states[0, :, :3]).max()))
    assert run.gap(states[::20]) < 1e-6 * size
    return run, states


def energies(run, states):
    """Mechanical energy on a path, and the most of it that is of motion."""
    resting = states.copy()
    resting[:, :, 3:6], resting[:, :, 10:] = 0.0, 0.0
    spec = run.instance.spec
    whole, still = (np.array([mechanical_energy(spec, state) for state in path[::10]]) for path in (states, resting))
    return whole, float((whole - still).max())


FORCES = ("spring_damper_frames", "restraint_piecewise_seed")  # no part of the core's energy: see test_reference.py


@of("bricard", "pendulum", "slider_crank", "synthetic", among=lambda name: name not in FORCES)
def test_mechanisms_without_springs_and_dampers_keep_their_energy(path):
    run, states = follow(path)
    assert run.description.behaviour is None
    whole, motion = energies(run, states)
    assert np.ptp(whole) < 5e-3 * motion + 1e-9, "of second order in the step"


@of("synthetic", among=lambda name: name in FORCES)
def test_mechanisms_with_springs_and_dampers_stay_together(path):
    run, _ = follow(path)
    assert run.description.behaviour is not None


RESTS = ("slider_crank_2substructures_3", "slider_crank_3substructures_2", "slider_crank_3substructures_3")


@of("slider_crank", among=lambda name: name in RESTS)
def test_mechanisms_at_rest_without_gravity_stay(path):
    _, states = follow(path)
    assert np.abs(states - states[0])[:, :, :3].max() < 1e-9


ENERGY = {"pendulum/pendulum": -10.75724554, "slider_crank/slider_crank": 93.0849169, "bricard/bricard": 196.8382440}


@pytest.mark.parametrize("name", ENERGY)
def test_energy_is_that_of_the_reference(name):
    path = shared("shift", "head_dac9a79", *f"{name}.json".split("/"))
    found = []
    for step in (
        0.01,
        0.005,
        0.0025,
    ):  # states have the velocity of half a step before, where energy is of second order
        run = Run(file_of(path), step, path)
        found.append(np.mean([mechanical_energy(run.instance.spec, state) for state in run.until(2.0)[1:]]))
    first, second = (4.0 * found[1] - found[0]) / 3.0, (4.0 * found[2] - found[1]) / 3.0
    assert (16.0 * second - first) / 15.0 == pytest.approx(ENERGY[name], abs=2e-5)


def test_the_double_pendulum_that_is_thrown_follows_the_reference():
    path = shared("shift", "head_dac9a79", "pendulum", "double_pendulum.json")
    ways = []
    for step in (5e-5, 2.5e-5, 1.25e-5):
        run = Run(file_of(path), step, path)
        found = run.coordinates(run.until(0.01))
        ways.append(np.array([values[[round(t / step) for t in (0.001, 0.01)]] for values in found.values()]))
    first, second = (4.0 * ways[1] - ways[0]) / 3.0, (4.0 * ways[2] - ways[1]) / 3.0
    assert (16.0 * second - first) / 15.0 == pytest.approx(
        np.array([[2.712901786, 15.84360413], [0.7318607865, 0.1740877481]]), abs=2e-5
    )


@of("collision", "scripting")
def test_bodies_whose_meshes_are_not_there_fall_freely(path):
    run, states = follow(path)
    if not [problem for problem in run.problems if problem.code == "W992"]:
        return  # their meshes are there, and they touch
    times = STEP * np.arange(len(states))[:, None, None]
    gravity = run.description.spec.gravity
    # nodes of the discrete motion lie on the parabola of a body at rest, or in motion, exactly
    speed = (states[1, :, :3] - states[0, :, :3]) / STEP - 0.5 * STEP * gravity
    assert states[:, :, :3] == pytest.approx(states[0, :, :3] + speed * times + 0.5 * gravity * times**2, abs=1e-6)


@of("fiala")
def test_tyres_on_a_rig_hold_its_speed_with_the_force_of_their_slip(path):
    run, states = follow(path)
    yaw, load = (int(part) for part in path.stem.split("_")[-3::2])
    spec = file_of(path)
    tire = [body.name for body in run.description.spec.bodies].index("tire")
    assert np.linalg.norm(states[-1, tire, 3:6]) == pytest.approx(20.0, abs=0.05)
    numbers = TyreNumbers()
    pressed = numbers.unloaded_radius - states[-1, tire, 2]
    weight = load + 20.1 * 9.81
    assert pressed == pytest.approx(weight / numbers.vertical_stiffness, rel=1e-3)
    (gains,) = (module.law.gains for module in spec.assemblies[0].force_modules if module.kind == "pid")
    error = 20.0 - np.linalg.norm(states[-1, tire, 3:6])
    behaviour = run.description.behaviour
    slots = zip(behaviour.drivers, behaviour.slices, strict=True)
    pid = next(slot for driver, slot in slots if type(driver).__name__ == "Pid")
    drive = gains[0] * error + gains[1] * run.mind[pid][0]
    angle = np.deg2rad(yaw)
    side = abs(side_force(numbers, weight, 0.0, np.tan(angle))[0])
    spin = 0.1 * abs(states[-1, tire, 11])  # torque of the damper at the hub, which rolling overcomes
    assert drive == pytest.approx(side * np.sin(angle) + spin / numbers.unloaded_radius, rel=0.05, abs=2.0)


@of("vehicle", among=lambda name: name.startswith("vehicle") and "backup" not in name)
def test_vehicles_stay_on_their_wheels_and_keep_the_speed_that_is_wanted(path):
    run, states = follow(path)
    chassis = [body.name for body in run.description.spec.bodies].index("chassis")
    x, y = states[:, chassis, 7], states[:, chassis, 8]
    assert (1.0 - 2.0 * (x * x + y * y) < -0.95).all()  # its z axis points down, as SAE has it: within 18 degrees
    assert np.ptp(states[300:, chassis, 2]) < 0.1  # on its springs
    law = [m.law for m in file_of(path).assemblies[0].force_modules if m.kind == "pid" and m.law and m.active]
    wanted = {one.target for one in law if one.frame is not None and one.target >= 1.0}
    if wanted:
        (speed,) = wanted
        assert np.linalg.norm(states[-1, chassis, 3:6]) == pytest.approx(speed, rel=0.03)


@of("vehicle", among=lambda name: "backup" in name)
def test_vehicles_without_tyres_fall_and_keep_their_energy(path):
    """At half the step: in some of the whole ones a massless cross turns past a quarter turn, so they are cut up."""
    run, states = follow(path, step=0.5 * STEP)
    whole, motion = energies(run, states)
    assert states[-1, :, 2].min() == pytest.approx(states[0, :, 2].min() - 0.5 * 9.81 * SECONDS**2, abs=2.0)
    assert np.ptp(whole) < 2e-3 * motion


@of("vehicle", among=lambda name: name in ("tire_fiala", "tire_fiala_rig", "tire_fiala_control"))
def test_single_tyres_come_to_roll_on_level_ground(path):
    run, states = follow(path, 2.0)  # then a wheel that is alone falls on its side, as it must
    tire = [body.name for body in run.description.spec.bodies].index("tire")
    assert (states[100:, tire, 2] > 0.3).all()
    assert (states[100:, tire, 2] < 0.36).all()


@pytest.mark.parametrize("path", [path for path in FILES if path.stem in REFUSED], ids=lambda path: path.stem)
def test_files_with_tyres_of_another_type_are_refused_by_name(path):
    errors = read_file(path).problems.errors
    assert {problem.code for problem in errors} == {"E981"}
    assert all("pac2002" in problem.message for problem in errors)


# parts of it fall and slide without end; after 22 s a massless cross passes its dead centre faster than steps can tell
SPANS = {"vehicle_backup2": 20.0}


@of("bricard", "slider_crank", "vehicle", "synthetic")
def test_loops_stay_closed_for_a_minute(path):
    run = Run(file_of(path), STEP, path)
    if len(run.description.spec.joints) == len(run.description.spec.bodies):
        return  # a tree
    states = run.until(SPANS.get(path.stem, 60.0))
    size = max(1.0, float(np.abs(states[0, :, :3]).max()))
    far = np.abs(states[::20, :, :3]).max(axis=(1, 2))  # what has nothing under it is 18 km away by then
    gaps = np.array([run.gap(state[None]) for state in states[::20]])
    assert (gaps < 1e-6 * size + 1e-9 * far).all()


@pytest.mark.parametrize("count", [1, 5, 20])
def test_many_four_bars_in_a_row_which_are_singular_when_flat_stay_closed_for_a_minute(count):
    run = Run(four_bars(count), STEP)
    states = run.until(60.0)
    assert run.gap(states[::20]) < 1e-10 * count
    angle = run.coordinates(states)["foot0"]
    assert np.ptp(angle) > 20.0 * np.pi, "it turns all the time"
