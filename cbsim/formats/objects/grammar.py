"""Grammar of v2 object files as tables: allowed and required parts of each kind (docs/formats/objects.md)."""

from __future__ import annotations

from typing import NamedTuple

from cbsim.formats.objects.values import PARAMETERS
from cbsim.spec.objects import Kind

__all__ = ["AXES", "CHILDREN", "FLAGS", "OBJECT_ATTRIBUTES", "TELLTALES", "Child"]

BODIES = frozenset({Kind.AUTONOMOUS, Kind.DYNAMIC, Kind.STATIC})
MOVERS = frozenset({Kind.AUTONOMOUS, Kind.DYNAMIC})
BOTS = frozenset({Kind.AUTONOMOUS})
MESHES = frozenset({Kind.MESH})
AXES = ("x", "y", "z")


class Child(NamedTuple):
    """A row of the grammar.

    Attributes
    ----------
    kinds : frozenset of Kind
        Kinds that may have it.
    needed : frozenset of Kind
        Kinds that should have it.
    absent : str
        Substitute of a missing one (W633); empty if there is none (E634).
    attributes : tuple of str
        Attributes it may have.
    many : bool
        Whether there may be several.
    """

    kinds: frozenset[Kind]
    needed: frozenset[Kind] = frozenset()
    absent: str = ""
    attributes: tuple[str, ...] = ()
    many: bool = False


CHILDREN = {
    "name": Child(BODIES | MESHES, BODIES | MESHES, "a name made of its number"),
    "start_position": Child(BODIES | MESHES, BODIES, "the map's origin", ("segment", "lane", "waypoint")),
    "position_offset": Child(BODIES | MESHES, BODIES, "0 0 0", AXES),
    "orientation_offset": Child(BODIES | MESHES, BODIES, "0 0 0", AXES),
    "size": Child(BODIES, BODIES, "", AXES),
    "wheels": Child(BOTS, BOTS, "conventional wheels of 0.38 m by 0.20 m", ("type", "radius", "width", *PARAMETERS)),
    "steering": Child(BOTS, BOTS, "rates of 2 and 0.5", ("throttle_rate", "lever_rate", *PARAMETERS)),
    "sensor": Child(BOTS, attributes=("conf", "description", "type"), many=True),
    "initial_pause": Child(MOVERS, frozenset({Kind.DYNAMIC}), "0 s"),
    "goal": Child(MOVERS, attributes=("speed", "pause", "segment", "lane", "waypoint"), many=True),
    "script": Child(MOVERS, attributes=("speed", "pause", "distance", "angle"), many=True),
    "vertices": Child(MESHES, MESHES, "", ("path",)),
    "indices": Child(MESHES, MESHES, "", ("path",)),
}

OBJECT_ATTRIBUTES = {
    Kind.AUTONOMOUS: ("type", "shape", "id", "controller", "reactive", "drive", *PARAMETERS),
    Kind.DYNAMIC: ("type", "shape", "id", "controller", "reactive", "drive", *PARAMETERS),
    Kind.STATIC: ("type", "shape", "id"),
    Kind.MESH: ("type", "shape", "id", "drivable"),
}
"""What an object itself may say; all but `type` and `shape` are our extensions."""

TELLTALES = (
    ("vertices", Kind.MESH), ("indices", Kind.MESH), ("sensor", Kind.AUTONOMOUS), ("wheels", Kind.AUTONOMOUS),
    ("goal", Kind.DYNAMIC), ("initial_pause", Kind.DYNAMIC),
)  # fmt: skip
"""Children by which the kind of an object without a type is guessed, so that the rest of it can be read."""

FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
