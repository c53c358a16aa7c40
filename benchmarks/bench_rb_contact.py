"""Nothing sinks and nothing creeps: a ball dropped, and a block on a slope it cannot slide down.

    python benchmarks/bench_rb_contact.py

The ball falls 0.5 m; the deepest it goes and how deep it rests. The block stands for 5 s where tan a = 0.8 mu, gravity
turned; its speed then. Goals: penetration ≤ 1e-8 m, creep ≤ 1e-5 m/s, at our default tolerances. MuJoCo beside.
"""

from __future__ import annotations

import numpy as np

from cbsim.multibody import Mechanism, gallery, simulate

try:
    from mujoco_twin import Twin
except ImportError:
    Twin = None

SLOPE = np.arctan(0.4)


def sloped(h: float) -> Mechanism:
    gravity = 9.81 * np.array([np.sin(SLOPE), 0.0, -np.cos(SLOPE)])
    return gallery.block(timestep=h, gravity=gravity, friction=0.5, radius=0.01)


def main() -> None:
    for h in (0.001, 0.01, 0.05, 0.1):
        ball = gallery.sphere(timestep=h, height=0.5)
        z = simulate(ball, round(3.0 / h)).x[:, 0, 2] - 0.5
        block = sloped(h)
        creep = np.abs(simulate(block, round(5.0 / h)).v[-1, 0]).max()
        print(
            f"h = {h:<6} ours    deepest {-z.min():+.1e} m  at rest {-z[-1]:+.1e} m  creep {creep:.1e} m/s", flush=True
        )
        if Twin is None:
            continue
        for stiff in (False, True):
            twin = Twin(gallery.sphere(timestep=h, height=0.5), stiff=stiff)
            depths = []
            for _ in range(round(3.0 / h)):
                twin.advance(1)
                depths.append(0.5 - twin.data.qpos[2])
            slope = Twin(sloped(h), stiff=stiff)
            slope.advance(round(5.0 / h))
            speed = np.abs(slope.data.qvel[:3]).max()
            name = "MuJoCo, stiff" if stiff else "MuJoCo"
            print(
                f"         {name:<13} deepest {max(depths):+.1e} m  at rest {depths[-1]:+.1e} m  creep {speed:.1e} m/s"
            )


if __name__ == "__main__":
    main()
