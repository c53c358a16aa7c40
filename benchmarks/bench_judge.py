"""Judging a run of thirty reactive cars in a city by all rules, none of which is ever decided.

    python benchmarks/bench_judge.py [--profile]

From a recording, times real time; and live, the share of a run, with and without rules by turns. CPU seconds. The goals
are 500 times real time, and 15 % of the closed loop: a bot with two lasers and the example planner at the wheel, among
thirty reactive cars on DARPA's sample network (skipped where its files are not beside the source tree). Of a run in
which nobody plans, the share is told, too. With ``--profile``, where the time goes, rule by rule.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from common import show

import cbsim
from cbsim.errors import Location
from cbsim.evaluation.judge import judge, scene_of
from cbsim.evaluation.outcome import execute
from cbsim.evaluation.rules import RULES, Context
from cbsim.spec.metrics import METRICS
from cbsim.spec.scenario import Expectation
from cbsim.world.compile import compile_world
from cbsim.world.scene import Scene

CARS, DURATION, ROUNDS = 30, 120.0, 5
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
FILES = "rndf/navguide/Sample_RNDF.txt", "cajunbot/Objects.xml", "mdf/navguide/Sample_MDF.txt"
SAMPLE = [DATA / name for name in FILES]
LOOSE = {
    "speed": {"at_most": 1e9},
    "precedence": {"patience": 0.0},
    "following": {"least": 0.0, "most": 1e9, "lengths": 0.0},
    "queueing": {"least": 0.0, "most": 1e9},
    "passing": {"behind": -1e9, "ahead": -1e9, "within": 1e9, "whole": 1e9},
    "u_turn": {"within": 1e9},
    "zone": {"tolerance": 1e9},
    "parking": {"within": 1e9},
    "rest": {"from": DURATION},
}
MISSION = (
    "checkpoints",
    "mission_time",
    "progress",
    "reach",
    "event",
    "preparation",
    "start",
    "estop",
    "command_latency",
)


def expectations(name: str = "car 1") -> tuple[Expectation, ...]:
    """All rules that need no mission, about one object, with bounds that nothing exceeds."""
    bounds = {rule: dict(arguments) for rule, arguments in METRICS} | LOOSE
    rules = [rule for rule in RULES if rule not in MISSION]
    return tuple(
        Expectation(rule, (("object", name), *bounds.get(rule, {}).items()), Location("benchmark")) for rule in rules
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", action="store_true", help="tell the time of each rule alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "city.yaml"
        path.write_text(f"network: city\nduration: {DURATION}\ntraffic:\n  - {{name: car, count: {CARS}}}\n")
        execute(cbsim.load(path), record=Path(name) / "city.mcap")
        recording = cbsim.Recording.open(Path(name) / "city.mcap")
        scene = replace(scene_of(recording), expectations=expectations())
        found = judge(recording, scene)
        early = [f"{rule.name} at {rule.result().time} s" for rule in found.rules if rule.decided]
        print(f"{len(found.rules)} rules; decided: {', '.join(early) or 'none'}")
        factors = []
        for _ in range(ROUNDS):
            began = time.process_time()
            judge(recording, scene)
            factors.append(DURATION / (time.process_time() - began))
        show(f"judged from the recording, {CARS} cars", factors, "x real time")
        if options.profile:
            by_rule(recording, scene)
        live(scene, "nobody at the wheel")
        if all(path.exists() for path in SAMPLE):
            live(closed_loop(Path(name)), "closed loop")
        else:
            print("SKIP the closed loop: the sample network and objects are not here")


def closed_loop(folder: Path) -> Scene:
    """Make a scene of a bot with two lasers, the example planner and thirty cars, judged by all rules."""
    path = folder / "closed_loop.yaml"
    path.write_text(
        f"duration: {DURATION}\ntraffic:\n  - {{name: car, count: {CARS}}}\nplanner: cbsim.planner.pilot:Pilot\n"
    )
    rndf, objects, mdf = SAMPLE
    scene = cbsim.load(path, rndf=rndf, objects=objects, mdf=mdf).scene
    return replace(scene, expectations=expectations("CajunBot"))


def by_rule(recording: cbsim.Recording, scene: Scene) -> None:
    """Print the time that each rule takes in its turn, with what it shares with those before it."""
    context = Context(recording.header, scene.roadmap, scene.mission)
    spent = {}
    rules = []
    for one in scene.expectations:
        began = time.process_time()
        rules.append(RULES[one.rule](one, context))
        spent[one.rule] = [time.process_time() - began, 0.0]
    for batch in recording.batches():
        for rule in rules:
            began = time.process_time()
            rule.see(batch)
            spent[rule.expectation.rule][1] += time.process_time() - began
    for rule, (made, seen) in sorted(spent.items(), key=lambda item: -sum(item[1])):
        print(f"  {rule:<14} {1e3 * made:8.1f} ms to make, {1e3 * seen:8.1f} ms to see")


def live(scene: Scene, what: str) -> None:
    """Print the share of the rules in a run, by turns."""
    worlds = [compile_world(one) for one in (replace(scene, expectations=()), scene)]
    times: list[list[float]] = [[], []]
    for turn in range(ROUNDS + 1):
        for world, spent in zip(worlds, times, strict=True):
            began = time.process_time()
            execute(world)
            spent.extend([time.process_time() - began] if turn else [])
    bare, judged = (statistics.median(spent) for spent in times)
    show(f"{what}, without rules", times[0], "s")
    show(f"{what}, with all rules", times[1], "s", f"rules are {100.0 * (judged - bare) / judged:.0f} % of it")


if __name__ == "__main__":
    main()
