"""Car following against closed forms: equilibrium on a ring, growth of waves, stopping behind a standing car."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from cbsim.simulation.advance import advance
from cbsim.spec.objects import Triple
from cbsim.spec.traffic import DEFAULT_DRIVER, Driver, FollowingModel, Pool, Spread
from cbsim.world.traffic.tables import ACCELERATION, SPEED, STATION
from tests.traffic.sites import put, ring, run, straight, world
from tests.worlds import prop

LENGTH = 4.5
FREE = 12.0
NAMED = Driver("d", speed=Spread(FREE))


def equilibrium_gap(speed: float, driver: Driver = NAMED) -> float:
    """s_e(v) = (s₀ + v T) / √(1 − (v/v₀)⁴): Treiber, Hennecke, Helbing (2000), eq. 8."""
    headway, least = driver.time_headway.mean, driver.minimum_gap.mean
    return (least + speed * headway) / np.sqrt(1.0 - (speed / FREE) ** 4)


def equilibrium_speed(gap: float, driver: Driver = NAMED) -> float:
    if gap <= driver.minimum_gap.mean:
        return 0.0
    return float(brentq(lambda v: equilibrium_gap(v, driver) - gap, 0.0, FREE * (1.0 - 1e-12)))


@pytest.mark.parametrize("count", [5, 20, 40, 60, 80, 100, 130, 160, 200, 240])
def test_ring_settles_at_the_speed_and_flow_of_the_closed_form(count):
    made = world(ring(), Pool("p", count=count, lanes=((1, 1),), drivers=(("d", 1.0),)), drivers=(NAMED,))
    length = float(made.road.lanelets.lengths.sum())
    expected = equilibrium_speed(length / count - LENGTH)
    speeds = run(made, made.start, 900.0)[-1].columns.travel[:, SPEED]
    assert speeds.mean() == pytest.approx(expected, rel=0.005)
    assert speeds.mean() * count / length == pytest.approx(expected * count / length, rel=0.005)


def growth_of_long_waves(gap: float, driver: Driver) -> float:
    """Positive where waves grow: v_e′ − (f_l − f_v) / 2 (Treiber and Kesting 2013, §15.4)."""
    v = equilibrium_speed(gap, driver)
    a, b = driver.max_acceleration.mean, driver.comfortable_deceleration.mean

    def f(s: float, v: float, leader: float) -> float:
        wanted = driver.minimum_gap.mean + v * driver.time_headway.mean + v * (v - leader) / (2.0 * np.sqrt(a * b))
        return a * (1.0 - (v / FREE) ** 4 - (wanted / s) ** 2)

    d = 1e-5
    f_s = (f(gap + d, v, v) - f(gap - d, v, v)) / (2 * d)
    f_v = (f(gap, v + d, v) - f(gap, v - d, v)) / (2 * d)
    f_l = (f(gap, v, v + d) - f(gap, v, v - d)) / (2 * d)
    return -f_s / (f_v + f_l) - 0.5 * (f_l - f_v)


@pytest.mark.parametrize(("strongest", "count"), [(0.3, 40), (0.3, 60), (0.3, 110), (0.3, 140), (3.0, 60), (3.0, 140)])
def test_stop_and_go_waves_grow_where_linear_stability_theory_has_them(strongest, count):
    driver = Driver("d", speed=Spread(FREE), max_acceleration=Spread(strongest), time_headway=Spread(1.0))
    made = world(ring(), Pool("p", count=count, lanes=((1, 1),), drivers=(("d", 1.0),)), drivers=(driver,))
    gap = float(made.road.lanelets.lengths.sum()) / count - LENGTH
    start = made.start
    start.state.travel[:, SPEED] = equilibrium_speed(gap, driver)
    start.state.travel[:, SPEED] += 0.2 * np.sin(2.0 * np.pi * np.arange(count) / count)
    spreads = [float(np.std(each.columns.travel[:, SPEED])) for each in run(made, start, 600.0, 60.0)]
    growth = growth_of_long_waves(gap, driver)
    assert abs(growth) > 0.01  # far enough from the boundary for a finite ring
    assert (spreads[-1] > 2.0 * spreads[0]) == (growth > 0.0)


@pytest.mark.parametrize("model", list(FollowingModel))
@pytest.mark.parametrize("step", [0.02, 0.05, 0.1, 0.5, 1.0])
def test_stop_behind_a_standing_car(model, step):
    driver = Driver("d", model=model, speed=Spread(13.0))
    parked = prop("Parked", Triple(0.0, 400.0, 0.0), size=Triple(1.8, 4.5, 1.5))
    pool = Pool("p", count=1, drivers=(("d", 1.0),))
    made = world(straight(), pool, drivers=(driver,), actors=(parked,), step=step)
    snapshot = made.start
    put(snapshot, 0, 100.0, 13.0)
    hardest = 0.0
    for _ in range(round(120.0 / step)):
        advance(made, snapshot, 1)
        hardest = min(hardest, float(snapshot.columns.travel[0, ACCELERATION]))
    gap = (400.0 - 2.25) - (snapshot.columns.travel[0, STATION] + LENGTH)
    assert gap == pytest.approx(DEFAULT_DRIVER.minimum_gap.mean, abs=0.1)
    assert hardest >= -4.5
    assert snapshot.columns.travel[0, SPEED] < 0.05


@pytest.mark.parametrize("model", list(FollowingModel))
@pytest.mark.parametrize("step", [0.05, 0.1, 1.0])
@pytest.mark.parametrize("speed", [5.0, 11.6, 13.0])
@pytest.mark.parametrize("share", [0.95, 0.7, 0.4, 1.3])
def test_a_body_that_appears_is_stopped_for_with_no_more_than_it_takes(model, step, speed, share):
    """`share` of 4.5 m/s² suffices to stop a metre before it; the models ask for up to twice that."""
    room = speed * speed / (2.0 * share * 4.5) + 1.0
    parked = prop("Parked", Triple(0.0, 110.0 + LENGTH + room + 2.25, 0.0), size=Triple(1.8, 4.5, 1.5))
    pool, driver = Pool("p", count=1, drivers=(("d", 1.0),)), Driver("d", model=model, speed=Spread(13.0))
    made = world(straight(), pool, drivers=(driver,), actors=(parked,), step=step)
    snapshot = made.start
    put(snapshot, 0, 110.0, speed)
    snapshots = run(made, snapshot, 30.0, step)
    hardest = min(float(each.columns.travel[0, ACCELERATION]) for each in snapshots)
    assert hardest >= -4.5 * max(share, 1.0) - 1e-6
    travel = snapshots[-1].columns.travel[0]
    assert travel[SPEED] < 0.05
    assert 110.0 + LENGTH + room - (travel[STATION] + LENGTH) > 0.7


def test_speed_never_exceeds_the_limit_and_never_falls_below_zero():
    made = world(ring(800.0, 160), Pool("p", count=60))
    for snapshot in run(made, made.start, 120.0, 1.0):
        speeds = snapshot.columns.travel[:, SPEED]
        assert speeds.min() >= 0.0
        assert speeds.max() <= 13.4112 + 1e-9
