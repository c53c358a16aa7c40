"""What foxglove messages are made of: times, vectors, poses, colours and entities, as plain data."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "HERE",
    "MAP",
    "QUARTER",
    "Shown",
    "colour",
    "entity",
    "frame_of",
    "moment",
    "pose",
    "quaternion",
    "transform",
    "vector",
]

Floats = NDArray[np.float64]
Words = dict[str, Any]

MAP = "map"  # the frame of the world
HALF = math.sqrt(0.5)
QUARTER = np.array([HALF, 0.0, 0.0, HALF])  # turns foxglove's forward, x, into cbsim's, y
NANOSECONDS = 1_000_000_000
PRIMITIVES = ("arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models")


class Shown(NamedTuple):
    """A message: its topic, the name of its schema, its time [s], and its JSON."""

    topic: str
    schema: str
    time: float
    data: bytes


def frame_of(kind: str, name: str) -> str:
    """Name the frame of a body or a sensor, so that none is taken for another or for the map.

    >>> frame_of("body", "map")
    'body/map'
    """
    return f"{kind}/{name}"


def moment(time: float) -> Words:
    """Split a time [s], as the recording stamps it.

    >>> moment(1.05)
    {'sec': 1, 'nsec': 50000000}
    """
    seconds, rest = divmod(max(0, round(time * 1e9)), NANOSECONDS)
    return {"sec": seconds, "nsec": rest}


def vector(values: Floats) -> Words:
    """Name the three components."""
    x, y, z = map(float, values)
    return {"x": x, "y": y, "z": z}


def quaternion(values: Floats) -> Words:
    """Name the components of a quaternion, scalar first here."""
    w, x, y, z = map(float, values)
    return {"x": x, "y": y, "z": z, "w": w}


def pose(position: Floats, orientation: Floats) -> Words:
    """Put a pose together from a position (3,) [m] and a quaternion (4,)."""
    return {"position": vector(position), "orientation": quaternion(orientation)}


HERE = pose(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
"""The pose of what stands in its frame as the frame does."""


def colour(rgb: tuple[int, int, int], opacity: float = 1.0) -> Words:
    """Turn a colour of the palette into foxglove's, 0 to 1."""
    red, green, blue = (round(value / 255.0, 4) for value in rgb)
    return {"r": red, "g": green, "b": blue, "a": opacity}


def transform(time: float, child: str, position: Floats, orientation: Floats) -> Words:
    """Say where a frame stands in the map."""
    return {
        "timestamp": moment(time),
        "parent_frame_id": MAP,
        "child_frame_id": child,
        "translation": vector(position),
        "rotation": quaternion(orientation),
    }


def entity(time: float, frame: str, name: str, notes: dict[str, str], **primitives: list[Words]) -> Words:
    """Put an entity together; it stays until it is replaced, and goes where its frame goes."""
    return {
        "timestamp": moment(time),
        "frame_id": frame,
        "id": name,
        "lifetime": {"sec": 0, "nsec": 0},
        "frame_locked": True,
        "metadata": [{"key": key, "value": value} for key, value in notes.items()],
        **{kind: primitives.get(kind, []) for kind in PRIMITIVES},
    }
