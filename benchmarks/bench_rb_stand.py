"""The largest step at which a quadruped stands on stiff springs, and what a second of that costs.

    python benchmarks/bench_rb_stand.py

The robot of the gallery, its legs held by springs and dampers, stands for 5 s if its trunk stays within 2 cm of where
it settles at a small step, upright, at less than 1 cm/s. MuJoCo with implicitfast and the same springs.
"""

from __future__ import annotations

import time

import numpy as np

from cbsim.errors import StepError
from cbsim.multibody import Mechanism, gallery, get_maximal_state, rollout

try:
    from mujoco_twin import Twin
except ImportError:
    Twin = None

STEPS, DURATION = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1), 5.0
SPRINGS = {"spring": 100.0, "damper": 5.0}


def build(h: float) -> Mechanism:
    return gallery.quadruped(timestep=h, **SPRINGS)


def settled() -> float:
    """Height of the trunk where it comes to rest, at h = 1 ms [m]."""
    mechanism = build(0.001)
    return float(rollout(mechanism, get_maximal_state(mechanism), round(DURATION / 0.001))[-1][2])


def main() -> None:
    height = settled()
    print(f"the trunk settles at {height:.4f} m")
    best: dict[str, tuple[float, float]] = {}
    for h in STEPS:
        mechanism = build(h)
        z, steps = get_maximal_state(mechanism), round(DURATION / h)
        try:
            rollout(mechanism, z, steps)
            began = time.perf_counter()
            end = rollout(mechanism, z, steps)[-1][:13]
            cost = (time.perf_counter() - began) / DURATION
            stands = abs(end[2] - height) < 0.02 and np.abs(end[3:6]).max() < 0.01 and end[6] ** 2 > 0.98
        except StepError as failure:
            print(f"  h = {h}: {failure}")
            stands, cost = False, float("nan")
        print(
            f"h = {h:<6} ours   {'stands' if stands else 'falls '}  {1e3 * cost:8.3f} ms of CPU per second", flush=True
        )
        if stands:
            best["ours"] = (h, cost)
        if Twin is not None:
            twin = Twin(mechanism, integrator="implicitfast")
            began = time.perf_counter()
            twin.advance(steps)
            cost = (time.perf_counter() - began) / DURATION
            data = twin.data
            stands = (
                abs(data.qpos[2] - height) < 0.02 and np.abs(data.qvel[:3]).max() < 0.01 and data.qpos[3] ** 2 > 0.98
            )
            print(f"           MuJoCo {'stands' if stands else 'falls '}  {1e3 * cost:8.3f} ms", flush=True)
            if stands:
                best["MuJoCo"] = (h, cost)
    print("largest steps and their costs: " + ", ".join(f"{k} {h} s, {1e3 * c:.3f} ms" for k, (h, c) in best.items()))
    if len(best) == 2:
        print(f"MuJoCo's second costs {best['MuJoCo'][1] / best['ours'][1]:.1f} x ours, each at its largest step")


if __name__ == "__main__":
    main()
