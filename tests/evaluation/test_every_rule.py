"""Every rule has a driver who breaks it, at the same time whatever the step, live, recorded, and however batched."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from cbsim.evaluation.rules import RULES, Check
from cbsim.road.roadmap import RoadMap, build
from cbsim.spec.mission import Mission
from cbsim.spec.road import PointId
from tests.evaluation.drives import LANE, NO_CLOCK, SIZE, Clock, Court, Drive, contact, expect, mission
from tests.traffic.sites import cross

MPH = 0.44704
VL = SIZE[1]
LIMITS = mission(1, 2, limits=[(1, 0.0, 15 * MPH)])
STEPS = (0.01, 0.05, 0.1)
NOT_OF_DRIVERS = ("event", "command_latency")  # about the scenario, and about its planners
OF_OBJECTS = [name for name in RULES if name not in NOT_OF_DRIVERS]


class Fault(NamedTuple):
    """A driver and what it does: arguments of the rule, the drive, those of others, and what else there is."""

    arguments: dict[str, object]
    drive: Callable[[float], Drive]
    others: tuple[Callable[[float], Drive], ...] = ()
    task: Mission | None = None
    roadmap: Callable[[], RoadMap] | None = None
    contacts: tuple[np.ndarray, ...] = ()
    clock: Clock = NO_CLOCK


def north(y: float = 110.0, x: float = 0.0) -> Callable[[float], Drive]:
    return lambda step: Drive(x, y, step=step)


def parked(y: float, x: float = 0.0) -> Callable[[float], Drive]:
    return lambda step: Drive(x, y, step=step).wait(0.1)


def braking(step: float) -> Drive:
    """Drive at 10 m/s for 2 s, then brake with 8 m/s²."""
    drive = Drive(y=110.0, step=step)
    drive.rows = []
    for k in range(round(3.0 / step) + 1):
        time = k * step
        drive.rows.append(drive._row(10.0 if time <= 2.0 else max(0.0, 10.0 - 8.0 * (time - 2.0))))
    return drive


def turning(way: float, turn: float, radius: float, wait: float = 1.0) -> Callable[[float], Drive]:
    """Come from the south of the crossing, stop, and turn after some way behind the line."""

    def drive(step: float) -> Drive:
        one = Drive(2.0, -53.5 - 0.5 * VL, step=step).go(45.0).wait(wait).go(2.5 + way)
        return one.go(abs(turn) * radius, turn=turn).go(30.0)

    return drive


FAULTS = {
    "reach": Fault({"waypoint": PointId(1, 1, 4), "before": 5.0}, lambda s: Drive(y=110.0, step=s).go(50.0)),
    "travel": Fault({"at_most": 20.0}, lambda s: Drive(y=110.0, step=s).go(30.0)),
    "rest": Fault({"from": 1.0}, lambda s: Drive(y=110.0, step=s).wait(2.0).go(10.0)),
    "collision": Fault({}, lambda s: Drive(y=110.0, step=s).go(10.0), contacts=(contact(0.73, 0, 1, 3.0),)),
    "lane": Fault({}, lambda s: Drive(y=110.0, step=s).go(20.0).go(20.0, aside=LANE).go(5.0)),
    "speed": Fault({}, lambda s: Drive(y=110.0, step=s).go(10.0).go(20.0, 10.0), task=LIMITS),
    "stop_line": Fault({}, lambda s: Drive(y=80.0, step=s).go(40.0)),
    "checkpoints": Fault({"before": 20.0}, lambda s: Drive(y=10.0, step=s).wait(10.0).go(145.0), task=LIMITS),
    "mission_time": Fault({"delay": 5.0}, lambda s: Drive(y=10.0, step=s).go(20.0).wait(8.0).go(10.0), task=LIMITS),
    "excess_delay": Fault({}, lambda s: Drive(y=10.0, step=s).go(20.0).wait(12.0).go(10.0), task=LIMITS),
    "precedence": Fault(
        {},
        lambda s: Drive(2.0, -60.0, step=s).wait(1.0).go(49.5).wait(1.0).go(40.0).wait(16.0),
        (lambda s: Drive(60.0, 2.0, 0.5 * math.pi, step=s).go(49.5).wait(5.0).go(40.0),),
        roadmap=lambda: build(cross()),
    ),
    "standoff": Fault({}, lambda s: Drive(y=110.0, step=s).go(30.0), (parked(130.0, SIZE[0] + 0.5),)),
    "separation": Fault(
        {}, lambda s: Drive(y=110.0, step=s).go(30.0, 6.0), (lambda s: Drive(y=128.0, step=s).go(20.0, 3.0),)
    ),
    "following": Fault(
        {}, lambda s: Drive(y=110.0, step=s).go(30.0, 6.0), (lambda s: Drive(y=128.0, step=s).go(20.0, 3.0),)
    ),
    "queueing": Fault({}, lambda s: Drive(y=110.0, step=s).go(10.0).wait(3.0), (parked(120.0 + VL + 1.0),)),
    "passing": Fault({}, lambda s: Drive(y=110.0, step=s).go(30.0).go(10.0, aside=LANE).go(30.0), (parked(150.0),)),
    "u_turn": Fault({}, lambda s: Drive(LANE, 10.0, step=s).go(54.0).go(math.pi * LANE, 2.0, turn=math.pi).go(5.0)),
    "merge": Fault(
        {},
        turning(2.0, -0.5 * math.pi, 4.0),
        (lambda s: Drive(-170.0, -2.0, -0.5 * math.pi, step=s).go(250.0, 10.0),),
        roadmap=lambda: build(cross((1, 3))),
    ),
    "left_turn": Fault(
        {},
        turning(2.0, 0.5 * math.pi, 8.0, wait=14.0),
        (lambda s: Drive(-400.0, -300.0, step=s).wait(1.0),),
        roadmap=lambda: build(cross((1, 3))),
    ),
    "margin": Fault({"ttc": 2.0}, lambda s: Drive(y=110.0, step=s).go(40.0, 10.0), (parked(160.0),)),
    "comfort": Fault({}, braking),
    "wrong_way": Fault({}, lambda s: Drive(-LANE, 110.0, step=s).go(20.0, 1.0)),
    "zone": Fault({}, lambda s: Drive(50.0, 60.0, -0.5 * math.pi, step=s).go(15.0, 1.0)),
    "parking": Fault({}, lambda s: Drive(50.0, 60.0, step=s).go(11.0, 1.0).wait(3.0)),
    "progress": Fault({}, lambda s: Drive(y=10.0, step=s).go(100.0), task=LIMITS),
    "preparation": Fault({}, lambda s: Drive(y=10.0, step=s).wait(7.0).go(20.0), clock=Clock(((4.0, "RUN"),))),
    "start": Fault({}, lambda s: Drive(y=10.0, step=s).wait(25.0).go(20.0), clock=Clock(((4.0, "RUN"),))),
    "estop": Fault(
        {"within": 20.0},
        lambda s: Drive(y=10.0, step=s).wait(5.0).go(20.0).go(25.0, 4.0).wait(2.0),
        clock=Clock(((0.0, "RUN"), (9.0, "PAUSE"))),
    ),
}


def judged(court: Court, rule: str, step: float) -> Check:
    fault = FAULTS[rule]
    trip = fault.drive(step)
    others = None
    if fault.others:
        made = [one(step).rows for one in fault.others]
        columns = []
        for rows in made:
            last = rows[-1].copy()
            last[7:10] = 0.0
            columns.append(np.array([*rows, *[last] * len(trip.rows)][: len(trip.rows)]))
        others = np.stack(columns, axis=1)
    roadmap = None if fault.roadmap is None else fault.roadmap()
    arguments = expect(rule, **fault.arguments)
    return court(arguments, trip, fault.task, fault.contacts, others, roadmap, fault.clock)


@pytest.mark.parametrize("rule", OF_OBJECTS)
def test_every_rule_has_a_driver_who_breaks_it_at_the_same_time_at_every_step(tmp_path, rule):
    checks = [judged(Court(tmp_path, singly=True), rule, step) for step in STEPS]
    assert [check.passed for check in checks] == [False] * len(STEPS), [check.message for check in checks]
    times = [check.time for check in checks]
    for step, time in zip(STEPS, times, strict=True):
        assert (time is None) == (times[0] is None)
        assert time is None or abs(time - times[0]) <= step + 1e-9, times
    assert all("expected" in check.message or "out of turn" in check.message for check in checks)


@pytest.mark.parametrize("rule", OF_OBJECTS)
def test_an_honest_driver_breaks_no_rule(tmp_path, rule):
    """Stop behind a car, at a line, and go on at the limit; everything that a fault needs is there."""
    honest = {"reach": {"waypoint": PointId(1, 1, 4)}, "travel": {"at_least": 1.0}, "rest": {"from": 43.0}}
    honest |= {"estop": {"within": 20.0}}
    honest |= {"mission_time": {"delay": 10.0}, "margin": {"ttc": 1.0, "thw": 0.5, "drac": 5.0, "lateral": 0.5}}
    drive = smooth()
    check = Court(tmp_path, singly=True)(expect(rule, **honest.get(rule, {})), drive, LIMITS)
    assert check.passed, check.message


def smooth() -> Drive:
    """Drive from y = 10 to rest before the line at 100, on to the finish at 150, and stop there."""
    drive = Drive(y=10.0)
    drive.rows = []
    y, speed = 10.0, 0.0
    line, end = 100.0 - 0.5 * VL - 0.5, 151.0
    waited = 0.0
    for _ in range(900):
        drive.y = y
        drive.rows.append(drive._row(speed))
        goal = line if waited < 1.0 else end
        left = max(goal - y, 0.0)
        target = min(6.5, math.sqrt(2.0 * 1.0 * left))
        change = max(-0.05, min(0.05, target - speed)) if left > 0.02 else -speed
        new = max(speed + change, 0.0) if left > 0.02 else 0.0
        y += 0.05 * new
        waited += 0.05 if new == 0.0 and goal == line and left <= 0.02 else 0.0
        speed = new
    return drive
