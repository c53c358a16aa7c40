"""Reader of MCAP files, record by record, with every checksum verified; truncation and damage are told apart.

The reader of the mcap package does not verify the checksums of attachments and of the summary, and cannot tell a
truncated file from one with a wrong byte. So the framing is read here, and the package only parses single records.
Checksums are those of `zlib`, computed by the isal package in a fifth of the time.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from isal.isal_zlib import crc32
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Attachment, Channel, Chunk, Message, Metadata, Schema

from cbsim.errors import FileError, Location, Problem, Severity
from cbsim.formats import RECORDING_MAGIC

__all__ = ["DamageError", "TruncatedError", "records", "unpacked"]

FRAME = struct.Struct("<BQ")  # opcode, length
CHECKSUM = struct.Struct("<I")
LARGEST = 256 * 2**20  # [bytes] in a chunk; ours close at 256 KiB, but one message may be larger
LEAST = 2**20  # [bytes] that any chunk may hold
RATIO = 255  # bytes for each packed one, which is what LZ4 comes to at best
FOOTER = 20  # [bytes] summary start, summary offset start, checksum of the summary and of both numbers

PARSERS: dict[int, Callable[[ReadDataStream], Any]] = {
    Opcode.ATTACHMENT: Attachment.read,
    Opcode.CHANNEL: Channel.read,
    Opcode.CHUNK: Chunk.read,
    Opcode.METADATA: Metadata.read,
}


class TruncatedError(Exception):
    """The file is truncated: it ends before its footer, as after a killed run."""


class DamageError(Exception):
    """The file is damaged: a checksum is wrong, or a record is malformed."""


def records(path: Path) -> Iterator[Any]:
    """Iterate over the records of an MCAP file that carry data, with chunks unpacked.

    Parameters
    ----------
    path : Path

    Yields
    ------
    Metadata, Attachment, Schema, Channel or Message
        Of the mcap package. Records of a chunk follow once the chunk's size and checksum have been verified.

    Raises
    ------
    FileError
        If it cannot be opened or does not begin as MCAP files do.
    TruncatedError
        Where it is truncated.
    DamageError
        Where it is damaged; nothing past that place is read. The checksum of the whole data section is verified last,
        after all records.
    """
    with _open(path) as stream:
        size, finished = _extent(stream)
        checksum = crc32(stream.read(len(RECORDING_MAGIC)))
        while True:
            place = stream.tell()
            opcode, head, body = _frame(stream, size, finished)
            if opcode == Opcode.DATA_END:
                _prove("the data section", body, checksum)
                checksum = 0  # the summary's begins here
            elif opcode == Opcode.FOOTER:
                _prove("the summary", body[-CHECKSUM.size :], _crc(checksum, head, body[: -CHECKSUM.size]))
                _end(stream, body)
                return
            else:
                checksum = _crc(checksum, head, body)
                yield from _parse(opcode, body, place)


def _crc(checksum: int, head: bytes, body: bytes) -> int:
    return crc32(body, crc32(head, checksum))


def _open(path: Path) -> IO[bytes]:
    """Open a file and check that it begins as MCAP files do."""
    try:
        stream = path.open("rb")
    except OSError as reason:
        place = Location(str(path))
        message = f"cannot open the recording: {reason.strerror}"
        raise FileError(Problem(Severity.ERROR, "E014", message, place)) from None
    if stream.read(len(RECORDING_MAGIC)) != RECORDING_MAGIC:
        stream.close()
        place = Location(str(path))
        raise FileError(Problem(Severity.ERROR, "E030", "not an MCAP recording", place))
    stream.seek(0, io.SEEK_SET)
    return stream


def _extent(stream: IO[bytes]) -> tuple[int, bool]:
    """Return the size [bytes], and whether the file ends with MCAP's magic: if so, an overlong record means damage."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - len(RECORDING_MAGIC)))
    finished = size > len(RECORDING_MAGIC) and stream.read(len(RECORDING_MAGIC)) == RECORDING_MAGIC
    stream.seek(0)
    return size, finished


def _frame(stream: IO[bytes], size: int, finished: bool) -> tuple[int, bytes, bytes]:
    """Read the next record's opcode, head and body; a length beyond the end of the file is refused."""
    place = stream.tell()
    head = stream.read(FRAME.size)
    opcode, length = FRAME.unpack(head) if len(head) == FRAME.size else (0, size)
    if length > size - stream.tell():
        if finished:
            raise DamageError(f"the record at byte {place} goes beyond the end of the file")
        raise TruncatedError(f"the record at byte {place} is cut")
    return opcode, head, stream.read(length)


