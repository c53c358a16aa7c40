"""Metrics: the rules that measure, with bounds that nothing exceeds, and the names of what they measure."""

from __future__ import annotations

import math

from cbsim.errors import Location
from cbsim.spec.scenario import Expectation

__all__ = ["MEASURED", "METRICS", "measuring"]

INF = math.inf

METRICS: tuple[tuple[str, tuple[tuple[str, float | bool], ...]], ...] = (
    ("travel", (("at_least", 0.0),)),
    ("collision", (("impact_below", INF),)),
    ("speed", (("tolerance", INF), ("at_most", INF))),
    ("checkpoints", (("stop", False),)),
    ("mission_time", (("at_most", INF),)),
    ("progress", (("at_least", 0.0),)),
    ("excess_delay", (("longest", INF),)),
    ("standoff", (("least", 0.0),)),
    ("separation", (("lengths", -INF), ("at_line", -INF))),  # a bumper pressed against another is behind it
    ("merge", (("gap", 0.0), ("spacing", 0.0), ("delay", INF))),
    ("left_turn", (("gap", 0.0), ("spacing", 0.0), ("delay", INF))),
    ("margin", (("ttc", 0.0), ("pet", 0.0), ("thw", 0.0), ("drac", INF), ("lateral", INF))),
    ("comfort", tuple((key, INF) for key in (
        "acceleration", "braking", "sideways", "jerk", "jerk_along", "yaw_rate", "yaw_acceleration",
    ))),
    ("wrong_way", (("at_most", INF),)),
)  # fmt: skip
"""Rules that measure, with bounds that nothing exceeds."""

MEASURED: dict[str, str] = {
    "distance": "travel",
    "contacts": "collision",
    "hardest_impact": "collision",
    "fastest": "speed",
    "checkpoints": "checkpoints",
    "mission_time": "mission_time",
    "share": "progress",
    "longest_delay": "excess_delay",
    "delay": "excess_delay",
    "clearance": "standoff",
    "gap": "separation",
    **{f"{rule}_{what}": rule for rule in ("merge", "left_turn") for what in ("gap", "spacing", "delay")},
    **{name: rule for rule in ("margin", "comfort") for name, _ in dict(METRICS)[rule]},
    "longest_wrong_way": "wrong_way",
}
"""Name of each metric → the rule that measures it."""


def measuring(metric: str, name: str, place: Location) -> Expectation:
    """Return the rule that measures a metric of an object, without a bound that could be exceeded."""
    rule = MEASURED[metric]
    arguments = dict(METRICS)[rule]
    if rule == "margin":  # measures no more than it has bounds for, and needs no more
        arguments = tuple(one for one in arguments if one[0] == metric)
    return Expectation(rule, (("object", name), *arguments), place)
