"""A four-bar loop: does it stay closed, is it where it should be, what does a step cost.

    python benchmarks/bench_rb_loop.py

A rhombus of four rods swings from rest for 5 s. The truth is its Lagrangian in two angles, solved by DOP853 to
1e-12. MuJoCo closes the loop with a `connect` constraint between two sites.
"""

from __future__ import annotations

import time

import numpy as np

try:
    from mujoco_twin import Twin
    from scipy.integrate import solve_ivp
except ImportError:
    print("SKIP mujoco and scipy are not installed")
    raise SystemExit(0) from None

from cbsim.multibody import SolverOptions, gallery, get_maximal_state, rollout

INNER, SWING, DURATION, GRAVITY, MOMENT = 0.25, -0.3, 5.0, 9.81, 0.0841667


def truth(times: np.ndarray) -> np.ndarray:
    """Absolute angles (times, 2) of the two upper rods."""

    def rate(_: float, state: np.ndarray) -> np.ndarray:
        (a, b), (da, db) = state[:2], state[2:]
        own, both = 1.5 + 2.0 * MOMENT, np.cos(a - b)
        mass = np.array([[own, both], [both, own]])
        force = np.array([-np.sin(a - b) * db**2, np.sin(a - b) * da**2]) - 2.0 * GRAVITY * np.sin([a, b])
        return np.concatenate([state[2:], np.linalg.solve(mass, force)])

    start = np.array([SWING + INNER, SWING - INNER, 0.0, 0.0])
    return solve_ivp(rate, (0.0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-12).y[:2].T


def main() -> None:
    for h in (0.001, 0.01):
        steps = round(DURATION / h)
        mechanism = gallery.fourbar(timestep=h, inner=INNER, swing=SWING)
        z, options = get_maximal_state(mechanism), SolverOptions(nodal_start=True)
        rollout(mechanism, z, steps, options=options)
        began = time.perf_counter()
        path = rollout(mechanism, z, steps, options=options).reshape(steps + 1, 4, 13)
        ours = (time.perf_counter() - began) / steps
        should = truth(h * np.arange(steps + 1))
        angles = 2.0 * np.arctan2(path[:, [0, 2], 7], path[:, [0, 2], 6])
        down = np.stack(
            [np.zeros_like(path[..., 0]), 2 * path[..., 6] * path[..., 7], -1 + 2 * path[..., 7] ** 2], axis=-1
        )
        tips = path[..., :3] + 0.5 * down
        gap = np.linalg.norm(tips[:, 1] - tips[:, 3], axis=1).max()
        off = np.abs(angles - should).max()
        print(f"h = {h:<6} ours    gap {gap:.1e} m  error {off:.1e} rad  {1e6 * ours:7.2f} us per step", flush=True)
        loop = '<equality><connect site1="tip_2" site2="tip_4"/></equality>'
        for integrator in ("implicitfast", "RK4"):
            twin = Twin(mechanism, integrator=integrator, extra=loop, sites={"rod_2": "tip_2", "rod_4": "tip_4"})
            twin.advance(steps)
            twin.reset()
            began = time.perf_counter()
            twin.advance(steps)
            cost = (time.perf_counter() - began) / steps
            twin.reset()
            worst, apart = 0.0, 0.0
            for k in range(1, steps + 1):
                twin.advance(1)
                data = twin.data
                worst = max(worst, np.abs([data.joint(name).qpos[0] for name in ("left", "right")] - should[k]).max())
                apart = max(apart, np.linalg.norm(data.site("tip_2").xpos - data.site("tip_4").xpos))
            print(
                f"           MuJoCo {integrator:<12} gap {apart:.1e} m  error {worst:.1e} rad  {1e6 * cost:7.2f} us"
                f"   ratio ours/MuJoCo {ours / cost:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
