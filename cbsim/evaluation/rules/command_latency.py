"""``command_latency``: commands of a planner act soon enough after it is asked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.rule import Check, Measure, Rule
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation
from cbsim.spec.traffic import Spread
from cbsim.world.command_queue import CommandQueue, latency_steps
from cbsim.world.forks import branch_in

__all__ = ["CommandLatency"]


class CommandLatency(Rule):
    """At most `misses` commands have a simulated latency above `within`.

    It is the latency of the scenario, which follows from the seed and the forks of the run; how fast the machine is
    does not matter.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.within, self.allowed = self.number("within"), round(self.number("misses"))
        known = context.header.latencies.get(self.subject)
        self.queue: CommandQueue | None = None
        if known is not None:
            vehicle, mean, deviation = known
            self.queue = CommandQueue(self.subject, int(vehicle), 0, 1, Spread(mean, deviation))
        self.forks = [(step, branch) for step, branch in context.header.forks]
        self.commands = self.misses = self.latest = 0
        self.longest, self.time = 0.0, 0.0
        self.failed: float | None = None

    def presence(self, batch: Batch) -> NDArray[np.bool_]:
        """All steps: the rule is about commands, which are given to whoever is there."""
        return np.ones(len(batch.hashes), bool)

    def see(self, batch: Batch) -> None:
        """Count the commands that are given."""
        self.time = float(batch.steps[-1] * self.step)
        if self.queue is None:
            return
        for asked, vehicle, _ in batch.commands:
            if vehicle != self.queue.vehicle:
                continue
            branch = branch_in(self.forks, asked)
            acts = asked + latency_steps(self.queue, self.context.header.seed, asked, self.step, branch)
            self.latest = max(self.latest, acts)  # commands act in their order: one may wait for the one before it
            latency = (self.latest - asked) * self.step
            self.commands += 1
            self.longest = max(self.longest, latency)
            if latency > self.within + 1e-9:
                self.misses += 1
                if self.misses > self.allowed and self.failed is None:
                    self.failed = asked * self.step

    def measures(self) -> list[Measure]:
        """Return the misses, and the longest latency."""
        return [Measure("misses", float(self.misses)), Measure("longest", self.longest, "s")]

    def result(self) -> Check:
        """Pass if few enough commands were late."""
        if self.queue is None:
            return self.check(True, self.time, "its commands act at once")
        counted = f"{self.misses} of {self.commands} commands acted later than {self.within:g} s, at most after"
        message = f"{counted} {self.longest:g} s; expected {self.allowed} at most"
        return self.check(self.failed is None, self.time if self.failed is None else self.failed, message)
