"""Time per step against MuJoCo's at the same step size: free body, chains, contacts, a quadruped on its feet.

    python benchmarks/bench_rb_step.py [NAME …]

Both engines step the same mechanism in one process, in turn; MuJoCo with its semi-implicit Euler integrator
(implicitfast where there are springs), elliptic cones and its default contacts. Ours at its default tolerances (1e-6,
1e-4). A ratio below one means that ours is faster. MuJoCo's state is checked at the end: what flew away is not
compared.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np

try:
    from mujoco_twin import Twin
except ImportError:
    print("SKIP mujoco is not installed")
    raise SystemExit(0) from None

from cbsim.multibody import Mechanism, SolverOptions, gallery, get_maximal_state, simulate

ROUNDS = 7
STAND = {"spring": 100.0, "damper": 5.0}
SCENES = {  # name: mechanism, goal, MuJoCo's integrator
    "free body": (lambda h: gallery.top(timestep=h), 0.3, "Euler"),
    "pendulum": (lambda h: gallery.chain(1, timestep=h), None, "Euler"),
    "double pendulum": (lambda h: gallery.chain(2, timestep=h), None, "Euler"),
    "chain of 10": (lambda h: gallery.chain(10, timestep=h), 2.0, "Euler"),
    "chain of 50": (lambda h: gallery.chain(50, timestep=h), 2.0, "Euler"),
    "sphere on the ground": (lambda h: gallery.sphere(timestep=h, velocity=(1, 0, 0)), 1.0, "Euler"),
    "box with 8 points": (lambda h: gallery.block(timestep=h, radius=0.01, velocity=(2, 0, 0)), 2.0, "Euler"),
    "quadruped, 4 feet": (lambda h: gallery.quadruped(timestep=h, **STAND), 3.0, "implicitfast"),
}


def one_round(mechanism: Mechanism, twin: Twin, z: np.ndarray, steps: int) -> tuple[float, float]:
    """Seconds per step of ours and of MuJoCo."""
    began = time.perf_counter()
    simulate(mechanism, steps, z, record=False, options=SolverOptions())
    ours = time.perf_counter() - began
    twin.reset()
    began = time.perf_counter()
    twin.advance(steps)
    return ours / steps, (time.perf_counter() - began) / steps


def main() -> None:
    for name, (build, goal, integrator) in SCENES.items():
        if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
            continue
        for h in (0.001, 0.01):
            mechanism = build(h)
            z = get_maximal_state(mechanism)
            twin = Twin(mechanism, integrator=integrator)
            steps = 4000 if name != "chain of 50" else 1000
            one_round(mechanism, twin, z, 10)
            pairs = []
            for _ in range(ROUNDS):
                simulate(mechanism, 1, z, record=False)  # back to the start
                pairs.append(one_round(mechanism, twin, z, steps))
            assert twin.is_sane(), f"MuJoCo's {name} flew away"
            ratios = [ours / peer for ours, peer in pairs]
            ours, peer = (1e6 * statistics.median(column) for column in zip(*pairs, strict=True))
            aim = f"goal {goal}" if goal else ""
            print(
                f"{name:<22} h = {h:<6} ours {ours:7.2f} us   MuJoCo {peer:7.2f} us   "
                f"ratio {statistics.median(ratios):5.2f} (min {min(ratios):.2f})  {aim}",
                flush=True,
            )


if __name__ == "__main__":
    main()
