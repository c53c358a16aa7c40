"""Assembly of the report page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from cbsim.errors import UsageError
from cbsim.page import build_page
from cbsim.paths import writing
from cbsim.recording.recording import Recording
from cbsim.report import tables
from cbsim.report.compare import differences
from cbsim.report.data import Run, run_of
from cbsim.report.pack import pack

__all__ = ["page_of", "write_report"]

SCRIPTS = ("motion.js", "annotations.js", "lights.js", "model_poses.js", "replay.js", "plots.js", "main.js")


def write_report(recordings: Recording | Sequence[Recording], path: str | Path, *, title: str = "") -> Path:
    """Write the report of one recording, or a comparison of two, to an HTML file.

    Parameters
    ----------
    recordings : Recording or sequence of Recording
        One or two.
    path : path
        Output file.
    title : str
        By default the scenario's name.

    Raises
    ------
    UsageError
        If there are none or more than two, or the file cannot be written.
    RecordingError
        If a recording has no steps.
    FileError
        If a source file that one carries is missing or invalid.

    Examples
    --------
    >>> import cbsim, tempfile
    >>> from cbsim.report import write_report
    >>> recording = cbsim.run(cbsim.load("crash"), duration=1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(recording, f"{folder}/crash.html").name
    'crash.html'
    """
    given = [recordings] if isinstance(recordings, Recording) else list(recordings)
    if not 1 <= len(given) <= len(tables.LETTERS):
        raise UsageError(f"a report is of one recording or two, not of {len(given)}")
    target = Path(path)
    text = page_of([run_of(recording) for recording in given], title)
    with writing(target):
        target.write_text(text, encoding="utf-8")
    return target


def page_of(runs: Sequence[Run], title: str = "") -> str:
    """Render the page of one or two runs; equal runs yield equal text."""
    names = list(dict.fromkeys(run.header.scenario for run in runs))
    kept = pack(runs)
    compared = differences(runs[0], runs[1]) if len(runs) > 1 else None
    section = '<section aria-labelledby="compared"><h2 id="compared">Comparison</h2>\n'
    told = tables.events(runs)
    parts = {
        "title": escape(title or " and ".join(names)),
        "summary": tables.summary(runs),
        "notes": tables.notes(runs),
        "checks": tables.checks(runs),
        "comparison": "" if compared is None else f"{section}{tables.comparison(compared)}</section>",
        "contacts": tables.contacts(runs),
        "events": f'<section aria-labelledby="told"><h2 id="told">Events</h2>\n{told}</section>' if told else "",
        "figures": tables.extremes(runs),
        "objects": tables.objects(runs),
        "environment": tables.environment(runs, kept),
    }
    return build_page("cbsim.report", "assets", SCRIPTS, kept.data, parts)
