"""Extremes that files may hold: numbers of every format at and beyond the ends of what is accepted, loaded and run.

A *base* is a small scenario of one or several files. A *case* replaces one to three numbers of it. `attempt` loads a
case and, if it is accepted, runs some steps of it: nothing but finite numbers may come of that.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import cbsim
from cbsim.errors import CbsimError, StepError
from cbsim.evaluation.outcome import execute
from cbsim.formats import shift
from cbsim.formats.objects.values import PARAMETERS
from cbsim.spec.command import Command
from cbsim.vehicle.parameters import PARAMETERS as COLUMNS
from cbsim.world.events.tables import CAR_RATE, ORDER_RATE
from cbsim.world.tables import COLUMNS as STATE
from tests.common import ROOT
from tests.models.shift.benchmarks import four_bars

EXTREMES = (
    *("0", "-0.0", "5e-324", "2.3e-308", "1e-300", "1e-160", "1e-100", "1e-30", "1e-15", "1e-9", "1e-6", "1e-4"),
    *("0.001", "0.01", "0.05", "0.1", "0.5", "0.95", "1", "2", "10", "60", "89", "90", "180", "360", "1000", "10000"),
    *("100000", "1000000", "1e7", "1e8", "999999999", "1e9", "1e12", "1e30", "1e100", "1e160", "1e300"),
    *("1.7976931348623157e308", "-1e-300", "-1e-9", "-0.5", "-1", "-90", "-1000", "-1e9", "-1e30", "-1e300"),
)
NUMBER = re.compile(r"(?<![\w.$#/:&-])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
NOT_A_NUMBER = re.compile(r"\b(nan|NaN|inf)\b")
STEPS = 24


@dataclass(frozen=True)
class Base:
    """Files of a scenario; which of them is loaded, and in which numbers are replaced."""

    name: str
    files: dict[str, str]
    main: str
    mutable: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """A base with some numbers replaced."""

    base: Base
    files: dict[str, str]
    changes: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """What came of a case: ``rejected``, ``finite``, ``failed`` (by a StepError that says why)."""

    kind: str
    message: str = ""


class Pedal:
    """Full throttle into the wall, steering on the way."""

    def start(self, mission: object, network: object, vehicle: object) -> None:
        pass

    def plan(self, observation: object) -> Command:
        return Command(throttle=1.0, steering=0.3, levers=(1.0, 0.6))


def usual(drive: str) -> dict[str, str]:
    """Every parameter of a vehicle with an ordinary value, so that each can be replaced."""
    from cbsim.spec.objects import Kind, TrafficObject, Triple, Wheels, WheelType
    from cbsim.vehicle.parameters import vehicle_parameters

    wheels = Wheels(WheelType.SKID if drive.startswith("skid") else WheelType.CONVENTIONAL)
    row = vehicle_parameters(TrafficObject(Kind.AUTONOMOUS, "Bot", size=Triple(1.8, 4.5, 1.5), wheels=wheels))
    values = dict(zip(COLUMNS, row.tolist(), strict=True))
    return {name: f"{values[name] / quantity.factor:.4g}" for name, quantity in PARAMETERS.items()}


def traffic(drive: str) -> Base:
    """A bot at full throttle before a wall, a second one that follows a script, a mover, shapes, a model among them."""
    parameters = ", ".join(f"{name}: {value}" for name, value in usual(drive).items())
    kind = "skid" if drive.startswith("skid") else "conventional"
    return Base(
        drive,
        {
            "scene.yaml": f"""
duration: 5
step: 0.05
parameters: {{gap: 3.6}}
add:
  - name: Bot
    kind: autonomous
    position: [0, 0, 0]
    heading: 5
    size: [1.8, 4.5, 1.5]
    drive: {drive}
    wheels: {{type: {kind}, radius: 0.38, width: 0.2}}
    steering: {{throttle_rate: 2, lever_rate: 0.5}}
    parameters: {{{parameters}}}
  - name: Follower
    kind: autonomous
    position: [6, 0, 0]
    drive: {drive}
    wheels: {{type: {kind}, radius: 0.38, width: 0.2}}
    initial_pause: 0.1
    parameters: {{mass: 1500, yaw_inertia: 2800}}
    script:
      - {{speed: 5, distance: 30, angle: 20, pause: 1}}
      - {{speed: 4, distance: 10, angle: -70, pause: 1}}
  - name: Wall
    position: [0, "${{gap}}", 0]
    orientation_offset: [0, 0, 10]
    size: [6, 1, 2]
  - name: Mover
    kind: dynamic
    position: [-6, 0, 0]
    position_offset: [0.5, 0.1, 0]
    size: [1.8, 4.5, 1.5]
    script: [{{speed: 6, distance: 12, angle: -60, pause: 0.5}}, {{speed: 1, distance: 3, angle: 0}}]
  - {{name: Ball, shape: sphere, size: [1, 1, 1], position: [3, 3, 0]}}
  - {{name: Drum, shape: cylinder, size: [0.6, 0.6, 1], position: [6, 5, 0], orientation_offset: [3, 2, 1]}}
  - {{name: Tyre, shape: wheel, size: [0.3, 0.8, 0.8], position: [-3, 3, 0]}}
