"""Random streams named by (subsystem, entity): counter-based, so a draw depends on its name and occasion alone."""

from __future__ import annotations

import hashlib

import numpy as np

from cbsim.world.kernels import normal_into, philox_into, uniform_into
from cbsim.world.tables import Floats

__all__ = ["normals", "stream_key", "uniforms"]


def stream_key(seed: int, subsystem: str, entity: str) -> tuple[np.uint64, np.uint64]:
    """Derive the 128-bit Philox key of a stream from the seed and its name."""
    text = f"{seed}\0{subsystem}\0{entity}".encode()
    words = np.frombuffer(hashlib.blake2b(text, digest_size=16).digest(), "<u8")
    return words[0], words[1]


def _words(key: tuple[np.uint64, np.uint64], event: int, count: int, first: int) -> np.ndarray:
    out = np.empty(count, np.uint64)
    with np.errstate(over="ignore"):
        philox_into(key[0], key[1], event, first, out)
    return out


def normals(key: tuple[np.uint64, np.uint64], event: int, count: int, first: int = 0) -> Floats:
    """Draw standard normal numbers (count,) of one occasion.

    Parameters
    ----------
    key : pair of uint64
        From `stream_key`.
    event : int
        Number of the occasion, such as the index of a scan.
    count : int
        How many.
    first : int
        Block of four words to begin at, so that several draws of one occasion do not overlap.
    """
    out = np.empty(count)
    normal_into(_words(key, event, count + count % 2, first), out)
    return out


def uniforms(key: tuple[np.uint64, np.uint64], event: int, count: int, first: int = 0) -> Floats:
    """Draw uniform numbers in [0, 1) (count,) of one occasion; parameters as `normals`."""
    out = np.empty(count)
    uniform_into(_words(key, event, count, first), out)
    return out
