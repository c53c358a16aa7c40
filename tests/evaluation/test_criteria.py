"""The 31 Technical Evaluation Criteria of 2007: each has a rule, and a driver with that fault whom the rule catches.

Groups build on each other: B.1, C.1 and D.1 are all criteria of the groups before.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pytest

from cbsim.evaluation.rules import Check
from cbsim.formats.scenario.rules import RULES
from tests.common import ROOT
from tests.evaluation.drives import FRONT, LANE, SIZE, Court, Drive, contact, expect
from tests.evaluation.test_every_rule import LIMITS, VL, judged
from tests.evaluation.test_give_way import WAYS, reached, through
from tests.evaluation.test_give_way import judged as gives_way
from tests.evaluation.test_manoeuvres import FIRST, LAST, trip
from tests.evaluation.test_manoeuvres import parked as beside
from tests.evaluation.test_unmarked_roads import road

STEP = 0.05

Faulty = Callable[[Court], Check]


def fault(rule: str) -> Faulty:
    """The driver who breaks a rule in the tests of all rules."""
    return lambda court: judged(court, rule, STEP)


def standing(y: float, steps: int, x: float = 0.0) -> np.ndarray:
    """Motion of a car that stands."""
    return np.tile(np.array([Drive(x, y).rows[0]]), (steps, 1, 1))


def runs_into(drive: Drive, time: float) -> Faulty:
    """Hit the box with the front at a time."""
    row = drive.rows[round(time / STEP)]
    hit = contact(time, 0, 1, float(np.hypot(*row[7:9])))
    hit[3:6] = row[0], row[1] + FRONT, 0.5
    return lambda court: court(expect("collision", at_fault=True), drive, contacts=[hit])


def before_a_blockage(court: Court) -> Check:
    """Stand in front of what will never move, and look for no other way."""
    return court(expect("excess_delay"), Drive(y=-30.0).go(20.0).wait(12.0), LIMITS)


def without_position(court: Court) -> Check:
    """Drift off a road as a position does that is integrated without GPS: 1 m in 20 m."""
    return court(expect("lane"), Drive(50.0, 5.0).go(40.0, aside=2.0))


def too_late_to_brake(court: Court) -> Check:
    """Keep 10 m/s while the car ahead brakes to rest."""
    drive = Drive(y=110.0).go(30.0, 10.0)
    lead = np.array(Drive(y=135.0).go(5.0, 2.0).wait(1.0).rows)[: len(drive.rows), None]
    return court(expect("margin", ttc=1.0), drive, others=lead)


def against_who_errs(court: Court) -> Check:
    """Hold the speed, and hit a car that drives into the lane."""
    drive = Drive(y=110.0).go(30.0, 10.0)
    wrong = Drive(-LANE, 170.0, math.pi).go(5.0, 10.0).go(15.0, 10.0, aside=LANE).go(15.0, 10.0)
    return court(expect("margin", ttc=1.5), drive, others=np.array(wrong.rows)[: len(drive.rows), None])


def in_a_jam(court: Court) -> Check:
    """Stand for 12 s more when the queue has gone on."""
    drive = Drive(y=110.0).wait(22.0)
    lead = Drive(y=110.0 + VL + 3.0).wait(8.0).go(40.0)
    lead.rows += [lead.rows[-1]] * (len(drive.rows) - len(lead.rows))
    return court(expect("excess_delay"), drive, LIMITS, others=np.array(lead.rows)[: len(drive.rows), None])


def too_near(court: Court) -> Check:
    """Drive by at 99 cm."""
    drive = Drive(y=120.0).go(40.0)
    return court(expect("standoff"), drive, others=standing(140.0, len(drive.rows), SIZE[0] + 0.99))


def leaves_too_late(court: Court) -> Check:
    """Leave the lane a centimetre less than a length behind a parked car."""
    return court(expect("passing"), trip(), others=beside(FIRST + VL - 0.01 + FRONT))


def returns_too_late(court: Court) -> Check:
    """Come back more than four lengths ahead of it."""
    return court(expect("passing", behind=0.0), trip(), others=beside(LAST - 4.01 * VL - FRONT))


def squeezes_in(rule: str) -> Faulty:
    """Drive onto the way of a car that is just there, whatever its time gap."""
    way, other, drive = WAYS[rule]

    def enter(court: Court) -> Check:
        one = drive(onward=20.0)
        return gives_way(court, rule, one, through(-11.0, reached(one, way, other), pace=5.0), gap=0.0)

    return enter


CRITERIA: dict[str, tuple[str, dict[str, Faulty]]] = {
    "A.1": ("preparation", {"preparation": fault("preparation")}),
    "A.2": ("mission start", {"start": fault("start")}),
    "A.3": ("checkpoints", {"checkpoints": fault("checkpoints")}),
    "A.4": ("stay in lane", {"lane": fault("lane"), "wrong_way": fault("wrong_way")}),
    "A.5": ("speed limits", {"speed": fault("speed")}),
    "A.6": ("excess delay", {"excess_delay": fault("excess_delay")}),
    "A.7": ("collisions", {"collision": fault("collision"), "standoff": too_near}),
    "A.8": ("stop line", {"stop_line": fault("stop_line")}),
    "A.9": ("vehicle separation", {"separation": fault("separation")}),
    "A.10": (
        "leave lane to pass",
        {"passing": leaves_too_late},
    ),
    "A.11": (
        "return to lane",
        {
            "passing": lambda court: court(
                expect("passing", behind=0.0), trip(), others=beside(LAST - 4.01 * VL - FRONT)
            )
        },
    ),
    "A.12": ("U-turn", {"u_turn": fault("u_turn")}),
    "B.2": ("intersection precedence", {"precedence": fault("precedence")}),
    "B.3": ("minimum following distance", {"following": fault("following")}),
    "B.4": ("queueing", {"queueing": fault("queueing")}),
    "C.2": ("obstacle field", {"collision": runs_into(Drive(50.0, 60.0).go(8.0, 1.0), 7.0), "zone": fault("zone")}),
    "C.3": ("parking lot", {"parking": fault("parking")}),
    "C.4": ("dynamic re-planning", {"excess_delay": before_a_blockage}),
    "C.5": (
        "road following",
        {"lane": lambda court: court(expect("lane"), Drive(-0.9, 50.0).go(30.0), roadmap=road())},
    ),
    "C.6": ("GPS outage", {"lane": without_position}),
    "D.2": ("merge", {"merge": fault("merge")}),
    "D.3": (
        "separation in merge",
        {"merge": squeezes_in("merge")},
    ),
    "D.4": ("left turn", {"left_turn": fault("left_turn")}),
    "D.5": (
        "separation in left turn",
        {"left_turn": squeezes_in("left_turn")},
    ),
    "D.6": ("zones", {"zone": fault("zone")}),
    "D.7": (
        "emergency braking",
        {"margin": too_late_to_brake, "collision": runs_into(Drive(y=110.0).go(30.0, 10.0), 2.5)},
    ),
    "D.8": ("defensive driving", {"margin": against_who_errs}),
    "D.9": ("traffic jam", {"excess_delay": in_a_jam, "queueing": fault("queueing")}),
}
BEFORE = {"B.1": "A", "C.1": "B", "D.1": "C"}  # criteria that ask for all of an earlier group

TOLD = {  # of criteria that share a rule
    "A.10": "left its lane",
    "A.11": "was still out of its lane",
    "D.2": "s before 'Other 0'",
    "D.3": "m from 'Other 0'",
    "D.4": "in gaps of 10 s",
    "D.5": "m from 'Other 0'",
}

PAIRS = [(code, rule) for code, (_, rules) in CRITERIA.items() for rule in rules]


@pytest.mark.parametrize(("code", "rule"), PAIRS)
def test_every_criterion_catches_a_driver_with_its_fault(tmp_path, code, rule):
    check = CRITERIA[code][1][rule](Court(tmp_path))
    assert check.name.startswith(rule)
    assert check.passed is False, check.message
    assert TOLD.get(code, "") in check.message
    assert "expected" in check.message or "out of turn" in check.message


def test_there_are_31_criteria_and_the_page_has_each_with_its_rules():
    assert len(CRITERIA) + len(BEFORE) == 31
    assert {rule for _, rule in PAIRS} <= set(RULES)
    page = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([A-D]\.\d+) \| (.*) \|$", page, flags=re.MULTILINE))
    for code, (title, rules) in CRITERIA.items():
        assert rows[code] == f"{title} | {', '.join(f'`{rule}`' for rule in rules)}"
    for code, group in BEFORE.items():
        assert rows[code].startswith(f"all of {group} ")
