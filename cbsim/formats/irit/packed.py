"""Packed IRIT files: ``.gz`` and ``.Z`` unpacked within bounds, binary ``.ibd`` refused."""

from __future__ import annotations

import zlib

from cbsim.errors import Problems
from cbsim.formats.reader import Source

__all__ = ["LARGEST", "unpacked"]

LARGEST = 1 << 26  # bytes of an unpacked file
LEAST = 1 << 20  # bytes that any packed file may contain
RATIO = 50  # bytes for each packed one: numbers compress to a third or a tenth; a thousandth is pure repetition
GZIP, COMPRESS = b"\x1f\x8b", b"\x1f\x9d"


class _DamagedError(ValueError):
    """A packed file cannot be unpacked."""


def unpacked(source: Source, problems: Problems) -> Source | None:
    """Unpack a source if it is packed; None, with a problem, if it is not text."""
    try:
        if source.data.startswith(GZIP):
            return Source.decode(source.path, _gunzip(source.data))
        if source.data.startswith(COMPRESS):
            return Source.decode(source.path, _uncompress(source.data))
    except (_DamagedError, zlib.error) as reason:
        problems.error("E049", f"the packed file cannot be unpacked: {reason}", source.at(1))
        return None
    if source.path.lower().endswith((".ibd", ".ibd.gz")) or "\0" in source.text[:4096]:
        text = "this is a binary file of IRIT, which only its own program reads"
        problems.error("E049", text, source.at(1), "save it as .itd")
        return None
    return source


def _gunzip(data: bytes) -> bytes:
    reader, most = zlib.decompressobj(wbits=31), _most(data)
    plain = reader.decompress(data, most + 1)
    if len(plain) > most:
        raise _DamagedError(f"its {len(data)} bytes hold more than {most}")
    if not reader.eof:
        raise _DamagedError("it ends early")
    return plain


def _most(data: bytes) -> int:
    """Bound the size of unpacked data, because a small file can expand to any size."""
    return min(LARGEST, max(LEAST, RATIO * len(data)))


def _uncompress(data: bytes) -> bytes:
    """Unpack data of Unix compress (LZW): codes of 9 bits and more.

    Codes come in groups of eight of one width; an incomplete group before a change of width is padded.
    """
    largest = _most(data)
    most, block = data[2] & 0x1F if len(data) > 2 else 0, bool(data[2] & 0x80) if len(data) > 2 else False
    if not 9 <= most <= 16:
        raise _DamagedError("its head is damaged")
    first = 257 if block else 256
    table = [bytes([k]) for k in range(256)] + [b""] * (first - 256)
    parts: list[bytes] = []
    width, size, last = 9, 0, b""
    start = at = 24
    while at + width <= 8 * len(data):
        code = int.from_bytes(data[at // 8 : at // 8 + 4], "little") >> at % 8 & (1 << width) - 1
        at += width
        if block and code == 256:
            del table[first:]
            at, width, last = _filled(start, at, width), 9, b""
            start = at
            continue
        if code > len(table) or (code == len(table) and not last):
            raise _DamagedError("it is damaged")
        text = table[code] if code < len(table) else last + last[:1]
        parts.append(text)
        if (size := size + len(text)) > largest:
            raise _DamagedError(f"its {len(data)} bytes hold more than {largest}")
        if last and len(table) < 1 << most:
            table.append(last + text[:1])
        last = text
        if len(table) == 1 << width and width < most:
            at, width = _filled(start, at, width), width + 1
            start = at
    return b"".join(parts)


def _filled(start: int, at: int, width: int) -> int:
    """End of a group of eight codes [bits]."""
    group = 8 * width
    return start + -(-(at - start) // group) * group
