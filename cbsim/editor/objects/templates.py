"""Templates of new objects, with unique names and ids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from cbsim.spec.objects import (
    Controller,
    Kind,
    MeshFile,
    SensorMount,
    ShapeKind,
    Steering,
    TrafficObject,
    Triple,
    Wheels,
)

__all__ = ["TEMPLATES", "with_unique_name"]

TEMPLATES = {
    Kind.AUTONOMOUS: TrafficObject(
        Kind.AUTONOMOUS, "CajunBot", size=Triple(1.7, 3.68, 2.16), controller=Controller.SENSOR,
        wheels=Wheels(), steering=Steering(), sensors=(SensorMount("onboard/scan_gp_driver_0.conf"),),
    ),
    Kind.DYNAMIC: TrafficObject(
        Kind.DYNAMIC, "Traffic Vehicle", size=Triple(2.0, 4.0, 1.5), controller=Controller.WAYPOINT
    ),
    Kind.STATIC: TrafficObject(Kind.STATIC, "Static Obstacle", size=Triple(1.2, 1.2, 1.2)),
    Kind.MESH: TrafficObject(
        Kind.MESH, "Mesh", shape=ShapeKind.MESH, vertices=MeshFile("vertices.txt"), indices=MeshFile("indices.txt")
    ),
}  # fmt: skip
"""Initial values of new objects, from the published examples."""

SPEED = 4.4704
"""Default speed to a goal [m/s]: ten miles an hour, from the published example."""

NUMBERED = re.compile(r"(?P<stem>.*?) ?(?P<number>[0-9]*)", re.DOTALL)


def with_unique_name(item: TrafficObject, objects: Sequence[TrafficObject], version: int) -> TrafficObject:
    """Give an object a unique name, and a unique id if it needs or has one.

    >>> with_unique_name(TEMPLATES[Kind.STATIC], [TEMPLATES[Kind.STATIC]], 2).name
    'Static Obstacle 2'
    """
    taken = {other.name for other in objects}
    name, stem, number = item.name, item.name, 1
    match = NUMBERED.fullmatch(item.name)
    if match is not None and match["number"]:
        stem, number = match["stem"], int(match["number"][:9])
    while name in taken:
        number += 1
        name = f"{stem} {number}"
    identifiers = {other.identifier for other in objects}
    identifier = item.identifier
    if version == 1 and item.kind is not Kind.MESH and identifier is None:
        identifier = 1
    while identifier is not None and identifier in identifiers:
        identifier += 1
    return replace(item, name=name, identifier=identifier)
