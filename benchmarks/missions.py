"""Missions of the 2007 events, driven by the example planner and judged by every rule, in both profiles.

Prints a table with a row for each rule and a column for each mission and profile: passed (✓), failed (✗),
undecided (?), or – where the profile has no number for the rule; below it, what failed. The clock is that of the
events: RUN comes 20 s after the mission, then an alarm of 5 s, and there is a pause. Run it:

    python -m benchmarks.missions [--only sample]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import cbsim
from cbsim.evaluation.judge import Judge
from cbsim.evaluation.rules import Check
from cbsim.formats.scenario.rules import RULES
from cbsim.planner.pilot import Pilot
from cbsim.recording.recording import Recording
from cbsim.spec.profiles import NUMBERS, PROFILES
from cbsim.spec.road import RoadNetwork
from cbsim.spec.scenario import Expectation
from cbsim.world.world import World
from tests.common import SHARED


class Task(NamedTuple):
    """A mission: its files below the folder of shared data, and how long its run may take [s]."""

    rndf: str
    mdf: str
    duration: float


TASKS = {
    "final": Task("cornell/UCE-Final_Event__uce_rndf_1.5.rdf", "cornell/UCE-Final_Event__uce_mdf_B26-1.mdf", 3900.0),
    "NQE C": Task("cornell/NQE-General_Files__nqe_rndf.rdf", "cornell/NQE-Area_C__nqe_c_mdf.mdf", 560.0),
    "sample": Task("navguide/Sample_RNDF.txt", "navguide/Sample_MDF.txt", 2000.0),
}
NOT_HERE = ("reach", "travel", "rest", "event", "command_latency")  # rules about what a scenario or a seat asks
ARGUMENTS: dict[str, dict[str, float]] = {"mission_time": {"at_most": 6 * 3600.0}, "margin": {"lateral": 1.0}}
CLOCK = {"delay": 20.0, "pauses": [{"at": 120.0, "for": 15.0}]}
MARKS = {True: "✓", False: "✗", None: "?"}


def world_of(task: Task, folder: Path) -> World:
    """Load a mission with a bot at the begin of the lane of its first checkpoint, and the clock."""
    rndf, mdf = SHARED / "rndf" / task.rndf, SHARED / "mdf" / task.mdf
    network: Any = cbsim.read(rndf)
    mission: Any = cbsim.read(mdf)
    assert isinstance(network, RoadNetwork)
    first = mission.checkpoints[0].number
    lane = next(lane for lane in network.lanes if any(c.number == first for c in lane.checkpoints))
    start = f"{lane.segment}.{lane.number}.{lane.points.numbers[0]}"
    bot = {"name": "Bot", "kind": "autonomous", "size": [1.7, 3.68, 2.16], "at": start}
    scenario = {"mission": {"file": str(mdf), **CLOCK}, "duration": task.duration, "add": [bot]}
    path = folder / "mission.yaml"
    path.write_text(yaml.safe_dump(scenario), encoding="utf-8")
    return cbsim.load(path, rndf=rndf, mdf=mdf)


def expectation(rule: str, profile: str) -> Expectation | None:
    """Write a rule about the bot with the numbers of a profile; None if it lacks one."""
    needed = [having for (name, _), having in NUMBERS.items() if name == rule]
    if any(profile not in having for having in needed):
        return None
    model: Any = RULES[rule](**{"object": "Bot", **ARGUMENTS.get(rule, {})})
    fields = type(model).model_fields.items()
    arguments = tuple((info.alias or name, getattr(model, name)) for name, info in fields)
    return Expectation(rule, arguments, profile=profile)


def judged(recording: Recording, world: World, profile: str) -> dict[str, Check]:
    """Judge a run by every rule that a profile has."""
    asked = [one for rule in RULES if rule not in NOT_HERE and (one := expectation(rule, profile)) is not None]
    judge = Judge(tuple(asked), world.scene.roadmap, world.scene.mission)
    judge.begin(recording.header, recording.snapshot, recording.sources)
    for batch in recording.batches():
        judge.take(batch)
    judge.end()
    return {rule.rule: check for rule, check in zip(asked, judge.checks, strict=True)}


def main() -> None:
    """Drive, judge and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=list(TASKS), action="append", help="one mission; may be given again")
    names = parser.parse_args().only or list(TASKS)
    found: dict[tuple[str, str], dict[str, Check]] = {}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            world = world_of(TASKS[name], Path(folder))
            pilot, began = Pilot(), time.perf_counter()
            recording = cbsim.run(world, planner=pilot)
        drove, began = time.perf_counter() - began, time.perf_counter()
        for profile in PROFILES:
            found[name, profile] = judged(recording, world, profile)
        took, length = time.perf_counter() - began, float(recording.times[-1])
        speeds = f"{length / drove:.0f} × real time, judged at {2 * length / took:.0f} ×"
        clock = found[name, PROFILES[-1]]["mission_time"].message
        print(f"{name}: {length:.0f} s, driven at {speeds}; {pilot.reason or clock}")
    heads = [f"{name}, {profile.removeprefix('darpa')}" for name, profile in found]
    print(f"\n| rule | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    for rule in RULES:
        if rule not in NOT_HERE:
            marks = [MARKS[checks[rule].passed] if rule in checks else "–" for checks in found.values()]
            print(f"| `{rule}` | {' | '.join(marks)} |")
    for (name, profile), checks in found.items():
        for rule, check in checks.items():
            if not check.passed:
                print(f"{name}, {profile}: {rule}: {check.message}")


if __name__ == "__main__":
    main()
