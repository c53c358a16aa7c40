"""Head of a recording file, before its batches: header, source files and first Snapshot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mcap.records import Attachment, Channel, Message, Metadata

from cbsim.errors import RecordingError
from cbsim.recording.header import READABLE, Header
from cbsim.recording.recorder import checksum_of

__all__ = ["Head"]


@dataclass(slots=True)
class Head:
    """Header, sources and first Snapshot of a file, as far as they have been read.

    Attributes
    ----------
    path : str
        For messages.
    """

    path: str
    header: Header | None = None
    sources: dict[str, bytes] = field(default_factory=dict)
    snapshot: bytes = b""
    _topics: dict[int, str] = field(default_factory=dict)

    def is_complete_with(self, record: Any) -> bool:
        """Take the next record of the file; whether the head ends with it.

        Raises
        ------
        RecordingError
            If the header is damaged or of another version.
        """
        if isinstance(record, Metadata) and record.name == "cbsim":
            self.header = self._parse(record)
        elif isinstance(record, Attachment):
            self.sources[record.name] = record.data
        elif isinstance(record, Channel):
            self._topics[record.id] = record.topic
        elif isinstance(record, Message) and self._topics.get(record.channel_id) == "/snapshot":
            self.snapshot = record.data
            return True
        return False

    def _parse(self, record: Metadata) -> Header:
        try:
            text = record.metadata["header"]
            if record.metadata.get("crc32", checksum_of(text)) != checksum_of(text):
                raise ValueError("its checksum is wrong")
            header = Header.from_json(text)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as reason:
            raise RecordingError(f"{self.path}: error: the header is damaged: {reason}") from None
        if header.version not in READABLE:
            known = f"{', '.join(map(str, READABLE[:-1]))} and {READABLE[-1]}"
            raise RecordingError(f"{self.path}: error: recording version {header.version}, this cbsim reads {known}")
        return header
