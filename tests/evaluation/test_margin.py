"""The rule `margin` against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cbsim.evaluation.rules.footprints import rectangles, time_to_collision
from tests.evaluation.drives import SIZE, Court, Drive, expect

VL = SIZE[1]


@pytest.fixture
def court(tmp_path):
    return Court(tmp_path)


def chase(speed: float, lead: float, gap: float, time: float = 3.0) -> tuple[Drive, np.ndarray]:
    """A car behind a slower one, both at their speeds from the first step on."""
    trip = Drive(y=105.0).go(time * speed, speed)
    other = Drive(y=105.0 + VL + gap)
    other = other.go(time * lead, lead) if lead else other.wait(time)
    return trip, other.motion


def box(x: float, y: float, heading: float = 0.0, size: tuple[float, float] = (1.8, 4.4)) -> np.ndarray:
    return rectangles(np.array([[x, y]]), np.array([heading]), np.array([size]))


def test_time_to_collision_of_rectangles_is_that_of_closed_forms():
    def ttc(other: np.ndarray, velocity: tuple[float, float]) -> float:
        return float(time_to_collision(box(0.0, 0.0), other, np.array([velocity]))[0])

    assert ttc(box(0.0, 20.0), (0.0, -5.0)) == pytest.approx((20.0 - 4.4) / 5.0)
    assert ttc(box(0.0, 20.0), (0.0, 5.0)) == math.inf
    assert ttc(box(0.0, 20.0), (0.0, 0.0)) == math.inf
    assert ttc(box(0.5, 1.0), (1.0, 1.0)) == 0.0
    assert ttc(box(1.81, 20.0), (0.0, -5.0)) == math.inf
    assert ttc(box(1.79, 20.0), (0.0, -5.0)) == pytest.approx((20.0 - 4.4) / 5.0)
    crossing = box(30.0, 0.0, 0.5 * math.pi)
    assert ttc(crossing, (-10.0, 0.0)) == pytest.approx((30.0 - 2.2 - 0.9) / 10.0)
    assert ttc(box(30.0, 32.0, 0.5 * math.pi), (-10.0, -10.0)) == pytest.approx((32.0 - 2.2 - 0.9) / 10.0)
    assert ttc(box(30.0, 60.0, 0.5 * math.pi), (-10.0, -10.0)) == math.inf
    turned = box(0.0, 20.0, 0.25 * math.pi, (2.0, 2.0))
    assert ttc(turned, (0.0, -4.0)) == pytest.approx((20.0 - 2.2 - math.sqrt(2.0)) / 4.0)


@pytest.mark.parametrize("seed", range(5))
def test_time_to_collision_is_the_first_moment_at_which_rectangles_overlap(seed):
    import shapely

    rng = np.random.default_rng(seed)
    for _ in range(20):
        other = box(*rng.uniform(-15.0, 15.0, 2), rng.uniform(-3.0, 3.0), tuple(rng.uniform(0.5, 5.0, 2)))
        velocity = rng.uniform(-8.0, 8.0, 2)
        found = float(time_to_collision(box(0.0, 0.0), other, velocity[None])[0])
        own = shapely.Polygon(box(0.0, 0.0)[0])
        meets = [t for t in np.arange(0.0, 8.0, 0.01) if own.intersects(shapely.Polygon(other[0] + t * velocity))]
        if meets:
            assert found <= meets[0] + 1e-9 < found + 0.0101
        else:
            assert found > 7.98


@pytest.mark.parametrize(("more", "passed"), [(0.01, True), (-0.01, False)])
def test_least_time_to_collision_is_bounded_from_below(court, more, passed):
    trip, others = chase(10.0, 6.0, 20.0)
    last = (20.0 - 3.0 * 4.0) / 4.0
    check = court(expect("margin", ttc=last - more), trip, others=others)
    assert check.passed == passed
    told = f"ttc of {last:.2f} s to 'Other 0' at 3.00 s at (0.00, 135.00)"
    assert check.message == (told if passed else f"{told}, expected {last - more:g} s at least")


@pytest.mark.parametrize(("more", "passed"), [(0.01, True), (-0.01, False)])
def test_time_headway_and_deceleration_follow_the_vehicle_ahead(court, more, passed):
    trip, others = chase(10.0, 6.0, 20.0)
    thw, drac = (20.0 - 12.0) / 10.0, 0.5 * 4.0**2 / (20.0 - 12.0)
    check = court(expect("margin", thw=thw - more), trip, others=others)
    assert check.passed == passed
    assert check.message.startswith(f"thw of {thw:.2f} s to 'Other 0' at 3.00 s")
    check = court(expect("margin", drac=drac + more), trip, others=others)
    assert check.passed == passed
    assert check.message.startswith(f"drac of {drac:.2f} m/s² to 'Other 0' at 3.00 s")


@pytest.mark.parametrize(("more", "passed"), [(0.01, True), (-0.01, False)])
def test_lateral_error_is_the_distance_from_the_middle_of_the_lane(court, more, passed):
    trip = Drive(y=105.0).go(20.0, aside=0.4).go(10.0)
    assert court(expect("margin", lateral=0.4 + more), trip).passed == passed


def test_first_measure_beyond_its_bound_is_told_and_every_worst_value_of_a_pass(court):
    trip, others = chase(10.0, 6.0, 20.0)
    both = court(expect("margin", ttc=3.0, thw=1.9), trip, others=others)
    assert (both.passed, both.time) == (False, pytest.approx(0.3))
    assert both.message.startswith("thw of 1.88 s to 'Other 0' at 0.30 s")
    told = court(expect("margin", ttc=1.0, thw=0.5, drac=3.0, lateral=0.5), trip, others=others).message
    assert [part.split(" of ")[0] for part in told.split("; ")] == ["ttc", "thw", "drac", "lateral"]
    assert court(expect("margin", ttc=1.0), Drive(y=105.0).go(10.0)).message == "no object came near"


def crossing(lag: float, speed: float = 8.0, pace: float = 5.0, step: float = 0.05) -> tuple[Drive, np.ndarray, float]:
    """A car to the north, and one from the west that comes over its way some time after it has gone."""
    size_x, size_y = SIZE[0], VL
    trip = Drive(0.0, 105.0, step=step).go(speed * 8.0, speed)
    leaves = (20.0 + 0.5 * size_x + 0.5 * size_y) / speed  # the other's way is at y = 125
    begins = -0.5 * size_x - 0.5 * size_y - pace * (leaves + lag)
    other = Drive(begins, 125.0, -0.5 * math.pi, step=step).go(pace * 8.0, pace)
    return trip, other.motion[: len(trip.rows)], leaves + lag


@pytest.mark.parametrize("step", [0.01, 0.05, 0.1])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(("more", "passed"), [(0.01, True), (-0.01, False)])
def test_post_encroachment_time_is_that_of_the_conflict_area(court, step, first, more, passed):
    lag = 1.23
    if first:
        trip, others, time = crossing(lag, step=step)
    else:  # the other one goes first
        trip, others, _ = crossing(0.0, step=step)
        leaves = (others[0, 0, 0] - 0.9 - 0.5 * VL) / -5.0  # until its rear is beyond x = 0.9
        arrives = (20.0 - 0.9 - 0.5 * VL) / 8.0
        lag = arrives - leaves
        moved = trip.motion.copy()
        wait = round((1.23 - lag) / step)
        trip.rows = [trip.rows[0] * np.r_[np.ones(7), np.zeros(6)]] * wait + trip.rows
        others = np.concatenate([others, np.repeat(others[-1:], wait, axis=0)])
        lag, time = lag + wait * step, arrives + wait * step
        assert len(moved) + wait == len(trip.rows)
    check = court(expect("margin", pet=lag - more), trip, others=others)
    assert check.passed == passed, check.message
    assert float(check.message.removeprefix("pet of ").split()[0]) == pytest.approx(lag, abs=0.0051)
    if not passed:
        assert check.message.endswith(f"expected {lag - more:g} s at least")
        assert time - 1e-9 <= check.time <= time + step + 1e-9


def test_post_encroachment_time_of_oblique_ways_is_the_least_of_all_places(court):
    """Ways that cross at 45°, where the two who touch the same place are never nearer in time."""
    import shapely
    from shapely import affinity

    trip = Drive(0.0, 105.0, step=0.05).go(64.0, 8.0)
    angle = -0.25 * math.pi
    other = Drive(-20.0, 95.0, angle, step=0.05).go(50.0, 5.0)
    others = other.motion[: len(trip.rows)]
    car = shapely.box(-0.5 * SIZE[0], -0.5 * VL, 0.5 * SIZE[0], 0.5 * VL)
    turned = affinity.rotate(car, angle, origin=(0, 0), use_radians=True)
    fine = np.arange(0.0, 8.0, 0.01)
    ego = [affinity.translate(car, 0.0, 105.0 + 8.0 * t) for t in fine]
    rest = [
        affinity.translate(turned, -20.0 + 5.0 * t * math.sin(-angle), 95.0 + 5.0 * t * math.cos(angle)) for t in fine
    ]
    tree = shapely.STRtree(rest)
    pairs = tree.query(ego, predicate="intersects")
    least = float(np.abs(fine[pairs[0]] - fine[pairs[1]]).min())
    told = court(expect("margin", pet=0.01), trip, others=others).message
    found = float(told.removeprefix("pet of ").split()[0])
    assert found == pytest.approx(least, abs=0.021)


def test_who_follows_has_a_headway_and_no_post_encroachment_time(court):
    trip, others = chase(10.0, 6.0, 20.0)
    assert court(expect("margin", pet=1.0), trip, others=others).message == "no object came near"


def test_who_collides_has_no_time_between(court):
    trip, others, _ = crossing(-0.2)
    check = court(expect("margin", pet=0.5), trip, others=others)
    assert check.message.startswith("pet of 0.00 s to 'Other 0'")


def test_time_headway_and_deceleration_are_those_of_closed_forms_at_every_gap(court):
    for gap, speed, lead in ((5.0, 4.0, 3.0), (12.0, 9.0, 5.0), (40.0, 15.0, 5.0)):
        trip, others = chase(speed, lead, gap, 2.0)
        left = gap - 2.0 * (speed - lead)
        told = court(expect("margin", ttc=0.01, thw=0.01, drac=99.0), trip, others=others).message
        values = [float(part.split(" of ")[1].split()[0]) for part in told.split("; ")]
        closed = [left / (speed - lead), left / speed, 0.5 * (speed - lead) ** 2 / left]
        assert values == pytest.approx(closed, abs=0.0051)