expect:
  - collision: {{object: Bot, impact_below: 0.5}}
  - speed: {{object: Bot, at_most: 20, tolerance: 0.5}}
  - travel: {{object: Bot, at_least: 0, at_most: 100}}
  - reach: {{object: Bot, position: [0, 2, 0], radius: 1, before: 3}}
  - rest: {{object: Wall, from: 0}}
"""
        },
        "scene.yaml",
        ("scene.yaml",),
    )


def hill() -> Base:
    """A bot on a drivable mesh whose corners are extremes."""
    return Base(
        "hill",
        {
            "scene.yaml": """
add:
  - {name: Bot, kind: autonomous, position: [0, 0, 0], heading: 10}
  - {name: Hill, kind: mesh, position: [0, 0, 0], vertices: v.txt, indices: i.txt, drivable: true}
  - {name: Rock, kind: mesh, position: [1, 6, 0], vertices: v.txt, indices: i.txt}
expect: [{collision: {object: Bot}}]
""",
            "v.txt": "-9 -9 0\n9 -9 0\n9 20 2\n-9 20 1.5\n0 3 0.4\n",
            "i.txt": "0 1 4\n1 2 4\n2 3 4\n3 0 4\n",
        },
        "scene.yaml",
        ("scene.yaml", "v.txt"),
    )


def sensors() -> Base:
    """A bot with one sensor of every type."""
    noise = (
        "range_sigma 0.02\nangle_sigma 0.1\ndropout 0.01\nrange_sigma_slope 0.01\nrange_bias 0.01\nfalse_returns 0.01\n"
    )
    bins = "bins 10 30\nbin_ratio 1.5\ndetection_rate 0.9\nradial_sigma 0.2\nradial_bias 0.1\n"
    drift = "position_sigma 0.5\naltitude_sigma 0.5\nposition_drift 0.5\ndrift_time 60\nposition_resolution 0.01\n"
    return Base(
        "sensors",
        {
            "scene.yaml": """
add:
  - name: Bot
    kind: autonomous
    position: [0, 0, 0]
    size: [1.8, 4.5, 1.5]
    parameters: {wheelbase: 2.8}
    sensors: [ladar.conf, radar.conf, gps.conf, ins.conf, odometry.conf, objects.conf]
  - {name: Wall, position: [0, 8, 0], size: [6, 1, 2]}
  - {name: Ball, shape: sphere, position: [4, 6, 0], size: [1, 1, 1]}
  - {name: Mover, kind: dynamic, position: [-6, 0, 0], script: [{speed: 6, distance: 12, angle: -60}]}
