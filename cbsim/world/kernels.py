"""Compiled parts of a World: hash of a Snapshot, counter-based random numbers and processes, motion history."""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.columns import VELOCITY
from cbsim.geometry.kernels.trajectory_segments import segment_at
from cbsim.jit import bits_of, float_of, inlined, inner, kernel, multiply_high

__all__ = [
    "FORK_BRANCH",
    "FORK_STEP",
    "HISTORY_ROLLING",
    "HISTORY_WAY",
    "HISTORY_YAW_RATE",
    "branch_at",
    "gauss_markov_into",
    "hash_block",
    "hash_leaves_into",
    "hash_words",
    "leaf_count",
    "motion_at_into",
    "normal_into",
    "philox_block",
    "philox_into",
    "renewal_into",
    "same_words",
    "uniform_into",
    "uniform_of",
    "vehicle_motion_into",
]

# a row of `State.pose_history` is motion up to its velocity, and then yaw rate [rad/s], speed of the wheels [m/s], and
# the way that they have rolled [m]
HISTORY_YAW_RATE, HISTORY_ROLLING, HISTORY_WAY = 10, 11, 12

FORK_STEP, FORK_BRANCH = range(2)  # of `State.fork`

# XXH64, Yann Collet, specification of 2016, https://github.com/Cyan4973/xxHash
PRIME_1 = np.uint64(0x9E3779B185EBCA87)
PRIME_2 = np.uint64(0xC2B2AE3D27D4EB4F)
PRIME_3 = np.uint64(0x165667B19E3779F9)
PRIME_4 = np.uint64(0x85EBCA77C2B2AE63)
PRIME_5 = np.uint64(0x27D4EB2F165667C5)


@inner
def rotate_left(x, bits):
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


@kernel
def mix(accumulator, word):
    return rotate_left(accumulator + word * PRIME_2, 31) * PRIME_1


@inlined
def join_lanes(a, b, c, d, size):
    """Hash of four accumulators and a number of words, before what is left of the block and the last mixing."""
    h = rotate_left(a, 1) + rotate_left(b, 7) + rotate_left(c, 12) + rotate_left(d, 18)
    zero = np.uint64(0)
    for lane in (a, b, c, d):
        h = (h ^ mix(zero, lane)) * PRIME_1 + PRIME_4
    return h + np.uint64(8 * size)


@inlined
def finish(h):
    """Last mixing of a hash."""
    h = (h ^ (h >> np.uint64(33))) * PRIME_2
    h = (h ^ (h >> np.uint64(29))) * PRIME_3
    return h ^ (h >> np.uint64(32))


@kernel
def hash_words(words, seed):
    """XXH64 of a block of 64-bit words (n,), with a 64-bit seed."""
    n = words.shape[0]
    if n >= 4:
        a, b, c, d = seed + PRIME_1 + PRIME_2, seed + PRIME_2, seed, seed - PRIME_1
        # four accumulators, none of which waits for another one's product
        for k in range(0, n - 3, 4):
            a, b = mix(a, words[k]), mix(b, words[k + 1])
            c, d = mix(c, words[k + 2]), mix(d, words[k + 3])
        h = join_lanes(a, b, c, d, n)
    else:
        h = seed + PRIME_5 + np.uint64(8 * n)
    # words that fill no group of four
    for k in range(n - n % 4, n):
        h = rotate_left(h ^ mix(np.uint64(0), words[k]), 27) * PRIME_1 + PRIME_4
    return finish(h)


@inner
def hash_two(words, one, two, size):
    """XXH64 of two blocks of `size` words, a multiple of four, that begin at words `one` and `two`, with seed 0.

    Products of one block are computed while those of the other are waited for.
    """
    zero = np.uint64(0)
    a, b, c, d = PRIME_1 + PRIME_2, PRIME_2, zero, zero - PRIME_1
    e, f, g, h = a, b, c, d
    i, j, end = np.uint64(one), np.uint64(two), np.uint64(one + size)  # unsigned: such indices are not wrapped
    step, n1, n2, n3 = np.uint64(4), np.uint64(1), np.uint64(2), np.uint64(3)
    while i < end:
        a, b, e, f = mix(a, words[i]), mix(b, words[i + n1]), mix(e, words[j]), mix(f, words[j + n1])
        c, d, g, h = mix(c, words[i + n2]), mix(d, words[i + n3]), mix(g, words[j + n2]), mix(h, words[j + n3])
        i, j = i + step, j + step
    return finish(join_lanes(a, b, c, d, size)), finish(join_lanes(e, f, g, h, size))


