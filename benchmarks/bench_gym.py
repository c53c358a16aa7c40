"""Environments: steps of a single one, and agent-steps of many Worlds beside the C core of PufferLib's driving one.

    python benchmarks/bench_gym.py [--peer HARNESS] [--folder FOLDER] [--seconds S]

64 Worlds with 14 controlled cars and 50 parked ones at a four-way stop, random actions, collisions and rewards, with
observations of 1848 float32 (own state, 63 objects x 7, 200 pieces of road x 7) on one core, and of 64 on two, in an
array that is written anew in each step (`copy=False`), as the peer's is. Figures
of one core are CPU seconds of the process; those of two cores are wall time, the best of several rounds, since
other work on the machine takes from it. `HARNESS` is a program that prints agent-steps/s per core as its last line when
it is called with the number of worlds: the core of PufferLib 3.0's `gpudrive` with `gcc -O3 -march=native -ffast-math`;
it runs in `FOLDER`. Its step is 0.1 s, with neither car following nor right of way nor substeps; ours is 0.05 s.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import gymnasium
import numpy as np
from common import show

import cbsim.gym
from cbsim.gym import DrivingEnv, DrivingVectorEnv, NearField

WORLDS, CARS, PARKED = 64, 14, 50
LARGE, SMALL = NearField(points=0, objects=63, pieces=200), NearField()
SINGLE, RATIO, TWO_CORES = 5000.0, 1.5, 2e6  # goals
EPISODE = 91  # steps, as the peer's


def crossing(folder: Path, cars: int, parked: int, drive: str) -> Path:
    """Cars on the arms of a four-way stop, and boxes parked beside them."""
    lines = ["network: four_way_stop", "add:"]
    for k in range(cars):
        at = f"{{waypoint: {k % 4 + 1}.{k // 4 % 2 + 1}.2, station: {16 * (k // 8)}}}"
        lines.append(f"  - {{name: C{k}, kind: autonomous, drive: {drive}, size: [1.8, 4.5, 1.5], at: {at}}}")
    for k in range(parked):
        away, side = 60 + 9 * (k // 4), (1, -1)[k % 2]
        place = (away * side, 9 * side) if k % 4 < 2 else (9 * side, -away * side)
        lines.append(f"  - {{name: P{k}, kind: static, size: [1.8, 4.5, 1.5], position: [{place[0]}, {place[1]}, 0]}}")
    path = folder / f"crossing_{cars}_{drive}.yaml"
    path.write_text("\n".join(lines))
    return path


def single(path: Path, seconds: float) -> float:
    """Steps/s of one environment; one CPU."""
    env = DrivingEnv(path, max_steps=EPISODE)
    env.reset(seed=1)
    actions = np.random.default_rng(1).uniform(-1.0, 1.0, (512, 2)).astype(np.float32)
    steps, began = 0, time.process_time()
    while time.process_time() - began < seconds:
        for action in actions:
            *_, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        steps += len(actions)
    return steps / (time.process_time() - began)


class Vector:
    """Many Worlds, with random actions."""

    def __init__(self, path: Path, observation: NearField, threads: int) -> None:
        settings = {"observation": observation, "threads": threads, "max_episode_steps": EPISODE, "copy": False}
        self.envs = gymnasium.make_vec(
            "cbsim/Scenario-v0", num_envs=WORLDS * CARS, vectorization_mode="vector_entry_point",
            scenario=path, agents=CARS, done=nobody, **settings,
        )  # fmt: skip
        assert isinstance(self.envs, DrivingVectorEnv)
        self.envs.reset(seed=1)
        self.actions = np.random.default_rng(1).uniform(-1.0, 1.0, (64, WORLDS * CARS, 2)).astype(np.float32)
        self.run(EPISODE + 5)

    def run(self, steps: int) -> tuple[float, float]:
        """CPU and wall seconds of some steps."""
        cpu, wall = time.process_time(), time.perf_counter()
        for k in range(steps):
            self.envs.step(self.actions[k % len(self.actions)])
        return time.process_time() - cpu, time.perf_counter() - wall


def nobody(agents: cbsim.gym.Agents) -> np.ndarray:
    """End no episode but by its length, so that all agents act in every step."""
    return np.zeros(agents.shape, bool)


def peer(program: Path, folder: Path) -> float:
    """Agent-steps/s per core of the peer."""
    done = subprocess.run([program.resolve(), str(WORLDS)], cwd=folder, capture_output=True, text=True, check=True)
    return float(re.findall(r"(\d+) agent-steps/s", done.stdout)[-1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rates = [single(crossing(folder, 2, 0, "kinematic"), options.seconds) for _ in range(5)]
        show("single environment, two cars", rates, "steps/s", f"goal ≥ {SINGLE:g}")
        path, dynamic = (crossing(folder, CARS, PARKED, drive) for drive in ("kinematic", "dynamic"))
        count = WORLDS * CARS
        large, slow = Vector(path, LARGE, 1), Vector(dynamic, LARGE, 1)
        ours, theirs, ratios, slows = [], [], [], []
        steps = max(10, round(options.seconds * 0.6e6 / count))
        for _ in range(7):
            ours.append(steps * count / large.run(steps)[0])
            slows.append(steps // 4 * count / slow.run(steps // 4)[0])
            if options.peer is not None:
                theirs.append(peer(options.peer, options.folder))
                ratios.append(ours[-1] / theirs[-1])
        show(f"{WORLDS} x {CARS}, {LARGE.size} floats, kinematic, a core", ours, "agent-steps/s")
        show(f"{WORLDS} x {CARS}, {LARGE.size} floats, dynamic, a core", slows, "agent-steps/s")
        if ratios:
            show("PufferLib's core, a core", theirs, "agent-steps/s")
            verdict = "reached" if statistics.median(ratios) >= RATIO else "missed"
            show("ratio of pairs", ratios, "", f"goal ≥ {RATIO:g}: {verdict}")
        else:
            print("SKIP: no peer; see --peer")
        for drive, place in (("kinematic", path), ("dynamic", dynamic)):
            for threads in (1, 2):
                vector = Vector(place, SMALL, threads)
                rates = [EPISODE * count / vector.run(EPISODE)[1] for _ in range(25)]  # each begins all episodes once
                goal = f"goal ≥ {TWO_CORES:g}, best" if (drive, threads) == ("kinematic", 2) else ""
                what = f"{WORLDS} x {CARS}, {SMALL.size} floats, {drive}, threads: {threads}"
                show(what, rates, "agent-steps/s", goal)
                vector.envs.close()


if __name__ == "__main__":
    main()
