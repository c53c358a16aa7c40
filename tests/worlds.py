"""Worlds built by hand, without files: one canonical object of each kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from cbsim.spec.objects import Controller, Kind, MeshFile, ScriptEntry, ShapeKind, TrafficObject, Triple
from cbsim.spec.sensor import SensorConf
from cbsim.world.compile import compile_world
from cbsim.world.scene import Actor, Scene, Settings
from cbsim.world.world import World

SIZE = Triple(1.7, 3.68, 2.16)
UNIT = Triple(1, 1, 1)
ZERO = Triple(0, 0, 0)


def bot(name: str = "CajunBot", *confs: SensorConf, **fields: Any) -> Actor:
    fields.setdefault("size", SIZE)
    item = TrafficObject(Kind.AUTONOMOUS, name, controller=Controller.SENSOR, **fields)
    return Actor(item, confs=tuple((f"scan_{k}", conf) for k, conf in enumerate(confs)))


def mover(name: str, *entries: tuple[float, float, float, float], at: Triple = ZERO, **fields: Any) -> Actor:
    """Follow a script of (speed, pause, distance, angle)."""
    script = tuple(ScriptEntry(*entry) for entry in entries)
    item = TrafficObject(Kind.DYNAMIC, name, controller=Controller.SCRIPT, script=script, position_offset=at, **fields)
    return Actor(item)


def prop(name: str, at: Triple, shape: ShapeKind = ShapeKind.BOX, size: Triple = UNIT, yaw: float = 0.0) -> Actor:
    turn = Triple(0.0, 0.0, yaw)
    item = TrafficObject(Kind.STATIC, name, shape=shape, position_offset=at, size=size, orientation_offset=turn)
    return Actor(item)


def mesh(name: str, vertices: Any, triangles: Any, at: Triple = ZERO, drivable: bool = False) -> Actor:
    item = TrafficObject(
        Kind.MESH,
        name,
        shape=ShapeKind.MESH,
        position_offset=at,
        drivable=drivable,
        vertices=MeshFile("v"),
        indices=MeshFile("i"),
    )
    return Actor(item, mesh=(np.asarray(vertices, float), np.asarray(triangles, np.int64)))


def world(*actors: Actor, **settings: Any) -> World:
    return compile_world(Scene("test", actors, settings=Settings(**settings)))


def level(**fields: Any) -> SensorConf:
    """A level scanner 1 m above the ground at the bot's centre, 1° beams over 180°."""
    return SensorConf(**{"position": Triple(0.0, 0.0, 1.0), **fields})
