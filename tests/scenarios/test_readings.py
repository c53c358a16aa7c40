"""What the surveyor of the scenario `sensors` reads after seven seconds, held against what there is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import cbsim
from cbsim.evaluation.outcome import Outcome, execute

pytestmark = pytest.mark.slow
TIME = 7.0  # [s] under way towards the hay cart


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return execute(cbsim.load("sensors"), steps=round(TIME / 0.05))


@pytest.fixture(scope="module")
def readings(outcome: Outcome) -> dict[str, Any]:
    return {key.split("/")[1]: value for key, value in cbsim.sense(outcome.world, outcome.snapshot).items()}


def test_surveyor_has_a_sensor_of_every_kind(readings: dict[str, Any]) -> None:
    scanners = {"scan_gp_driver_0", "scan_gp_driver_1", "scan_gp_driver_2", "scan_tail"}
    assert set(readings) == scanners | {"gps", "ins", "odometry", "radar", "objects"}
    shapes = {key: readings[key].ranges.shape for key in sorted(scanners)}
    assert list(shapes.values()) == [(1, 361), (4, 481), (1, 181), (1, 381)]


def test_scanner_tipped_down_meets_the_ground_where_trigonometry_says(readings: dict[str, Any]) -> None:
    middle = readings["scan_gp_driver_2"].ranges[0, 90]
    assert middle == pytest.approx(2.1 / math.sin(math.radians(8.0)), abs=0.05), "five times its range noise"


def test_level_scanner_sees_what_stands_and_not_the_ground(readings: dict[str, Any]) -> None:
    scan = readings["scan_gp_driver_0"]
    heights = scan.points[scan.returned][:, 2]
    assert len(heights) > 10
    assert heights == pytest.approx(0.55, abs=1e-6)


def test_scanner_on_the_tail_loses_beams_and_is_blind_on_one_side(readings: dict[str, Any]) -> None:
    scan = readings["scan_tail"]
    azimuths = np.degrees(scan.angles)
    assert not scan.returned[0, azimuths <= -80.0].any()
    assert np.allclose(scan.ranges[scan.returned] * 100.0, np.round(scan.ranges[scan.returned] * 100.0), atol=1e-6)
    behind = scan.points[scan.returned] - np.array([28.7, -356.9, 0.75])
    assert scan.time == pytest.approx(TIME - 0.1), "ten scans a second, the newest is not there yet"
    assert np.hypot(behind[:, 0], behind[:, 1]).min() > 2.0, "the tailgater is out of its reach by then"


def test_receiver_unit_and_counters_know_where_they_are(outcome: Outcome, readings: dict[str, Any]) -> None:
    pose = outcome.world["Surveyor"].pose(outcome.snapshot)
    speed = outcome.world["Surveyor"].speed(outcome.snapshot)
    late = {key: TIME - readings[key].time for key in ("gps", "ins", "odometry")}
    assert late == pytest.approx({"gps": 0.2, "ins": 0.0, "odometry": 0.0}, abs=1e-6)
    ahead = pose.position - readings["ins"].position
    assert np.hypot(*ahead[:2]) == pytest.approx(0.3, abs=0.3), "it sits 0.3 m behind the middle, and drifts by 0.1 m"
    assert readings["ins"].heading == pytest.approx(pose.heading, abs=math.radians(0.5))
    assert np.hypot(*(pose.position - readings["gps"].position)[:2]) == pytest.approx(0.6 + 0.2 * speed, abs=0.5)
    start = outcome.world["Surveyor"].pose(outcome.world.start)
    way = float(np.hypot(*(pose.position - start.position)[:2]))
    assert readings["odometry"].distance == pytest.approx(1.01 * way, rel=0.01), "it counts a per cent too much"


def test_tracker_and_radar_name_the_cart(outcome: Outcome, readings: dict[str, Any]) -> None:
    cart = outcome.world["Hay cart"]
    for key in ("objects", "radar"):
        seen = readings[key]
        where = seen.positions[list(seen.rows).index(cart.row)]
        assert np.hypot(*(where - cart.pose(outcome.snapshot).position)[:2]) < 4.0, (
            "four times its sigma across, at 60 m"
        )
