"""A block thrown along the ground: how far it slides, and whither.

    python benchmarks/bench_rb_friction.py

Thrown at 2 m/s at 0, 22.5 and 45° from its sides, mu = 0.25, it stops after v²/(2 mu g) in a straight line. Our start
is from velocities at the node itself. Goals: distance within 0.1 %, heading within 0.01°, to h = 0.05. MuJoCo stands
beside with elliptic and pyramidal cones, its contacts as hard as it advises.
"""

from __future__ import annotations

import numpy as np

from cbsim.multibody import Mechanism, SolverOptions, gallery, simulate

try:
    from mujoco_twin import Twin
except ImportError:
    Twin = None

SPEED, MU, GRAVITY, RADIUS = 2.0, 0.25, 9.81, 0.01


def thrown(degrees: float, h: float) -> Mechanism:
    turn = np.radians(degrees)
    velocity = (SPEED * np.cos(turn), SPEED * np.sin(turn), 0.0)
    return gallery.block(timestep=h, friction=MU, radius=RADIUS, velocity=velocity)


def row(name: str, degrees: float, h: float, end: np.ndarray, speed: float, low: float) -> None:
    distance = np.hypot(end[0], end[1])
    heading = np.degrees(np.arctan2(end[1], end[0])) - degrees
    law = SPEED**2 / (2.0 * MU * GRAVITY)
    print(
        f"{degrees:>5}° h = {h:<6} {name:<10} distance {100 * (distance / law - 1):+8.3f} %  heading {heading:+9.4f}°"
        f"  speed left {speed:.1e} m/s  lowest {low:+.1e} m",
        flush=True,
    )


def main() -> None:
    for h in (0.001, 0.01, 0.05):
        for degrees in (0.0, 22.5, 45.0):
            mechanism = thrown(degrees, h)
            options = SolverOptions(rtol=1e-9, btol=1e-9, nodal_start=True)
            storage = simulate(mechanism, round(2.0 / h), options=options)
            x, v = storage.x[-1, 0], np.linalg.norm(storage.v[-1, 0])
            row("ours", degrees, h, x, float(v), float(storage.x[:, 0, 2].min()) - 0.25)
            for cone in ("elliptic", "pyramidal") if Twin is not None else ():
                twin = Twin(thrown(degrees, h), cone=cone, stiff=True)
                twin.advance(round(2.0 / h))
                at = twin.data.body("cube").xipos
                row(
                    f"MuJoCo {cone[:3]}", degrees, h, at, float(np.linalg.norm(twin.data.qvel[:3])), float(at[2]) - 0.25
                )


if __name__ == "__main__":
    main()
