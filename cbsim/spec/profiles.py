"""Profiles of rules: the numbers of DARPA's documents, each with its section, and the rules of a mission without any.

*Rules 2006* are DARPA's *Urban Challenge Rules*, draft of 17 May 2006; *Criteria 2007* its *Technical Evaluation
Criteria* of 16 March 2007.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from cbsim.spec.mission_clock import ALARM
from cbsim.units import MPH

__all__ = [
    "CLOCK_RULES",
    "DEFAULT_PROFILE",
    "MISSION_RULES",
    "NUMBERS",
    "PROFILES",
    "ProfileNumber",
    "clock_rules",
    "profile_number",
    "profiles_with",
]

PROFILES = ("darpa2006", "darpa2007")
DEFAULT_PROFILE = "darpa2007"


class ProfileNumber(NamedTuple):
    """A number of a document.

    Attributes
    ----------
    value : float
        In SI units and radians, or in lengths of the vehicle.
    source : str
        Document and section.
    lengths : bool
        Whether it counts lengths of the vehicle under test, the documents' *VL*.
    """

    value: float
    source: str
    lengths: bool = False


NAVIGATION_2006, TRAFFIC_2006 = "Rules 2006, 5.2, basic navigation", "Rules 2006, 5.2, basic traffic"
ADVANCED_2006 = "Rules 2006, 5.2, advanced traffic"

NUMBERS: dict[tuple[str, str], dict[str, ProfileNumber]] = {
    ("speed", "tolerance"): {
        "darpa2006": ProfileNumber(0.0, NAVIGATION_2006),
        "darpa2007": ProfileNumber(MPH, "Criteria 2007, A.5"),
    },
    ("lane", "from_middle"): {
        "darpa2006": ProfileNumber(0.0, NAVIGATION_2006),
        "darpa2007": ProfileNumber(1.0, "Criteria 2007, A.4"),
    },
    ("stop_line", "within"): {
        "darpa2006": ProfileNumber(1.0, NAVIGATION_2006),
        "darpa2007": ProfileNumber(1.0, "Criteria 2007, A.8"),
    },
    ("separation", "lengths"): {"darpa2007": ProfileNumber(1.0, "Criteria 2007, A.9")},
    ("separation", "at_line"): {"darpa2007": ProfileNumber(2.0, "Criteria 2007, A.9")},
    ("following", "least"): {
        "darpa2006": ProfileNumber(15.0, TRAFFIC_2006),
        "darpa2007": ProfileNumber(0.0, "Criteria 2007, B.3"),
    },
    ("following", "most"): {
        "darpa2006": ProfileNumber(40.0, TRAFFIC_2006),
        "darpa2007": ProfileNumber(math.inf, "Criteria 2007, B.3"),
    },
    ("following", "lengths"): {
        "darpa2006": ProfileNumber(0.0, TRAFFIC_2006),
        "darpa2007": ProfileNumber(1.0, "Criteria 2007, B.3"),
    },
    ("queueing", "least"): {
        "darpa2006": ProfileNumber(5.0, TRAFFIC_2006),
        "darpa2007": ProfileNumber(2.0, "Criteria 2007, B.4"),
    },
    ("queueing", "most"): {
        "darpa2006": ProfileNumber(10.0, TRAFFIC_2006),
        "darpa2007": ProfileNumber(math.inf, "Criteria 2007, B.4"),
    },
    ("passing", "behind"): {
        "darpa2006": ProfileNumber(8.0, NAVIGATION_2006),
        "darpa2007": ProfileNumber(1.0, "Criteria 2007, A.10", lengths=True),
    },
    ("passing", "ahead"): {
        "darpa2006": ProfileNumber(8.0, NAVIGATION_2006),
        "darpa2007": ProfileNumber(1.0, "Criteria 2007, A.11", lengths=True),
    },
    ("passing", "within"): {
        "darpa2006": ProfileNumber(math.inf, NAVIGATION_2006),
        "darpa2007": ProfileNumber(4.0, "Criteria 2007, A.11", lengths=True),
    },
    ("passing", "whole"): {
        "darpa2006": ProfileNumber(40.0, NAVIGATION_2006),
        "darpa2007": ProfileNumber(math.inf, "Criteria 2007, A.10"),
    },
    ("u_turn", "within"): {"darpa2007": ProfileNumber(15.0, "Criteria 2007, A.12")},
    ("standoff", "least"): {"darpa2007": ProfileNumber(1.0, "Criteria 2007, A.7")},
    ("precedence", "patience"): {
        "darpa2006": ProfileNumber(10.0, NAVIGATION_2006),
        "darpa2007": ProfileNumber(10.0, "Criteria 2007, A.6"),
    },
    ("merge", "gap"): {
        "darpa2006": ProfileNumber(10.0, ADVANCED_2006),
        "darpa2007": ProfileNumber(10.0, "Criteria 2007, D.2"),
    },
    ("merge", "spacing"): {
        "darpa2006": ProfileNumber(8.0, ADVANCED_2006),
        "darpa2007": ProfileNumber(2.0, "Criteria 2007, D.3", lengths=True),
    },
    ("merge", "delay"): {
        "darpa2006": ProfileNumber(10.0, ADVANCED_2006),
        "darpa2007": ProfileNumber(10.0, "Criteria 2007, A.6"),
    },
    ("left_turn", "gap"): {
        "darpa2006": ProfileNumber(10.0, ADVANCED_2006),
        "darpa2007": ProfileNumber(10.0, "Criteria 2007, as D.2"),
    },
    ("left_turn", "spacing"): {"darpa2007": ProfileNumber(2.0, "Criteria 2007, D.5", lengths=True)},
    ("left_turn", "delay"): {
        "darpa2006": ProfileNumber(10.0, ADVANCED_2006),
        "darpa2007": ProfileNumber(10.0, "Criteria 2007, D.4"),
    },
    ("excess_delay", "longest"): {
        "darpa2006": ProfileNumber(10.0, NAVIGATION_2006),
        "darpa2007": ProfileNumber(10.0, "Criteria 2007, A.6"),
    },
    ("preparation", "alarm"): {
        "darpa2006": ProfileNumber(ALARM, NAVIGATION_2006),
        "darpa2007": ProfileNumber(ALARM, "Criteria 2007, A.1"),
    },
    ("start", "within"): {
        "darpa2006": ProfileNumber(300.0, NAVIGATION_2006),
        "darpa2007": ProfileNumber(300.0, "Criteria 2007, A.1"),
    },
    ("start", "clear"): {
        "darpa2006": ProfileNumber(10.0, NAVIGATION_2006),
        "darpa2007": ProfileNumber(10.0, "Criteria 2007, A.6"),
    },
    ("estop", "within"): {"darpa2006": ProfileNumber(20.0, NAVIGATION_2006)},
    ("estop", "resume"): {
        "darpa2006": ProfileNumber(10.0, NAVIGATION_2006),
        "darpa2007": ProfileNumber(10.0, "Criteria 2007, A.6"),
    },
}
"""(Rule, argument) → profile → number; a profile that is missing has none."""

MISSION_RULES: dict[str, tuple[tuple[str, bool], ...]] = {
    "collision": (),
    "lane": (),
    "speed": (),
    "stop_line": (),
    "checkpoints": (("stop", True),),
    "excess_delay": (),
    "precedence": (),
}
"""Rules, with arguments that differ from none, by which a mission is judged whose scenario has no rules."""

CLOCK_RULES: dict[str, tuple[tuple[str, bool], ...]] = {"preparation": (), "start": (), "estop": ()}
"""Those of a mission with a clock besides; of profiles that have their numbers."""


def clock_rules(has_clock: bool, profile: str) -> Iterator[tuple[str, tuple[tuple[str, bool], ...]]]:
    """Yield the rules of a mission with a clock, of which a profile has every number."""
    for rule, given in CLOCK_RULES.items() if has_clock else ():
        if all(profile in having for (name, _), having in NUMBERS.items() if name == rule):
            yield rule, given


def profile_number(profile: str, rule: str, argument: str) -> ProfileNumber | None:
    """Return the number of a profile for an argument of a rule; None if it has none."""
    return NUMBERS.get((rule, argument), {}).get(profile)


def profiles_with(rule: str, argument: str) -> list[str]:
    """List the profiles that have a number for an argument of a rule."""
    return [name for name in PROFILES if name in NUMBERS.get((rule, argument), {})]
