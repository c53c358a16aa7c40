"""Rules of `expect`: one file per rule, one line each in `RULES`.

A rule is a class made from its expectation and the `Context` of a run: the recording's header, the network, the
mission. It sees every batch once, in order, so that it works while a run goes on and on a recording of any size alike.
"""

from __future__ import annotations

from cbsim.registry import Registry
from cbsim.run.rules.checkpoints import Checkpoints
from cbsim.run.rules.collision import Collision
from cbsim.run.rules.context import Context
from cbsim.run.rules.lane import Lane
from cbsim.run.rules.mission_time import MissionTime
from cbsim.run.rules.reach import Reach
from cbsim.run.rules.rest import Rest
from cbsim.run.rules.rule import Check, Rule
from cbsim.run.rules.speed import Speed
from cbsim.run.rules.stop_line import StopLine
from cbsim.run.rules.travel import Travel

__all__ = ["RULES", "Check", "Context", "Rule"]

RULES: Registry[type[Rule]] = Registry(
    "rule",
    (
        ("reach", Reach),
        ("travel", Travel),
        ("rest", Rest),
        ("collision", Collision),
        ("lane", Lane),
        ("speed", Speed),
        ("stop_line", StopLine),
        ("checkpoints", Checkpoints),
        ("mission_time", MissionTime),
    ),
)
