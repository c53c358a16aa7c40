"""Compiled parts of a World: the hash of a Snapshot, counter-based random numbers, ground height."""

from __future__ import annotations

import math

import numpy as np

from cbsim.geometry.kernels.rays import ray_triangle
from cbsim.jit import kernel

__all__ = ["ground_height", "hash_words", "normal_into", "philox_into", "uniform_into"]

# XXH64, Yann Collet, specification of 2016, https://github.com/Cyan4973/xxHash (doc/xxhash_spec.md)
PRIME_1 = np.uint64(0x9E3779B185EBCA87)
PRIME_2 = np.uint64(0xC2B2AE3D27D4EB4F)
PRIME_3 = np.uint64(0x165667B19E3779F9)
PRIME_4 = np.uint64(0x85EBCA77C2B2AE63)
PRIME_5 = np.uint64(0x27D4EB2F165667C5)


@kernel
def rotate_left(x, bits):
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


@kernel
def mix(accumulator, word):
    return rotate_left(accumulator + word * PRIME_2, 31) * PRIME_1


@kernel
def hash_words(words, seed):
    """XXH64 of a block of 64-bit words (n,), with a 64-bit seed."""
    n = words.shape[0]
    if n >= 4:
        a, b, c, d = seed + PRIME_1 + PRIME_2, seed + PRIME_2, seed, seed - PRIME_1
        for k in range(0, n - 3, 4):
            a, b = mix(a, words[k]), mix(b, words[k + 1])
            c, d = mix(c, words[k + 2]), mix(d, words[k + 3])
        h = rotate_left(a, 1) + rotate_left(b, 7) + rotate_left(c, 12) + rotate_left(d, 18)
        zero = np.uint64(0)
        for lane in (a, b, c, d):
            h = (h ^ mix(zero, lane)) * PRIME_1 + PRIME_4
    else:
        h = seed + PRIME_5
    h += np.uint64(8 * n)
    for k in range(n - n % 4, n):
        h = rotate_left(h ^ mix(np.uint64(0), words[k]), 27) * PRIME_1 + PRIME_4
    h = (h ^ (h >> np.uint64(33))) * PRIME_2
    h = (h ^ (h >> np.uint64(29))) * PRIME_3
    return h ^ (h >> np.uint64(32))


# Philox4x64-10, Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011, table 2
PHILOX_M0 = np.uint64(0xD2E7470EE14C6C93)
PHILOX_M1 = np.uint64(0xCA5A826395121157)
WEYL_0 = np.uint64(0x9E3779B97F4A7C15)
WEYL_1 = np.uint64(0xBB67AE8584CAA73B)
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


@kernel
def multiply_high(a, b):
    """Upper 64 bits of the 128-bit product."""
    al, ah, bl, bh = a & LOW, a >> HALF, b & LOW, b >> HALF
    low, cross_1, cross_2 = al * bl, ah * bl, al * bh
    carry = ((low >> HALF) + (cross_1 & LOW) + (cross_2 & LOW)) >> HALF
    return ah * bh + (cross_1 >> HALF) + (cross_2 >> HALF) + carry


@kernel
def philox_into(key_0, key_1, event, first, out):
    """Fill `out` (n,) with 64-bit words: block j of 4 words is Philox of the counter (first + j, event, 0, 0).

    `event` numbers the occasion (the scan, the step), so that a draw depends on nothing drawn before it.
    """
    n = out.shape[0]
    for j in range((n + 3) // 4):
        c0, c1, c2, c3 = np.uint64(first + j), np.uint64(event), np.uint64(0), np.uint64(0)
        k0, k1 = key_0, key_1
        for _ in range(10):
            h0, l0 = multiply_high(PHILOX_M0, c0), PHILOX_M0 * c0
            h1, l1 = multiply_high(PHILOX_M1, c2), PHILOX_M1 * c2
            c0, c1, c2, c3 = h1 ^ c1 ^ k0, l1, h0 ^ c3 ^ k1, l0
            k0, k1 = k0 + WEYL_0, k1 + WEYL_1
        for lane, word in enumerate((c0, c1, c2, c3)):
            if 4 * j + lane < n:
                out[4 * j + lane] = word


UNIT = 1.0 / 9007199254740992.0  # 2⁻⁵³: 53 random bits make a double in [0, 1)
DROP = np.uint64(11)


@kernel
def uniform_into(words, out):
    """Turn 64-bit words (n,) into uniform numbers in [0, 1)."""
    for k in range(out.shape[0]):
        out[k] = float(words[k] >> DROP) * UNIT


@kernel
def normal_into(words, out):
    """Turn 64-bit words (n or n + 1, even) into standard normal numbers (n,) by Box and Muller (1958)."""
    n = out.shape[0]
    for k in range(0, n, 2):
        radius = math.sqrt(-2.0 * math.log((float(words[k] >> DROP) + 1.0) * UNIT))
        angle = 2.0 * math.pi * (float(words[k + 1] >> DROP) * UNIT)
        out[k] = radius * math.cos(angle)
        if k + 1 < n:
            out[k + 1] = radius * math.sin(angle)


@kernel
def ground_height(triangles, x, y, below):
    """Height [m] of the highest ground at (x, y) that is not above `below`; 0 where there is no drivable mesh."""
    height = 0.0
    for k in range(triangles.shape[0]):
        a, b, c = triangles[k, 0], triangles[k, 1], triangles[k, 2]
        if min(a[0], b[0], c[0]) <= x <= max(a[0], b[0], c[0]) and min(a[1], b[1], c[1]) <= y <= max(a[1], b[1], c[1]):
            drop = ray_triangle(x, y, below, 0.0, 0.0, -1.0, a, b, c)
            if drop < math.inf:
                height = max(height, below - drop)
    return height
