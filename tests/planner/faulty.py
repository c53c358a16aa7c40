"""Planners that end or stop their process, one class each."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

import cbsim
from cbsim.spec.drawing import Line, Text


class Good:
    """Drives in a circle, and says so."""

    def __init__(self):
        self.draws = 0

    def start(self, mission, network, vehicle):
        self.vehicle = vehicle
        print("started", os.getpid(), flush=True)

    def plan(self, observation):
        return cbsim.Command(0.5, 0.1 * len(observation.scans) + 0.05 * observation.speed)


class Draws(Good):
    def draw(self):
        return [Text((0.0, 1.0), text="here"), Line([(0.0, 1.0), (2.0, 3.0)], width=3.0)]


class AtThreeTenths(Good):
    """Does something at 0.3 s."""

    def plan(self, observation):
        if observation.time > 0.29:
            print("last words", file=sys.stderr, flush=True)
            self.fail()
        return super().plan(observation)


class Exits(AtThreeTenths):
    def fail(self):
        os.kill(os.getpid(), 0)
        ctypes.CDLL(None)._exit(0)


class Crashes(AtThreeTenths):
    def fail(self):
        os.kill(os.getpid(), signal.SIGSEGV)


class Killed(AtThreeTenths):
    def fail(self):
        os.kill(os.getpid(), signal.SIGKILL)


class Stops(AtThreeTenths):
    def fail(self):
        os.kill(os.getpid(), signal.SIGSTOP)


class HangsInC(AtThreeTenths):
    def fail(self):
        sum(range(10**13))  # without a look at signals, and with the lock of the interpreter


class Hangs(AtThreeTenths):
    def fail(self):
        time.sleep(60)


class ClosesEverything(AtThreeTenths):
    def fail(self):
        os.closerange(3, 1024)


class Raises(AtThreeTenths):
    def fail(self):
        raise RuntimeError("lost")


class LeavesAChild(Good):
    def start(self, *task):
        super().start(*task)
        if not os.fork():
            time.sleep(60)
            os._exit(0)


class Strange(Good):
    def plan(self, observation):
        return self
