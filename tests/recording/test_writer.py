"""Files of `ContainerWriter` are those that the mcap package writes, as its reader and ours see them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from mcap.reader import make_reader
from mcap.records import Message
from mcap.writer import CompressionType, Writer

from cbsim.recording.container import records
from cbsim.recording.writer import ContainerWriter

SIZE = 4096  # [bytes] of a chunk
MESSAGES = [(1 + n % 3, 1000 * n, bytes([n % 251]) * (17 * n % 900)) for n in range(200)]
MESSAGES[77] = 2, 77000, bytes(range(256)) * 500  # larger than a chunk, and than its room


def ours(stream: io.BytesIO) -> None:
    """Write a file with `ContainerWriter`."""
    writer = ContainerWriter(stream, SIZE)
    writer.start("test", "library")
    writer.add_metadata("cbsim", {"key": "value"})
    writer.add_attachment("file.txt", "text/plain", b"content")
    schema = writer.register_schema("schema", "text", b"numbers")
    for topic in ("/a", "/b", "/c"):
        writer.register_channel(topic, "raw", schema)
    for message in MESSAGES:
        writer.add_message(*message)
    writer.finish()


def theirs(stream: io.BytesIO) -> None:
    """Write the same file with the writer of the mcap package."""
    writer = Writer(stream, SIZE, CompressionType.LZ4, enable_data_crcs=True)
    writer.start("test", "library")
    writer.add_metadata("cbsim", {"key": "value"})
    writer.add_attachment(0, 0, "file.txt", "text/plain", b"content")
    schema = writer.register_schema("schema", "text", b"numbers")
    for topic in ("/a", "/b", "/c"):
        writer.register_channel(topic, "raw", schema)
    counts = {1: 0, 2: 0, 3: 0}
    for channel, time, data in MESSAGES:
        counts[channel] += 1
        writer.add_message(channel, time, data, time, counts[channel])
    writer.finish()


def written(write: Any) -> bytes:
    """Bytes of a file."""
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def seen(data: bytes) -> list[Any]:
    """What the reader of the mcap package finds, with checksums, by way of the index."""
    reader = make_reader(io.BytesIO(data), validate_crcs=True)
    summary = reader.get_summary()
    assert summary is not None
    messages = [(channel.topic, message) for _, channel, message in reader.iter_messages(log_time_order=False)]
    late = [message for _, _, message in reader.iter_messages(topics=["/b"])]
    others = list(reader.iter_metadata()), list(reader.iter_attachments())
    return [messages, late, others, summary.statistics, summary.channels, summary.schemas]


def test_the_reader_of_the_mcap_package_finds_what_its_own_writer_writes() -> None:
    assert seen(written(ours)) == seen(written(theirs))


def test_chunks_begin_and_end_where_those_of_the_mcap_package_do() -> None:
    def chunks(data: bytes) -> list[tuple[int, int, int, list[int]]]:
        summary = make_reader(io.BytesIO(data)).get_summary()
        assert summary is not None
        found = summary.chunk_indexes
        return [
            (c.message_start_time, c.message_end_time, c.uncompressed_size, sorted(c.message_index_offsets))
            for c in found
        ]

    assert chunks(written(ours)) == chunks(written(theirs))


def test_our_reader_verifies_every_checksum(tmp_path: Path) -> None:
    path = tmp_path / "file.mcap"
    path.write_bytes(written(ours))
    found = [(one.channel_id, one.log_time, one.data) for one in records(path) if isinstance(one, Message)]
    assert found == MESSAGES


@pytest.mark.parametrize("write", [ours, theirs])
def test_files_end_as_readers_expect(write: Any) -> None:
    data = written(write)
    assert data[:8] == data[-8:] == b"\x89MCAP0\r\n"
