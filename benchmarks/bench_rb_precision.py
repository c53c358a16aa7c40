"""Work for a precision: CPU time per simulated second that keeps a chain's error below a bound, against MuJoCo.

    python benchmarks/bench_rb_precision.py

The reference is the chain's equation of motion in absolute angles, solved by DOP853 to 1e-12 (scipy). The error is the
largest over time of the RMS distance of rods' centres and tips from where they should be. Every engine runs at several
steps; the work for an error is read between the two steps that enclose it, on logarithmic scales. Ours starts from
velocities at the node itself, with orders 2 and 4; MuJoCo with its Euler, implicitfast and RK4.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

try:
    import mujoco
    from mujoco_twin import Twin
    from scipy.integrate import solve_ivp
except ImportError:
    print("SKIP mujoco and scipy are not installed")
    raise SystemExit(0) from None

from cbsim.errors import StepError
from cbsim.multibody import SolverOptions, gallery, get_maximal_state, rollout

GRAVITY, LENGTH = 9.81, 1.0
TARGETS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
STEPS = (0.1, 0.05, 0.04, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005)
SCENES = {"double pendulum": (2, 4.0), "chain of 10": (10, 2.0)}


def reference(links: int, angle: float, times: np.ndarray) -> np.ndarray:
    """Absolute angles (times, links) of rods of 1 kg with the inertia of a box of 0.05 × 0.05 × 1 m."""
    number = np.arange(links)
    below = links - 1 - np.maximum.outer(number, number)  # rods that hang below both
    coupling = LENGTH**2 * (below + 0.5)
    moment = (0.05**2 + LENGTH**2) / 12.0
    np.fill_diagonal(coupling, moment + LENGTH**2 * (0.25 + links - 1 - number))
    weight = GRAVITY * LENGTH * (0.5 + links - 1 - number)

    def rate(_: float, state: np.ndarray) -> np.ndarray:
        theta, omega = state[:links], state[links:]
        apart = theta[:, None] - theta[None, :]
        mass = coupling * np.cos(apart)
        force = -(coupling * np.sin(apart)) @ omega**2 - weight * np.sin(theta)
        return np.concatenate([omega, np.linalg.solve(mass, force)])

    start = np.concatenate([np.full(links, angle), np.zeros(links)])
    solved = solve_ivp(rate, (0.0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-12)
    return solved.y[:links].T


def marks(theta: np.ndarray) -> np.ndarray:
    """Centres and tips (times, 2 links, 2) [m] of rods by their absolute angles."""
    along = LENGTH * np.stack([np.sin(theta), -np.cos(theta)], axis=-1)
    tips = np.cumsum(along, axis=1)
    return np.concatenate([tips - 0.5 * along, tips], axis=1)


def error(theta: np.ndarray, truth: np.ndarray) -> float:
    """Largest over time of the RMS distance [m]."""
    apart = ((marks(theta) - marks(truth)) ** 2).sum(-1).mean(-1)
    worst = float(np.sqrt(np.nanmax(apart)))
    return worst if np.isfinite(theta).all() else float("inf")


def ours(links: int, h: float, duration: float, order: int) -> tuple[np.ndarray, float]:
    """Angles at every node, and CPU seconds per simulated second: the least of five."""
    mechanism = gallery.chain(links, timestep=h)
    options = SolverOptions(rtol=1e-7 if order == 2 else 1e-11, order=order, nodal_start=True)
    z, steps = get_maximal_state(mechanism), round(duration / h)
    times = []
    for _ in range(6):
        began = time.perf_counter()
        path = rollout(mechanism, z, steps, options=options)
        times.append(time.perf_counter() - began)
    q = path.reshape(steps + 1, links, 13)[..., 6:8]
    return -2.0 * np.arctan2(q[..., 1], q[..., 0]), min(times) / duration


def peer(links: int, h: float, duration: float, integrator: str) -> tuple[np.ndarray, float]:
    """The same of MuJoCo, timed without reading the angles."""
    mechanism = gallery.chain(links, timestep=h)
    twin, steps = Twin(mechanism, integrator=integrator), round(duration / h)
    times = []
    for _ in range(6):
        twin.reset()
        began = time.perf_counter()
        twin.advance(steps)
        times.append(time.perf_counter() - began)
    twin.reset()
    angles = np.empty((steps + 1, links))
    angles[0] = np.cumsum(twin.data.qpos)
    for k in range(steps):
        mujoco.mj_step(twin.model, twin.data)
        angles[k + 1] = np.cumsum(twin.data.qpos)
    return -angles, min(times) / duration


def work(points: list[tuple[float, float]], target: float) -> float:
    """CPU seconds per simulated second for an error, between the points that enclose it; inf where none reaches it."""
    points = sorted(point for point in points if np.isfinite(point[0]))
    reached = [point for point in points if point[0] <= target]
    missed = [point for point in points if point[0] > target]
    if not reached:
        return float("inf")
    fine = min(reached, key=lambda point: point[1])
    if not missed:
        return fine[1]
    coarse = min(missed)
    share = np.log(target / fine[0]) / np.log(coarse[0] / fine[0])
    return float(fine[1] * (coarse[1] / fine[1]) ** share) if coarse[1] < fine[1] else fine[1]


def main() -> None:
    engines: dict[str, Any] = {
        "ours, order 2": lambda n, h, t: ours(n, h, t, 2),
        "ours, order 4": lambda n, h, t: ours(n, h, t, 4),
        "MuJoCo Euler": lambda n, h, t: peer(n, h, t, "Euler"),
        "MuJoCo implicitfast": lambda n, h, t: peer(n, h, t, "implicitfast"),
        "MuJoCo RK4": lambda n, h, t: peer(n, h, t, "RK4"),
    }
    for name, (links, duration) in SCENES.items():
        print(f"{name}: ms of CPU per simulated second for an error of " + ", ".join(f"{t:g}" for t in TARGETS))
        table, finest = {}, float("inf")
        for engine, run in engines.items():
            points = []
            for h in STEPS:
                try:
                    theta, cost = run(links, h, duration)
                except StepError as failure:  # a step that cannot be made is no point
                    print(f"  {engine} at {h}: {failure}")
                    continue
                truth = reference(links, -0.25 * np.pi, np.linspace(0.0, duration, len(theta)))
                points.append((error(theta, truth), cost))
            table[engine] = [work(points, target) for target in TARGETS]
            if engine in {"MuJoCo Euler", "MuJoCo implicitfast"}:
                finest = min(finest, max(cost for _, cost in points))
            shown = "  ".join(f"{1e3 * value:8.3f}" for value in table[engine])
            print(f"  {engine:<20} {shown}    finest: {min(points)[0]:.1e}", flush=True)
        euler = min(table["MuJoCo Euler"][1], table["MuJoCo implicitfast"][1])
        two, four = (table[f"ours, order {k}"] for k in (2, 4))
        what = f"{euler / two[1]:.1f} x ours" if np.isfinite(euler) else f"more than {finest / two[1]:.1f} x ours"
        print(f"  at 1e-3, semi-implicit MuJoCo costs {what}  goal 10")
        print(f"  at 1e-6, ours of order 4 costs {four[4] / table['MuJoCo RK4'][4]:.2f} x MuJoCo's RK4  goal 3")


if __name__ == "__main__":
    main()
