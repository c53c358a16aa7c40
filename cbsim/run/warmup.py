"""Compiling every kernel ahead, by running a small World that uses them all."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from cbsim.collision import first_contacts, separation
from cbsim.run.simulation import run
from cbsim.sensing import sense
from cbsim.sensing.caster import Caster
from cbsim.spec.objects import (
    Controller,
    Kind,
    MeshFile,
    ScriptEntry,
    ShapeKind,
    TrafficObject,
    Triple,
    Wheels,
    WheelType,
)
from cbsim.spec.sensor import SensorConf
from cbsim.world.compile import compile_world
from cbsim.world.scene import Actor, Scene
from cbsim.world.tables import Floats
from cbsim.world.world import World

__all__ = ["STAGES", "every_kind"]

UPRIGHT = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0])  # pose of a sensor


@cache
def every_kind() -> World:
    """Make a World with both drives, followers, a literal mover, every kind of sensor and noise, and every shape."""
    conf = SensorConf(beams=3, range_sigma=0.01, angle_sigma=0.001, dropout=0.01, scan_time=0.05)
    unit = SensorConf(type="ins", position_sigma=0.1, position_drift=0.1)
    wheels_conf = SensorConf(type="odometry", ticks=10)
    tracker = SensorConf(type="objects", radial_sigma=(0.1,), correlation_time=1.0, detection_rate=(0.9,))
    size = Triple(1.7, 3.7, 2.1)
    bots = [
        Actor(
            TrafficObject(
                Kind.AUTONOMOUS,
                f"bot {wheels.name}",
                controller=Controller.SENSOR,
                wheels=Wheels(wheels),
                size=size,
                position_offset=Triple(-10.0 * wheels, 0.0, 0.0),
            ),
            confs=(("scan", conf), ("ins", unit), ("odometry", wheels_conf), ("objects", tracker)),
        )
        for wheels in WheelType
    ]
    followers = [
        Actor(
            TrafficObject(
                Kind.AUTONOMOUS,
                f"follower {wheels.name}",
                controller=Controller.SCRIPT,
                wheels=Wheels(wheels),
                size=size,
                position_offset=Triple(-30.0 - 10.0 * wheels, 0.0, 0.0),
                script=(ScriptEntry(1.0, 0.0, 1.0, 0.0),),
            )
        )
        for wheels in WheelType
    ]
    mover = TrafficObject(
        Kind.DYNAMIC,
        "mover",
        controller=Controller.SCRIPT,
        position_offset=Triple(5.0, 0.0, 0.0),
        script=(ScriptEntry(1.0, 0.0, 1.0, 0.0),),
    )
    props = [
        TrafficObject(Kind.STATIC, shape.name, shape=shape, position_offset=Triple(0.0, 5.0 + shape, 0.0))
        for shape in ShapeKind
        if shape is not ShapeKind.MESH
    ]
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.1]])
    ramp = TrafficObject(
        Kind.MESH, "ramp", shape=ShapeKind.MESH, drivable=True, vertices=MeshFile(""), indices=MeshFile("")
    )
    mesh = Actor(ramp, mesh=(corners, np.array([[0, 1, 2]])))
    return compile_world(Scene("every kind", (*bots, *followers, Actor(mover), *map(Actor, props), mesh)))


def _places(world: World) -> tuple[Floats, Floats]:
    state = world.start.state
    return state.position, state.orientation


STAGES: tuple[tuple[str, Callable[[], object]], ...] = (
    ("world", every_kind),
    ("sensing", lambda: sense(every_kind(), every_kind().start)),
    ("casting", lambda: Caster(every_kind(), every_kind().sensors[0]).cast(UPRIGHT, *_places(every_kind()))),
    ("stepping", lambda: run(every_kind(), duration=0.1)),
    ("trajectories", lambda: first_contacts([[(0.0, 0.0, 0.0)]], (1.0, 1.0), [[(0.0, 0.0, 0.0)]], [(1.0, 1.0)])),
    ("separation", lambda: separation(every_kind(), every_kind().start, "mover", "ramp")),
)
