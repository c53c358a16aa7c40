"""The rule `precedence` on junctions made by hand: in turn, out of turn, and what is forgiven."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cbsim
from cbsim.evaluation.outcome import execute
from cbsim.road.roadmap import build
from tests.evaluation.drives import FRONT, SIZE, Court, Drive, expect
from tests.traffic.sites import cross

STOP = 8.0 + 0.5 + FRONT  # [m] from the middle, where a car waits half a metre before its line
WEST = 0.5 * math.pi


@pytest.fixture
def court(tmp_path):
    return Court(tmp_path)


def ego() -> Drive:
    """Come from the south, ready to go north."""
    return Drive(2.0, -60.0)


def rival(x: float = 60.0) -> Drive:
    """Come from the east, on the right of the ego."""
    return Drive(x, 2.0, WEST)


def together(one: Drive, *others: Drive) -> tuple[Drive, np.ndarray]:
    """Make drives equally long: everybody stands at the end."""
    longest = max(len(drive.rows) for drive in (one, *others))
    for drive in (one, *others):
        last = drive.rows[-1].copy()
        last[7:10] = 0.0
        drive.rows += [last] * (longest - len(drive.rows))
    return one, np.concatenate([drive.motion for drive in others], axis=1)


def judged(court, one, *others, stops=(1, 2, 3, 4), **arguments):
    trip, motion = together(one, *others)
    return court(expect("precedence", **arguments), trip, others=motion, roadmap=build(cross(stops)))


@pytest.mark.parametrize(("later", "passed"), [(0.5, True), (0.55, False)])
def test_who_arrives_later_goes_later_unless_it_is_a_tie(court, later, passed):
    one = ego().wait(later).go(60.0 - STOP).wait(1.0).go(40.0).wait(20.0)
    check = judged(court, one, rival().go(60.0 - STOP).wait(5.0).go(40.0))
    assert check.passed == passed
    if not passed:
        arrival = 0.05 * math.ceil((60.0 - STOP) / 0.25)
        assert check.time == pytest.approx(later + arrival + 1.0 + 0.1, abs=0.011)
        waited = f"which had waited since {arrival + 0.05:.2f} s, 0.55 s longer"
        assert check.message == (
            f"entered 3.1.2-1.2.1 at {check.time:.2f} s at (2.00, -8.00) out of turn, before 'Other 0', {waited}"
        )


def test_who_arrives_first_goes_first_even_if_the_other_is_on_the_right(court):
    one = ego().go(60.0 - STOP).wait(2.0).go(40.0).wait(20.0)
    check = judged(court, one, rival().wait(1.0).go(60.0 - STOP).wait(5.0).go(40.0))
    assert (check.passed, check.message) == (True, "1 entry into junctions, each in turn")


def test_who_lets_the_first_go_is_in_turn(court):
    one = ego().wait(3.0).go(60.0 - STOP).wait(4.0).go(40.0).wait(20.0)
    assert judged(court, one, rival().go(60.0 - STOP).wait(1.0).go(40.0)).passed


@pytest.mark.parametrize(("patience", "passed"), [(9.9, False), (10.2, True)])
def test_who_is_first_and_does_not_go_for_ten_seconds_is_passed_over(court, patience, passed):
    one = ego().wait(2.0).go(60.0 - STOP).wait(patience - 2.1).go(40.0).wait(20.0)
    check = judged(court, one, rival().go(60.0 - STOP).wait(15.0).go(40.0))
    assert check.passed == passed


def test_who_never_goes_is_still_the_first(court):
    one = ego().wait(2.0).go(60.0 - STOP).wait(1.0).go(40.0).wait(20.0)
    assert "which had waited since" in judged(court, one, rival().go(60.0 - STOP).wait(1.0)).message


def test_who_does_not_stop_has_no_turn(court):
    one = ego().wait(4.0).go(60.0 + 30.0).wait(20.0)
    assert judged(court, one, rival().go(60.0 - STOP).wait(7.0).go(40.0)).message.endswith(", without a stop")


def test_who_is_in_the_junction_goes_on(court):
    one = ego().go(60.0 - STOP).wait(2.0).go(40.0).wait(20.0)
    slow = rival().wait(0.6).go(60.0 - STOP).wait(1.0).go(2.0).wait(4.0).go(40.0)
    assert "which was in the junction since" in judged(court, one, slow).message


@pytest.mark.parametrize("way", [40.0, 0.5 + FRONT + 11.0])
def test_who_stands_in_the_junction_to_the_end_was_there_first(court, way):
    """The object goes over the way of somebody who never leaves, and leaves or stands there itself."""
    stands = rival().wait(0.6).go(60.0 - STOP).wait(1.0).go(0.5 + FRONT + 2.0).wait(40.0)
    check = judged(court, ego().go(60.0 - STOP).wait(4.0).go(way).wait(30.0), stands)
    assert check.passed is False
    assert "out of turn, before 'Other 0', which was in the junction since" in check.message
    alone = judged(court, ego().go(60.0 - STOP).wait(4.0).go(way).wait(30.0), Drive(60.0, -60.0))
    assert alone.passed is (True if way == 40.0 else None)


def test_who_has_no_room_beyond_the_junction_passes_the_turn(court):
    one = ego().wait(2.0).go(60.0 - STOP).wait(1.0).go(40.0).wait(20.0)
    full = Drive(-8.0 - 5.0, 2.0, WEST).wait(1.0)
    assert judged(court, one, rival().go(60.0 - STOP).wait(5.0).go(40.0), full).passed


def test_ways_that_do_not_cross_need_no_turn(court):
    one = ego().wait(2.0).go(60.0 - STOP).wait(1.0).go(40.0).wait(20.0)
    opposite = Drive(-2.0, 60.0, math.pi).go(60.0 - STOP).wait(5.0).go(40.0)
    assert judged(court, one, opposite).passed


CLEARED = (8.0 + 2.0 + 1.375 + SIZE[1]) / 5.0  # [s] from the line until the rear is out of the other's strip


@pytest.mark.parametrize(("gap", "passed"), [(CLEARED - 0.05, False), (CLEARED + 0.05, True)])
def test_who_has_a_stop_line_is_through_before_the_other_gets_there(court, gap, passed):
    wait = 2.0
    one = ego().go(60.0 - STOP).wait(wait).go(40.0).wait(20.0)
    enters = len(ego().go(60.0 - STOP).wait(wait).rows) * 0.05 - 0.05 + 0.1  # the bumper crosses the line
    at = 2.0 + 1.375  # where the strips of 2.75 m overlap
    lead = rival(at + FRONT + 10.0 * (enters + gap)).go(400.0, 10.0)
    check = judged(court, one, lead, stops=(1, 3))
    assert check.passed == passed
    if not passed:
        assert "which goes first (stop) and was 3.10 s away, 0.05 s less than it took to clear its way" in check.message


def test_entry_is_undecided_where_the_run_ends_within_the_junction(court):
    def end(way, *others):
        return judged(court, ego().wait(3.0).go(60.0 - STOP).wait(4.0).go(way), *others)

    def other():
        return rival().go(60.0 - STOP).wait(1.0)

    inside = end(9.0, other())
    assert inside.passed is None
    assert inside.message.startswith(f"undecided: the run ends at {inside.time:.2f} s, within 3.1.2-")
    assert end(0.2, other()).message == "0 entries into junctions, each in turn"
    assert end(30.0, other()).passed is False  # who waited longer has not gone
    assert end(9.0, Drive(500.0, 500.0)).passed  # nobody is there


def test_network_without_junctions_has_no_entries(court):
    check = court(expect("precedence"), Drive().go(20.0))
    assert (check.passed, check.message) == (True, "0 entries into junctions, each in turn")
    check = court(expect("precedence", at_least=1), Drive().go(20.0))
    assert (check.passed, check.message) == (False, "0 entries into junctions, expected 1 at least")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "count"),
    [
        ("four_way_stop", 12),
        ("roundabout", 12),
        ("city", 24),
    ],
)
def test_reactive_traffic_goes_in_its_turn(tmp_path, network, count):
    cars = "\n".join(f"  - precedence: {{object: car {k}}}" for k in range(1, count + 1))
    traffic = f"traffic:\n  - {{name: car, count: {count}}}\n"
    (tmp_path / "cars.yaml").write_text(f"network: {network}\nduration: 120\n{traffic}expect:\n{cars}\n")
    outcome = execute(cbsim.load(tmp_path / "cars.yaml"))
    assert [check.message for check in outcome.checks if check.passed is False] == []
    assert sum(int(check.message.split()[0]) for check in outcome.checks if check.passed) > 20