def _prove(what: str, stored: bytes, checksum: int) -> None:
    """Verify a checksum; 0 means that there is none."""
    if len(stored) != CHECKSUM.size:
        raise DamageError(f"the checksum of {what} has {len(stored)} bytes, expected {CHECKSUM.size}")
    (expected,) = CHECKSUM.unpack(stored)
    if expected not in (0, checksum):
        raise DamageError(f"the checksum of {what} is wrong")


def _parse(opcode: int, body: bytes, place: int) -> Iterator[Any]:
    """Parse a record that carries data; of a chunk, yield its records one at a time, as it may hold millions."""
    try:
        name = Opcode(opcode).name.lower().replace("_", " ")
    except ValueError:
        raise DamageError(f"the record at byte {place} is of no known kind") from None
    if opcode not in PARSERS:
        return
    try:
        record = PARSERS[opcode](ReadDataStream(io.BytesIO(body)))
        if opcode == Opcode.ATTACHMENT:
            _prove(f"attachment '{record.name}'", body[-CHECKSUM.size :], crc32(body[: -CHECKSUM.size]))
        parsed = _records_of(unpacked(record)) if isinstance(record, Chunk) else iter([record])
    except Exception as reason:  # on damaged bytes the package passes on the errors of struct, lz4 and its own checks
        raise _damage(name, place, reason) from None
    while True:
        try:
            found = next(parsed, None)
        except Exception as reason:  # as above
            raise _damage(name, place, reason) from None
        if found is None:
            return
        yield found


def _damage(name: str, place: int, reason: Exception) -> DamageError:
    if isinstance(reason, DamageError) and name == "attachment":
        return reason
    return DamageError(f"the {name} at byte {place}: {reason or type(reason).__name__}")


def unpacked(chunk: Chunk) -> bytes:
    """Unpack a chunk, and verify its size and checksum."""
    size, most = chunk.uncompressed_size, min(LARGEST, max(LEAST, RATIO * len(chunk.data)))
    if size > most:
        raise DamageError(f"it says that its {len(chunk.data)} bytes hold {size}, more than {most}")
    if chunk.compression not in UNPACKERS:
        raise DamageError(
            f"its compression is '{chunk.compression[:20]}', expected {', '.join(filter(None, UNPACKERS))}"
        )
    data = UNPACKERS[chunk.compression](chunk.data, size + 1)
    if len(data) != size:
        raise DamageError(f"it holds {'more' if len(data) > size else 'fewer'} than the {size} bytes that it says")
    if chunk.uncompressed_crc not in (0, crc32(data)):
        raise DamageError("its checksum is wrong")
    return data


def _unpack_lz4(data: bytes, most: int) -> bytes:
    import lz4.frame

    unpacker: Any = lz4.frame.LZ4FrameDecompressor  # which has no types
    return bytes(unpacker().decompress(data, max_length=most))


def _unpack_zstd(data: bytes, most: int) -> bytes:
    import zstandard

    return zstandard.ZstdDecompressor().stream_reader(data).read(most)


UNPACKERS: dict[str, Callable[[bytes, int], bytes]] = {
    "": lambda data, _: data,
    "lz4": _unpack_lz4,
    "zstd": _unpack_zstd,
}
"""Name of a compression → function that unpacks at most a given number of bytes."""


def _records_of(data: bytes) -> Iterator[Any]:
    """Parse the records of a chunk; those of other kinds are skipped."""
    at = 0
    while at < len(data):
        if len(data) - at < FRAME.size:
            raise DamageError("its last record is cut")
        opcode, length = FRAME.unpack_from(data, at)
        at += FRAME.size
        if length > len(data) - at:
            raise DamageError("its last record is cut")
        body = data[at : at + length]
        at += length
        if opcode == Opcode.MESSAGE:
            yield Message.read(ReadDataStream(io.BytesIO(body)), length)
        elif opcode in (Opcode.CHANNEL, Opcode.SCHEMA):
            yield (Channel if opcode == Opcode.CHANNEL else Schema).read(ReadDataStream(io.BytesIO(body)))


def _end(stream: IO[bytes], footer: bytes) -> None:
    """Check the footer and the closing magic."""
    if len(footer) != FOOTER:
        raise DamageError(f"the footer has {len(footer)} bytes, expected {FOOTER}")
    magic = stream.read(len(RECORDING_MAGIC))
    if magic != RECORDING_MAGIC[: len(magic)]:
        raise DamageError("the file does not end like MCAP")
    if len(magic) < len(RECORDING_MAGIC):
        raise TruncatedError("the file ends inside its last bytes")
