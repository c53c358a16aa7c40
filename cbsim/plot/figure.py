"""Figure kinds, and rendering of recordings to a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import UsageError
from cbsim.paths import writing
from cbsim.plot import profiles, scans, trajectories
from cbsim.plot.backend import figure, format_of, printable, render, settings
from cbsim.plot.request import PlotRequest, one_of
from cbsim.plot.tracks import Run, runs_of
from cbsim.recording.recording import Recording

__all__ = ["KINDS", "Kind", "data_of", "figure_of", "write_plot"]

DEFAULT_REQUEST = PlotRequest()


Data = dict[str, dict[str, NDArray[np.float64]]]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of figure.

    Attributes
    ----------
    draw : callable
        Draws runs into a figure of a size [mm].
    data : callable
        Returns the data that is drawn, by recording and object.
    size : tuple of float
        Default size [mm].
    of_objects : bool
        Whether it draws the motion of objects, of which there must be at least one.
    """

    draw: Callable[[Any, Sequence[Run], PlotRequest, tuple[float, float]], None]
    data: Callable[[Sequence[Run], PlotRequest], Data]
    size: tuple[float, float]
    of_objects: bool = True


KINDS: dict[str, Kind] = {
    "trajectories": Kind(trajectories.draw_trajectories, trajectories.trajectories, trajectories.SIZE),
    "speed": Kind(profiles.draw_profiles, profiles.profiles, profiles.SIZE),
    "scan": Kind(scans.draw_scans, scans.scans, scans.SIZE, of_objects=False),
}
"""Name of a kind → its definition."""


def data_of(
    recordings: Sequence[Recording], kind: str = "trajectories", request: PlotRequest = DEFAULT_REQUEST
) -> Data:
    """Return the data of a figure without drawing it; matplotlib is not needed.

    Returns
    -------
    dict
        By recording and object. ``trajectories``: rows of time [s], east and north [m]. ``speed``: rows of
        `cbsim.plot.profiles.COLUMNS`. ``scan``: under ``scan`` and the legend's text, returns (n, 2) [m].
    """
    one_of(kind, tuple(KINDS), "kind")
    return KINDS[kind].data(runs_of(recordings, request), request)


def figure_of(runs: Sequence[Run], kind: str = "trajectories", request: PlotRequest = DEFAULT_REQUEST) -> Any:
    """Draw a figure of runs from `cbsim.plot.tracks.runs_of`; returns a matplotlib figure without a window.

    Raises
    ------
    UsageError
        If the kind is unknown, there is nothing to draw, or matplotlib is missing.
    """
    one_of(kind, tuple(KINDS), "kind")
    if KINDS[kind].of_objects and not any(run.tracks for run in runs):
        raise UsageError("there is no object in the recording to draw")
    size = request.size or KINDS[kind].size
    drawn = figure(size)
    KINDS[kind].draw(drawn, runs, request, size)
    if request.title:
        drawn.suptitle(printable(request.title))
    return drawn


def write_plot(
    recordings: Recording | Sequence[Recording],
    path: str | Path,
    kind: str = "trajectories",
    request: PlotRequest = DEFAULT_REQUEST,
) -> list[Run]:
    """Plot recordings into one file; equal recordings and requests yield equal bytes.

    Parameters
    ----------
    recordings : Recording or sequence of Recording
    path : path
        Output file, ``.svg``, ``.pdf`` or ``.png`` (300 dots per inch).
    kind : str
        One of `KINDS`.
    request : PlotRequest

    Returns
    -------
    list of Run
        Data that were drawn.

    Raises
    ------
    UsageError
        If matplotlib is missing, the request cannot be met, or the file cannot be written.
    RecordingError
        If a recording has no steps.
    FileError
        If a source file that one carries is missing or invalid.
    """
    target, suffix = Path(path), format_of(path)
    one_of(kind, tuple(KINDS), "kind")
    given = [recordings] if isinstance(recordings, Recording) else list(recordings)
    with settings(), np.errstate(over="ignore", invalid="ignore"):  # values of a diverged run
        runs = runs_of(given, request)
        written = render(figure_of(runs, kind, request), suffix)
    with writing(target):
        target.write_bytes(written)
    return runs
