"""Digest of a World, by which a Snapshot is known to belong to it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cbsim.errors import Location
from cbsim.geometry.pose import Pose
from cbsim.world.bodies import Bodies
from cbsim.world.command_queue import CommandQueue
from cbsim.world.events.tables import Events
from cbsim.world.people.tables import People
from cbsim.world.scene import Scene
from cbsim.world.tables import Constants, Shapes
from cbsim.world.traffic.tables import Traffic
from cbsim.world.world import Sensor

if TYPE_CHECKING:
    from cbsim.world.model_instances import ModelInstance

__all__ = ["digest_of"]


def digest_of(
    constants: Constants,
    shapes: Shapes,
    bodies: Bodies,
    sensors: tuple[Sensor, ...],
    poses: list[Pose],
    instances: tuple[ModelInstance, ...],
    scene: Scene,
    parts: tuple[Traffic, Events, People, tuple[CommandQueue, ...]],
) -> int:
    """Digest the contents of a World, so that Snapshots of other Worlds are detected."""
    traffic, events, people, queues = parts
    digest = hashlib.blake2b(digest_size=8)
    for value in (*constants, *shapes):
        digest.update(np.ascontiguousarray(value).data)
    if len(traffic.road.car_rows):
        for value in traffic.tables():
            digest.update(np.ascontiguousarray(value).data)
        digest.update(repr([replace(pool, location=Location("")) for pool in scene.pools]).encode())
    for value in people:
        digest.update(np.ascontiguousarray(value).data)
    if events.names:
        digest.update(repr(events.faults).encode())
        for value in events.tables:
            digest.update(np.ascontiguousarray(value).data)
    if queues:
        digest.update(repr(queues).encode())
    for body, pose in zip(bodies.single, poses, strict=False):
        digest.update(f"{body.name}\0{body.kind}\0".encode())
        digest.update(pose.position.tobytes() + pose.orientation.tobytes())
    for body in bodies.single[len(poses) :]:
        digest.update(f"{body.name}\0{body.kind}\0".encode())
    for instance in instances:
        for table in instance.tables():
            digest.update(np.ascontiguousarray(table).tobytes())
    for sensor in sensors:
        digest.update(repr((sensor.key, replace(sensor.conf, location=Location("")))).encode())
        digest.update(sensor.mount.position.tobytes() + sensor.directions.tobytes())
    return int.from_bytes(digest.digest(), "little")
