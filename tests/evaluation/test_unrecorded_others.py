"""Rules that need others refuse recordings that do not hold them (`E828`)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cbsim.errors import FileError
from cbsim.evaluation.rules import RULES, Context
from tests.evaluation.drives import expect, header, mission, site

LATERAL, TTC = {"lateral": 0.5}, {"ttc": 2.0}
NEEDS = [
    "excess_delay",
    "precedence",
    "separation",
    "following",
    "queueing",
    "standoff",
    "passing",
    "merge",
    "left_turn",
]


def create(rule: str, traffic: str, kind: str, named: bool = False, **arguments: object) -> None:
    """Create a rule about the car of a recording in which somebody else moves."""
    head = header(0.05, 1)
    head.objects.single[0]["type"], head.objects.single[2]["type"] = kind, "dynamic"
    names = [0, 2] if named else [0]
    context = Context(replace(head, traffic=traffic, named=names, radius=200.0), site(), mission(1, 2))
    RULES[rule](expect(rule, **arguments), context)


@pytest.mark.parametrize(("rule", "arguments"), [*((rule, {}) for rule in NEEDS), ("margin", TTC)])
def test_rules_about_others_need_them(rule, arguments):
    for traffic, kind in (("none", "autonomous"), ("none", "dynamic"), ("near", "dynamic")):
        with pytest.raises(FileError, match=r"test\.yaml:7: error: the motion of others is needed.*\[E828\]"):
            create(rule, traffic, kind, **arguments)
    create(rule, "near", "autonomous", **arguments)
    create(rule, "all", "dynamic", **arguments)
    create(rule, "none", "autonomous", named=True, **arguments)  # who else moves is recorded


@pytest.mark.parametrize(
    ("rule", "arguments"), [("lane", {}), ("speed", {}), ("stop_line", {}), ("u_turn", {}), ("margin", LATERAL)]
)
def test_rules_about_the_object_alone_do_not(rule, arguments):
    create(rule, "none", "autonomous", **arguments)