""",
            "ladar.conf": "type ladar\nstart_angle -90\nend_angle 90\nresolution 5\nmin_range 0.1\nmax_range 80\n"
            "range_resolution 0.01\n"
            "rate 10\nlayers 2\nvertical_fov 5\nposition 0 1.9 0.6\n"
            "roll 1\npitch -3\nyaw 2\nlatency 0.02\nscan_time 0.02\n"
            "blind 10 12\nfreeze 0.5 0.6\n" + noise + bins + "no_return max\n",
            "radar.conf": "type radar\nmax_range 100\nfov 60\nrate 20\nposition 0 2 0.5\ncorrelation_time 1\n" + bins,
            "objects.conf": "type objects\nrate 10\nmax_range 80\ncorrelation_time 1\ndetection_time 1\nflip_rate 0.1\n"
            "flip_speed 0.5\nfalse_positives 1\nmin_visible 0.1\nvelocity_sigma 0.1\ntangential_sigma 0.1\n"
            "tangential_bias 0.1\nyaw_sigma 1\nyaw_bias 1\n" + bins,
            "gps.conf": "type gps\nrate 5\nlatency 0.1\nposition 0 0 1\nvelocity_sigma 0.1\nposition_bias 0.1 0.1 0.1\n"
            + drift,
            "ins.conf": "type ins\nrate 50\nheading_sigma 0.1\nyaw_rate_sigma 0.1\nheading_bias 0.1\n"
            "yaw_rate_bias 0.1\n"
            "heading_drift 0.1\nyaw_rate_drift 0.1\noutage_drift 0.1\n" + drift,
            "odometry.conf": "type odometry\nrate 20\nwheel_radius 0.3\nspeed_scale 1.01\nticks 100\n"
            "velocity_sigma 0.01\n",
        },
        "scene.yaml",
        ("ladar.conf", "radar.conf", "objects.conf", "gps.conf", "ins.conf", "odometry.conf"),
    )


V2 = """<object_file><name>Default</name>
  <object type="autonomous" shape="box"><name>Bot</name>
    <start_position segment="1" lane="1" waypoint="2"/><position_offset x="0" y="0" z="0"/>
    <orientation_offset x="0" y="0" z="3"/><size x="1.8" y="4.5" z="1.5"/>
    <wheels type="1" radius="0.38" width="0.2"/><steering throttle_rate="2" lever_rate="0.5"/></object>
  <object type="dynamic" shape="box"><name>Car</name>
    <start_position segment="1" lane="1" waypoint="1"/><position_offset x="0" y="1" z="0"/>
    <orientation_offset x="0" y="0" z="0"/><size x="1.8" y="4.5" z="1.5"/><initial_pause>0.2</initial_pause>
    <goal speed="9" pause="0.5" segment="1" lane="1" waypoint="3"/><goal speed="5" pause="0" segment="1" lane="1"/>
  </object>
  <object type="static" shape="cylinder"><name>Drum</name>
    <start_position segment="1" lane="1" waypoint="2"/><position_offset x="0" y="4" z="0"/>
    <orientation_offset x="0" y="0" z="0"/><size x="0.6" y="0.6" z="1.0"/></object>
</object_file>
"""
V2_PARAMETERS = V2.replace('type="autonomous"', 'type="autonomous" ATTRIBUTES')
V1 = """2
0
0
1
0
1 1 2
0.0
0.0
0.0
1.7
3.68
2.16
0.0
0.0
0.0
1
0.38
0.2
2.0
0.5
0
1
3
2
9.0
0.5
1 1 3
8.0
0.0
1 1 4
2
0
1 1 1
0.0
1.0
0.0
1.8
4.5
1.5
0.0
0.0
0.0
"""


def objects(name: str, text: str) -> Base:
    """Objects of an object file on a road, with a mission's speed limits."""
    attributes = " ".join(f'{key}="{value}"' for key, value in usual("dynamic").items())
    scene = f"network: road.rndf\nmission: road.mdf\nobjects: {name}\n"
    scene += "expect: [{speed: {object: BOT}}, {lane: {object: BOT}}]\n"
    return Base(
        name,
        {
            "scene.yaml": scene.replace("BOT", "object 1" if name.endswith("obj") else "Bot"),
            name: text.replace("ATTRIBUTES", attributes),
            "road.rndf": (ROOT / "rndf" / "loop.rndf").read_text(),
            "road.mdf": (ROOT / "rndf" / "loop.mdf").read_text(),
        },
        "scene.yaml",
        (name,),
    )


def road() -> Base:
    """The same with extremes in the network and the mission."""
    base = objects("cars.xml", V2)
    return Base("road", base.files, base.main, ("road.rndf", "road.mdf"))


def parking() -> Base:
    """A network with a zone and spots."""
    files = {
        "scene.yaml": "network: road.rndf\nmission: road.mdf\nadd: [{name: Bot, kind: autonomous, at: 1.1.1}]\n"
        "expect: [{speed: {object: Bot}}, {checkpoints: {object: Bot}}]\n",
        "road.rndf": (ROOT / "rndf" / "parking.rndf").read_text(),
        "road.mdf": (ROOT / "rndf" / "parking.mdf").read_text(),
    }
    return Base("parking", files, "scene.yaml", ("road.rndf", "road.mdf"))


def model(name: str) -> Base:
    """A shipped model by itself."""
    return Base(name, {name: (ROOT / "scenarios" / "models" / name).read_text()}, name, (name,))


