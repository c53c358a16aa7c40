"""What it costs to tell a planner of objects: a bot among thirty reactive cars, as share of a step.

python benchmarks/bench_observation.py [STEPS]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import cbsim
from cbsim.planner import PlannerIsolation, drivers_of
from cbsim.simulation.loop import Run
from cbsim.spec.planner import FIDELITIES, Seat
from cbsim.world.compile import compile_world

ROUNDS, GOAL = 15, 10.0  # [%] of a step
TRAFFIC = "traffic: [{name: town, count: 30}]"
BOT = "{name: Bot, kind: autonomous, sensors: [onboard/objects.conf]}"
SCENES = {
    "thirty cars in a city, none in view": f"network: city\n{TRAFFIC}\nadd: [{BOT}]\n",
    "thirty cars about a crossing, ten in view": f"network: four_way_stop\n{TRAFFIC}\nadd: [{BOT[:-1]}, at: 1.1.5}}]\n",
}


class Idle:
    """Holds the brake."""

    def start(self, *task):
        pass

    def plan(self, _observation):
        return cbsim.Command(-1.0)


def step_time(world, steps):
    """Median time of a step [s], with planner and sensors."""
    run, times = Run(world, world.start, record_scans=False), []
    with PlannerIsolation() as isolation:
        run.begin()
        run.seat(drivers_of(world, Idle(), isolation))
        for _ in range(steps):
            began = time.perf_counter()
            run.advance(1)
            times.append(time.perf_counter() - began)
    return statistics.median(times)


def measure(name, text, steps):
    """Print what each fidelity adds to a step of a scene."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.yaml"
        path.write_text(text)
        plain = cbsim.load(path)
    scene, found = plain.scene, {}
    for _ in range(ROUNDS):
        for fidelity in ("", *FIDELITIES):
            settings = replace(scene.settings, seats=(Seat("Bot", fidelity=fidelity),))
            made = step_time(compile_world(replace(scene, settings=settings)), steps)
            found[fidelity] = min(found.get(fidelity, made), made)
    print(f"{name}: a step without objects {1e6 * found['']:.1f} µs")
    for fidelity in FIDELITIES:
        added = found[fidelity] - found[""]
        share = 100.0 * added / found[""]
        verdict = "reached" if share <= GOAL else "missed"
        print(f"{fidelity:<8} adds {1e6 * added:.1f} µs, {share:.1f} %; goal ≤ {GOAL:g} %: {verdict}")


def main(steps=150):
    for name, text in SCENES.items():
        measure(name, text, steps)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
