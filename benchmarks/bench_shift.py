"""Shift models: how far loops open in a minute, against MuJoCo where it can have the loop, and a vehicle's speed.

    python benchmarks/bench_shift.py [VEHICLE.json]

Two four-bars of five rods, and loops of real files where they are, at the same step in both engines, MuJoCo with its
default integrator and `connect` equalities, two of them on the axis of a hinge: the largest gap of a joint over a
minute [m, half rad], and how much our energy changes. The vehicle is a file of the format that is given, else the one
of the shared data where that is there; its goal is three times real time, read, closed and driven by its tyres.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import numpy as np
from shift_twin import mjcf_of, rates_of

from cbsim.coupling.instance_steps import follow
from cbsim.dynamics.energy import mechanical_energy
from cbsim.dynamics.loop_closure import violations
from cbsim.errors import Problems
from cbsim.models import read_file
from cbsim.models.shift.description import description_of
from cbsim.paths import Files
from cbsim.spec.objects import Triple
from cbsim.spec.shift.model import Assembly, Body, Frame, Joint, Placement, Reference, ShiftModel
from cbsim.world.model_instances import ModelInstance, instance_of
from cbsim.world.scene import Model

H, MINUTE = 0.01, 60.0
DATA = Path(__file__).resolve().parents[2] / "shared/data/shift/head_dac9a79"
VEHICLE = DATA / "vehicle/vehicle_control_5mps.json"
LOOPS = (
    "bricard/bricard", "bricard/bricard_no_gravity", "slider_crank/slider_crank",
    "slider_crank/slider_crank_rotating_base", "slider_crank/slider_crank_extra_dof",
    "slider_crank/slider_crank_2substructures", "slider_crank/slider_crank_3substructures",
)  # fmt: skip
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


def placed(model: ShiftModel, path: Path, step: float) -> ModelInstance:
    """Put a model into a World alone."""
    description = description_of(model, step, path.parent, Files([path]), Problems())
    return instance_of(Model("model", description, round(step / description.spec.timestep), {}), 0, 0)


def gap(instance: ModelInstance, states: np.ndarray) -> float:
    """Measure the largest violation of a joint."""
    return max(float(np.abs(violations(instance.compiled, state)).max()) for state in states)


def loops() -> None:
    """Let loops move for a minute in both engines, each at the same step."""
    print(
        "60 s, h = 0.01 s             bodies loops   gap [m]    energy [J]   x real time     MuJoCo: gap   x real time"
    )
    models = [("four-bars", four_bars(), Path("four_bars.json"))]
    for name in LOOPS:
        path = DATA / f"{name}.json"
        if path.exists():
            models.append((path.stem, read_file(path).spec, path))
    for name, model, path in models:
        instance = placed(model, path, H)
        states, ours = timed(instance)
        error, size = gap(instance, states[::20]), max(1.0, float(np.abs(states[0, :, :3]).max()))
        assert error < 1e-6 * size, f"{name}: loops open"
        energy = np.array([mechanical_energy(instance.spec, state) for state in states[::20]])
        loops_of = len(instance.spec.joints) - len(states[0])
        row = f"{name:<30} {len(states[0]):4} {loops_of:5}  {error:9.1e}  {np.ptp(energy):10.1e}"
        print(f"{row}  {MINUTE / ours:10.0f}     {peer(instance)}", flush=True)


def timed(instance: ModelInstance) -> tuple[np.ndarray, float]:
    """Go on for a minute, and tell how long it took [s]."""
    follow(instance, instance.start, instance.memory, 0, 10)
    began = time.perf_counter()
    states, _ = follow(instance, instance.start, instance.memory, 0, round(MINUTE / H))
    assert len(states) == round(MINUTE / H), "the model stopped"
    return states, time.perf_counter() - began


def peer(instance: ModelInstance) -> str:
    """Let MuJoCo do the same, if it is there and has such joints: the gap, in our measure, and its speed."""
    try:
        import mujoco
    except ImportError:
        return "SKIP mujoco is not installed"
    text = mjcf_of(instance, H)
    if text is None:
        return "has joints that it does not close loops with"
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[:] = rates_of(instance)
    order = [model.body(f"b{k}").id for k in range(len(instance.start))]
    states, worst, took = instance.start.copy(), 0.0, 0.0
    for step in range(round(MINUTE / H)):
        began = time.perf_counter()
        mujoco.mj_step(model, data)
        took += time.perf_counter() - began
        if step % 20 == 0:
            mujoco.mj_kinematics(model, data)
            states[:, :3], states[:, 6:10] = data.xpos[order], data.xquat[order]
            worst = max(worst, gap(instance, states[None]))
    return f"{worst:9.1e}  {MINUTE / took:10.0f}" if np.isfinite(worst) else "does not stay finite"


def vehicle(path: Path) -> None:
    """Drive a vehicle for ten seconds."""
    instance = placed(read_file(path).spec, path, 0.01)
    follow(instance, instance.start, instance.memory, 0, 10)
    times = []
    for _ in range(3):
        began = time.perf_counter()
        states, _ = follow(instance, instance.start, instance.memory, 0, 1000)
        times.append(time.perf_counter() - began)
    assert len(states) == 1000, "the vehicle stopped"
    error = gap(instance, states[::20])
    rate = 10.0 / sorted(times)[1]
    print(
        f"{path.stem}   {rate:.1f} x real time (goal 3)   {instance.steps} steps in 0.01 s   gap {error:.1e} m",
        flush=True,
    )


if __name__ == "__main__":
    loops()
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else VEHICLE
    if chosen.exists():
        vehicle(chosen)
    else:
        print("SKIP no file of a vehicle is here")