def placed() -> Base:
    """A model that a car runs into."""
    files = {
        "scene.yaml": """
add:
  - {name: Bot, kind: autonomous, position: [0, 0, 0], size: [1.8, 4.5, 1.5], parameters: {mass: 1500}}
models:
  - {file: dummy.urdf, name: Dummy, position: [0.2, 3, 0], heading: 20, scale: 1, mass: 75}
""",
        "dummy.urdf": (ROOT / "scenarios" / "models" / "crash_dummy.urdf").read_text(),
    }
    return Base("placed", files, "scene.yaml", ("scene.yaml",))


def mechanism() -> Base:
    """Two plane four-bars as a Shift model."""
    return Base("bars.json", {"bars.json": shift.write(four_bars(2))}, "bars.json", ("bars.json",))


TRAFFIC: tuple[Callable[[], Base], ...] = (
    *((lambda drive=drive: traffic(drive)) for drive in ("dynamic", "kinematic", "delayed", "skid", "skid-kinematic")),
    hill,
    sensors,
    lambda: objects("cars.xml", V2),
    lambda: objects("tuned.xml", V2_PARAMETERS),
    lambda: objects("cars.obj", V1),
    road,
    parking,
)
MODELS: tuple[Callable[[], Base], ...] = (
    *((lambda name=name: model(name)) for name in ("cart.jm", "crash_dummy.urdf", "quadruped.itd")),
    placed,
    mechanism,
)


def cases(bases: list[Base], seed: int) -> Iterator[Case]:
    """Give cases without end, each base in turn."""
    draw = random.Random(seed)
    spots = {base.name: [(f, m) for f in base.mutable for m in NUMBER.finditer(base.files[f])] for base in bases}
    while True:
        for base in bases:
            chosen = draw.sample(spots[base.name], draw.choice((1, 1, 1, 2, 3)))
            yield changed(base, [(file, found, draw.choice(EXTREMES)) for file, found in chosen])


def changed(base: Base, changes: list[tuple[str, re.Match[str], str]]) -> Case:
    """Replace numbers of a base, from the last to the first."""
    files, told = dict(base.files), []
    for file, found, text in sorted(changes, key=lambda change: -change[1].start()):
        told.append(f"{file}:{base.files[file].count(chr(10), 0, found.start()) + 1}: {found[0]} -> {text}")
        files[file] = files[file][: found.start()] + text + files[file][found.end() :]
    return Case(base, files, tuple(reversed(told)))


def attempt(case: Case, folder: Path, steps: int = STEPS) -> Result:
    """Load a case and run it, judged.

    Raises
    ------
    AssertionError
        If something is not finite, an error does not say where, or anything else goes wrong.
    """
    for name, text in case.files.items():
        (folder / name).write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            world = cbsim.load(folder / case.base.main)
        except CbsimError as error:
            if ": error: " not in str(error):
                raise AssertionError(f"{case.changes}: no place in: {error}") from error
            return Result("rejected", str(error))
        seats = {body.name: Pedal() for body in world if body.kind == "autonomous" and body.name in drivable(world)}
        try:
            outcome = execute(world, steps=steps, planner=seats or None)
        except StepError as error:
            return Result("failed", str(error))
        assert_finite(world, outcome.snapshot, case)
        for check in outcome.checks:
            assert not NOT_A_NUMBER.search(check.message), f"{case.changes}: {check.message}"
        for key, reading in cbsim.sense(world, outcome.snapshot).items():
            values = reading.ranges if hasattr(reading, "ranges") else reading.values()
            absent = np.isnan(values) & key.endswith(("gps", "ins"))  # what a device does not tell
            assert (np.isfinite(values) | absent).all(), f"{case.changes}: {key} reads {values}"
    return Result("finite", outcome.verdict)


def drivable(world: cbsim.World) -> set[str]:
    """Names of what a planner may drive."""
    from cbsim.spec.objects import Controller

    return {actor.item.name for actor in world.scene.actors if actor.item.controller is Controller.SENSOR}


def assert_finite(world: cbsim.World, snapshot: cbsim.Snapshot, case: Case) -> None:
    """Check every column but the controller state of models, where NaN may stand for nothing.

    An order's rate of change of speed is infinite where it holds at once.
    """
    rates = {"guided": ORDER_RATE, "order": CAR_RATE}
    for column in STATE:
        values = getattr(snapshot.columns, column.name)
        if column.name in rates:
            values = np.where((np.arange(values.shape[1]) == rates[column.name]) & (values == np.inf), 0.0, values)
        if column.name != "controller_state" and not np.isfinite(values).all():
            raise AssertionError(f"{case.changes}: {column.name} is {values[~np.isfinite(values)][:3]}")
