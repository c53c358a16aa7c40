"""Lint rules for road networks: references, geometry, topology (2xx, 3xx, 4xx).

`RULES` joins the tables of the modules; ``docs/lint.md`` documents the codes. Problems of spelling and structure (0xx,
1xx) are reported by the reader.
"""

from __future__ import annotations

from cbsim.errors import Problems
from cbsim.lint.network import coordinates, geometry, junctions, reference, topology, zone
from cbsim.lint.network.context import NetworkContext
from cbsim.lint.rule import Rule, apply_rules
from cbsim.spec.road import RoadNetwork

__all__ = ["RULES", "lint_network"]

RULES: tuple[Rule[NetworkContext], ...] = tuple(
    sorted(
        (*reference.RULES, *coordinates.RULES, *geometry.RULES, *zone.RULES, *topology.RULES, *junctions.RULES),
        key=lambda rule: rule.code[1:],
    )
)


def lint_network(network: RoadNetwork, problems: Problems) -> None:
    """Apply all rules to a network.

    Parameters
    ----------
    network : RoadNetwork
        The network as read, errors included.
    problems : Problems
        Collects the findings. If coordinates are not on earth (E301), rules that require the map are skipped.
    """
    apply_rules(RULES, NetworkContext(network), problems)
