"""Goals and scripts through physics: a follower keeps the literal schedule, the path, and the laws of vehicles."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import cbsim
from cbsim.errors import UsageError
from cbsim.simulation.advance import advance
from cbsim.spec.objects import Controller, Kind, ScriptEntry, TrafficObject, Wheels, WheelType
from cbsim.world.scene import Actor
from tests.common import shared
from tests.worlds import SIZE, mover, world

WHEELS = pytest.mark.parametrize("wheels", list(WheelType), ids=lambda w: w.name.lower())
NORTH, WEST = 0.0, 0.5 * math.pi


def follower(*entries, wheels=WheelType.CONVENTIONAL, name="Follower", **fields):
    """Follow a script of (speed, pause, distance, angle) through the vehicle model."""
    script = tuple(ScriptEntry(*entry) for entry in entries)
    kind = Kind.AUTONOMOUS
    return Actor(
        TrafficObject(
            kind, name, controller=Controller.SCRIPT, script=script, size=SIZE, wheels=Wheels(wheels), **fields
        )
    )


def arrivals(made, name="Follower", duration=None):
    """Scheduled and actual time [s] of coming nearest to each corner of the schedule, and how near [m]."""
    c = made.constants
    recording = cbsim.run(made, duration=1.2 * c.segment_start[-1] + 5.0 if duration is None else duration)
    way = recording.positions(name)[:, :2]
    rows = []
    for segment in range(1, len(c.segment_start)):
        gaps = np.linalg.norm(way - c.segment_origin[segment, :2], axis=1)
        rows.append((c.segment_start[segment], recording.times[np.argmax(gaps < gaps.min() + 0.05)], gaps.min()))
    return np.array(rows), recording


@WHEELS
def test_a_long_straight_ends_within_two_percent_of_the_schedule(wheels):
    times, recording = arrivals(world(follower((4.0, 0.0, 200.0, NORTH), wheels=wheels)))
    assert times[-1, 1] == pytest.approx(times[-1, 0], rel=0.02)
    assert times[-1, 2] < 0.1
    assert recording.speeds("Follower")[-1] == 0.0


@WHEELS
def test_a_winding_road_is_followed_within_two_percent_and_less_than_half_its_width(wheels):
    bends = [(4.0, 0.0, 15.0, math.radians(40.0 * math.sin(0.5 * k))) for k in range(20)]
    times, _ = arrivals(world(follower(*bends, wheels=wheels)))
    late = times[5:, 1] / times[5:, 0] - 1.0
    assert np.abs(late).max() < 0.02
    assert times[:, 2].max() < SIZE.x / 2.5  # corners of up to 20° are cut


@WHEELS
def test_a_square_corner_is_turned_near_its_goal(wheels):
    times, _ = arrivals(world(follower((4.0, 0.0, 40.0, NORTH), (4.0, 0.0, 200.0, WEST), wheels=wheels)))
    assert times[-1, 1] == pytest.approx(times[-1, 0], rel=0.02)
    assert times[:, 2].max() < 1.5


@pytest.mark.parametrize("drive", ["skid", "skid-kinematic"])
@pytest.mark.parametrize("turn", [90.0, -60.0, 180.0])
def test_skid_wheels_turn_on_the_spot_where_the_path_has_a_sharp_corner(drive, turn):
    after = math.radians(turn)
    made = world(follower((4.0, 0.0, 40.0, NORTH), (4.0, 0.0, 100.0, after), wheels=WheelType.SKID, drive=drive))
    times, recording = arrivals(made)
    heading = np.unwrap(recording.headings("Follower"))
    turning = (np.abs(heading) > 0.1) & (np.abs(heading - heading[-1]) > 0.3)
    spot = recording.positions("Follower")[turning][:, :2] - (0.0, 40.0)
    assert np.abs(spot).max() < 0.4
    assert np.ptp(recording.times[turning]) < 3.0
    assert times[-1, 1] == pytest.approx(times[-1, 0], rel=0.02)
    assert times[:, 2].max() < 0.3


def test_skid_wheels_go_round_square_after_square_on_schedule():
    sides = [(3.0, 0.0, 60.0, 0.5 * math.pi * k) for k in range(4)]
    made = world(follower(*sides, wheels=WheelType.SKID))
    recording = cbsim.run(made, duration=86.0)
    place = recording.positions("Follower")[:, :2]
    for k, corner in enumerate(((0.0, 60.0), (-60.0, 60.0), (-60.0, 0.0)), 1):
        late = recording.times[np.linalg.norm(place - corner, axis=1).argmin()] - 20.0 * k
        assert abs(late) < 0.02 * 20.0 * k
    ending = np.linalg.norm(place, axis=1) < 0.2
    assert recording.times[ending & (recording.times > 40.0)][0] == pytest.approx(80.0, rel=0.02)


def test_skid_wheels_turn_in_a_wait_and_are_ready_when_it_is_over():
    made = world(follower((3.0, 6.0, 30.0, NORTH), (3.0, 0.0, 30.0, WEST), wheels=WheelType.SKID))
    recording = cbsim.run(made, duration=30.0)
    times, heading = recording.times, np.unwrap(recording.headings("Follower"))
    early, over = (times > 11.0) & (times < 13.0), np.searchsorted(times, 16.0)
    assert np.abs(heading[early]).max() < 1e-9
    assert heading[over] == pytest.approx(WEST, abs=0.2)
    wait = (times > 11.0) & (times < 15.9)
    assert np.ptp(recording.positions("Follower")[wait], axis=0).max() < 0.2


@WHEELS
def test_a_wait_is_spent_at_rest_until_it_is_due_to_end(wheels):
    made = world(follower((3.0, 5.0, 30.0, NORTH), (3.0, 0.0, 30.0, NORTH), wheels=wheels))
    recording = cbsim.run(made, duration=35.0)
    speeds, times = np.abs(recording.speeds("Follower")), recording.times
    waiting = (times > 11.0) & (times < 15.0)
    assert speeds[waiting].max() == 0.0
    assert np.ptp(recording.positions("Follower")[waiting], axis=0).max() == 0.0
    assert speeds[(times > 15.0) & (times < 16.5)].max() > 1.0


def test_it_never_goes_faster_than_a_quarter_above_the_written_speed():
    _, recording = arrivals(world(follower((5.0, 0.0, 30.0, NORTH), (2.0, 0.0, 60.0, WEST), (5.0, 0.0, 60.0, NORTH))))
    assert recording.speeds("Follower").max() <= 1.25 * 5.0 + 0.05


def test_the_vehicle_limits_it_where_the_schedule_asks_too_much():
    made = world(follower((20.0, 0.0, 60.0, NORTH), parameters=(("max_acceleration", 1.0),)))
    _, recording = arrivals(made, duration=20.0)
    assert np.diff(recording.speeds("Follower")).max() <= 1.0 * 0.05 + 1e-9
    assert recording.positions("Follower")[-1, 1] == pytest.approx(60.0, abs=0.2)


def test_bits_do_not_depend_on_how_steps_are_grouped_or_restored():
    made = world(follower((4.0, 1.0, 20.0, NORTH), (4.0, 0.0, 20.0, WEST)), mover("Mover", (2.0, 0.0, 9.0, 0.0)))
    quiet, single = made.start, made.start
    hashes, _, _ = advance(made, quiet, 200)
    for k in range(200):
        single = made.restore(cbsim.step(made, single).to_bytes())
        assert single.hash == hashes[k]


def test_a_follower_takes_no_commands():
    made = world(follower((4.0, 0.0, 20.0, NORTH)))
    with pytest.raises(UsageError, match="takes no commands"):
        cbsim.step(made, made.start, {"Follower": cbsim.Command(0.5)})


def test_a_follower_without_legs_stays_where_it_is():
    made = world(follower())
    recording = cbsim.run(made, duration=5.0)
    assert not np.ptp(recording.positions("Follower"), axis=0).any()


WHEELED = '<wheels type="{}" radius="0.38" width="0.2"/><steering throttle_rate="2" lever_rate="0.5"/><initial_pause>'


@WHEELS
def test_the_traffic_of_the_default_object_file_keeps_its_schedule_with_wheels(wheels, tmp_path):
    text = shared("cajunbot", "Objects.xml").read_text()
    text = text.replace('<object type="dynamic"', '<object type="autonomous" controller="waypoint"')
    text = re.sub("<sensor .*/>", "", text)  # nobody looks
    objects = tmp_path / "objects.xml"
    objects.write_text(text.replace("<initial_pause>", WHEELED.format(int(wheels))))
    made = cbsim.load(rndf=shared("rndf", "navguide", "Sample_RNDF.txt"), objects=objects)
    times, recording = arrivals(made, "Traffic")
    late = times[:, 1] / times[:, 0] - 1.0
    assert np.abs(late[times[:, 0] > 5.0]).max() < 0.02
    assert times[:, 2].max() < 0.5
    assert recording.speeds("Traffic")[-1] == 0.0
