"""Packed planner annotations: quantised points, with tables of styles and texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from cbsim.page import Packer
from cbsim.recording.drawings import PERIOD, DrawingRow
from cbsim.report.frames import quantise
from cbsim.spec.drawing import Dots, Drawing, Line, Text

__all__ = ["MOST", "kept_rows", "pack_annotations"]

GRAIN = 0.01  # [m]
MOST = 400_000  # points per page at most: about a megabyte

Look = tuple[str, str, float, bool]


def kept_rows(rows: list[DrawingRow], stride_time: float) -> list[DrawingRow]:
    """Select the rows worth keeping, and those that end what a kept row shows.

    Parameters
    ----------
    rows : list of DrawingRow
        As recorded.
    stride_time : float
        Time between two frames of the page [s].
    """
    every = max(1, round(stride_time / PERIOD))
    while sum(len(one.places) for row in rows[::every] for one in row.drawings) > MOST:
        every *= 2
    kept, shows = list[DrawingRow](), False
    for place, row in enumerate(rows):
        shown = any(len(one.places) for one in row.drawings)
        if place % every == 0 or (shows and not shown):
            kept.append(row)
            shows = shown
    return kept


def pack_annotations(rows: list[DrawingRow], packer: Packer) -> dict[str, Any] | None:
    """Pack rows of drawings; None if nothing is drawn.

    Returns
    -------
    dict
        ``steps`` (n,); ``counts`` (n,), drawings per row; ``parts`` (m, 3), style, number of points and text (or -1) of
        each drawing; ``points`` (k, 2) with their ``unit``; ``looks`` and ``texts``.
    """
    drawings = [one for row in rows for one in row.drawings if len(one.places)]
    if not drawings:
        return None
    looks, texts = dict[Look, int](), dict[str, int]()
    parts = [
        (
            looks.setdefault(_look(one), len(looks)),
            1 if isinstance(one, Text) else len(one.places),
            texts.setdefault(one.text, len(texts)) if isinstance(one, Text) else -1,
        )
        for one in drawings
    ]
    flat = [(one.places[:1] if isinstance(one, Text) else one.places)[:, :2] for one in drawings]
    points = quantise(np.concatenate(flat).ravel(), GRAIN)
    counts = [sum(len(one.places) > 0 for one in row.drawings) for row in rows]
    return {
        "steps": packer.add(np.array([row.step for row in rows], "<i4")[:, None], rows=True),
        "counts": packer.add(np.array(counts, "<i4")[:, None], rows=True),
        "parts": packer.add(np.array(parts, "<i4"), rows=True),
        "points": {"unit": points.unit, "counts": packer.add(points.counts.astype("<i4").reshape(-1, 2), rows=True)},
        "looks": [{"kind": kind, "colour": colour, "size": size, "closed": on} for kind, colour, size, on in looks],
        "texts": list(texts),
    }


def _look(one: Drawing) -> Look:
    colour = "" if one.colour is None else "#{:02x}{:02x}{:02x}".format(*one.colour)
    if isinstance(one, Line):
        return "line", colour, round(one.width, 2), one.closed
    return ("dots", colour, round(one.size, 2), False) if isinstance(one, Dots) else ("text", colour, 0.0, False)
