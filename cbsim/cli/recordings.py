"""Recordings as arguments of commands: recognition, opening, and reports of damage and divergence."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from cbsim.cli.output import print_result, write_json
from cbsim.errors import Location, Problem, Problems, RecordingError, Severity
from cbsim.formats import is_recording
from cbsim.paths import Files

if TYPE_CHECKING:
    from cbsim.recording.divergence import Divergence
    from cbsim.recording.recording import Recording

__all__ = [
    "check_recording",
    "exit_if_damaged",
    "is_recording_file",
    "open_recording",
    "problems_of",
    "report_divergence",
    "report_ending",
]


def is_recording_file(path: str) -> bool:
    """Return whether a file is a recording, by its content."""
    return is_recording(path, Files([path]))


def open_recording(path: str) -> Recording:
    """Open a recording; pipes and devices are refused, because opening one may block.

    Raises
    ------
    FileError
        If it is missing, not a regular file or not a recording.
    RecordingError
        If cbsim did not write it.
    """
    from cbsim.recording.recording import Recording

    Files([path]).require(path)
    return Recording.open(path)


def report_ending(path: str, recording: Recording, problems: Problems) -> None:
    """Report an incomplete recording: a warning if the run was interrupted, an error if the file is damaged."""
    if recording.damage:
        problems.error("E030", f"the recording {recording.ending}", Location(path))
    elif not recording.complete:
        problems.warning("W031", f"the recording {recording.ending}", Location(path))


def exit_if_damaged(problems: Problems) -> None:
    """Exit with the code of an unacceptable file, after the intact part has been processed."""
    if problems.errors:
        sys.exit(2)


def report_divergence(
    found: Divergence | None, steps: int, same: str, json: str | None, *, quiet: bool, differences: Sequence[str] = ()
) -> None:
    """Report the divergence of two runs, and exit with 1 if there is one.

    Parameters
    ----------
    found : Divergence or None
    steps : int
        Number of compared steps, if all are the same.
    same : str
        Message for that case.
    json : str or None
        Target of the result as JSON.
    quiet : bool
        Print nothing if all steps are the same.
    differences : sequence of str
        Differences of the headers.
    """
    if json is not None:
        first = None if found is None else asdict(found)
        write_json({"same": found is None, "steps": steps, "divergence": first, "unlike": list(differences)}, json)
    outset = f" (from the outset: {', '.join(differences)})" if differences else ""
    if found is not None and json != "-":
        print_result(f"diverged: {found}{outset}")
    elif found is None and not quiet and json != "-":
        print_result(same + outset)
    if found is not None:
        sys.exit(1)


def problems_of(path: str, error: RecordingError) -> Problems:
    """Convert an error of reading a recording to located problems."""
    message = str(error).removeprefix(f"{path}: error: ")
    return Problems([Problem(Severity.ERROR, "E030", message, Location(path))])


def check_recording(path: str, problems: Problems) -> None:
    """Read a whole recording and report its problems."""
    try:
        report_ending(path, open_recording(path), problems)
    except RecordingError as error:
        problems.extend(problems_of(path, error))
