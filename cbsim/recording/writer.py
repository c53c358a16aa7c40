"""Writer of MCAP files: records of messages are gathered in one buffer, chunk by chunk.

The writer of the mcap package copies each message five times, and compresses blocks that refer to one another. Here a
message is copied once, and blocks are independent, which takes half the time and gives smaller files. Records that are
written once in a file are those of the package.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import IO, Any

import lz4.frame
from isal.isal_zlib import crc32
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Attachment,
    AttachmentIndex,
    Channel,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
    SummaryOffset,
)

from cbsim.formats import RECORDING_MAGIC

__all__ = ["ContainerWriter"]

MESSAGE = struct.Struct("<BQHIQQ")  # opcode, length; channel, sequence, log time, publish time [ns]; then the data
MESSAGE_HEAD = MESSAGE.size - struct.calcsize("<BQ")  # [bytes] that its length counts besides the data
COMPRESSION = b"lz4"
CHUNK = struct.Struct(f"<BQQQQII{len(COMPRESSION)}sQ")  # opcode, length; start, end; size, checksum; name; records
CHUNK_HEAD = CHUNK.size - struct.calcsize("<BQ")
INDEX = struct.Struct("<BQHI")  # opcode, length; channel, bytes of the entries
ENTRY = struct.Struct("<QQ")  # log time, offset in the chunk
FOOTER = struct.Struct("<BQQQ")  # the footer without the checksum, which covers these bytes, too
FRAMES: Any = lz4.frame  # which has no types
LEVEL = -4  # of compression: three fifths of the time of the default, for 1 to 6 % more bytes
SPARE = 64 * 1024  # [bytes] of room beyond the size at which a chunk is closed


class ContainerWriter:
    """Writes an MCAP file with an index; chunks, data section, attachments and summary carry checksums.

    Parameters
    ----------
    stream : binary file
        Left open.
    chunk_size : int
        [bytes] of records beyond which a chunk is closed.
    """

    def __init__(self, stream: IO[bytes], chunk_size: int) -> None:
        self._stream, self._chunk_size = stream, chunk_size
        self._place, self._checksum = 0, 0
        self._room = memoryview(bytearray(chunk_size + SPARE))
        self._used = 0
        self._entries: dict[int, list[tuple[int, int]]] = {}  # channel → time and offset of each message of the chunk
        self._schemas: list[Schema] = []
        self._channels: list[Channel] = []
        self._chunks: list[ChunkIndex] = []
        self._attachments: list[AttachmentIndex] = []
        self._metadata: list[MetadataIndex] = []
        self._counts: dict[int, int] = {}
        self._first, self._last = 0, 0

    def start(self, profile: str, library: str) -> None:
        """Write what a file begins with."""
        self._write(RECORDING_MAGIC)
        self._write(_bytes_of(Header(profile, library)))

    def add_metadata(self, name: str, values: dict[str, str]) -> None:
        """Write a record of names and values."""
        data = _bytes_of(Metadata(name, values))
        self._metadata.append(MetadataIndex(self._place, len(data), name))
        self._write(data)

    def add_attachment(self, name: str, media_type: str, data: bytes) -> None:
        """Write a file."""
        record = _bytes_of(Attachment(0, 0, name, media_type, data))
        self._attachments.append(AttachmentIndex(self._place, len(record), 0, 0, len(data), name, media_type))
        self._write(record)

    def register_schema(self, name: str, encoding: str, data: bytes) -> int:
        """Add a schema; return its number."""
        self._schemas.append(Schema(data=data, encoding=encoding, id=len(self._schemas) + 1, name=name))
        self._gather(_bytes_of(self._schemas[-1]))
        return len(self._schemas)

    def register_channel(self, topic: str, encoding: str, schema: int) -> int:
        """Add a channel; return its number."""
        self._channels.append(Channel(len(self._channels) + 1, topic, encoding, {}, schema))
        self._gather(_bytes_of(self._channels[-1]))
        return len(self._channels)

    def add_message(self, channel: int, time: int, data: bytes | memoryview) -> None:
        """Add a message of a channel at a time [ns]; its chunk is written once it is full."""
        entries = self._entries.setdefault(channel, [])
        entries.append((time, self._used))
        number = self._counts[channel] = self._counts.get(channel, 0) + 1
        self._gather(MESSAGE.pack(Opcode.MESSAGE, MESSAGE_HEAD + len(data), channel, number, time, time), data)
        if self._used > self._chunk_size:
            self._close_chunk()

    def end_chunk(self, least: int) -> None:
        """Write the chunk, if it holds more than a number of bytes: what has been added so far is on the disk then."""
        if self._used > least:
            self._close_chunk()

    def finish(self) -> None:
        """Write the last chunk and the index."""
        self._close_chunk()
        self._write(_bytes_of(DataEnd(self._checksum)))
        begin = self._place
        groups: list[tuple[Opcode, Sequence[Any]]] = [
            (Opcode.SCHEMA, self._schemas),
            (Opcode.CHANNEL, self._channels),
            (Opcode.STATISTICS, [self._statistics()]),
            (Opcode.CHUNK_INDEX, self._chunks),
            (Opcode.ATTACHMENT_INDEX, self._attachments),
            (Opcode.METADATA_INDEX, self._metadata),
        ]
        summary, offsets = b"", b""
        for code, records in groups:
            data = b"".join(map(_bytes_of, records))
            offsets += _bytes_of(SummaryOffset(code, begin + len(summary), len(data)))
            summary += data
        second = begin + len(summary)
        checksum = crc32(summary + offsets)
        checksum = crc32(FOOTER.pack(Opcode.FOOTER, 20, begin, second), checksum)
        self._stream.write(summary + offsets + _bytes_of(Footer(begin, second, checksum)) + RECORDING_MAGIC)

    def _gather(self, *parts: bytes | memoryview) -> None:
        """Append bytes to the chunk."""
        end = self._used + sum(map(len, parts))
        if end > len(self._room):
            larger = memoryview(bytearray(2 * end))
            larger[: self._used] = self._room[: self._used]
            self._room = larger
        for part in parts:
            begin, self._used = self._used, self._used + len(part)
            self._room[begin : self._used] = part

    def _close_chunk(self) -> None:
        """Write the chunk, unless it holds no messages."""
        if not self._entries:
            return
        content = self._room[: self._used]
        packed = FRAMES.compress(content, compression_level=LEVEL, block_linked=False)
        times = [time for entries in self._entries.values() for time, _ in entries]
        first, last = min(times), max(times)
        self._first, self._last = min(self._first, first) if self._chunks else first, max(self._last, last)
        checks = crc32(content), len(COMPRESSION), COMPRESSION, len(packed)
        length = CHUNK_HEAD + len(packed)
        begin = self._place
        self._write(CHUNK.pack(Opcode.CHUNK, length, first, last, self._used, *checks))
        self._write(packed)
        size, at, offsets, indexes = self._place - begin, self._place, dict[int, int](), list[bytes]()
        for channel, entries in self._entries.items():
            offsets[channel] = at
            body = b"".join(ENTRY.pack(*entry) for entry in entries)
            indexes += INDEX.pack(Opcode.MESSAGE_INDEX, 6 + len(body), channel, len(body)), body
            at += INDEX.size + len(body)
        self._write(b"".join(indexes))
        told = at - begin - size, offsets, first, self._used
        self._chunks.append(ChunkIndex(size, begin, COMPRESSION.decode(), len(packed), last, *told))
        self._entries, self._used = {}, 0

    def _write(self, data: bytes) -> None:
        """Write bytes of the data section."""
        self._checksum = crc32(data, self._checksum)
        self._stream.write(data)
        self._place += len(data)

    def _statistics(self) -> Statistics:
        return Statistics(
            attachment_count=len(self._attachments),
            channel_count=len(self._channels),
            channel_message_counts=self._counts,
            chunk_count=len(self._chunks),
            message_count=sum(self._counts.values()),
            message_end_time=self._last,
            message_start_time=self._first,
            metadata_count=len(self._metadata),
            schema_count=len(self._schemas),
        )


def _bytes_of(record: Any) -> bytes:
    """Encode a record of the mcap package."""
    builder = RecordBuilder()
    record.write(builder)
    return bytes(builder.end())  # type: ignore[no-untyped-call]
