"""A quadruped that trots, written to one page: python trot.py trot.html

Diagonal legs swing together: springs pull each joint towards a stance that swings to and fro, and lift the leg on its
way forward. Nothing balances it, so it drifts; it is here to be looked at.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from cbsim.multibody import Mechanism, Storage, export_html, gallery, get_minimal_state, simulate

PERIOD, STIFFNESS, SWING, LIFT = 0.45, 70.0, 0.28, 0.45  # [s], [N m/rad], [rad], [rad]
PHASE = {"FR": 0.0, "RL": 0.0, "FL": 0.5, "RR": 0.5}


def stance(leg: str, time: float) -> dict[str, float]:
    """Angles [rad] that a leg is pulled to; the swing grows over the first half second."""
    turn, share = 2.0 * math.pi * (time / PERIOD + PHASE[leg]), min(1.0, 2.0 * time)
    thigh = 0.25 * math.pi + share * SWING * math.cos(turn)
    return {"hip": 0.0, "thigh": thigh, "calf": -0.5 * math.pi - share * LIFT * max(0.0, math.sin(turn))}


def trot(robot: Mechanism, k: int) -> np.ndarray:
    """Torques of all joints before step k."""
    x, inputs = get_minimal_state(robot), np.zeros(len(robot.inputs))
    for joint in robot.joints[1:]:
        leg, part = joint.name.split("_")[:2]
        coordinate = x[joint.minimal_index[0]]
        inputs[robot.input_index(joint.bond.place)] = STIFFNESS * (stance(leg, k * robot.timestep)[part] - coordinate)
    return inputs


def run(steps: int = 1000) -> tuple[Mechanism, Storage]:
    """Trot for some steps of 5 ms."""
    robot = gallery.build("quadruped", damper=1.0, timestep=0.005)
    return robot, simulate(robot, steps, control=trot)


if __name__ == "__main__":
    print(
        export_html(
            *run(),
            sys.argv[1] if len(sys.argv) > 1 else "trot.html",
            title="A quadruped trots",
            color=(0.3, 0.48, 0.72, 1.0),
        )
    )
