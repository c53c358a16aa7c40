"""Rules about a road network as a whole: references, geometry, topology (2xx, 3xx, 4xx).

One small function per rule, listed in `RULES`; what they mean stands in ``docs/lint.md``. Problems of spelling and
structure (0xx, 1xx) are the reader's.
"""

from __future__ import annotations

from cbsim.errors import Problem, Problems, Severity
from cbsim.lint.network import coordinates, geometry, junctions, reference, topology, zone
from cbsim.lint.network.survey import Rule, Survey
from cbsim.spec.road import RoadNetwork

__all__ = ["RULES", "lint_network"]

SEVERITIES = {"E": Severity.ERROR, "W": Severity.WARNING, "I": Severity.INFO}

RULES: tuple[Rule, ...] = tuple(
    sorted(
        (*reference.RULES, *coordinates.RULES, *geometry.RULES, *zone.RULES, *topology.RULES, *junctions.RULES),
        key=lambda rule: rule.code[1:],
    )
)


def lint_network(network: RoadNetwork, problems: Problems) -> None:
    """Apply every rule to a network.

    Parameters
    ----------
    network : RoadNetwork
        As read, with whatever mistakes it has.
    problems : Problems
        Collects what is found. Where coordinates are no places on earth (E301), rules that measure are left out.
    """
    survey = Survey(network)
    for rule in RULES:
        if rule.needs_map and survey.map is None:
            continue
        for found in rule.find(survey):
            severity = SEVERITIES[rule.code[0]]
            problems.add(Problem(severity, rule.code, found.message, found.location, found.hint, found.also))
