"""Recordings as the commands meet them: recognised by content, never waited for, told where they break off."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from cbsim.cli.output import emit, write_json
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
    "tell_divergence",
    "tell_ending",
]


def is_recording_file(path: str) -> bool:
    """Tell whether a file that the user named is a recording."""
    return is_recording(path, Files([path]))


def open_recording(path: str) -> Recording:
    """Open a recording; a pipe or a device is refused, because opening one may wait for ever.

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


def tell_ending(path: str, recording: Recording, problems: Problems) -> None:
    """Tell of a recording that has no end: a warning where the run was broken off, an error where it is damaged."""
    if recording.damage:
        problems.error("E030", f"the recording {recording.ending}", Location(path))
    elif not recording.complete:
        problems.warning("W031", f"the recording {recording.ending}", Location(path))


def exit_if_damaged(problems: Problems) -> None:
    """Leave with the code of an unacceptable file, once all that could be done with the sound part of it is done."""
    if problems.errors:
        sys.exit(2)


def tell_divergence(
    found: Divergence | None, steps: int, same: str, json: str | None, *, quiet: bool, apart: Sequence[str] = ()
) -> None:
    """Say where two runs part, and leave with 1 if they do.

    Parameters
    ----------
    found : Divergence or None
    steps : int
        That were compared, if all are the same.
    same : str
        What to say then.
    json : str or None
        Where the result goes besides.
    quiet : bool
        Say nothing if all is the same.
    apart : sequence of str
        What they have unlike from the outset.
    """
    if json is not None:
        first = None if found is None else asdict(found)
        write_json({"same": found is None, "steps": steps, "divergence": first, "unlike": list(apart)}, json)
    outset = f" (from the outset: {', '.join(apart)})" if apart else ""
    if found is not None and json != "-":
        emit(f"diverged: {found}{outset}")
    elif found is None and not quiet and json != "-":
        emit(same + outset)
    if found is not None:
        sys.exit(1)


def problems_of(path: str, error: RecordingError) -> Problems:
    """Locate what keeps a recording from being read."""
    message = str(error).removeprefix(f"{path}: error: ")
    return Problems([Problem(Severity.ERROR, "E030", message, Location(path))])


def check_recording(path: str, problems: Problems) -> None:
    """Walk through a recording and tell what is wrong with it."""
    try:
        tell_ending(path, open_recording(path), problems)
    except RecordingError as error:
        problems.extend(problems_of(path, error))
