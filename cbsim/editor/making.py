"""New objects: what each kind begins as, with a name and an id of its own."""

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

__all__ = ["BEGINNINGS", "unique"]

BEGINNINGS = {
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
"""What objects are when they are put down; the numbers are those of the published examples."""

SPEED = 4.4704
"""Speed of a first goal [m/s]: ten miles an hour, as in the published example."""

NUMBERED = re.compile(r"(?P<stem>.*?) ?(?P<number>[0-9]*)", re.DOTALL)


def unique(item: TrafficObject, objects: Sequence[TrafficObject], version: int) -> TrafficObject:
    """Give an object a name that is free, and an id that is free where it needs one or has one.

    >>> unique(BEGINNINGS[Kind.STATIC], [BEGINNINGS[Kind.STATIC]], 2).name
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
