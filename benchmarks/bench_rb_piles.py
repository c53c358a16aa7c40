"""Spheres dropped into a walled box against MuJoCo: CPU time per step by their number, while they fall and once jammed.

    python benchmarks/bench_rb_piles.py [N …]

The box grows with the number of spheres, about as wide as the pile is high. Both engines step the scene in one process
at the same step size, in turn: MuJoCo with its Newton solver, elliptic cones and defaults. A ratio of at most 5 is the
goal at 100 and 200 spheres, and time per sphere that doesn't grow with them. How well each has solved is told beside:
the deepest penetration, and the kinetic energy that is left at the end.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

try:
    import mujoco
except ImportError:
    print("SKIP mujoco is not installed")
    raise SystemExit(0) from None

from cbsim.dynamics.kernels import columns as c
from cbsim.multibody import (
    Collider,
    Floating,
    HalfSpace,
    Mechanism,
    Origin,
    Sphere,
    StepError,
    ground,
    rollout,
)

H, RADIUS, MASS, FRICTION = 0.01, 0.1, 1.0, 0.5
FALL, JAMMED, TEN = 150, 50, 10  # steps that count as falling, then as jammed; steps in a call


def scene(count: int) -> tuple[np.ndarray, float]:
    """Places where spheres start, layer over layer, and the width of the box."""
    side = max(2, round((count / 1.3) ** (1 / 3)))
    width = 2.2 * RADIUS * side + 0.02
    random = np.random.default_rng(1)
    grid = np.array([[k % side, k // side % side, k // side**2] for k in range(count)], float)
    places = 2.2 * RADIUS * (grid + np.array([0.5, 0.5, 1.0])) - np.array([0.5 * width - 0.01, 0.5 * width - 0.01, 0.0])
    return places + random.uniform(-0.008, 0.008, places.shape), width


def ours(places: np.ndarray, width: float) -> tuple[Mechanism, np.ndarray]:
    """Spheres that float over the ground, between four walls."""
    origin = Origin()
    bodies = [Sphere(RADIUS, mass=MASS).body(name=f"sphere {k}") for k in range(len(places))]
    walls = [
        Collider(origin, HalfSpace(normal, position_offset=-0.5 * width * np.array(normal)), FRICTION)
        for normal in ([1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0])
    ]
    colliders = [ground(origin, friction_coefficient=FRICTION), *walls]
    colliders += [Collider(body, Sphere(RADIUS), FRICTION) for body in bodies]
    z = np.zeros((len(places), 13))
    z[:, :3], z[:, 6] = places, 1.0
    made = Mechanism(origin, bodies, [Floating(origin, b) for b in bodies], colliders=colliders, timestep=H)
    return made, z.ravel()


def theirs(places: np.ndarray, width: float) -> Any:
    """Make MuJoCo's model of the same scene."""
    half = 0.5 * width
    walls = "".join(
        f'<geom type="plane" size="9 9 1" pos="{x * half} {y * half} 0" zaxis="{-x} {-y} 0"/>'
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))
    )
    spheres = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom type="sphere" size="{RADIUS}" mass="{MASS}"/></body>'
        for x, y, z in places
    )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{H}" cone="elliptic"/><default><geom condim="3" friction="{FRICTION}"/></default>'
        f'<worldbody><geom type="plane" size="9 9 1"/>{walls}{spheres}</worldbody></mujoco>'
    )


def depth(places: np.ndarray, width: float) -> float:
    """Deepest penetration of spheres into one another, the ground and the walls."""
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 9.0 * np.eye(len(places))
    to_walls = 0.5 * width - RADIUS - np.abs(places[:, :2])
    return max(0.0, 2.0 * RADIUS - apart.min(), RADIUS - places[:, 2].min(), -to_walls.min())


def pile(count: int) -> None:
    """Drop spheres, and time steps by tens."""
    places, width = scene(count)
    mechanism, state = ours(places, width)
    model = theirs(places, width)
    data = mujoco.MjData(model)
    rollout(mechanism, state, 1)
    times, peers, rounds, failed, deep, peer_deep = [], [], [], 0.0, 0.0, 0.0
    for n in range(0, FALL + JAMMED, TEN):
        began = time.process_time()
        try:
            state = rollout(mechanism, state, TEN)[-1]
        except StepError as error:
            print(f"{count:5} spheres: a step after {n} fails: {error}", flush=True)
            return
        times.append(1e3 * (time.process_time() - began) / TEN)
        began = time.process_time()
        mujoco.mj_step(model, data, nstep=TEN)
        peers.append(1e3 * (time.process_time() - began) / TEN)
        rounds.append(mechanism.last[c.ITERATIONS] / TEN)
        failed += mechanism.last[c.ATTEMPTS]
        deep = max(deep, depth(state.reshape(-1, 13)[:, :3], width))
        peer_deep = max(peer_deep, depth(data.qpos.reshape(-1, 7)[:, :3], width))
    for what, part in (("falling", slice(0, FALL // TEN)), ("jammed", slice(FALL // TEN, None))):
        own, peer = np.mean(times[part]), np.mean(peers[part])
        print(
            f"{count:5} spheres {what:<8} ours {own:8.2f} ms a step (worst ten {max(times[part]):8.2f})   "
            f"MuJoCo {peer:7.2f}   ratio {own / peer:6.1f} (goal 5)   {np.mean(rounds[part]):5.1f} iterations   "
            f"{1e3 * own / count:7.1f} us a sphere", flush=True,
        )  # fmt: skip
    print(
        f"{'':14}deepest {deep:.1e} m, MuJoCo's {peer_deep:.1e} m   kinetic energy a sphere "
        f"{_energy(state.reshape(-1, 13)[:, 3:6]):.1e} J, MuJoCo's {_energy(data.qvel.reshape(-1, 6)[:, :3]):.1e} J   "
        f"{failed:.0f} attempts failed", flush=True,
    )  # fmt: skip


def _energy(velocities: np.ndarray) -> float:
    return 0.5 * MASS * float((velocities**2).sum()) / len(velocities)


if __name__ == "__main__":
    for number in [int(word) for word in sys.argv[1:]] or (50, 100, 200, 400):
        pile(number)
