"""An arm with motors and dry friction against MuJoCo: time of a step, and how well it holds still and turns.

    python benchmarks/bench_rb_rows.py

Six links on hinges, each with dry friction of 0.5 N m and a motor whose torque has a limit, gravity on. MuJoCo has
`frictionloss`, and a `velocity` actuator with `forcerange` (gain 100 N m s/rad; a limit is all that ours has). First
both hold still with a target of 0, then every joint turns to and fro. Before the ratio: the speed that is asked for is
there, and what creeps in 5 s of holding still. Goal: ratio ≤ 3.
"""

from __future__ import annotations

import statistics

import numpy as np
from common import rounds

from cbsim.multibody import (
    Box,
    DryFriction,
    Mechanism,
    Motor,
    Origin,
    Revolute,
    get_maximal_state,
    maximal_to_minimal,
    rollout,
)

try:
    import mujoco
    from mujoco import rollout as peer
except ImportError:
    mujoco = None

LINKS, LENGTH, LIMIT, FRICTION, GAIN = 6, 0.3, 200.0, 0.5, 100.0
STEPS = 500


def arm(h: float) -> Mechanism:
    """Links one after the other, hinges about y and x in turn, all of them stretched out along x."""
    origin, links, joints = Origin(), [], []
    for i in range(LINKS):
        links.append(Box(LENGTH, 0.08, 0.08, mass=2.0 * 0.8**i).body(name=f"link {i}"))
        joints.append(
            Revolute(
                links[-2] if i else origin, links[-1], (0, 1, 0) if i % 2 == 0 else (0, 0, 1),
                parent_vertex=(0.5 * LENGTH * (i > 0), 0, 0), child_vertex=(-0.5 * LENGTH, 0, 0),
                drives=[Motor(LIMIT), DryFriction(FRICTION)], name=f"hinge {i}",
            )
        )  # fmt: skip
    return Mechanism(origin, links, joints, timestep=h)


def twin(h: float) -> str:
    """Write the same arm for MuJoCo."""
    text, close = "", ""
    for i in range(LINKS):
        axis = "0 1 0" if i % 2 == 0 else "0 0 1"
        text += (
            f'<body pos="{LENGTH * (i > 0)} 0 0"><joint name="j{i}" type="hinge" axis="{axis}" '
            f'frictionloss="{FRICTION}"/><geom type="box" size="{LENGTH / 2} 0.04 0.04" pos="{LENGTH / 2} 0 0" '
            f'mass="{2.0 * 0.8**i}" contype="0" conaffinity="0"/>'
        )
        close += "</body>"
    motors = "".join(
        f'<velocity joint="j{i}" kv="{GAIN}" forcelimited="true" forcerange="-{LIMIT} {LIMIT}"/>' for i in range(LINKS)
    )
    return (
        f'<mujoco><option timestep="{h}" integrator="implicitfast"/><worldbody>{text}{close}</worldbody>'
        f"<actuator>{motors}</actuator></mujoco>"
    )


def targets(h: float) -> np.ndarray:
    """Speeds of every step, (STEPS, LINKS) [rad/s]."""
    t = h * np.arange(STEPS)[:, None]
    return 0.8 * np.sign(np.sin(2.0 * np.pi * (0.4 * t + 0.13 * np.arange(LINKS))))


def main() -> None:
    for h in (0.002, 0.01):
        ours, u = arm(h), targets(h)
        z = get_maximal_state(ours)
        path = rollout(ours, z, STEPS, u)
        seen = maximal_to_minimal(ours, path[-1])[1::2]
        still = maximal_to_minimal(ours, rollout(ours, z, round(5.0 / h), np.zeros(LINKS))[-1])[::2]
        print(f"h = {h:<6} ours    off the speed {np.abs(seen - u[-1]).max():.1e} rad/s  "
              f"creep in 5 s {np.abs(still).max():.1e} rad", flush=True)  # fmt: skip
        assert np.abs(seen - u[-1]).max() < 1e-3
        assert np.abs(still).max() < 1e-3
        if mujoco is None:
            print("SKIP: MuJoCo is absent")
            continue
        model = mujoco.MjModel.from_xml_string(twin(h))
        data = mujoco.MjData(model)

        def theirs(rows: np.ndarray, model=model, data=data) -> None:
            mujoco.mj_resetData(model, data)
            full = mujoco.mjtState.mjSTATE_FULLPHYSICS
            start = np.empty(mujoco.mj_stateSize(model, full))
            mujoco.mj_getState(model, data, start, full)
            peer.rollout(model, data, start[None], rows[None])  # no Python between steps either

        theirs(u)
        off = np.abs(data.qvel - u[-1]).max()
        theirs(np.zeros((round(5.0 / h), LINKS)))
        print(f"           MuJoCo  off the speed {off:.1e} rad/s  creep in 5 s {np.abs(data.qpos).max():.1e} rad")
        a = rounds(lambda ours=ours, z=z, u=u: rollout(ours, z, STEPS, u))
        b = rounds(lambda run=theirs, u=u: run(u))
        ratio = statistics.median(a) / statistics.median(b)
        print(f"arm that turns   h = {h:<6} ours {1e6 * statistics.median(a) / STEPS:7.2f} us   MuJoCo "
              f"{1e6 * statistics.median(b) / STEPS:7.2f} us   ratio {ratio:5.2f}  goal 3.0", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
