"""The rules `merge` and `left_turn` on a crossing made by hand: gap, spacing and delay just inside and just outside."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import cbsim
from cbsim.errors import FileError
from cbsim.evaluation.rules import RULES, Check, Context
from cbsim.recording.batch import Batch
from cbsim.road.lanelets import build_lanelets
from cbsim.road.right_of_way import find_conflicts
from cbsim.road.roadmap import RoadMap, build
from tests.evaluation.drives import FRONT, SIZE, STEP, Court, Drive, expect, header
from tests.evaluation.test_precedence import STOP, together
from tests.road.site import Site
from tests.traffic.sites import cross

EAST = -0.5 * math.pi
PACE = 10.0  # [m/s] of those who go first
ARC = 0.5 * math.pi


@pytest.fixture
def court(tmp_path):
    return Court(tmp_path)


@cache
def site(stops: tuple[int, ...] = (1, 3)) -> RoadMap:
    return build(cross(stops))


def right(wait: float = 1.0, step: float = STEP, onward: float = 40.0) -> Drive:
    """Come from the south, stop at the line, and turn right behind it."""
    drive = Drive(2.0, -60.0, step=step).go(60.0 - STOP).wait(wait).go(0.5 + FRONT + 2.0)
    return drive.go(4.0 * ARC, turn=-ARC).go(onward)


def left(wait: float = 1.0, onward: float = 40.0) -> Drive:
    """Come from the east, wait where a line would be, and turn left to the south."""
    drive = Drive(60.0, 2.0, ARC).go(60.0 - STOP).wait(wait).go(0.5 + FRONT + 2.0)
    return drive.go(8.0 * ARC, turn=ARC).go(onward)


def through(front: float, time: float, lane: float = -2.0, pace: float = PACE) -> Drive:
    """Go through from the west: the front bumper is at x = `front` at a time [s]."""
    return Drive(front - FRONT - pace * time, lane, EAST).go(700.0, pace)


def judged(court: Court, rule: str, one: Drive, *others: Drive, stops: tuple[int, ...] = (1, 3), **arguments) -> Check:
    trip, motion = together(one, *others)
    return court(expect(rule, **arguments), trip, others=motion, roadmap=site(stops))


def conflict(way: str, other: str) -> tuple[float, float]:
    """Stations at which the conflict of two ways begins on both [m]."""
    conflicts = find_conflicts(build_lanelets(site(), None))
    (found,) = (one for one in conflicts.of(conflicts.lanelets.rows[way]) if one.other == other)
    return found.begin, found.other_begin


def reached(drive: Drive, way: str, other: str) -> float:
    """When the front bumper of a drive passes beyond the line across its way at a conflict [s]."""
    begin, _ = conflict(way, other)
    lanelets = build_lanelets(site(), None)
    part = lanelets.samples_of(lanelets.rows[way])
    place = np.array([np.interp(begin, lanelets.stations[part], lanelets.points[part, k]) for k in (0, 1)])
    heading = np.interp(begin, lanelets.stations[part], lanelets.headings[part])
    along = np.array([-math.sin(heading), math.cos(heading)])
    rows = np.array(drive.rows)
    turned = 2.0 * np.arctan2(rows[:, 6], rows[:, 3])
    fronts = rows[:, :2] + FRONT * np.stack([-np.sin(turned), np.cos(turned)], axis=1)
    beyond = (fronts - place) @ along
    step = int(np.flatnonzero((beyond[:-1] <= 0.0) & (beyond[1:] > 0.0))[0])
    return STEP * (step + beyond[step] / (beyond[step] - beyond[step + 1]))


WAYS = {"merge": ("3.1.2-2.2.1", "4.1.2-2.2.1", right), "left_turn": ("2.1.2-3.2.1", "4.1.2-2.2.1", left)}


@pytest.mark.parametrize("rule", WAYS)
@pytest.mark.parametrize(("more", "passed"), [(STEP, True), (1e-6, True), (-1e-6, False), (-STEP, False)])
def test_who_comes_is_ten_seconds_away_when_the_object_reaches_the_stream(court, rule, more, passed):
    way, other, drive = WAYS[rule]
    time = reached(drive(), way, other)
    at = -8.0 + conflict(way, other)[1]  # its way begins at x = -8
    one = drive(onward=60.0)
    check = judged(court, rule, one, through(at, time + 10.0 + more), spacing=0.0)
    assert check.passed == passed, check.message
    if not passed:
        assert check.time == pytest.approx(time)
        assert f"by {way} {10.0 + more:.2f} s before 'Other 0'" in check.message
        assert check.message.endswith("expected 10 s at least")


@pytest.mark.parametrize("behind", [True, False])
@pytest.mark.parametrize(("more", "passed"), [(-0.01, True), (0.01, False)])
def test_who_is_near_fore_and_aft_is_measured_from_footprint_to_footprint(court, behind, more, passed):
    import shapely

    one = right(onward=20.0)
    time = reached(one, "3.1.2-2.2.1", "4.1.2-2.2.1")
    other = through(-14.0 if behind else 12.0, time, pace=5.0)
    trip, motion = together(one, other)
    rear = trip.motion[:, 0, 0] - FRONT
    end = float(np.argmax(rear > 8.0)) * STEP  # the way ends at x = 8
    near = min(
        shapely.box(*corners(trip.motion[k, 0])).distance(shapely.box(*corners(motion[k, 0])))
        for k in range(math.ceil(time / STEP), round(end / STEP))
        if abs(trip.motion[k, 0, 7]) > 4.99  # both go east
    )
    turning = [k for k in range(math.ceil(time / STEP), round(end / STEP)) if abs(trip.motion[k, 0, 7]) <= 4.99]
    near = min([near, *(polygon(trip.motion[k, 0]).distance(polygon(motion[k, 0])) for k in turning)])
    check = judged(court, "merge", one, other, gap=0.0, spacing=near + more)
    assert check.passed == passed, check.message
    assert f"{near:.2f} m" in check.message
    assert passed or "while it merged by 3.1.2-2.2.1, expected" in check.message


def corners(row: np.ndarray) -> tuple[float, float, float, float]:
    return row[0] - FRONT, row[1] - 0.5 * SIZE[0], row[0] + FRONT, row[1] + 0.5 * SIZE[0]


def polygon(row: np.ndarray):
    import shapely
    from shapely import affinity

    turned = 2.0 * math.atan2(row[6], row[3])
    upright = shapely.box(-0.5 * SIZE[0], -FRONT, 0.5 * SIZE[0], FRONT)
    return affinity.translate(affinity.rotate(upright, turned, origin=(0, 0), use_radians=True), row[0], row[1])


@pytest.mark.parametrize(("wait", "passed"), [(9.95, True), (10.05, False)])
@pytest.mark.parametrize("rule", WAYS)
def test_object_does_not_stand_for_ten_seconds_in_front_of_a_gap(court, rule, wait, passed):
    check = judged(court, rule, WAYS[rule][2](wait), Drive(400.0, 400.0))
    assert check.passed == passed, check.message
    if not passed:
        assert check.message.startswith(f"had stood 10.05 s before {WAYS[rule][0]} at")
        assert check.message.endswith("in gaps of 10 s, expected 10 s at most")


def test_time_in_which_there_is_no_gap_is_no_delay(court):
    """A column that passes for 20 s, 30 m apart."""
    column = [through(-10.0, 8.0 + 3.0 * k) for k in range(9)]
    assert judged(court, "merge", right(30.0), *column).passed
    assert not judged(court, "merge", right(40.0), *column).passed


def test_who_turns_off_before_it_comes_does_not_count(court):
    one = right()
    time = reached(one, "3.1.2-2.2.1", "4.1.2-2.2.1")
    off = Drive(-10.0 - 5.0 * (time + 4.0), -2.0, EAST).go(5.0 * (time + 4.0), 5.0)
    off = off.go(5.0 * ARC, turn=-ARC).go(30.0)
    check = judged(court, "merge", one, off, spacing=0.0)
    assert (check.passed, check.message) == (True, "1 merge")
    assert not judged(court, "merge", one, through(-10.0, time + 4.0, pace=5.0), spacing=0.0).passed


def test_run_that_ends_before_it_is_known_who_came_is_undecided(court):
    one = right(onward=8.0)
    time = reached(one, "3.1.2-2.2.1", "4.1.2-2.2.1")
    check = judged(court, "merge", one, cut(through(-10.0, time + 8.0), len(one.rows)), spacing=0.0)
    assert check.passed is None
    assert "it is open whether somebody came" in check.message
    inside = right(onward=0.3)
    check = judged(court, "merge", inside, cut(through(-10.0, time + 14.0), len(inside.rows)), spacing=0.0)
    assert check.passed is None
    assert check.message.endswith("it is still on 3.1.2-2.2.1")
    assert judged(court, "merge", inside, Drive(400.0, 400.0)).passed


def cut(drive: Drive, count: int) -> Drive:
    drive.rows = drive.rows[:count]
    return drive


def test_all_way_stops_have_no_merges_and_counts_are_asked_for(court):
    assert judged(court, "merge", right(), Drive(400.0, 400.0), stops=(1, 2, 3, 4)).message == "0 merges"
    assert judged(court, "merge", right(), Drive(400.0, 400.0), at_least=1).passed
    check = judged(court, "left_turn", right(), Drive(400.0, 400.0), at_least=1)
    assert (check.passed, check.message) == (False, "0 left turns, expected 1 at least")


def test_network_without_streams_has_none(tmp_path):
    road = build(Site(metric=True).lane("1.1", [(0.0, 0.0), (0.0, 100.0)]).network())
    check = Court(tmp_path)(expect("merge"), Drive(y=5.0).go(20.0), roadmap=road)
    assert (check.passed, check.message) == (True, "0 merges")


@pytest.mark.parametrize("step", [0.01, 0.1])
@pytest.mark.parametrize("size", [1, 7, 256, 10_000])
def test_verdict_depends_neither_on_the_step_nor_on_batches(step, size):
    one = right(step=step)
    other = Drive(-170.0, -2.0, EAST, step=step).go(250.0, PACE)
    trip, others = together(one, other)
    motion = np.concatenate([trip.motion, others], axis=1)
    rule = RULES["merge"](expect("merge"), Context(header(step, 1), site()))
    for first in range(0, len(motion), size):
        part = motion[first : first + size]
        rule.see(Batch(first, np.zeros(len(part), np.uint64), part))
        if rule.decided:
            break
    check = rule.result()
    assert check.passed is False
    assert check.time == pytest.approx(11.95, abs=0.1)
    assert check.message.startswith("merged by 3.1.2-2.2.1 5.")


def test_profile_of_2006_has_no_spacing_for_left_turns(tmp_path):
    text = "network: four_way_stop\nduration: 1\nprofile: darpa2006\n"
    text += "traffic: [{name: car, count: 1}]\nexpect:\n  - left_turn: "
    (tmp_path / "one.yaml").write_text(text + "{object: car 1}\n")
    with pytest.raises(
        FileError, match=r"darpa2006 has no 'spacing' for the rule 'left_turn'; darpa2007 has one.*E805"
    ):
        cbsim.load(tmp_path / "one.yaml")
    (tmp_path / "one.yaml").write_text(text + "{object: car 1, spacing: 8}\n")
    cbsim.load(tmp_path / "one.yaml")
