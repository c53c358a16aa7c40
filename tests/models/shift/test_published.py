"""Published benchmarks of multibody dynamics as Shift models: second order, and their digits."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.geometry.pose import rotate
from tests.common import shared
from tests.models.shift.benchmarks import four_bars, governor, squeezer
from tests.models.shift.models import Run, extrapolated, file_of


def richardson(coarse, middle, fine):
    first, second = (4.0 * middle - coarse) / 3.0, (4.0 * fine - middle) / 3.0
    return (16.0 * second - first) / 15.0


def test_two_four_bars_turn_as_published():
    times = (0.5, 1.0, 2.0)
    found, order = extrapolated(four_bars(2), times, 0.002)
    tip = np.stack([np.cos(found["foot0"]), np.sin(found["foot0"])], axis=1)
    published = [[0.695286633, 0.718732563], [-0.195020302, -0.980799206], [0.057815796, 0.998327268]]
    assert np.abs(tip - published).max() < 1e-6
    assert order["foot0"] == pytest.approx(2.0, abs=0.1)


@pytest.mark.slow
def test_andrews_squeezer_comes_to_the_digits_of_the_test_set():
    published = {
        "beta": 15.81077119629904,
        "theta": -15.75637105984298,
        "gamma": 0.04082224013073101,
        "phi": -0.5347301163226948,
        "delta": 0.5244099658805304,
        "omega": 0.5347301163226948,
        "epsilon": 1.048080741042263,
    }
    found, order = extrapolated(squeezer(), (0.03,), 1e-5)
    for name, value in published.items():
        assert found[name][0] == pytest.approx(value, abs=1e-6 * abs(value)), name
        assert order[name][0] == pytest.approx(2.0, abs=0.1), name


def test_bricard_s_mechanism_moves_though_it_has_more_constraints_than_freedoms():
    path = shared("shift", "synthetic", "mbs_A04_bricard.json")
    spec, times, ways = file_of(path), (0.5, 1.0, 1.25), []
    for step in (0.01, 0.005, 0.0025):
        run = Run(spec, step, path, upright=False)
        states = run.until(1.25)[[round(time / step) for time in times], 1]
        ways.append(states[:, :3] + rotate(states[:, 6:10], (0.0, -0.5, 0.0)))
    published = [
        (0.77471781, -0.97981505, -0.19990616),
        (0.27448132, -0.88670794, -0.46233000),
        (-0.00230610, -0.86602694, -0.49999734),
    ]
    assert np.abs(richardson(*ways) - published).max() < 1e-6
    slopes = np.log2(np.abs(ways[0] - ways[1]).max(axis=1) / np.abs(ways[1] - ways[2]).max(axis=1))
    assert slopes == pytest.approx(2.0, abs=0.1)


@pytest.mark.slow
def test_the_flyball_governor_rises_as_published():
    found, _ = extrapolated(governor(), (0.1, 0.5), 1e-4, substeps=1)
    assert found["s"] == pytest.approx([0.52383648, 0.74324942], abs=1e-6)


@pytest.mark.slow
def test_strong_dampers_between_frames_are_implicit_and_of_second_order():
    errors = []
    for step in (5e-4, 2.5e-4):
        run = Run(governor(), step)
        assert run.instance.steps == 1
        found = run.coordinates(run.until(0.5))["s"]
        errors.append(found[-1] - 0.74324942)
    assert np.abs(errors).max() < 1e-6
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


def test_the_flyball_governor_keeps_its_angular_momentum():
    run = Run(governor(), 1e-4, upright=False)
    states = run.until(0.1)
    mass = np.array([body.mass for body in run.description.spec.bodies])
    inertia = np.array([body.inertia for body in run.description.spec.bodies])
    half = run.description.spec.timestep / 2.0
    middle = states[:, :, :3] - half * states[:, :, 3:6]  # where bodies were in the middle of the step
    own = rotate(states[:, :, 6:10], np.einsum("nij,tnj->tni", inertia, states[:, :, 10:]))
    about = np.einsum("n,tnj->tj", mass, np.cross(middle, states[:, :, 3:6])) + own.sum(axis=1)
    assert about[:, 2] == pytest.approx(53.8689986584, rel=1e-6)


def test_steps_are_made_shorter_for_what_is_stiff_or_fast():
    assert 10 <= Run(governor(), 1e-2).instance.steps < 20  # 1.6 MN/m on 6.7 kg; dampers of 0.04 MN s/m ask for none
    assert Run(four_bars(2), 1e-2).instance.steps == 1
