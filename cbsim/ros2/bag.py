"""`write_ros2`: a recording as a bag of ROS 2 that `ros2 bag play` and Foxglove read.

Frames are those of REP 103: ``map`` is the World's (x east, y north, z up); bodies and sensors have x forward, y to the
left, where cbsim has x to the right, y forward.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import UsageError
from cbsim.geometry.pose import rotate
from cbsim.recording.batch import Batch, Header
from cbsim.recording.recording import Recording
from cbsim.ros2.schemas import DEFINITIONS
from cbsim.sensing import Scan
from cbsim.world.motion import ABSENT_BELOW

__all__ = ["write_ros2"]

MAP = "map"
HALF = np.sqrt(0.5)
MARKER_PERIOD, STATIC_PERIOD = 0.1, 1.0  # [s] between markers of bodies that move, and of others
CUBE, SPHERE, CYLINDER = 1, 2, 3
SHAPES = {"sphere": SPHERE, "cylinder": CYLINDER}
COLOURS = {"autonomous": (0.1, 0.4, 0.9), "dynamic": (0.9, 0.5, 0.1), "model": (0.6, 0.3, 0.7)}
GREY = (0.6, 0.6, 0.6)
FLOAT32 = 7
EVEN = 1e-9  # [rad] by which beams may be off an even fan
Stamped = tuple[float, str, str, dict[str, Any]]  # time [s], topic, type, message


def write_ros2(recording: Recording, path: str | Path) -> None:
    """Write a recording as a bag of ROS 2.

    Parameters
    ----------
    recording : Recording
    path : path
        The file; replaced when it is complete.

    Raises
    ------
    UsageError
        If the extra `ros2` is not installed, or the file cannot be written.
    """
    try:
        from mcap_ros2.writer import Writer
    except ImportError as missing:
        wanted = f"bags of ROS 2 need the extra 'ros2' ({missing.name} is missing)"
        raise UsageError(f"{wanted}: pip install 'cbsim[ros2]'") from None
    part = Path(f"{path}.part")
    try:
        with part.open("wb") as stream:
            writer: Any = Writer(stream)
            schemas = {name: writer.register_msgdef(name, text) for name, text in DEFINITIONS.items()}
            for time, topic, kind, message in _messages(recording):
                writer.write_message(topic, schemas[kind], message, log_time=_nanoseconds(time))
            writer.finish()
        part.replace(path)
    except OSError as reason:
        raise UsageError(f"cannot write '{path}': {reason.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def _messages(recording: Recording) -> Iterator[Stamped]:
    """Make all messages: those of the bodies in order of time, then the scans of one laser after another."""
    bodies = _Bodies(recording.header)
    for batch in recording.batches():
        yield from bodies.messages(batch)
    for sensor in recording.header.sensors:
        if "layers" in sensor:
            for scan in recording.scans(sensor["key"]):
                yield from _scan_messages(scan, sensor)


class _Bodies:
    """Clock, transforms, odometry and markers of a run."""

    def __init__(self, header: Header) -> None:
        self._header, self._moving = header, np.array(header.moving, np.int64)
        names = header.objects.names
        self._frames: dict[int, str] = {}
        taken: set[str] = {MAP}
        for row, name in enumerate(names):
            frame = _word(name)
            self._frames[row] = f"{frame}_{row}" if frame in taken else frame
            taken.add(self._frames[row])
        self._next_marker = self._next_static = 0.0

    def messages(self, batch: Batch) -> Iterator[Stamped]:
        """Messages of the steps of a batch."""
        rows = self._moving if batch.rows is None else batch.rows
        for step, motion in zip(batch.steps.tolist(), batch.motion, strict=True):
            time = step * self._header.step
            stamp = _stamp(time)
            there = [(int(row), one) for row, one in zip(rows, motion, strict=True) if one[2] > ABSENT_BELOW]
            yield time, "/clock", "rosgraph_msgs/msg/Clock", {"clock": stamp}
            transforms = [_transform(stamp, self._frames[row], one[:3], one[3:7]) for row, one in there]
            yield time, "/tf", "tf2_msgs/msg/TFMessage", {"transforms": transforms}
            for row, one in there:
                if self._header.objects[row].get("type") == "autonomous":
                    yield time, f"/{self._frames[row]}/odom", "nav_msgs/msg/Odometry", self._odometry(stamp, row, one)
            markers = self._markers(time, stamp, there)
            if markers:
                yield time, "/objects", "visualization_msgs/msg/MarkerArray", {"markers": markers}

    def _odometry(self, stamp: dict[str, int], row: int, motion: Floats) -> dict[str, Any]:
        inverse = motion[3:7] * (1.0, -1.0, -1.0, -1.0)
        right, ahead, up = rotate(inverse, motion[7:10]).tolist()
        pitch, roll, yaw = motion[10:13].tolist()  # about the axes to the right, forward and up
        return {
            "header": {"stamp": stamp, "frame_id": MAP},
            "child_frame_id": self._frames[row],
            "pose": {"pose": _pose(motion[:3], motion[3:7]), "covariance": [0.0] * 36},
            "twist": {
                "twist": {"linear": _xyz((ahead, -right, up)), "angular": _xyz((roll, -pitch, yaw))},
                "covariance": [0.0] * 36,
            },
        }

    def _markers(self, time: float, stamp: dict[str, int], there: list[tuple[int, Floats]]) -> list[dict[str, Any]]:
        if time < self._next_marker - 1e-9:
            return []
        self._next_marker = time + MARKER_PERIOD
        markers = [self._marker(stamp, row, one[:3], one[3:7], 3.0 * MARKER_PERIOD) for row, one in there]
        if time >= self._next_static - 1e-9:
            self._next_static = time + STATIC_PERIOD
            moving = set(self._header.moving)
            for k, one in enumerate(self._header.objects.single):
                row = self._header.objects.row_of(k)
                if row not in moving:
                    place, turn = np.array(one["position"]), np.array(one["orientation"])
                    markers.append(self._marker(stamp, row, place, turn, 3.0 * STATIC_PERIOD))
        return markers

    def _marker(self, stamp: dict[str, int], row: int, place: Floats, turn: Floats, lifetime: float) -> dict[str, Any]:
        about = self._header.objects[row]
        width, length, height = about["size"]
        red, green, blue = COLOURS.get(about.get("type", ""), GREY)
        return {
            "header": {"stamp": stamp, "frame_id": MAP},
            "ns": str(about.get("type", "")),
            "id": row,
            "type": SHAPES.get(about["shape"], CUBE),
            "action": 0,
            "pose": _pose(place, turn),
            "scale": _xyz((length, width, height)),
            "color": {"r": red, "g": green, "b": blue, "a": 1.0},
            "lifetime": _stamp(lifetime),
            "frame_locked": False,
            "points": [],
            "colors": [],
            "texture_resource": "",
            "texture": {"header": {"stamp": _stamp(0.0), "frame_id": ""}, "format": "", "data": b""},
            "uv_coordinates": [],
            "text": self._header.objects.names[row],
            "mesh_resource": "",
            "mesh_file": {"filename": "", "data": b""},
            "mesh_use_embedded_materials": False,
        }


def _scan_messages(scan: Scan, sensor: dict[str, Any]) -> Iterator[Stamped]:
    """Write a level fan of even beams as LaserScan, any other scan as PointCloud2."""
    frame = "/".join(map(_word, scan.key.split("/")))
    layers, beams = scan.ranges.shape
    steps = np.diff(scan.angles)
    is_fan = layers == 1 and beams > 1 and sensor["pitches"] == [0.0] and np.ptp(steps) < EVEN
    if not is_fan:
        yield scan.time, f"/{frame}/points", "sensor_msgs/msg/PointCloud2", _cloud(scan)
        return
    began = scan.time - scan.scan_time
    first, last = scan.poses[0], scan.poses[-1]
    poses = [(began, first), (scan.time, last)] if scan.scan_time > 0.0 else [(scan.time, last)]
    for time, pose in poses:
        transform = _transform(_stamp(time), frame, pose[:3], pose[3:7])
        yield time, "/tf", "tf2_msgs/msg/TFMessage", {"transforms": [transform]}
    message = {
        "header": {"stamp": _stamp(began), "frame_id": frame},
        "angle_min": float(scan.angles[0]),
        "angle_max": float(scan.angles[-1]),
        "angle_increment": float((scan.angles[-1] - scan.angles[0]) / (beams - 1)),
        "time_increment": scan.scan_time / (beams - 1),
        "scan_time": 1.0 / float(sensor["rate"]),
        "range_min": 0.0,
        "range_max": float(sensor["max_range"]),
        "ranges": np.where(scan.returned[0], scan.ranges[0], np.inf).astype(np.float32).tolist(),
        "intensities": [],
    }
    yield scan.time, f"/{frame}/scan", "sensor_msgs/msg/LaserScan", message


def _cloud(scan: Scan) -> dict[str, Any]:
    """Place the returns in the World, each by the pose at the instant of its beam."""
    points = np.ascontiguousarray(scan.points[scan.returned], "<f4")
    return {
        "header": {"stamp": _stamp(scan.time), "frame_id": MAP},
        "height": 1,
        "width": len(points),
        "fields": [
            {"name": name, "offset": 4 * k, "datatype": FLOAT32, "count": 1} for k, name in enumerate(("x", "y", "z"))
        ],
        "is_bigendian": False,
        "point_step": 12,
        "row_step": 12 * len(points),
        "data": points.tobytes(),
        "is_dense": True,
    }


def _word(name: str) -> str:
    """Spell a name as topics and frames may have it."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
    return f"_{word}" if word[0].isdigit() else word


def _nanoseconds(time: float) -> int:
    return max(0, round(1e9 * time))


def _stamp(time: float) -> dict[str, int]:
    seconds, rest = divmod(_nanoseconds(time), 10**9)
    return {"sec": seconds, "nanosec": rest}


def _xyz(values: Any) -> dict[str, float]:
    x, y, z = map(float, values)
    return {"x": x, "y": y, "z": z}


def _turn(orientation: Floats) -> dict[str, float]:
    """Orientation with x forward: that of the body, then a quarter turn about z."""
    a, b, c, d = orientation.tolist()
    s = float(HALF)
    w, x, y, z = s * (a - d), s * (b + c), s * (c - b), s * (d + a)
    return {"x": x, "y": y, "z": z, "w": w}


def _pose(position: Floats, orientation: Floats) -> dict[str, Any]:
    return {"position": _xyz(position), "orientation": _turn(orientation)}


def _transform(stamp: dict[str, int], frame: str, position: Floats, orientation: Floats) -> dict[str, Any]:
    return {
        "header": {"stamp": stamp, "frame_id": MAP},
        "child_frame_id": frame,
        "transform": {"translation": _xyz(position), "rotation": _turn(orientation)},
    }
