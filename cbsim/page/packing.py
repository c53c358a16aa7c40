"""Array compression for pages: row-wise differences of bits, split into byte planes and deflated (`unpack.js`).

Smooth motion changes few high-order bits between frames, so byte planes compress well. The encoding is lossless.
"""

from __future__ import annotations

import base64
import zlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["Packer"]

KINDS = {np.dtype(f"<{kind}"): kind for kind in ("f4", "f8", "i4", "u4")}


class Packer:
    """Collects arrays; equal arrays are stored once."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0
        self._there = dict[tuple[str, int, bytes], dict[str, object]]()

    def add(self, array: NDArray[np.generic], *, rows: bool = False) -> dict[str, object]:
        """Add an array of f4, f8, i4 or u4; returns its reference.

        Parameters
        ----------
        rows : bool
            Store differences of bits between rows (4-byte types only).
        """
        flat = np.ascontiguousarray(array)
        kind, size = KINDS[flat.dtype], flat.dtype.itemsize
        rows = rows and flat.size > 0
        row = int(flat[0].size) if rows else 0
        key = (kind, row, flat.tobytes())
        if key in self._there:
            return self._there[key]
        bits = flat.view(np.uint32).reshape(len(flat), -1) if rows else None
        if bits is not None:
            flat = np.concatenate([bits[:1], bits[1:] - bits[:-1]])
        planes = flat.reshape(-1).view(np.uint8).reshape(-1, size).T
        where = {"at": self._length, "kind": kind, "count": int(flat.size), "row": row}
        self._parts.append(planes.tobytes())
        self._length += planes.size
        self._there[key] = where
        return where

    def text(self) -> str:
        """Return all arrays, deflated and base64-encoded."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode()
