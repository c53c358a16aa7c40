"""What a planner in another process adds to a call: a class in a child process, and a program in lock step.

The peer is the same planner in this process, in the same run, in turn; the figure is the difference of the medians of
single calls.

python benchmarks/bench_planner.py [CALLS]
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import cbsim
from cbsim.evaluation.outcome import execute
from cbsim.planner import Driver
from cbsim.spec.planner import Seat
from cbsim.spec.sensor import SensorConf
from tests.worlds import bot, level, prop, world

ROUNDS = 9
GOALS = {"30 objects": 0.3, "two scans": 1.0}  # [ms] that a program may add to a call
FOLDER = Path(__file__).resolve().parent


class Idle:
    """Holds the brake."""

    def start(self, *task):
        pass

    def plan(self, _observation):
        return cbsim.Command(-1.0)


def scene(kind, calls, isolated=False):
    if kind == "30 objects":
        confs = [SensorConf(type="objects", rate=20.0, max_range=200.0)]
    else:
        confs = [level(rate=20.0), level(rate=20.0)]
    others = [prop(f"Box {k}", (20.0 + 3.0 * k, 20.0 + 2.0 * (k % 7), 0.0)) for k in range(30)]
    seats = (Seat("CajunBot", isolated=isolated),)
    return world(bot("CajunBot", *confs), *others, step=0.05, duration=0.05 * calls, seats=seats)


def seconds(made, planner):
    """Median time of a call, from the observation to the command; single calls are robust on a shared machine."""
    decide, times = Driver.decide, []

    def timed(driver, *observations):
        began = time.perf_counter()
        row = decide(driver, *observations)
        times.append(time.perf_counter() - began)
        return row

    Driver.decide = timed
    try:
        outcome = execute(made, planner=planner)
    finally:
        Driver.decide = decide
    assert outcome.verdict == "pass", outcome.checks
    return statistics.median(times)


def main(calls=500):
    sys.path.insert(0, str(FOLDER.parent))
    program = f"cmd:{sys.executable} {FOLDER / 'idle_planner.py'}"
    for kind, goal in GOALS.items():
        found = {"child process": [], "program": []}
        base = []
        seconds(scene(kind, 10), Idle())  # compiles what is missing
        for _ in range(ROUNDS):
            base.append(seconds(scene(kind, calls), Idle()))
            child = seconds(scene(kind, calls, isolated=True), "benchmarks.bench_planner:Idle")
            found["child process"].append(child - base[-1])
            found["program"].append(seconds(scene(kind, calls), program) - base[-1])
        print(f"{kind}: in process {1e3 * statistics.median(base):.3f} ms a call")
        for name, added in found.items():
            middle = 1e3 * statistics.median(added)
            said = f", goal ≤ {goal:g} ms: {'reached' if middle <= goal else 'missed'}" if name == "program" else ""
            spread = f"{1e3 * min(added):.3f} to {1e3 * max(added):.3f}"
            print(f"  {name:<14} adds {middle:.3f} ms a call ({spread}){said}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
