"""Drivers that do one thing wrong: each is the example planner with a fault of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cbsim.planner.pilot import Pilot
from cbsim.road.roadmap import build
from cbsim.spec.command import Command, Observation


class Sleeper(Pilot):
    """Never starts."""

    def plan(self, _observation: Observation) -> Command:
        return Command(handbrake=True)


class Speeder(Pilot):
    """Takes the limits for half as high again."""

    def start(self, mission: Any, network: Any, vehicle: Any) -> None:
        limits = tuple(replace(limit, maximum=1.5 * limit.maximum) for limit in mission.speed_limits)
        super().start(replace(mission, speed_limits=limits), network, vehicle)


class Runner(Pilot):
    """Does not know of stop lines."""

    def start(self, mission: Any, network: Any, vehicle: Any) -> None:
        segments = tuple(
            replace(segment, lanes=tuple(replace(lane, stops=()) for lane in segment.lanes))
            for segment in network.network.segments
        )
        plane = network.plane
        without = build(replace(network.network, segments=segments), (plane.latitude, plane.longitude))
        super().start(mission, without, vehicle)


class Drifter(Pilot):
    """Takes itself for more than a metre further right than it is, and so drives too far left."""

    def plan(self, observation: Observation) -> Command:
        right = np.array([np.cos(observation.heading), np.sin(observation.heading), 0.0])
        return super().plan(replace(observation, position=observation.position + 1.45 * right))


class Shortcut(Pilot):
    """Drives straight to the finish."""

    def start(self, mission: Any, network: Any, vehicle: Any) -> None:
        super().start(replace(mission, checkpoints=mission.checkpoints[-1:]), network, vehicle)


class Dawdler(Pilot):
    """Takes a rest of more than ten seconds on the way."""

    def plan(self, observation: Observation) -> Command:
        command = super().plan(observation)
        return Command(throttle=-1.0) if 9.0 <= observation.time < 24.0 else command


class Eager(Pilot):
    """Does not hear the alarm."""

    def plan(self, observation: Observation) -> Command:
        return super().plan(replace(observation, alarm=0.0))


class Stranded(Pilot):
    """Does not go on after an E-stop."""

    def __init__(self) -> None:
        super().__init__()
        self._moved = self._paused = False

    def plan(self, observation: Observation) -> Command:
        self._moved |= observation.speed > 1.0
        self._paused |= self._moved and observation.run_state != "RUN"
        command = super().plan(observation)
        return Command(handbrake=True) if self._paused else command


class Blind(Pilot):
    """Looks at no laser."""

    def __init__(self) -> None:
        super().__init__(look_out=False)
