"""Rules of `expect`: one file per rule, one line each in `RULES`.

A rule is a class made from its expectation's arguments and a recording's header. It sees every batch once, in
order, so that it works while a run goes on and on a recording of any size alike.
"""

from __future__ import annotations

from cbsim.registry import Registry
from cbsim.run.rules.reach import Reach
from cbsim.run.rules.rest import Rest
from cbsim.run.rules.rule import Check, Rule
from cbsim.run.rules.travel import Travel

__all__ = ["RULES", "Check", "Rule"]

RULES: Registry[type[Rule]] = Registry("rule", (("reach", Reach), ("travel", Travel), ("rest", Rest)))
