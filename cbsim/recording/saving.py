"""Writing of a whole recording to a file, which takes its place only when it is complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from cbsim.errors import UsageError
from cbsim.paths import UNREADABLE, resolved
from cbsim.recording.batch import Batch
from cbsim.recording.header import Header
from cbsim.recording.messages import Fault
from cbsim.recording.recorder import FileRecorder

__all__ = ["Written", "write_recording"]


class Written(Protocol):
    """A recording, as far as it is written."""

    header: Header
    snapshot: bytes

    @property
    def sources(self) -> Mapping[str, bytes]:
        """Path → bytes of every source file."""

    @property
    def faults(self) -> list[Fault]:
        """Failures of planners."""

    def batches(self) -> Iterator[Batch]:
        """Iterate over the batches."""


def write_recording(path: str | Path, recorder_of: Callable[[str | Path], FileRecorder], recording: Written) -> None:
    """Write a recording; as `Recording.save`."""
    try:
        target = resolved(path)
    except UNREADABLE as reason:
        words = getattr(reason, "strerror", None) or reason
        raise UsageError(f"cannot write the recording '{path}': {words}") from None
    if (target.exists() and not target.is_file()) or not target.parent.is_dir():
        _write(recorder_of(path), recording)  # raises with the reason
        return
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    recorder = recorder_of(part)
    try:
        _write(recorder, recording)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _write(recorder: FileRecorder, recording: Written) -> None:
    try:
        recorder.begin(recording.header, recording.snapshot, recording.sources)
        for batch in recording.batches():
            recorder.take(batch)
        for fault in recording.faults:
            recorder.fault(*fault)
    finally:
        recorder.end()
