"""Recorders of a run: `MemoryRecorder` keeps batches, `FileRecorder` writes MCAP while the run continues.

An MCAP file of cbsim holds, in this order: the header (metadata ``cbsim``), every source file (attachments), the first
Snapshot, then batches (``/batch``), commands (``/commands``), controls (``/controls``), contacts (``/contacts``), scans
(``/scan/<key>``), readings of other sensors (``/reading/<key>``) and annotations of planners (``/drawings``), and
finally failures of planners (``/faults``), in chunks with an index. After a killed run, the file can be read up to
its last whole chunk. Header, attachments, chunks, data section and summary carry checksums.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Protocol

from cbsim.errors import UsageError
from cbsim.recording.batch import Batch, Header
from cbsim.recording.drawings import Quota
from cbsim.recording.messages import FAULTS, SCHEMAS, Fault, messages_of
from cbsim.recording.writer import ContainerWriter

__all__ = ["FileRecorder", "MemoryRecorder", "Recorder", "checksum_of"]

CHUNK = 128 * 1024  # [bytes] beyond which a chunk ends with a batch: a kill loses that, and what is gathered, at most
LARGEST = 8  # how many times as many are beyond which it ends with any message


def checksum_of(header: str) -> str:
    """Checksum of the header's JSON, in hexadecimal; a truncated MCAP file has none of its metadata."""
    return f"{zlib.crc32(header.encode()):08x}"


class Recorder(Protocol):
    """Receiver of the batches of a run."""

    def begin(self, header: Header, snapshot: bytes, sources: Mapping[str, bytes], /) -> None:
        """Take header, first Snapshot and source files of the run."""

    def take(self, batch: Batch, /) -> None:
        """Take the next steps."""

    def fault(self, name: str, time: float, message: str, /) -> None:
        """Take a failure of a planner itself, which ended the run at a time [s]."""

    def end(self) -> None:
        """Finish."""


class MemoryRecorder:
    """Keeps everything in memory."""

    def __init__(self) -> None:
        self.header: Header | None = None
        self.snapshot = b""
        self.sources: dict[str, bytes] = {}
        self.batches: list[Batch] = []
        self.faults: list[Fault] = []

    def begin(self, header: Header, snapshot: bytes, sources: Mapping[str, bytes]) -> None:
        """Keep the header, the first Snapshot and the sources."""
        self.header, self.snapshot, self.sources = header, snapshot, dict(sources)

    def take(self, batch: Batch) -> None:
        """Keep a batch."""
        self.batches.append(batch)

    def fault(self, name: str, time: float, message: str) -> None:
        """Keep a failure."""
        self.faults.append(Fault(name, time, message))

    def end(self) -> None:
        """Do nothing."""


class FileRecorder:
    """Writes an MCAP file.

    Parameters
    ----------
    path : path
        The file, which is overwritten.

    Raises
    ------
    UsageError
        If it cannot be written, or is not a regular file: a pipe without a reader would block.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.exists() and not self.path.is_file():
            what = "a folder" if self.path.is_dir() else "a pipe or a device"
            raise UsageError(f"cannot write the recording '{path}': it is {what}, expected a regular file or a new one")
        try:
            self._stream: IO[bytes] = self.path.open("wb")
        except OSError as reason:
            raise UsageError(f"cannot write the recording '{path}': {reason.strerror}") from None
        self._writer = ContainerWriter(self._stream, LARGEST * CHUNK)
        self._channels: dict[str, int] = {}
        self._step = 0.0
        self._quota = Quota(0.0)

    def begin(self, header: Header, snapshot: bytes, sources: Mapping[str, bytes]) -> None:
        """Write the header, the sources and the first Snapshot."""
        self._writer.start(profile="cbsim", library=f"cbsim {header.software.get('cbsim', '')}")
        text = header.to_json()
        self._writer.add_metadata("cbsim", {"header": text, "crc32": checksum_of(text)})
        for path, data in sources.items():
            self._writer.add_attachment(path, "application/octet-stream", data)
        self._step, self._quota = header.step, Quota(header.step)
        for topic in ("/snapshot", "/batch", "/commands", "/controls", "/contacts"):
            self._channel(topic, topic)
        self._put("/snapshot", 0.0, snapshot)
        self._stream.flush()

    def take(self, batch: Batch) -> None:
        """Write a batch, with its drawings limited by `Quota`."""
        self.write(replace(batch, drawings=self._quota.pick(batch.drawings)) if batch.drawings else batch)

    def write(self, batch: Batch) -> None:
        """Write a batch unchanged."""
        for message in messages_of(batch, self._step):
            if message.topic not in self._channels:
                self._channel(message.topic, message.schema)
            self._put(message.topic, message.time, message.data)
        self._writer.end_chunk(CHUNK)
        self._stream.flush()

    def fault(self, name: str, time: float, message: str) -> None:
        """Write a failure."""
        if FAULTS not in self._channels:
            self._channel(FAULTS, FAULTS)
        self._put(FAULTS, time, Fault(name, time, message).to_bytes())

    def end(self) -> None:
        """Write the index and close the file."""
        self._writer.finish()
        self._stream.close()

    def _channel(self, topic: str, schema: str) -> None:
        name = f"cbsim{schema}".replace("/", ".")
        number = self._writer.register_schema(name, "text", SCHEMAS[schema].encode())
        self._channels[topic] = self._writer.register_channel(topic, "cbsim", number)

    def _put(self, topic: str, time: float, data: bytes | memoryview) -> None:
        self._writer.add_message(self._channels[topic], round(time * 1e9), data)
