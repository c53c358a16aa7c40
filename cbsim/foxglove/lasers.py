"""Scans as foxglove messages: a plane of evenly spaced beams is a LaserScan, every other laser gives a PointCloud."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.foxglove.messages import HERE, QUARTER, Message, frame_of, pose, timestamp, transform
from cbsim.geometry.pose import conjugate, rotate
from cbsim.recording.batch import ScanRow
from cbsim.world.sensors import beam_directions

__all__ = ["Laser"]

FLOAT32 = 7
STRIDE = 12  # [bytes] of a point
FIELDS = [{"name": name, "offset": 4 * k, "type": FLOAT32} for k, name in enumerate("xyz")]
EVEN = 1e-9  # [rad] tolerance of even spacing of azimuths
DIGITS = 4  # decimals of ranges in metres: a tenth of a millimetre, finer than any laser's resolution
NO_RETURN = "1e999"  # JSON has no infinity; readers parse this number as such


class Laser:
    """One laser, from its description in a header."""

    def __init__(self, sensor: dict[str, Any]) -> None:
        self.key = str(sensor["key"])
        self.angles = np.asarray(sensor["angles"], float)
        pitches = tuple(map(float, sensor["pitches"]))
        self._directions = beam_directions(self.angles, pitches)
        self._nothing = float(sensor["max_range"]) if sensor["no_return"] == "max" else np.inf
        count = len(self.angles)
        even = count > 1 and np.abs(self.angles - np.linspace(self.angles[0], self.angles[-1], count)).max() < EVEN
        self.flat = bool(even) and pitches == (0.0,)

    def messages_of(self, scan: ScanRow) -> Iterator[Message]:
        """Yield the messages of a scan: the sensor's pose and its returns."""
        if not np.isfinite(scan.pose).all():
            return
        frame, topic = frame_of("sensor", self.key), f"/foxglove/scan/{self.key}"
        placed = json.dumps(transform(scan.time, frame, scan.pose[:3], scan.pose[3:]), separators=(",", ":"))
        yield Message(f"/foxglove/frames/{self.key}", "foxglove.FrameTransform", scan.time, placed.encode())
        head = {"timestamp": timestamp(scan.time), "frame_id": frame}
        if self.flat and scan.sweep is None and scan.ranges.shape == (1, len(self.angles)):
            yield Message(topic, "foxglove.LaserScan", scan.time, self._plane(head, scan.ranges[0]))
        else:
            yield Message(f"/foxglove/points/{self.key}", "foxglove.PointCloud", scan.time, self._cloud(head, scan))

    def _plane(self, head: dict[str, Any], ranges: Floats) -> bytes:
        """Return a LaserScan: foxglove's azimuths begin at x, those of cbsim at y."""
        said = head | {
            "pose": pose(np.zeros(3), QUARTER),
            "start_angle": float(self.angles[0]),
            "end_angle": float(self.angles[-1]),
            "intensities": [],
        }
        known = np.isfinite(ranges) & (ranges != self._nothing)
        numbers = [
            repr(value) if sound else NO_RETURN
            for value, sound in zip(ranges.round(DIGITS).tolist(), known.tolist(), strict=True)
        ]
        text = json.dumps(said, separators=(",", ":"))
        return f'{text[:-1]},"ranges":[{",".join(numbers)}]}}'.encode()

    def _cloud(self, head: dict[str, Any], scan: ScanRow) -> bytes:
        """Return a PointCloud in the sensor's frame at the end of the scan."""
        pose_, shape = scan.pose, self._directions.shape[:2]
        ranges = scan.ranges if scan.ranges.shape == shape else np.full(shape, np.nan)
        known = np.isfinite(ranges) & (ranges != self._nothing)
        local = self._directions * np.where(known, ranges, 0.0)[..., None]
        if scan.sweep is not None and scan.sweep.shape == (shape[1], 7):
            world = rotate(scan.sweep[:, 3:], local) + scan.sweep[:, :3]
            local = rotate(conjugate(pose_[3:]), world - pose_[:3])
        points = local[known].astype("<f4")
        said = head | {
            "pose": HERE,
            "point_stride": STRIDE,
            "fields": FIELDS,
            "data": base64.b64encode(points.tobytes()).decode(),
        }
        return json.dumps(said, separators=(",", ":")).encode()
