"""Random streams named by (subsystem, entity): counter-based, so a draw depends on its name and occasion alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.geometry import elementary as math
from cbsim.jit import wrapping
from cbsim.world.kernels import gauss_markov_into, normal_into, philox_into, renewal_into, uniform_into

__all__ = ["Key", "gauss_markov", "normals", "renewals", "stream_key", "stream_keys", "uniforms"]

Key = tuple[np.uint64, np.uint64]
FIRST = np.zeros(1, np.int64)


@lru_cache(maxsize=4096)
def stream_key(seed: int, subsystem: str, entity: str) -> Key:
    """Derive the 128-bit Philox key of a stream from the seed and its name."""
    text = f"{seed}\0{subsystem}\0{entity}".encode()
    words = np.frombuffer(hashlib.blake2b(text, digest_size=16).digest(), "<u8")
    return words[0], words[1]


def stream_keys(seed: int, subsystem: str, entities: Sequence[str]) -> NDArray[np.uint64]:
    """Derive the keys of several streams of a subsystem, shape (n, 2), as `stream_key` does."""
    before = hashlib.blake2b(f"{seed}\0{subsystem}\0".encode(), digest_size=16)
    digests = []
    for entity in entities:
        one = before.copy()
        one.update(entity.encode())
        digests.append(one.digest())
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64).reshape(-1, 2)


def _words(key: Key, event: int, count: int, first: int) -> np.ndarray:
    out = np.empty(count, np.uint64)
    with wrapping():
        philox_into(key[0], key[1], event, first, out)
    return out


def normals(key: Key, event: int, count: int, first: int = 0) -> Floats:
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
    normal_into(_words(key, event, (count + 1) // 2, first), out)
    return out


def uniforms(key: Key, event: int, count: int, first: int = 0) -> Floats:
    """Draw uniform numbers in [0, 1) (count,) of one occasion; parameters as `normals`."""
    out = np.empty(count)
    uniform_into(_words(key, event, count, first), out)
    return out


def gauss_markov(key: Key, index: int, lags: float, count: int, firsts: Ints = FIRST) -> Floats:
    """Values (n, count) of stationary unit Gauss–Markov sequences at one occasion, in any order and without state.

    Parameters
    ----------
    key : pair of uint64
        From `stream_key`.
    index : int
        Number of the occasion.
    lags : float
        Time constant in occasions: the correlation over k of them is exp(-k / lags). 0: white noise.
    count : int
        How many independent sequences in a row.
    firsts : (n,) int64
        Block of four words where each row begins, two sequences to a block.
    """
    out = np.empty((len(firsts), count))
    with wrapping():
        gauss_markov_into(key[0], key[1], index, _decay(lags), firsts, out)
    return out


def renewals(key: Key, index: int, lags: float, blocks: Ints) -> Floats:
    """Uniform numbers in [0, 1) (n,), each kept over k occasions with probability exp(-k / lags).

    "Below p" has share p and that correlation: a two-state Markov chain. Each number has a block of its own; the other
    parameters are as in `gauss_markov`.
    """
    out = np.empty(len(blocks))
    with wrapping():
        renewal_into(key[0], key[1], index, math.exp(-_decay(lags)), blocks, out)
    return out


def _decay(lags: float) -> float:
    return 1.0 / lags if lags > 1e-3 else 1e3
