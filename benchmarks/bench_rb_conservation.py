"""What must stay: momentum and energy of free chains over 100 s, in flight.

    python benchmarks/bench_rb_conservation.py

Snakes of ten boxes, on hinges and on ball joints, tumble without gravity. Momenta are those of nodes
(docs/theory/integrator.md §9), relative to the sum of their bodies' own sizes; energy has a band and a trend, relative
to kinetic energy. MuJoCo stands beside: its RK4 and Euler, momenta from its own sensors of the whole (subtree) body.
"""

from __future__ import annotations

import numpy as np

from cbsim.multibody import (
    Mechanism,
    SolverOptions,
    gallery,
    get_minimal_state,
    kinetic_energy,
    momentum,
    set_minimal_state,
    simulate,
)

try:
    import mujoco
    from mujoco_twin import Twin
except ImportError:
    Twin = None

DURATION, LINKS = 100.0, 10


def tumbling(joint: str, h: float) -> Mechanism:
    """A snake in a random pose with random velocities: relative angles to 0.5 rad, rates to 1 rad/s."""
    mechanism = gallery.snake(LINKS, joint=joint, timestep=h, twisted=True)
    x = get_minimal_state(mechanism)
    x[:] = np.random.default_rng(1).uniform(-0.5, 0.5, x.size)
    set_minimal_state(mechanism, x)
    return mechanism


def main() -> None:
    for joint in ("Revolute", "Spherical"):
        for h in (0.01, 0.05):
            mechanism = tumbling(joint, h)
            storage = simulate(mechanism, round(DURATION / h), options=SolverOptions(rtol=1e-11))
            total, energy = momentum(mechanism, storage), kinetic_energy(mechanism, storage)
            masses = np.array([body.mass for body in mechanism.bodies])
            linear = (masses * np.linalg.norm(storage.vl, axis=2)).sum(axis=1).mean()
            angular = np.abs(total[:, 3:]).max() + linear
            off = np.abs(total - total[0])
            times = h * np.arange(len(energy))
            trend = np.polyfit(times, energy, 1)[0] * DURATION / energy.mean()
            print(
                f"{joint:<10} h = {h:<5} ours      |dp| {off[:, :3].max() / linear:.1e}"
                f"  |dL| {off[:, 3:].max() / angular:.1e}"
                f"  energy band {np.ptp(energy) / energy.mean():.1e}  trend {trend:+.1e}",
                flush=True,
            )
            if Twin is not None:
                for integrator in ("RK4", "Euler"):
                    peer(joint, h, integrator)


def peer(joint: str, h: float, integrator: str) -> None:
    """The same of MuJoCo."""
    twin = Twin(tumbling(joint, h), integrator=integrator)
    model, data = twin.model, twin.data
    rows = []
    for _ in range(round(DURATION / h)):
        mujoco.mj_step1(model, data)
        mujoco.mj_subtreeVel(model, data)
        mass = model.body_subtreemass[0]
        linear = mass * data.subtree_linvel[0]
        mujoco.mj_energyVel(model, data)
        rows.append([*linear, *(data.subtree_angmom[0] + np.cross(data.subtree_com[0], linear)), data.energy[1]])
        mujoco.mj_step2(model, data) if integrator == "Euler" else mujoco.mj_step(model, data)
        if not np.isfinite(data.qpos).all():
            break
    table = np.array(rows)
    off = np.abs(table[:, :6] - table[0, :6])
    scale = np.abs(table[0, :6]).max()
    print(
        f"{joint:<10} h = {h:<5} {integrator:<9} |dp| {off[:, :3].max() / scale:.1e}"
        f"  |dL| {off[:, 3:].max() / scale:.1e}"
        f"  energy band {np.ptp(table[:, 6]) / table[:, 6].mean():.1e}",
        flush=True,
    )


if __name__ == "__main__":
    main()
