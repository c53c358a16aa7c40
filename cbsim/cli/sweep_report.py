"""``cbsim sweep report``: the page of a sweep, and the replays of its worst runs beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cbsim.cli.output import print_status
from cbsim.errors import CbsimError, printable

if TYPE_CHECKING:
    from cbsim.cli.sweep_output import Told

__all__ = ["report"]


def report(folder: str, output: str, told: Told) -> None:
    """Write the page of a sweep; the worst runs are run again, recorded, and have a page each.

    Parameters
    ----------
    folder : str
    output : str
        HTML file; by default ``report.html`` in the folder.
    told : Told
    """
    from cbsim.sweep.reports.report import worst_rows, write_page

    target = Path(output or Path(folder) / "report.html")
    replays: dict[int, str] = {}
    pages = target.with_name(f"{target.stem}_replays")
    for row in worst_rows(folder):
        try:
            replays[row] = f"{pages.name}/{_replay_page(folder, row, pages).name}"
        except (CbsimError, OSError) as reason:  # the page of the others is worth having
            if not told.quiet:
                print_status(f"warning: row {row} cannot be replayed: {reason}")
    written = write_page(folder, target, replays)
    size = written.stat().st_size / 1e6
    told.result(
        {"report": str(written), "replays": replays},
        [f"{printable(str(written))}: {size:.2f} MB, and {len(replays)} replays of the worst runs beside it"],
    )


def _replay_page(folder: str, row: int, pages: Path) -> Path:
    """Write the page of a run, from its recording if there is one that fits, else from a new run."""
    from cbsim.recording.recording import Recording
    from cbsim.report import write_report
    from cbsim.sweep.again import replay
    from cbsim.sweep.runs.row import recording_file

    pages.mkdir(exist_ok=True)
    target = pages / f"row-{row}.html"
    path = recording_file(folder, row)
    if not path.is_file():
        path.parent.mkdir(exist_ok=True)
        replay(folder, row, record=path)
    return write_report(Recording.open(path), target, title=f"row {row}")
