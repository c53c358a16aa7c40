"""Planners with a memory."""

from __future__ import annotations

import json

import cbsim


class Counts:
    """Turns the wheel further with every decision."""

    def start(self, *_):
        self.count = 0

    def plan(self, observation):
        self.count += 1
        return cbsim.Command(0.3, (self.count % 20) / 20.0)

    def save(self):
        return json.dumps(self.count).encode()

    def restore(self, memory):
        self.count = json.loads(memory)


class Forgets(Counts):
    """Counts something more, and leaves it out."""

    def start(self, *_):
        super().start()
        self.more = 0

    def plan(self, observation):
        self.more += 1
        command = super().plan(observation)
        return command if self.more < 9 else cbsim.Command(0.2, command.steering)


class Forgetful(Counts):
    def restore(self, memory):
        pass


class Odd(Counts):
    def save(self):
        return "text"


class Loud(Counts):
    def save(self):
        raise RuntimeError("no room")


class Stuck(Counts):
    def restore(self, memory):
        raise ValueError("not mine")
