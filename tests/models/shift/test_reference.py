"""Reference results of real Shift files: gaps, freedoms, solutions."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import Problems
from cbsim.models import read_file
from cbsim.models.shift import count
from cbsim.models.shift.assembly import assemble
from tests.common import shared
from tests.models.shift.models import extrapolated, file_of

HEAD = "head_dac9a79"


def head(name):
    return shared("shift", HEAD, *f"{name}.json".split("/"))


TABLE = {  # file: bodies, joints, coordinates, loops, gap as given, freedoms
    "bricard/bricard": (6, 6, 6, 1, 1.8e-3, 1),
    "slider_crank/slider_crank": (3, 4, 4, 1, 8.9e-6, 1),
    "slider_crank/slider_crank_rotating_base": (4, 5, 5, 1, 9e-6, 2),
    "slider_crank/slider_crank_extra_dof": (4, 5, 5, 1, 5e-6, 2),
    "slider_crank/slider_crank_2substructures": (6, 8, 8, 2, 2.69, 2),
    "slider_crank/slider_crank_3substructures": (9, 12, 12, 3, 3.8, 3),
    "slider_crank/slider_crank_3substructures_3": (11, 15, 15, 4, 4.0, 3),
    "vehicle/vehicle": (45, 51, 51, 6, 0.18, 15),
}


@pytest.mark.parametrize("name", TABLE)
def test_loops_gaps_and_freedoms_are_those_of_the_table(name):
    spec = file_of(head(name))
    bodies, joints, coordinates, loops, gap, freedoms = TABLE[name]
    found = count(spec)
    assert (found["bodies"], found["joints"], found["loops"]) == (bodies, joints, loops)
    assert found["degrees_of_freedom"] == freedoms
    assembled = assemble(spec, Problems())
    assert assembled.chain.size == coordinates
    digits = 2 if gap >= 1e-5 else 1
    assert float(f"{assembled.gap:.{digits}g}") == pytest.approx(gap, rel=0.06)
    assert np.abs(assembled.chain.gaps(assembled.posture, assembled.poses)).max() < 1e-12


def test_loops_far_from_closed_are_closed_by_short_damped_steps():
    reading = read_file(head("slider_crank/slider_crank_2substructures"))
    found = assemble(reading.spec, Problems()).posture.numbers
    published = [5.331093, 1.766119, 2.809680, 2.854802, 5.917066, 1.176655, 2.758825, 3.890480]
    assert np.abs(found - published).max() < 5e-6
    assert [problem.code for problem in reading.problems.warnings] == ["W960", "W960", "W988"]


def test_start_rates_that_do_not_fit_become_the_nearest_that_do():
    reading = read_file(head("bricard/bricard"))
    rates = assemble(reading.spec, Problems()).rates
    assert rates[:2] == pytest.approx([0.0490910, 0.0128801], abs=5e-8)
    assert "W989" in {problem.code for problem in reading.problems.warnings}


SOLUTIONS = {  # file: step, times, joint: coordinates, tolerance
    "synthetic/double_pendulum_seed.json": (
        0.00125,
        (0.5, 1.0, 2.0, 3.0),
        {
            "A_fixed_link1": (2.3261823195, 3.7790732335, 3.4854418579, 2.1569161874),
            "B_link2_link1": (0.5472609933, 0.7561174664, -2.9537293017, -7.9077716873),
        },
        2e-7,
    ),
    f"{HEAD}/pendulum/pendulum.json": (
        0.005,
        (0.5, 1.0, 2.0, 5.0, 10.0),
        {"fixed_to_link1": (0.855558075, 1.396807346, 2.298725594, 2.31583231, 1.141278212)},
        2e-9,
    ),
    f"{HEAD}/slider_crank/slider_crank.json": (
        0.0025,
        (0.5, 1.0, 2.0),
        {
            "A_fixed_to_crank": (5.579872089, 6.600711967, 9.758748062),
            "B_fixed_to_piston": (1.906558994, 2.05826276, 0.920201001),
        },
        1e-6,
    ),
    f"{HEAD}/slider_crank/slider_crank_rotating_base.json": (
        0.0025,
        (1.0, 2.0),
        {
            "fixed_to_base": (0.087093725, 0.223215317),
            "A_base_to_crank": (6.607394243, 9.761074457),
            "B_base_to_piston": (2.056514395, 0.920485147),
        },
        1e-6,
    ),
    f"{HEAD}/bricard/bricard.json": (0.005, (0.5, 1.0, 2.0), {"A": (0.886707371, 1.173240361, 2.07130465)}, 3e-6),
    "synthetic/nested_paths_seed.json": (
        0.005,
        (1.0, 2.0),
        {"J1": (-0.29778243, 0.15356946), "J2": (-0.06657419, 0.12729895)},
        1e-6,
    ),
    "synthetic/spring_damper_frames.json": (
        0.005,
        (0.1, 0.5, 1.0, 2.0),
        {"T": (1.0450008966, 1.5446365616, 1.3945756429, 1.4458025195)},
        2e-9,
    ),
}


@pytest.mark.parametrize("name", SOLUTIONS)
def test_motion_is_of_second_order_and_comes_to_the_published_digits(name):
    step, times, joints, tolerance = SOLUTIONS[name]
    path = shared("shift", *name.split("/"))
    found, order = extrapolated(file_of(path), times, step, path)
    for joint, values in joints.items():
        assert np.abs(found[joint] - values).max() < tolerance, joint
    slopes = np.concatenate([order[joint] for joint in joints])
    if "bricard" not in name:  # whose error is at the noise of its six rows of rank five
        assert np.median(slopes) == pytest.approx(2.0, abs=0.2)


def test_a_spring_that_ends_lets_go_with_the_speed_that_its_energy_gives():
    path = shared("shift", "synthetic", "restraint_piecewise_seed.json")
    found, _ = extrapolated(file_of(path), (4.5, 5.0), 0.01, path)
    speed = np.sqrt(2.0 * (2.0 * (-0.2) ** 3 / 3.0 + 0.25 * 0.2**2))
    assert speed == pytest.approx(0.0966091783, abs=1e-9)
    assert found["T"] == pytest.approx((np.array([4.5, 5.0]) - 4.04934791) * speed, abs=2e-7)
