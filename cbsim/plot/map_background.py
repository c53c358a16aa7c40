"""Map background of trajectories and scans: road with markings, outlines of bodies and a scale bar."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.palette import MARKINGS, SCENE, WORDS
from cbsim.plot.labels import ASIDE, BELOW, Extent, LabelPlacer
from cbsim.plot.style import hexadecimal
from cbsim.road.drawing import Road

__all__ = ["draw_checkpoints", "draw_outlines", "draw_road", "extent_of", "scale_length", "set_extent"]

MARGIN, LEAST = 0.06, 0.3  # relative margin, and its minimum [m]
INK, STATIC = hexadecimal(SCENE.ink), "#b9bec4"
SURFACE, ZONE = "#e3e6e9", "#eef0f1"
MARKS = {  # on paper, white lines are white, and yellow ones dark enough to be visible
    (255, 212, 0): {"colour": "#c79a00", "bw": "#555555"},
    (255, 255, 255): {"colour": "#ffffff", "bw": "#ffffff"},
}
UNMARKED = "#c3c9cf"
POINTS_PER_METRE_LINE = 0.9  # [points] width of a marking
BAR = 0.25  # largest fraction of the width


def extent_of(points: Floats, size: tuple[float, float]) -> Extent:
    """Return the extent of points (n, 2) [m] with a margin, at a figure's aspect ratio; nan is ignored."""
    ratio = max(size[1] - BELOW, 0.5 * size[1]) / max(size[0] - ASIDE, 0.5 * size[0])
    known = points[np.isfinite(points).all(axis=1)]
    low, high = (known.min(axis=0), known.max(axis=0)) if len(known) else (np.zeros(2), np.zeros(2))
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    half = half + np.maximum(LEAST, MARGIN * 2.0 * half.max())
    half = np.array([max(half[0], half[1] / ratio), max(half[1], half[0] * ratio)])
    return (
        float(middle[0] - half[0]),
        float(middle[0] + half[0]),
        float(middle[1] - half[1]),
        float(middle[1] + half[1]),
    )


def set_extent(axes: Any, extent: Extent, along: str = "east [m]", up: str = "north [m]") -> None:
    """Set equal scales, the extent and labels of axes, and draw a scale bar."""
    left, right, bottom, top = extent
    axes.set_aspect("equal", adjustable="box")
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.set_xlabel(along)
    axes.set_ylabel(up)
    length = scale_length(BAR * (right - left))
    x, y = left + 0.04 * (right - left), bottom + 0.05 * (top - bottom)
    axes.plot([x, x + length], [y, y], color=INK, linewidth=2.0, solid_capstyle="butt", zorder=9, gid="scale")
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5}
    axes.annotate(
        f"{length:g} m", (x + 0.5 * length, y), (0, 4), textcoords="offset points", ha="center", zorder=9, bbox=box
    )


def scale_length(most: float) -> float:
    """Return the largest 1, 2 or 5 times a power of ten that does not exceed a length [m].

    >>> scale_length(37.0), scale_length(0.5), scale_length(1.9)
    (20.0, 0.5, 1.0)
    """
    power = 10.0 ** np.floor(np.log10(most) + 1e-12)
    return float(power * max(factor for factor in (1.0, 2.0, 5.0) if factor * power <= most * (1.0 + 1e-9)))


def draw_road(axes: Any, road: Road, extent: Extent, style: str) -> None:
    """Draw the part of a network within an extent: surface, zones, spots, markings and stop lines."""
    sets = importlib.import_module("matplotlib.collections")
    lanes = [lane for lane in road.lanes if _seen(np.concatenate([lane.left, lane.right]), extent)]
    surfaces = [np.concatenate([lane.left, lane.right[::-1]]) for lane in lanes]
    ways = [way for way in road.ways if _seen(way, extent)]
    areas = [corners for _, corners in road.zones if _seen(corners, extent)]
    spots = [corners for _, corners in road.spots if _seen(corners, extent)]
    axes.add_collection(sets.PolyCollection(areas, facecolors=ZONE, edgecolors=UNMARKED, linewidths=0.6, zorder=1))
    axes.add_collection(sets.PolyCollection(ways, facecolors=SURFACE, edgecolors="none", zorder=1.1))
    axes.add_collection(sets.PolyCollection(surfaces, facecolors=SURFACE, edgecolors="none", zorder=1.2))
    axes.add_collection(sets.PolyCollection(spots, facecolors="none", edgecolors=UNMARKED, linewidths=0.6, zorder=1.3))
    for mark in sorted({mark for lane in lanes for mark in lane.marks}):
        edges = [
            edge for lane in lanes for edge, own in zip((lane.left, lane.right), lane.marks, strict=True) if own == mark
        ]
        _mark(axes, sets, edges, mark, style)
    stops = [stop for stop in road.stops if _seen(stop, extent)]
    axes.add_collection(sets.LineCollection(stops, colors=INK, linewidths=1.6, capstyle="butt", zorder=2.2))


def _mark(axes: Any, sets: Any, edges: list[Floats], mark: str, style: str) -> None:
    """Draw the lane edges of one marking; a double line is a wide line with a gap."""
    marking = MARKINGS.get(mark)
    if marking is None:
        axes.add_collection(sets.LineCollection(edges, colors=UNMARKED, linewidths=0.4, zorder=1.4))
        return
    colour = MARKS[marking.colour][style]
    dash = "-" if marking.dash is None else (0, (3.0, 3.0))
    wide = POINTS_PER_METRE_LINE * (2.2 if marking.lines > 1 else 1.0)
    axes.add_collection(sets.LineCollection(edges, colors=colour, linewidths=wide, linestyles=[dash], zorder=1.5))
    if marking.lines > 1:
        axes.add_collection(sets.LineCollection(edges, colors=SURFACE, linewidths=0.3 * wide, zorder=1.6))


def draw_checkpoints(axes: Any, road: Road, extent: Extent, style: str, labels: LabelPlacer) -> None:
    """Draw the checkpoints within an extent, numbered where there is room."""
    colour = hexadecimal(WORDS.checkpoint) if style == "colour" else INK
    seen = [one for one in road.checkpoints if _seen(one.place[None], extent)]
    for one in seen:
        axes.plot(*one.place, marker="o", markersize=3.2, markerfacecolor="white", markeredgecolor=colour, zorder=2.5)
    labels.avoid([one.place[None] for one in seen])
    for one in seen:
        labels.put(axes, one.text, one.place[None], colour, needed=False)


def _seen(points: Floats, extent: Extent) -> bool:
    """Return whether the bounding box of points overlaps an extent."""
    (west, south), (east, north) = points.min(axis=0), points.max(axis=0)
    left, right, bottom, top = extent
    return bool(west <= right and east >= left and south <= top and north >= bottom)


def draw_outlines(axes: Any, corners: list[Floats], edge: str, fill: str, zorder: float) -> None:
    """Draw outlines of bodies; a body without a size is a dot."""
    sets = importlib.import_module("matplotlib.collections")
    large = [one for one in corners if np.ptp(one, axis=0).any()]
    axes.add_collection(
        sets.PolyCollection(large, facecolors=fill, edgecolors=edge, linewidths=0.8, zorder=zorder, gid="outlines")
    )
    for one in corners:
        if not np.ptp(one, axis=0).any():
            axes.plot(*one[0], marker="o", markersize=2.5, color=edge, zorder=zorder)
