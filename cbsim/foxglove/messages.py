"""Parts of foxglove messages as plain data: times, vectors, poses, colours, transforms and entities."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cbsim.arrays import Floats

__all__ = [
    "HERE",
    "MAP",
    "QUARTER",
    "Message",
    "colour",
    "entity",
    "frame_of",
    "pose",
    "quaternion",
    "timestamp",
    "transform",
    "vector",
]

Fields = dict[str, Any]

MAP = "map"  # the frame of the world
HALF = math.sqrt(0.5)
QUARTER = np.array([HALF, 0.0, 0.0, HALF])  # turns foxglove's forward, x, into cbsim's, y
NANOSECONDS = 1_000_000_000
PRIMITIVES = ("arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models")


class Message(NamedTuple):
    """A message: its topic, the name of its schema, its time [s], and its JSON."""

    topic: str
    schema: str
    time: float
    data: bytes


def frame_of(kind: str, name: str) -> str:
    """Name of the frame of a body or a sensor, distinct from all others and from the map.

    >>> frame_of("body", "map")
    'body/map'
    """
    return f"{kind}/{name}"


def timestamp(time: float) -> Fields:
    """Time [s] in seconds and nanoseconds, equal to that of the recording's messages.

    >>> timestamp(1.05)
    {'sec': 1, 'nsec': 50000000}
    """
    seconds, rest = divmod(max(0, round(time * 1e9)), NANOSECONDS)
    return {"sec": seconds, "nsec": rest}


def vector(values: Floats) -> Fields:
    """Vector (3,) by components."""
    x, y, z = map(float, values)
    return {"x": x, "y": y, "z": z}


def quaternion(values: Floats) -> Fields:
    """Quaternion (4,), scalar first, by components."""
    w, x, y, z = map(float, values)
    return {"x": x, "y": y, "z": z, "w": w}


def pose(position: Floats, orientation: Floats) -> Fields:
    """Pose of a position (3,) [m] and a quaternion (4,)."""
    return {"position": vector(position), "orientation": quaternion(orientation)}


HERE = pose(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
"""The identity pose."""


def colour(rgb: tuple[int, int, int]) -> Fields:
    """Opaque colour of the palette with components 0 to 1."""
    red, green, blue = (round(value / 255.0, 4) for value in rgb)
    return {"r": red, "g": green, "b": blue, "a": 1.0}


def transform(time: float, child: str, position: Floats, orientation: Floats) -> Fields:
    """Transform of a frame to the map."""
    return {
        "timestamp": timestamp(time),
        "parent_frame_id": MAP,
        "child_frame_id": child,
        "translation": vector(position),
        "rotation": quaternion(orientation),
    }


def entity(time: float, frame: str, name: str, notes: dict[str, str], **primitives: list[Fields]) -> Fields:
    """Entity fixed in a frame, which stays until it is replaced."""
    return {
        "timestamp": timestamp(time),
        "frame_id": frame,
        "id": name,
        "lifetime": {"sec": 0, "nsec": 0},
        "frame_locked": True,
        "metadata": [{"key": key, "value": value} for key, value in notes.items()],
        **{kind: primitives.get(kind, []) for kind in PRIMITIVES},
    }
