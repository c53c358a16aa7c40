"""Shift models: how far loops open in a minute, against MuJoCo where it can have the loop, and a vehicle's speed.

    python benchmarks/bench_shift.py [VEHICLE.json]

Two four-bars of five rods, at the same step in both engines, MuJoCo with its default integrator and `connect`
equalities: the largest gap of a joint over a minute. The vehicle is a file of the format that is given, else the one
of the shared data where that is there; its goal is three times real time, read, closed and driven by its tyres.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import numpy as np

from cbsim.dynamics.closure import violations
from cbsim.errors import Problems
from cbsim.formats import read_file
from cbsim.formats.shift.figure import figure_of
from cbsim.paths import Files
from cbsim.run.follow import follow
from cbsim.spec.objects import Triple
from cbsim.spec.shift.model import Assembly, Body, Frame, Joint, Placement, Reference, ShiftModel
from cbsim.world.islands import Island, island_of
from cbsim.world.scene import Model

H, MINUTE = 0.005, 60.0
VEHICLE = Path(__file__).resolve().parents[2] / "shared/data/shift/head_dac9a79/vehicle/vehicle_control_5mps.json"
ROD = (1e-3, 1.0 / 12.0, 1.0 / 12.0, 0.0, 0.0, 0.0)
Z = Triple(0.0, 0.0, 1.0)


def four_bars() -> ShiftModel:
    """Three uprights and two couplers; the first upright's tip moves at 1 m/s (the library's problem A02)."""

    def frame(name: str, x: float) -> Frame:
        return Frame(name, Placement(translation=Triple(x, 0.0, 0.0)))

    bodies, joints = [], []
    for k in range(3):
        bodies.append(Body(f"upright{k}", 1.0, Triple(0.5, 0.0, 0.0), ROD, (frame("tip", 1.0),)))
        ends = Reference(("fixed",), f"foot{k}"), Reference((f"upright{k}",))
        joints.append(Joint(f"foot{k}", "revolute", *ends, Z, math.pi / 2, rates=(-1.0,)))
    for k in range(2):
        bodies.append(Body(f"coupler{k}", 1.0, Triple(0.5, 0.0, 0.0), ROD, (frame("tip", 1.0),)))
        left = Reference((f"upright{k}",), "tip"), Reference((f"coupler{k}",))
        right = Reference((f"coupler{k}",), "tip"), Reference((f"upright{k + 1}",), "tip")
        joints.append(Joint(f"left{k}", "revolute", *left, Z, -math.pi / 2, rates=(1.0,)))
        joints.append(Joint(f"right{k}", "revolute", *right, Z, math.pi / 2, rates=(-1.0,)))
    feet = tuple(frame(f"foot{k}", float(k)) for k in range(3))
    assemblies = (Assembly("four_bars", tuple(bodies), tuple(joints)),)
    return ShiftModel(gravity=Triple(0.0, -9.81, 0.0), frames=feet, assemblies=assemblies)


def placed(model: ShiftModel, path: Path, step: float) -> Island:
    """Put a model into a World alone."""
    figure = figure_of(model, step, path.parent, Files([path]), Problems())
    return island_of(Model("model", figure, round(step / figure.spec.timestep), {}), 0, 0)


def gap(island: Island, states: np.ndarray) -> float:
    """Measure the largest violation of a joint."""
    return max(float(np.abs(violations(island.compiled, state)).max()) for state in states)


def loops() -> None:
    """Let four-bars turn for a minute in both engines."""
    island = placed(four_bars(), Path("four_bars.json"), H)
    began = time.perf_counter()
    states, _ = follow(island, island.start, island.memory, 0, round(MINUTE / H))
    ours = time.perf_counter() - began
    error = gap(island, states[::20])
    assert error < 1e-6, "loops open"
    print(f"four-bars, 60 s    gap {error:.1e} m (goal 1e-6)   {MINUTE / ours:6.0f} x real time", flush=True)
    try:
        import mujoco
    except ImportError:
        print("SKIP mujoco is not installed")
        return
    rod = 'fromto="0 0 0 {} 0" size="0.005" mass="1" contype="0" conaffinity="0"/>'
    hinge = '<joint type="hinge" axis="0 0 1"/><geom type="capsule" '
    parts = ""
    for k in range(3):
        inner = "" if k == 2 else f'<body name="c{k}" pos="0 1 0">{hinge}{rod.format("1 0")}</body>'
        parts += f'<body name="u{k}" pos="{k} 0 0">{hinge}{rod.format("0 1")}{inner}</body>'
    ties = "".join(f'<connect body1="c{k}" body2="u{k + 1}" anchor="1 0 0"/>' for k in range(2))
    peer = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{H}" gravity="0 -9.81 0"/><worldbody>{parts}</worldbody>'
        f"<equality>{ties}</equality></mujoco>"
    )
    data = mujoco.MjData(peer)
    data.qvel[:] = (-1.0, 1.0, -1.0, 1.0, -1.0)
    worst = 0.0
    began = time.perf_counter()
    for _ in range(round(MINUTE / H)):
        mujoco.mj_step(peer, data)
        worst = max(worst, float(np.abs(data.efc_pos[: data.ne]).max()))
    theirs = time.perf_counter() - began
    print(f"          MuJoCo   gap {worst:.1e} m                {MINUTE / theirs:6.0f} x real time", flush=True)


def vehicle(path: Path) -> None:
    """Drive a vehicle for ten seconds."""
    island = placed(read_file(path).spec, path, 0.01)
    follow(island, island.start, island.memory, 0, 10)
    times = []
    for _ in range(3):
        began = time.perf_counter()
        states, _ = follow(island, island.start, island.memory, 0, 1000)
        times.append(time.perf_counter() - began)
    assert len(states) == 1000, "the vehicle stopped"
    error = gap(island, states[::20])
    rate = 10.0 / sorted(times)[1]
    print(
        f"{path.stem}   {rate:.1f} x real time (goal 3)   {island.steps} steps in 0.01 s   gap {error:.1e} m",
        flush=True,
    )


if __name__ == "__main__":
    loops()
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else VEHICLE
    if chosen.exists():
        vehicle(chosen)
    else:
        print("SKIP no file of a vehicle is here")
