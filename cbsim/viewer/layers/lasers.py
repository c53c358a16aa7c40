"""Lasers: returns as dots, beams as lines from the sensor."""

from __future__ import annotations

import numpy as np

from cbsim.palette import PAINT
from cbsim.viewer.canvas import Canvas
from cbsim.viewer.view import View

__all__ = ["draw_beams", "draw_points", "without_returns"]

BEAMS = 60  # beams of a scan that are drawn at most
FAR = 4.0  # [pixels per metre] below, returns crowd and are drawn smaller


def draw_points(canvas: Canvas, view: View) -> None:
    """Dot every return of the newest scan of each laser."""
    for scan in view.moment.scans.values():
        points = scan.points.reshape(-1, 3)
        points = points[np.isfinite(points[:, 0])]
        if len(points):
            canvas.dots(view.to_screen(points), PAINT.laser, 2.0 if view.camera.scale > FAR else 1.0)


def draw_beams(canvas: Canvas, view: View) -> None:
    """Draw beams to their returns, and as far as the laser reaches where there is none."""
    for key, scan in view.moment.scans.items():
        beams = view.stage.beams[key]
        layers, count = scan.ranges.shape
        local = scan.directions * np.where(scan.returned, scan.ranges, beams.reach)[..., None]
        stride = max(1, layers * count // BEAMS)
        ends = view.to_screen(scan.pose.apply(local.reshape(-1, 3)[::stride]))
        hits = scan.returned.reshape(-1)[::stride]
        start = view.to_screen(scan.pose.position)
        for chosen, colour in ((~hits, PAINT.lost), (hits, PAINT.beam)):
            for end in ends[chosen]:
                line = np.array([start, end])
                if canvas.sees(line):
                    canvas.line(line, colour, 1.0)


def without_returns(view: View) -> list[str]:
    """Name the lasers whose newest scan hit nothing: where no dot is seen, no dot is missing."""
    scans = view.moment.scans
    alone = len({key.partition("/")[0] for key in scans}) == 1  # then it need not be said whose they are
    return [key.partition("/")[2] if alone else key for key, scan in scans.items() if not scan.returned.any()]
