"""Rules of `expect`: one file per rule, one line each in `RULES`.

A rule is a class constructed from its expectation and the `Context` of a run: header, network and mission. It receives
every batch once, in order, so that it works during a run and on recordings of any size.
"""

from __future__ import annotations

from cbsim.evaluation.rules.checkpoints import Checkpoints
from cbsim.evaluation.rules.collision import Collision
from cbsim.evaluation.rules.comfort import Comfort
from cbsim.evaluation.rules.command_latency import CommandLatency
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.estop import Estop
from cbsim.evaluation.rules.event import EventRule
from cbsim.evaluation.rules.excess_delay import ExcessDelay
from cbsim.evaluation.rules.following import Following
from cbsim.evaluation.rules.lane import Lane
from cbsim.evaluation.rules.left_turn import LeftTurn
from cbsim.evaluation.rules.margin import Margin
from cbsim.evaluation.rules.merge import Merge
from cbsim.evaluation.rules.mission_time import MissionTime
from cbsim.evaluation.rules.parking import Parking
from cbsim.evaluation.rules.passing import Passing
from cbsim.evaluation.rules.precedence import Precedence
from cbsim.evaluation.rules.preparation import Preparation
from cbsim.evaluation.rules.queueing import Queueing
from cbsim.evaluation.rules.reach import Reach
from cbsim.evaluation.rules.rest import Rest
from cbsim.evaluation.rules.rule import Check, Rule
from cbsim.evaluation.rules.separation import Separation
from cbsim.evaluation.rules.speed import Speed
from cbsim.evaluation.rules.standoff import Standoff
from cbsim.evaluation.rules.start import Start
from cbsim.evaluation.rules.stop_line import StopLine
from cbsim.evaluation.rules.travel import Travel
from cbsim.evaluation.rules.u_turn import UTurn
from cbsim.evaluation.rules.way_done import WayDone
from cbsim.evaluation.rules.wrong_way import WrongWay
from cbsim.evaluation.rules.zone import Zone
from cbsim.registry import Registry

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
        ("event", EventRule),
        ("excess_delay", ExcessDelay),
        ("precedence", Precedence),
        ("standoff", Standoff),
        ("separation", Separation),
        ("following", Following),
        ("queueing", Queueing),
        ("passing", Passing),
        ("u_turn", UTurn),
        ("merge", Merge),
        ("left_turn", LeftTurn),
        ("margin", Margin),
        ("comfort", Comfort),
        ("progress", WayDone),
        ("wrong_way", WrongWay),
        ("zone", Zone),
        ("parking", Parking),
        ("preparation", Preparation),
        ("start", Start),
        ("estop", Estop),
        ("command_latency", CommandLatency),
    ),
)
