"""Laser returns as dots, and beams as lines."""

from __future__ import annotations

import numpy as np

from cbsim.palette import PAINT
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.view import View

__all__ = ["draw_beams", "draw_points", "without_returns"]

BEAMS = 60  # beams drawn per scan at most
FAR = 4.0  # [pixels per metre] below, returns are drawn smaller


def draw_points(canvas: Canvas, view: View) -> None:
    """Draw the returns of each laser's latest scan."""
    for scan in view.state.scans.values():
        points = scan.points.reshape(-1, 3)
        points = points[np.isfinite(points[:, 0])]
        if len(points):
            canvas.dots(view.to_screen(points), PAINT.laser, 2.0 if view.camera.scale > FAR else 1.0)


def draw_beams(canvas: Canvas, view: View) -> None:
    """Draw beams to their returns, or to the maximum range without a return."""
    for key, scan in view.state.scans.items():
        beams = view.stage.beams[key]
        layers, count = scan.ranges.shape
        local = scan.directions * np.where(scan.returned, scan.ranges, beams.max_range)[..., None]
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
    """Names of the lasers whose latest scan has no returns."""
    scans = view.state.scans
    alone = len({key.partition("/")[0] for key in scans}) == 1  # a single owner need not be named
    return [key.partition("/")[2] if alone else key for key, scan in scans.items() if not scan.returned.any()]
