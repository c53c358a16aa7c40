"""Juice's models: the table of what they do, beside ODE's figures, and how much faster than real time.

    python benchmarks/bench_juice.py

ODE's figures were measured at 10 ms with the ODE of panda3d 1.10.16; what is measured here is a run of ten
seconds, on the processor's clock. A row fails before its time is taken if a model goes the other way, or falls
where ODE's stands; walkers are chaotic, so figures are only near. Goal: SimpleHex, 13 bodies, 20 times real time.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import cbsim
from cbsim.coupling.instance_steps import follow
from cbsim.world.model_instances import ModelInstance

MODELS = Path(__file__).resolve().parents[2] / "shared" / "data" / "juice" / "models"
TIME = 10.0  # [s]


class Row(NamedTuple):
    """A model, what its operator does, and where ODE's centre of mass goes [m]; None where it is chance."""

    name: str
    controls: dict[str, float]
    away: tuple[float | None, float | None]
    near: float = 0.3  # share of the way by which ours may differ
    up: float = 0.9
    goal: float = 0.0


ROWS = (
    Row("test/JustOneBox.jm", {}, (0.0, 0.0)),
    Row("test/HingeLoop.jm", {}, (0.0, 0.0)),
    Row("bigsixpack.jm", {"joystick1.y": 1.0}, (0.0, -470.0), near=0.01),
    Row("motorcycle.jm", {"joystick1.z": 1.0}, (None, None), up=-1.0),
    Row("Segwack1.jm", {}, (0.0, 0.0)),
    Row("SimpleHex.jm", {"joystick1.y": -1.0}, (None, 31.3), goal=20.0),
    Row("SimpleHex.jm", {"joystick1.y": 1.0}, (None, -30.7)),
    Row("SimpleHex.jm", {"joystick1.x": 1.0}, (29.6, 0.0)),
    Row("SimpleHex.jm", {"joystick1.r": 1.0}, (0.0, 0.0)),
    Row("Mech2.jm", {"joystick1.z": 1.0}, (0.0, 0.0)),
    Row("Mech2.jm", {"joystick1.z": 0.5}, (0.0, 0.0)),
    Row("Quadrapod3_bak.jm", {}, (None, None)),
    Row("DeathTollCritter.jm", {}, (0.0, 0.8)),
    Row("DeathTollCritter4.jm", {}, (0.0, 0.6)),
    Row("Spinner.jm", {}, (None, None)),
    Row("Trebuchet.jm", {}, (None, None), up=-1.0),
)


def main() -> None:
    """Print a row for each model."""
    if not MODELS.exists():
        print("SKIP the real models are not here")
        return
    print(f"{'model':<22}{'controls':<22}{'bodies':>6}  {'dx dy [m], here':>18} {'ODE':>14}   x real time")
    for row in ROWS:
        show(row)


def show(row: Row) -> None:
    """Run a model, see that it does what it should, and print its row."""
    settings = {name: str(value) for name, value in row.controls.items()}
    (instance,) = cbsim.load(MODELS / row.name, settings=settings).instances
    factors = []
    for _ in range(3):
        began = time.process_time()
        states = run(instance)
        factors.append(TIME / (time.process_time() - began))
    masses = np.array([body.mass for body in instance.spec.bodies])
    centres = np.einsum("tbk,b->tk", states[:, :, :2], masses) / masses.sum()
    away = centres[-1] - centres[0]
    x, y = states[-1, int(np.argmax(masses)), 7:9]
    assert 1.0 - 2.0 * (x * x + y * y) >= row.up, f"{row.name} fell"
    for found, wanted in zip(away, row.away, strict=True):
        assert wanted is None or abs(found - wanted) <= row.near * abs(wanted) + (3.0 if row.near > 0.1 else 0.2), (
            row.name
        )
    told = " ".join(f"{name}={value:g}" for name, value in row.controls.items())
    ode = " ".join("-" if wanted is None else f"{wanted:.1f}" for wanted in row.away)
    goal = f"  goal {row.goal:g}" if row.goal else ""
    shown = f"{away[0]:+8.2f} {away[1]:+8.2f}"
    factor = statistics.median(factors)
    print(f"{row.name:<22}{told:<22}{len(masses):>6}  {shown:>18} {ode:>14}   {factor:9.1f}{goal}")


def run(instance: ModelInstance) -> np.ndarray:
    """States (n, bodies, 13) of ten seconds."""
    states, _ = follow(instance, instance.start, instance.memory, 0, round(TIME / instance.spec.timestep))
    return states


if __name__ == "__main__":
    main()
