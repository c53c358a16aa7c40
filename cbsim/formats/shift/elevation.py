"""Reader of elevation maps: TIFF files with one sample per pixel.

Baseline TIFF 6.0 (Adobe 1992): strips of whole or real numbers of 8 to 64 bits, plain, packed (PackBits) or deflated,
with or without the horizontal predictor. Whole numbers are taken as they are, not scaled.
"""

from __future__ import annotations

import struct
import zlib
from typing import Literal

import numpy as np

from cbsim.arrays import Floats

__all__ = ["PIXELS", "read_tiff"]

PIXELS = 4_000_000  # largest size of a picture
TYPES = {1: "B", 3: "H", 4: "I", 16: "Q"}  # whole numbers, which all that is read here are
WIDTH, HEIGHT, BITS, COMPRESSION, OFFSETS, SAMPLES, COUNTS, PREDICTOR, FORMAT = (
    256,
    257,
    258,
    259,
    273,
    277,
    279,
    317,
    339,
)
KINDS = {
    (1, 8): "u1",
    (1, 16): "u2",
    (1, 32): "u4",
    (2, 8): "i1",
    (2, 16): "i2",
    (2, 32): "i4",
    (3, 32): "f4",
    (3, 64): "f8",
}


def read_tiff(data: bytes) -> Floats:
    """Read the first picture of a TIFF file as heights (rows, columns), from the first row.

    Raises
    ------
    ValueError
        If it cannot be read, with the reason.
    """
    order: Literal["<", ">"] = ">" if data[:2] == b"MM" else "<"
    if data[:2] not in (b"II", b"MM") or len(data) < 8 or struct.unpack_from(order + "H", data, 2)[0] != 42:
        raise ValueError("is no TIFF file")
    try:
        tags = _tags(data, order)
        return _pixels(data, order, tags)
    except (struct.error, IndexError, KeyError, zlib.error):
        raise ValueError("is a damaged TIFF file") from None


def _tags(data: bytes, order: str) -> dict[int, list[int]]:
    """Read the first directory."""
    (start,) = struct.unpack_from(order + "I", data, 4)
    (count,) = struct.unpack_from(order + "H", data, start)
    found: dict[int, list[int]] = {}
    for entry in range(count):
        tag, kind, number = struct.unpack_from(order + "HHI", data, start + 2 + 12 * entry)
        code = TYPES.get(kind)
        if code is None or number > PIXELS:
            continue
        layout = f"{order}{number}{code}"
        place = start + 2 + 12 * entry + 8
        if struct.calcsize(layout) > 4:
            (place,) = struct.unpack_from(order + "I", data, place)
        found[tag] = list(struct.unpack_from(layout, data, place))
    return found


def _pixels(data: bytes, order: Literal["<", ">"], tags: dict[int, list[int]]) -> Floats:
    """Join the strips of a directory."""
    width, height = tags[WIDTH][0], tags[HEIGHT][0]
    if not 2 <= width <= PIXELS or not 2 <= height <= PIXELS // width:
        raise ValueError(f"has {width} x {height} pixels, expected at least 2 x 2 and at most {PIXELS} together")
    if tags.get(SAMPLES, [1])[0] != 1:
        raise ValueError("has several samples per pixel, expected one: heights")
    kind = KINDS.get((tags.get(FORMAT, [1])[0], tags.get(BITS, [1])[0]))
    if kind is None:
        raise ValueError(f"has samples of {tags.get(BITS, [1])[0]} bits of a kind that is not read")
    need = width * height * np.dtype(kind).itemsize
    strips = zip(tags[OFFSETS], tags[COUNTS], strict=True)
    raw = b"".join(_unpacked(data[at : at + size], tags.get(COMPRESSION, [1])[0], need) for at, size in strips)
    if len(raw) < need:
        raise IndexError
    values = np.frombuffer(raw[:need], np.dtype(kind).newbyteorder(order)).reshape(height, width)
    if tags.get(PREDICTOR, [1])[0] == 2 and kind[0] != "f":
        values = np.cumsum(values, axis=1, dtype=values.dtype.newbyteorder("="))
    elif tags.get(PREDICTOR, [1])[0] != 1:
        raise ValueError("has a predictor that is not read")
    heights = values.astype(np.float64)
    if not np.isfinite(heights).all():
        raise ValueError("has heights that are no numbers")
    return heights


def _unpacked(strip: bytes, compression: int, most: int) -> bytes:
    """Unpack one strip, to the size of a picture at most."""
    if compression == 1:
        return strip
    if compression in (8, 32946):
        return zlib.decompressobj().decompress(strip, most)
    if compression != 32773:
        raise ValueError(f"is compressed in a way (number {compression}) that is not read")
    out, at = bytearray(), 0
    while at < len(strip) and len(out) < most:
        head = strip[at]
        if head < 128:
            out += strip[at + 1 : at + 2 + head]
            at += 2 + head
        else:
            out += strip[at + 1 : at + 2] * (257 - head if head > 128 else 0)
            at += 2 if head > 128 else 1
    return bytes(out)
