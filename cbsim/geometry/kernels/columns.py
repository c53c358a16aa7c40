"""Columns of tables that several packages share: motion of bodies, samples of lines, boxes of trees."""

from __future__ import annotations

__all__: list[str] = []

# motion of a body: place [m], quaternion, velocity in the world [m/s], angular velocity in its own frame [rad/s]
POSITION, ORIENTATION, VELOCITY, ANGULAR_VELOCITY = 0, 3, 7, 10
# sample of a line: place [m], unit vector along it, way from its begin [m]
LINE_X, LINE_Y, LINE_EAST, LINE_NORTH, LINE_STATION = range(5)
# box of a node of a tree: its low and its high corner [m]
LOW_X, LOW_Y, LOW_Z, HIGH_X, HIGH_Y, HIGH_Z = range(6)
