"""The rules `comfort` and `progress` against closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from cbsim.evaluation.rules.comfort import quadratic_fit
from cbsim.geometry.pose import heading_quaternion
from tests.evaluation.drives import FRONT, Court, Drive, expect, mission


@pytest.fixture
def court(tmp_path):
    return Court(tmp_path)


def motion(speed: Callable[[float], float], turn: Callable[[float], float], time: float, step: float = 0.05) -> Drive:
    """Drive to the north with a given speed and yaw rate; the heading is the integral of the rate."""
    drive = Drive(y=105.0, step=step)
    drive.rows, angle = [], 0.0
    for k in range(round(time / step) + 1):
        row = drive._row(speed(k * step))
        row[3:7] = heading_quaternion(angle)
        row[7:9] = -speed(k * step) * math.sin(angle), speed(k * step) * math.cos(angle)
        row[12] = turn(k * step)
        drive.rows.append(row)
        angle += 0.5 * step * (turn(k * step) + turn((k + 1) * step))
    return drive


def none(_: float) -> float:
    return 0.0


def test_quadratic_is_fitted_exactly_and_noise_by_least_squares():
    times = np.arange(0.0, 3.0, 0.05)
    values = np.stack([1.0 + 2.0 * times - 3.0 * times**2, np.ones(len(times))], axis=1)
    value, slope, curve = quadratic_fit(values, 10, 0.05)
    assert value == pytest.approx(values[10:-10])
    assert slope[:, 0] == pytest.approx(2.0 - 6.0 * times[10:-10])
    assert curve[:, 0] == pytest.approx(-6.0)
    assert np.abs(slope[:, 1]).max() < 1e-12
    noisy = values[:, :1] + np.random.default_rng(1).normal(size=(len(times), 1))
    window = np.polynomial.Polynomial.fit(times[:21] - times[10], noisy[:21, 0], 2).convert()
    assert [float(part[0, 0]) for part in quadratic_fit(noisy, 10, 0.05)] == pytest.approx(
        [window(0.0), window.deriv()(0.0), window.deriv(2)(0.0)]
    )


LIMITS = [
    ("acceleration", 2.40, "accelerated with", lambda a: (lambda t: 2.0 + a * t, none)),
    ("braking", 4.05, "braked with", lambda a: (lambda t: 15.0 - a * t, none)),
    ("sideways", 4.89, "had a lateral acceleration of", lambda a: (lambda _: 40.0, lambda _: a / 40.0)),
    ("jerk_along", 4.13, "had a longitudinal jerk of", lambda a: (lambda t: 5.0 + 0.5 * a * (t - 0.75) ** 2, none)),
    ("yaw_rate", 0.95, "turned with", lambda a: (lambda _: 2.0, lambda _: a)),
    ("yaw_acceleration", 1.93, "had a yaw acceleration of", lambda a: (lambda _: 0.5, lambda t: a * (t - 0.65))),
]


@pytest.mark.parametrize(("key", "bound", "told", "drive"), LIMITS)
@pytest.mark.parametrize(("more", "passed"), [(-0.01, True), (0.01, False)])
def test_each_bound_holds_for_a_constant_value_just_below_it_and_not_just_above(
    court, key, bound, told, drive, more, passed
):
    assert expect("comfort")[key] == bound
    check = court(expect("comfort"), motion(*drive(bound + more), 1.3))
    assert check.passed == passed, check.message
    if not passed:
        assert check.message.startswith(f"{told} {bound + more:.2f}")
        assert check.time == pytest.approx(0.5, abs=0.26)


def test_jerk_counts_across_the_heading_too(court):
    def swings(size: float) -> Drive:
        return motion(lambda _: 5.0, lambda t: size / 5.0 * (t - 0.65), 1.3)  # the lateral acceleration grows evenly

    assert court(expect("comfort", yaw_acceleration=9.0), swings(8.0)).passed
    check = court(expect("comfort", yaw_acceleration=9.0), swings(9.0))
    assert check.message.startswith("had a jerk of 8.")


@pytest.mark.parametrize("step", [0.01, 0.1, 0.5])
def test_verdict_hardly_depends_on_the_step(court, step):
    for a, passed in ((2.3, True), (2.5, False)):
        assert court(expect("comfort"), motion(lambda t, a=a: 2.0 + a * t, none, 3.0, step)).passed == passed


def test_ends_of_a_run_are_not_judged(court):
    drive = Drive(y=105.0).wait(3.0)
    drive.rows[-1] = drive._row(0.3)  # 6 m/s² within the last step
    assert court(expect("comfort"), drive).passed


# Progress -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "share"), [(10.0, 0.0), (65.0 + FRONT, 0.25), (90.0 + FRONT, 0.5), (140.0 + FRONT, 1.0)]
)
def test_share_of_the_way_is_that_along_the_route(court, way, share):
    drive = Drive(y=10.0).go(way - 2.0 * FRONT)  # checkpoints at y = 50 and 150
    for less, passed in ((1e-6, True), (-0.01, False)):
        wanted = share - less
        if 0.0 <= wanted <= 1.0:
            check = court(expect("progress", at_least=wanted), drive, mission(1, 2))
            assert check.passed == passed
            assert check.message.startswith(f"did {100.0 * share:.1f} % of the way of 100 m, expected")


def test_who_turns_back_keeps_what_it_has_done(court):
    drive = Drive(y=10.0).go(90.0).go(-30.0, -5.0)
    assert court(expect("progress", at_least=0.52), drive, mission(1, 2)).passed
