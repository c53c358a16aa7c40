"""Gradients of a quadruped: one step against MuJoCo's differences, a thousand steps, and many states on all cores.

    python benchmarks/bench_rb_gradients.py

First the gradients are compared with central differences of our own step, at the same kappa. Then, in turn in one
process, `get_minimal_gradients` (a call from Python that steps, solves to 1e-10 and differentiates by 36 coordinates
and 18 inputs) and `mjd_transitionFD` with forward differences (36 coordinates, no inputs). Both stand on four feet.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

import numpy as np
from common import rounds

from cbsim.multibody import (
    SolverOptions,
    gallery,
    get_maximal_state,
    get_minimal_gradients,
    get_parameter_gradients,
    maximal_to_minimal,
    minimal_gradients_batch,
    parameters_of,
    rollout,
    rollout_gradients,
    step,
    step_batch,
    step_minimal_coordinates,
    with_parameters,
)

KAPPA = 1e-4
OPTIONS = SolverOptions(kappa=KAPPA)
STAND = {"spring": 100.0, "damper": 5.0}
ROUNDS = 9


def seconds(work: Callable[[], object], count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        work()
    return (time.perf_counter() - began) / count


def compare_one_step() -> None:
    mechanism = gallery.quadruped(timestep=0.01, **STAND)
    z = rollout(mechanism, get_maximal_state(mechanism), 300)[-1]
    x, u = maximal_to_minimal(mechanism, z), np.full(mechanism.compiled.inputs, 0.1)
    check(mechanism, x, u)

    def ours() -> object:
        return get_minimal_gradients(mechanism, x, u, options=OPTIONS)

    ours()
    try:
        import mujoco
        from mujoco_twin import Twin
    except ImportError:
        print(f"SKIP mujoco is not installed; ours {1e6 * min(seconds(ours, 200) for _ in range(ROUNDS)):.1f} us")
        return
    twin = Twin(mechanism, integrator="implicitfast")
    twin.advance(300)
    size = 2 * twin.model.nv
    by_state = np.zeros((size, size))

    def peer() -> None:
        mujoco.mjd_transitionFD(twin.model, twin.data, 1e-6, False, by_state, None, None, None)

    pairs = [(seconds(ours, 200), seconds(peer, 60)) for _ in range(ROUNDS)]
    assert twin.is_sane()
    one, other = (1e6 * statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(b / a for a, b in pairs)
    print(
        f"one step of the quadruped on 4 feet: ours {one:.1f} us, MuJoCo {other:.1f} us (with {twin.data.ncon} of its "
        f"contacts), {ratio:.1f} times as many per second (goal 5)"
    )


def check(mechanism, x, u) -> None:
    """Compare with differences of the step at kappa, by some coordinates and inputs."""
    by_state, _ = get_minimal_gradients(mechanism, x, u, options=OPTIONS)
    tight, e = SolverOptions(kappa=KAPPA, rtol=1e-12), 1e-7
    for k in range(0, len(x), 5):
        d = e * np.eye(len(x))[k]
        ahead, back = (step_minimal_coordinates(mechanism, x + s * d, u, options=tight) for s in (1, -1))
        assert np.abs((ahead - back) / (2 * e) - by_state[:, k]).max() < 1e-5 * np.abs(by_state).max()
    print(f"checked against differences; forces at the feet {mechanism.work.touch[:4, 9]} N s")


KINDS = {"mass", "inertia", "spring", "damper", "friction_coefficient"}


def by_parameters() -> None:
    """Columns per second: ours, differences of our own step, and differences of MuJoCo's by masses and moments."""
    mechanism = gallery.quadruped(timestep=0.01, **STAND)
    z = rollout(mechanism, get_maximal_state(mechanism), 300)[-1]
    u = np.full(mechanism.compiled.inputs, 0.1)
    names = [p for p in parameters_of(mechanism) if p.quantity in KINDS and not p.part.startswith("base")]
    columns = sum(len(p.values) for p in names)
    tight = SolverOptions(kappa=KAPPA, rtol=1e-12)
    pairs = []
    for p in names:
        sizes = 1e-4 * max(np.abs(p.values)) * np.eye(len(p.values))
        for d in sizes:
            changed = [with_parameters(mechanism, {p[:2]: np.array(p.values) + s * d}) for s in (1, -1)]
            pairs.append((*changed, 2.0 * d.max()))

    def ours(options: SolverOptions = OPTIONS) -> np.ndarray:
        return get_parameter_gradients(mechanism, z, u, names, options=options)

    def differences(options: SolverOptions = OPTIONS) -> np.ndarray:
        return np.array([(step(a, z, u, options=options) - step(b, z, u, options=options)) / e for a, b, e in pairs])

    rows = np.arange(12 * len(mechanism.bodies)) % 12 < 6  # positions and velocities
    whole = differences(tight).reshape(columns, -1, 13)[:, :, :6].reshape(columns, -1).T
    found = ours(tight)[rows]
    assert np.abs(found - whole).max(axis=0).max() < 1e-5 * np.abs(whole).max()

    def peer() -> None:
        data.qpos[:], data.qvel[:] = place, speed
        for table in (model.body_mass, model.body_inertia):
            flat = table.reshape(-1)
            for k in range(flat.size // len(table), flat.size):
                kept = flat[k]
                for sign in (1.0, -1.0):
                    flat[k] = kept * (1.0 + sign * 1e-6)
                    data.qpos[:], data.qvel[:] = place, speed
                    mujoco.mj_step(model, data)
                flat[k] = kept

    try:
        import mujoco
        from mujoco_twin import Twin
    except ImportError:
        work, peers = (ours, differences), 0
    else:
        twin = Twin(mechanism, integrator="implicitfast")
        twin.advance(300)
        model, data = twin.model, twin.data
        place, speed = data.qpos.copy(), data.qvel.copy()
        work, peers = (ours, differences, peer), 4 * (model.nbody - 1)
    rate = [columns, columns, peers]
    times = [[seconds(one, 3) for one in work] for _ in range(ROUNDS)]
    speeds = np.median([[n / t for n, t in zip(rate, row, strict=False)] for row in times], axis=0)
    said = [f"{name} {value:.0f}" for name, value in zip(("ours", "differences", "MuJoCo"), speeds, strict=False)]
    ratio = statistics.median(row[1] / row[0] for row in times)
    print(
        f"{columns} parameters of the quadruped, columns per second: {', '.join(said)}; {ratio:.1f} times differences"
    )


def thousand_steps() -> None:
    for whole in (False, True):
        mechanism = gallery.quadruped(timestep=0.01, limited=whole, body_contacts=whole, **STAND)
        z = get_maximal_state(mechanism)
        times = rounds(lambda: rollout_gradients(mechanism, z, 1000, options=OPTIONS), 5)  # noqa: B023
        print(
            f"1000 steps with gradients, {len(mechanism.contacts)} contacts, {len(mechanism.compiled.model.row_link)} "
            f"bounds: {times[0]:.3f} / {times[2]:.3f} s (goal 0.25 with all contacts and limits)"
        )


def many_states() -> None:
    mechanism = gallery.quadruped(timestep=0.01, **STAND)
    rng = np.random.default_rng(0)
    path = rollout(mechanism, get_maximal_state(mechanism), 64)
    z = path[rng.integers(0, len(path), 2048)]
    x = np.array([maximal_to_minimal(mechanism, row) for row in z[:512]])
    for name, work in (
        ("step_batch, 2048 states, 4 steps", lambda n: step_batch(mechanism, z, steps=4, workers=n)),
        ("minimal_gradients_batch, 512 states", lambda n: minimal_gradients_batch(mechanism, x, workers=n)),
    ):
        work(1)
        pairs = [(seconds(lambda: work(1), 1), seconds(lambda: work(2), 1)) for _ in range(ROUNDS)]  # noqa: B023
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"{name}: two threads {ratio:.2f} times as fast as one (goal 1.6; {os.cpu_count()} cores)")


if __name__ == "__main__":
    compare_one_step()
    by_parameters()
    thousand_steps()
    many_states()