LEAF = 256  # words per leaf; leaves that do not change are not hashed again


@kernel
def leaf_count(size):
    """Count the leaves of a block of a number of words."""
    return (size + LEAF - 1) // LEAF


@kernel
def hash_leaves_into(words, which, leaves):
    """Write the hashes of some leaves of a block of words (n,), given by their numbers, to their rows (leaves,)."""
    zero, k = np.uint64(0), 0
    while k < which.shape[0]:
        start = which[k] * LEAF
        # two whole leaves at once
        if k + 1 < which.shape[0] and max(start, which[k + 1] * LEAF) + LEAF <= words.shape[0]:
            leaves[which[k]], leaves[which[k + 1]] = hash_two(words, start, which[k + 1] * LEAF, LEAF)
            k += 2
        else:
            leaves[which[k]] = hash_words(words[start : min(start + LEAF, words.shape[0])], zero)
            k += 1


@kernel
def hash_block(words):
    """Hash a block of words (n,): XXH64 of the XXH64 of every leaf of `LEAF` words, all seeded with 0."""
    leaves = np.empty(leaf_count(words.shape[0]), np.uint64)
    hash_leaves_into(words, np.arange(leaves.shape[0]), leaves)
    return hash_words(leaves, np.uint64(0))


@kernel
def same_words(one, two, runs):
    """Whether two blocks of words (n,) are equal in some runs (k, 2) of words, each [first, last)."""
    for k in range(runs.shape[0]):
        difference = np.uint64(0)
        for i in range(runs[k, 0], runs[k, 1]):
            difference |= one[i] ^ two[i]
        if difference != np.uint64(0):
            return False
    return True


# Philox4x64-10, Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011, table 2
PHILOX_M0 = np.uint64(0xD2E7470EE14C6C93)
PHILOX_M1 = np.uint64(0xCA5A826395121157)
WEYL_0 = np.uint64(0x9E3779B97F4A7C15)
WEYL_1 = np.uint64(0xBB67AE8584CAA73B)


@inlined
def philox_block(key_0, key_1, event, block):
    """Four words: Philox of the counter (block, event, 0, 0)."""
    c0, c1, c2, c3 = np.uint64(block), np.uint64(event), np.uint64(0), np.uint64(0)
    for _ in range(10):
        h0, l0 = multiply_high(PHILOX_M0, c0), PHILOX_M0 * c0
        h1, l1 = multiply_high(PHILOX_M1, c2), PHILOX_M1 * c2
        c0, c1, c2, c3 = h1 ^ c1 ^ key_0, l1, h0 ^ c3 ^ key_1, l0
        key_0, key_1 = key_0 + WEYL_0, key_1 + WEYL_1
    return c0, c1, c2, c3


@inner
def branch_at(fork, step):
    """Branch in force in the step that begins at a Snapshot of this number; see `cbsim.world.forks`."""
    branch = 0
    for k in range(fork.shape[0]):
        if fork[k, FORK_BRANCH] == 0 or fork[k, FORK_STEP] > step:
            break
        branch = fork[k, FORK_BRANCH]
    return branch


