"""A wall of a hundred boxes against MuJoCo at the same step size, a stack of ten for a minute, and detection by size.

    python benchmarks/bench_rb_wall.py

Both engines step the wall in one process, in turn, each time from its start: MuJoCo with its Newton solver, elliptic
cones and defaults. A speed above 0.25 is the goal. How far both walls have moved is told: what leans is cheaper to
leave alone. Detection is timed per body on boxes that lie about, a few near each other.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

try:
    import mujoco
except ImportError:
    print("SKIP mujoco is not installed")
    raise SystemExit(0) from None

from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.kernels import columns as c
from cbsim.multibody import Box, Collider, Floating, Mechanism, Origin, ground, rollout

H, STEPS, ROUNDS = 0.01, 100, 5
BRICK = np.array([1.0, 0.5, 0.5])


def solid(places: np.ndarray, edges: np.ndarray, *, timestep: float = H) -> tuple[Mechanism, np.ndarray]:
    """Boxes that float over the ground, and their state."""
    origin = Origin()
    bodies = [Box(*edges, mass=1.0).body() for _ in places]
    colliders = [ground(origin, friction_coefficient=0.5), *(Collider(b, Box(*edges), 0.5) for b in bodies)]
    z = np.zeros((len(places), 13))
    z[:, :3], z[:, 6] = places, 1.0
    made = Mechanism(origin, bodies, [Floating(origin, b) for b in bodies], colliders=colliders, timestep=timestep)
    return made, z.ravel()


def wall() -> None:
    """Time the wall."""
    places = np.array([[1.01 * k + 0.25 * (r % 2), 0.0, 0.25 + 0.5 * r] for r in range(10) for k in range(10)])
    mechanism, z = solid(places, BRICK)
    size = " ".join(f"{0.5 * v}" for v in BRICK)
    bricks = "".join(
        f'<body pos="{x} {y} {w}"><freejoint/><geom type="box" size="{size}" mass="1" friction=".5"/></body>'
        for x, y, w in places
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{H}" cone="elliptic"/><worldbody>'
        f'<geom type="plane" size="50 50 1" friction=".5"/>{bricks}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    path = rollout(mechanism, z, 10)
    pairs = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        path = rollout(mechanism, z, STEPS)
        ours = (time.perf_counter() - began) / STEPS
        mujoco.mj_resetData(model, data)
        began = time.perf_counter()
        for _ in range(STEPS):
            mujoco.mj_step(model, data)
        pairs.append((ours, (time.perf_counter() - began) / STEPS))
    moved = np.abs(path[-1].reshape(-1, 13)[:, :3] - places).max()
    peer_moved = np.abs(data.qpos.reshape(-1, 7)[:, :3] - places).max()
    assert moved < 1e-4, "the wall leans"
    ours, peer = (1e3 * statistics.median(column) for column in zip(*pairs, strict=True))
    speed = statistics.median(b / a for a, b in pairs)
    print(
        f"wall of 100 boxes      ours {ours:6.2f} ms   MuJoCo {peer:6.2f} ms   speed {speed:4.2f} (goal 0.25)   "
        f"{mechanism.last[c.ITERATIONS] / STEPS:.1f} iterations   moved {moved:.1e} m, MuJoCo's {peer_moved:.1e} m",
        flush=True,
    )


def stack() -> None:
    """Let ten boxes stand for a minute."""
    places = np.array([[0.0, 0.0, 0.5 + k] for k in range(10)])
    mechanism, z = solid(places, np.ones(3))
    path = rollout(mechanism, z, 6000).reshape(-1, 10, 13)
    drift = np.abs(path[:, :, :3] - places).max()
    deep = max(0.0, -(np.diff(path[:, :, 2], axis=1) - 1.0).min())
    print(f"stack of 10, 60 s      drift {drift:.1e} m (goal 1e-4)   penetration {deep:.1e} m (goal 1e-6)", flush=True)


def detection() -> None:
    """Time a step of boxes that lie about, by their number."""
    random = np.random.default_rng(1)
    for count in (100, 1000, 10000):
        side = int(np.ceil(np.sqrt(count)))
        places = np.array([[0.7 * (k % side), 0.7 * (k // side), 0.2] for k in range(count)])
        places[:, :2] += random.uniform(-0.1, 0.1, (count, 2))
        mechanism, z = solid(places, np.full(3, 0.4))
        rollout(mechanism, z, 2)
        began = time.perf_counter()
        rollout(mechanism, z, 20)
        each = 1e6 * (time.perf_counter() - began) / 20 / count
        found = mechanism.workspaces.other_colliders.found
        print(
            f"{count:6} boxes lie about  {each:6.2f} us per box and step   {int(found[d.CONTACTS])} contacts, "
            f"{mechanism.last[c.ITERATIONS] / 20:.1f} iterations", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    wall()
    stack()
    detection()
