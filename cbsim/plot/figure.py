"""Figures by kind: what each draws, from recordings to a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import UsageError
from cbsim.plot import profiles, scans, trajectories
from cbsim.plot.courses import Run, runs_of
from cbsim.plot.library import figure, format_of, plain, saved, settings
from cbsim.plot.wishes import Wishes, one_of
from cbsim.recording.recording import Recording

__all__ = ["KINDS", "Kind", "data_of", "figure_of", "write_plot"]

NO_WISHES = Wishes()


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of figure: what draws it, and its usual size [mm]."""

    draw: Callable[[Any, Sequence[Run], Wishes, tuple[float, float]], None]
    size: tuple[float, float]


KINDS: dict[str, Kind] = {
    "trajectories": Kind(trajectories.draw_trajectories, trajectories.SIZE),
    "speed": Kind(profiles.draw_profiles, profiles.SIZE),
    "scan": Kind(scans.draw_scans, scans.SIZE),
}
"""Name of a kind → how it is drawn."""


def data_of(
    recordings: Sequence[Recording], kind: str = "trajectories", wishes: Wishes = NO_WISHES
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Give the numbers of a figure without drawing it; needs no matplotlib.

    Returns
    -------
    dict
        By recording and object: of ``trajectories`` rows of time [s], east and north [m]; of ``speed`` rows of
        `cbsim.plot.profiles.COLUMNS`; of ``scan`` under ``scan`` and what the legend says, returns (n, 2) [m].
    """
    one_of(kind, tuple(KINDS), "kind")
    runs = runs_of(recordings, wishes)
    if kind == "scan":
        return {"scan": scans.scans(runs, wishes)}
    return trajectories.trajectories(runs) if kind == "trajectories" else profiles.profiles(runs)


def figure_of(runs: Sequence[Run], kind: str = "trajectories", wishes: Wishes = NO_WISHES) -> Any:
    """Draw a figure of runs, as `cbsim.plot.courses.runs_of` gathers them: a figure of matplotlib, without a window.

    Raises
    ------
    UsageError
        If there is no such kind, nothing to draw, or no matplotlib.
    """
    one_of(kind, tuple(KINDS), "kind")
    if kind != "scan" and not any(run.courses for run in runs):
        raise UsageError("there is no object in the recording to draw")
    size = wishes.size or KINDS[kind].size
    drawn = figure(size)
    KINDS[kind].draw(drawn, runs, wishes, size)
    if wishes.title:
        drawn.suptitle(plain(wishes.title))
    return drawn


def write_plot(
    recordings: Recording | Sequence[Recording],
    path: str | Path,
    kind: str = "trajectories",
    wishes: Wishes = NO_WISHES,
) -> list[Run]:
    """Draw recordings over each other into a file; the same recordings and wishes give the same bytes.

    Parameters
    ----------
    recordings : Recording or sequence of Recording
    path : path
        Ends in ``.svg``, ``.pdf`` or ``.png`` (300 dots per inch).
    kind : str
        One of `KINDS`.
    wishes : Wishes

    Returns
    -------
    list of Run
        What was drawn.

    Raises
    ------
    UsageError
        If matplotlib is absent, a wish cannot be met, or the file cannot be written.
    RecordingError
        If there is no step in a recording.
    FileError
        If a file that one carries is missing or has errors.
    """
    target, suffix = Path(path), format_of(path)
    one_of(kind, tuple(KINDS), "kind")
    given = [recordings] if isinstance(recordings, Recording) else list(recordings)
    with settings(), np.errstate(over="ignore", invalid="ignore"):  # of a run that went wrong
        runs = runs_of(given, wishes)
        written = saved(figure_of(runs, kind, wishes), suffix)
    try:
        target.write_bytes(written)
    except OSError as reason:
        raise UsageError(f"cannot write '{target}': {reason.strerror}") from None
    return runs
