"""Trajectories of a batch on threads beside the same ones one after another.

python benchmarks/bench_rb_batch.py
"""

from __future__ import annotations

import os
import time

import numpy as np

from cbsim.multibody import gallery, get_maximal_state, rollout, rollout_batch

ROWS, STEPS = 32, 100


def main() -> None:
    """Print seconds and the ratio, the best of twenty runs of each in turn."""
    quadruped = gallery.quadruped()
    z = np.tile(get_maximal_state(quadruped), (ROWS, 1))
    inputs = np.random.default_rng(0).normal(size=(ROWS, STEPS, quadruped.compiled.inputs))
    rollout_batch(quadruped, z, STEPS, inputs)
    best = [np.inf, np.inf]
    for _ in range(20):
        start = time.perf_counter()
        alone = [rollout(quadruped, row, STEPS, own) for row, own in zip(z, inputs, strict=True)]
        middle = time.perf_counter()
        together = rollout_batch(quadruped, z, STEPS, inputs)
        best = [min(best[0], middle - start), min(best[1], time.perf_counter() - middle)]
    assert together.is_solved.all()
    assert all((a == b).all() for a, b in zip(alone, together.states, strict=True))
    print(f"quadruped on its feet, {ROWS} rows of {STEPS} steps, {os.cpu_count()} cores")
    print(f"one after another {best[0]:.2f} s, batch {best[1]:.2f} s: {best[0] / best[1]:.2f} times as fast")


if __name__ == "__main__":
    main()
