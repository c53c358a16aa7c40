"""A thousand steps with gradients at h = 0.01: the four robots of Dojo's table V, ours against MuJoCo's differences.

    python benchmarks/bench_rb_table5.py [word of a row …]

Ours is `rollout_gradients`: every step is solved at kappa to 1e-10 and differentiated in minimal coordinates by the
state and by every input. MuJoCo's is `mj_step` and `mjd_transitionFD`, centred, by as many states and motors, on a twin
of the same masses, joints, springs, bounds and contacts (see `mujoco_twin` for what it does not have). Both are shaken
by the same random inputs, other ones in every step, so that nothing is at rest. Before, our gradients are compared with
central differences of our own step at the same kappa; after, both have to be within ten metres and, what stands, as
high as before. How far the bases went is printed: the A1 of the twin, whose light shins jitter at this step, wanders
off on its feet. Both run in turn in one process; figures are medians of rounds.

The paper's figures (arXiv 2203.00806 v5) are of its authors' machine, and of robots that are not quite these: it says
neither poses nor how many contacts close.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from bench_rb_gradients import KAPPA, check
from numpy.typing import NDArray

from cbsim.dynamics.kernels import columns as c
from cbsim.multibody import (
    Mechanism,
    Origin,
    SolverOptions,
    gallery,
    get_maximal_state,
    maximal_to_minimal,
    minimal_dimension,
    rollout,
    rollout_gradients,
)

OPTIONS = SolverOptions(kappa=KAPPA)
H, STEPS, ROUNDS = 0.01, 1000, 5
Array = NDArray[np.float64]


class Row(NamedTuple):
    """A robot, how hard it is shaken [N m], the paper's seconds of MuJoCo and Dojo, and what ours should take."""

    build: Callable[[], Mechanism]
    shake: float
    mujoco: float
    dojo: float
    goal: float


def _legged(name: str, spring: float, damper: float, **options: bool) -> Callable[[], Mechanism]:
    return lambda: gallery.build(name, timestep=H, limited=True, spring=spring, damper=damper, **options)


ROWS = {
    "humanoid, feet": Row(_legged("humanoid", 2000.0, 100.0), 2.0, 1.512, 1.750, 1.5),
    "humanoid, whole body": Row(_legged("humanoid", 2000.0, 100.0, body_contacts=True), 2.0, 1.512, 1.750, 1.5),
    "A1, feet": Row(_legged("quadruped", 100.0, 5.0), 0.2, 1.114, 5.235, 0.25),
    "A1, whole body": Row(_legged("quadruped", 100.0, 5.0, body_contacts=True), 0.2, 1.114, 5.235, 0.25),
    "A1, lying": Row(_legged("quadruped", 0.0, 1.0, body_contacts=True), 0.2, 1.114, 5.235, 0.25),
    "Panda": Row(_legged("panda", 100.0, 5.0), 0.2, 0.335, 1.159, 0.33),
    "X2 hovering": Row(lambda: gallery.quadrotor(timestep=H, gravity=0.0, ground=False), 0.0, 0.047, 0.807, 0.047),
    "X2 on its feet": Row(lambda: gallery.quadrotor(timestep=H, body_contacts=True), 0.0, 0.047, 0.807, 0.047),
}


def settled(mechanism: Mechanism) -> Array:
    """State after three seconds, from which both start."""
    return rollout(mechanism, get_maximal_state(mechanism), 300)[-1]


def shaken(mechanism: Mechanism, strength: float) -> Array:
    """Inputs of every step; the base, which no motor moves, has none."""
    inputs = strength * np.random.default_rng(5).normal(size=(STEPS, mechanism.compiled.inputs))
    if isinstance(mechanism.joints[0].parent, Origin) and mechanism.joints[0].dof == 6:
        inputs[:, :6] = 0.0
    return inputs


def wandered(name: str, now: Array, start: Array) -> float:
    """How far the base went [m], after a look at where bodies (n, 3) are."""
    assert np.abs(now).max() < 10.0, f"{name} went away"
    assert abs(now[0, 2] - start[0, 2]) < 0.05, f"{name} does not stand"
    return float(np.linalg.norm(now[0] - start[0]))


def closed(mechanism: Mechanism) -> tuple[int, int]:
    """Contacts and bounds whose impulse [N s] is above their gap [m] at the end of the last step: those that carry."""
    work = mechanism.work
    touching = (work.touch[:, c.FORCE] > work.touch[:, c.SLACK]) & (work.touch[:, c.ACTIVE] > 0.0)
    return int(touching.sum()), int((work.hold[:, c.ROW_FORCE] > work.hold[:, c.ROW_SLACK]).sum())


def compare(name: str, row: Row) -> None:
    mechanism = row.build()
    z = settled(mechanism)
    x = maximal_to_minimal(mechanism, z)
    check(mechanism, x, np.zeros(mechanism.compiled.inputs))

    inputs, ways = shaken(mechanism, row.shake), [0.0, 0.0]

    def ours() -> float:
        began = time.perf_counter()
        path, _, _ = rollout_gradients(mechanism, z, STEPS, inputs, options=OPTIONS)
        took = time.perf_counter() - began
        ends = path[[0, -1]].reshape(2, -1, 13)[..., :3]
        ways[0] = wandered(name, ends[1], ends[0])
        return took

    ours()
    try:
        import mujoco
        from mujoco_twin import Twin, positions
    except ImportError:
        took = statistics.median(ours() for _ in range(ROUNDS))
        print(f"SKIP mujoco is not installed; {name}: ours {took:.3f} s (goal {row.goal})")
        return
    twin = Twin(mechanism, integrator="implicitfast", motors=True)
    model, data = twin.model, twin.data
    twin.advance(300)
    size = 2 * model.nv
    by_state, by_input = np.zeros((size, size)), np.zeros((size, model.nu))

    def peer() -> float:
        start = positions(twin)
        began = time.perf_counter()
        for k in range(STEPS):
            data.ctrl[:] = inputs[k]
            mujoco.mjd_transitionFD(model, data, 1e-6, True, by_state, by_input, None, None)
            mujoco.mj_step(model, data)
        took = time.perf_counter() - began
        ways[1] = wandered(f"MuJoCo's {name}", positions(twin), start)
        return took

    pairs = [(ours(), peer()) for _ in range(ROUNDS)]
    one, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(b / a for a, b in pairs)
    touching, stopped = closed(mechanism)
    bounds = len(mechanism.compiled.model.row_link)
    print(f"{name}: ours {one:.3f} s, MuJoCo {other:.3f} s, {ratio:.1f} times as fast (goal {row.goal} s)", flush=True)
    print(
        f"    ours: {touching} of {len(mechanism.contacts)} contacts and {stopped} of {bounds} bounds carry, "
        f"{minimal_dimension(mechanism)} x {mechanism.compiled.inputs}, base went {ways[0]:.3f} m\n"
        f"    MuJoCo: {data.ncon} contacts, {data.nefc} rows, {size} x {model.nu}, base went {ways[1]:.3f} m\n"
        f"    paper: MuJoCo {row.mujoco} s, Dojo {row.dojo} s"
    )


def main() -> None:
    print(f"ours: gap x impulse = {KAPPA:g}, every step solved to 1e-10; MuJoCo: its defaults, differences of 1e-6")
    for name, row in ROWS.items():
        if not sys.argv[1:] or any(word in name for word in sys.argv[1:]):
            compare(name, row)


if __name__ == "__main__":
    main()