@kernel
def philox_into(key_0, key_1, event, first, out):
    """Fill `out` (n,) with 64-bit words: block j of 4 words is Philox of the counter (first + j, event, 0, 0).

    `event` is the number of the occasion (scan, step), so that a draw does not depend on earlier ones.
    """
    n = out.shape[0]
    for j in range(n // 4):
        out[4 * j], out[4 * j + 1], out[4 * j + 2], out[4 * j + 3] = philox_block(key_0, key_1, event, first + j)
    if n % 4 > 0:
        last = philox_block(key_0, key_1, event, first + n // 4)
        for lane in range(n % 4):
            out[n - n % 4 + lane] = last[lane]


UNIT = 1.0 / 9007199254740992.0  # 2⁻⁵³: 53 random bits make a double in [0, 1)
DROP = np.uint64(11)


@inlined
def uniform_of(word):
    """Turn a 64-bit word into a uniform number in [0, 1)."""
    return float(word >> DROP) * UNIT


@kernel
def uniform_into(words, out):
    """Turn 64-bit words (n,) into uniform numbers in [0, 1)."""
    for k in range(out.shape[0]):
        out[k] = uniform_of(words[k])


ONE = np.uint64(0x3FF0000000000000)  # bits of 1.0, and so the exponent of numbers from 1 to 2
MANTISSA = np.uint64(0x000FFFFFFFFFFFFF)
RADIUS, ANGLE = np.uint64(0xFFFFFFFFFF000000), np.uint64(0x3FFFFF)  # bits of a word: 40, two for the quadrant, 22
BACK, ACROSS = np.uint64(0x800000), np.uint64(0x400000)
HALF_STEP = 2.0**-23


@inlined
def logarithm(x):
    """Natural logarithm of a normal number in (0, 1], to 1e-15 of itself; without branches, so that loops are vectors.

    ln m = 2 artanh((m - 1) / (m + 1)) with m in [0.75, 1.5), its Taylor series to the 21st power.
    """
    bits = bits_of(x)
    # the exponent's bits as a number: in the mantissa of 2⁵², which is subtracted
    exponent = float_of((bits >> np.uint64(52)) | np.uint64(0x4330000000000000)) - 4503599627370496.0 - 1023.0  # 2⁵²
    m = float_of((bits & MANTISSA) | ONE)
    high = m >= 1.5
    m, exponent = 0.5 * m if high else m, exponent + 1.0 if high else exponent
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    t = 1.0 / 15.0 + z * (1.0 / 17.0 + z * (1.0 / 19.0 + z * (1.0 / 21.0)))
    t = 1.0 / 7.0 + z * (1.0 / 9.0 + z * (1.0 / 11.0 + z * (1.0 / 13.0 + z * t)))
    t = 1.0 + z * (1.0 / 3.0 + z * (1.0 / 5.0 + z * t))
    return exponent * 0.6931471805599453 + 2.0 * s * t


@inlined
def sine_cosine(x):
    """Sine and cosine of an angle within ±π/4 [rad], to 1e-16: Taylor series to the 15th and 16th power."""
    z = x * x
    s = 1.0 / 362880.0 + z * (-1.0 / 39916800.0 + z * (1.0 / 6227020800.0 + z * (-1.0 / 1307674368000.0)))
    s = 1.0 + z * (-1.0 / 6.0 + z * (1.0 / 120.0 + z * (-1.0 / 5040.0 + z * s)))
    c = -1.0 / 3628800.0 + z * (1.0 / 479001600.0 + z * (-1.0 / 87178291200.0 + z * (1.0 / 20922789888000.0)))
    c = 1.0 + z * (-0.5 + z * (1.0 / 24.0 + z * (-1.0 / 720.0 + z * (1.0 / 40320.0 + z * c))))
    return x * s, c


@inlined
def normal_pair(word):
    """Two standard normal numbers of one word."""
    # 2 − m with m in [1, 2) is in (0, 1], whose logarithm is finite
    radius = math.sqrt(-2.0 * logarithm(2.0 - float_of(((word & RADIUS) >> np.uint64(12)) | ONE)))
    # within ±1/2, never 0 or an end: an angle within ±π/4 of the middle of the quadrant
    part = float_of(((word & ANGLE) << np.uint64(30)) | ONE) - 1.5 + HALF_STEP
    s, c = sine_cosine(0.5 * math.pi * part)
    # `across` turns by a quarter, `back` by a half
    across, back = (word & ACROSS) != np.uint64(0), (word & BACK) != np.uint64(0)
    x, y = -s if across else c, c if across else s
    return (-radius if back else radius) * x, (-radius if back else radius) * y


@kernel
def normal_into(words, out):
    """Turn 64-bit words ((n + 1) // 2,) into standard normal numbers (n,) by Box and Muller (1958), two from each.

    The upper 40 bits of a word give the radius, which is at most 7.4; the next two the quadrant, 22 the angle in it.
    """
    n = out.shape[0]
    for k in range(np.uint64(0), np.uint64(n // 2)):
        out[np.uint64(2) * k], out[np.uint64(2) * k + np.uint64(1)] = normal_pair(words[k])
    if n % 2 > 0:
        out[n - 1] = normal_pair(words[n // 2])[0]


FORGOTTEN = 46.0  # exp(-46) = 1e-20: two values so far apart are independent to more than double precision


@kernel
def gauss_markov_into(key_0, key_1, index, decay, firsts, out):
    """Write the values (m, n) of independent stationary unit Gauss–Markov sequences at one occasion.

    The correlation over a lag of k occasions is exp(-decay · k). Any occasion takes O(log) draws and no state:
    occasions at multiples of a power of two, so large that they are independent, are drawn freely; between them
    midpoints are drawn given both ends, N((a + b) r / (1 + r²), (1 - r²) / (1 + r²)) with r the correlation
    over half the span, which is exact for a Gaussian Markov sequence (Lévy's construction of 1948, for the
    process of Uhlenbeck and Ornstein, Phys. Rev. 36, 1930). Each occasion has one draw, numbered by itself. The
    sequences of row i draw from the blocks `firsts[i]` on, two to a block.
    """
    # spans are halved from the first power of two over which nothing is remembered
    top, reach = 0, decay
    while reach < FORGOTTEN:
        top, reach = top + 1, 2.0 * reach
    words, a, b, middle = np.empty(4, np.uint64), np.empty(2), np.empty(2), np.empty(2)
    pairs = (out.shape[1] + 1) // 2
    # rows of values in pairs, as one word has two normal numbers
    for row in range(out.shape[0] * pairs):
        i, j = row // pairs, row % pairs
        block = firsts[i] + j
        low = (index >> top) << top
        philox_into(key_0, key_1, low, block, words)
        normal_into(words, a)
        if low != index:
            philox_into(key_0, key_1, low + (1 << top), block, words)
            normal_into(words, b)
        level = top
        while low != index:
            level -= 1
            half = 1 << level
            r = math.exp(-decay * half)
            spread = math.sqrt(-math.expm1(-2.0 * decay * half) / (1.0 + r * r))
            philox_into(key_0, key_1, low + half, block, words)
            normal_into(words, middle)
            for k in range(2):
                middle[k] = r / (1.0 + r * r) * (a[k] + b[k]) + spread * middle[k]
            # go on with the half of the span in which the occasion lies, until it is one of the ends
            if index < low + half:
                b[0], b[1] = middle[0], middle[1]
            else:
                a[0], a[1] = middle[0], middle[1]
                low += half
        out[i, 2 * j] = a[0]
        if 2 * j + 1 < out.shape[1]:
            out[i, 2 * j + 1] = a[1]


@kernel
def renewal_into(key_0, key_1, index, stay, firsts, out):
    """Write uniform numbers in [0, 1) (m,), each kept from the occasion before with probability `stay`, else new.

    "Below p" is then a two-state Markov chain with share p and correlation stay^k over a lag of k occasions. The last
    renewal is searched backwards, 1 / (1 - stay) draws on average; occasion 0 is one.
    """
    words, drawn = np.empty(2, np.uint64), np.empty(2)
    for j in range(out.shape[0]):
        occasion = index
        # the first number decides whether the value was renewed at the occasion, the second is the value
        philox_into(key_0, key_1, occasion, firsts[j], words)
        uniform_into(words, drawn)
        while occasion > 0 and drawn[0] < stay:
            occasion -= 1
            philox_into(key_0, key_1, occasion, firsts[j], words)
            uniform_into(words, drawn)
        out[j] = drawn[1]


@inner
def vehicle_motion_into(constants, state, v, time, velocity):
    """Write the velocity (3,) [m/s] of tracked body v at a time within the history; return its yaw rate [rad/s]."""
    clock, memory, past = state.clock[0], constants.memory, state.pose_history
    before = min(max(math.floor(time / constants.step + 1e-9), clock - memory + 1, 0), clock)
    part = time / constants.step - before if before < clock else 0.0
    # a time that is a step but for rounding has the bits of that step
    part = part if part > 1e-9 else 0.0
    one, two = v * memory + before % memory, v * memory + (before + 1) % memory
    for k in range(3):
        velocity[k] = past[one, VELOCITY + k] + part * (past[two, VELOCITY + k] - past[one, VELOCITY + k])
    return past[one, HISTORY_YAW_RATE] + part * (past[two, HISTORY_YAW_RATE] - past[one, HISTORY_YAW_RATE])


@kernel
def motion_at_into(constants, state, time, velocities, rates):
    """Write velocity (bodies, 3) [m/s] and yaw rate (bodies,) [rad/s] of all bodies at a time within the history.

    Literal movers have those of their segment at that time; others are interpolated between the steps of the history.
    """
    velocities[:], rates[:] = 0.0, 0.0
    for m in range(constants.mover_body.shape[0]):
        segment = segment_at(
            constants.segment_start,
            constants.mover_first[m],
            constants.mover_last[m],
            state.trajectory_segment[m],
            time,
        )
        for k in range(3):
            velocities[constants.mover_body[m], k] = constants.segment_velocity[segment, k]
    if constants.memory == 0:
        return
    for v in range(constants.tracked_body.shape[0]):
        body = constants.tracked_body[v]
        rates[body] = vehicle_motion_into(constants, state, v, time, velocities[body])
