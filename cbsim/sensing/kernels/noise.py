"""Noise of one scan: true distances to readings, with draws from the scanner's own random stream.

The order of errors is that of docs/theory/lasers_and_noise.md §7.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.jit import inlined, inner, kernel
from cbsim.world.kernels import normal_into, philox_block, philox_into, uniform_into

__all__ = ["ANGLE", "Noise", "Noises", "measure_into", "noise_at"]

RANGE, LOSS, ANGLE, EARLY, DUST = range(5)
"""Draws of one scan; number n begins at the block n · beams · layers, so that none overlaps another."""


class Noise(NamedTuple):
    """Errors of a laser from its conf; errors of size zero use no random numbers.

    Attributes
    ----------
    least, most : float
        Smallest and largest range [m].
    sigma, slope, bias : float
        Standard deviation of a range [m] and its growth with distance, and a constant error [m].
    dropout, early : float
        Shares of returns lost, and of beams that return from dust or rain.
    quantum : float
        Ranges are rounded to multiples of it [m]; 0: not.
    nothing : float
        Range of a beam without return [m].
    bins, rates, spreads, shifts : (bins,)
        Outer radii [m], detection rates, further standard deviations and errors [m] by bins of elliptical distance.
    stretch : (rays,)
        Elliptical distance of each beam per metre; empty without bins.
    blind : (beams,) int64
        1 for beams in blind sectors; empty where there are none.
    """

    least: float
    most: float
    sigma: float
    slope: float
    bias: float
    dropout: float
    early: float
    quantum: float
    nothing: float
    bins: NDArray[np.float64]
    rates: NDArray[np.float64]
    spreads: NDArray[np.float64]
    shifts: NDArray[np.float64]
    stretch: NDArray[np.float64]
    blind: NDArray[np.int64]


class Noises(NamedTuple):
    """Errors of all lasers of a World.

    Attributes
    ----------
    numbers : (lasers, 9)
        The first nine columns of `Noise`.
    spans : (lasers, 4, 2) int64
        Ranges of each laser's bins, values by bin, stretches and blind beams in the tables that follow.
    bins, rates, spreads, shifts, stretch, blind
        As in `Noise`, one laser after another.
    """

    numbers: Annotated[NDArray[np.float64], (9,)]
    spans: Annotated[NDArray[np.int64], (4, 2)]
    bins: NDArray[np.float64]
    rates: NDArray[np.float64]
    spreads: NDArray[np.float64]
    shifts: NDArray[np.float64]
    stretch: NDArray[np.float64]
    blind: NDArray[np.int64]


@inner
def noise_at(noises, s):
    """Errors of one laser."""
    n, spans = noises.numbers[s], noises.spans[s]
    a, b = spans[1, 0], spans[1, 1]
    return Noise(
        n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8],
        noises.bins[spans[0, 0] : spans[0, 1]], noises.rates[a:b], noises.spreads[a:b], noises.shifts[a:b],
        noises.stretch[spans[2, 0] : spans[2, 1]], noises.blind[spans[3, 0] : spans[3, 1]],
    )  # fmt: skip


@inner
def bin_of(noise, ray, distance):
    """Return the bin of a ray's elliptical distance; the last one has no outer radius."""
    last, place = noise.bins.shape[0] - 1, 0
    while place < last and noise.bins[place] <= distance * noise.stretch[ray]:
        place += 1
    return place


@inner
def any_above(values, limit):
    """Tell whether one of the numbers is greater than a limit."""
    # all are looked at: a loop that leaves early is no vector code
    found = False
    for k in range(values.shape[0]):
        found = found or values[k] > limit
    return found


@inner
def any_below(values, limit):
    """Tell whether one of the numbers is less than a limit."""
    found = False
    for k in range(values.shape[0]):
        found = found or values[k] < limit
    return found


@inlined
def noisy(noise, distance, draw, spread, shift):
    """Return the reading [m] of a true distance and a draw of its noise; 0 where there is none, without branches."""
    # beams without return go on as 0, since the loop has no branches; they are not marked as seen
    distance = distance if (noise.least <= distance) & (distance <= noise.most) else 0.0
    # independent errors add in quadrature
    sigma = noise.sigma + noise.slope * distance
    distance = max(distance + math.sqrt(sigma * sigma + spread * spread) * draw, 0.0)
    return max(distance + noise.bias + shift, 0.0)


@inlined
def spread_into(true, noise, draws, width, layers, beams, ranges):
    """Write every true distance with its noise and its constant errors."""
    spread, shift = noise.spreads[0], noise.shifts[0]
    for layer in range(layers):
        row, first = true[layer * width : layer * width + beams], layer * beams
        drawn, out = draws[first : first + beams], ranges[first : first + beams]
        if noise.bins.shape[0] == 0:
            # one pair of deviations for all, or those of each beam's bin
            for beam in range(beams):
                out[beam] = noisy(noise, row[beam], drawn[beam], spread, shift)
        else:
            for beam in range(beams):
                place = bin_of(noise, first + beam, row[beam] if noise.least <= row[beam] <= noise.most else 0.0)
                out[beam] = noisy(noise, row[beam], drawn[beam], noise.spreads[place], noise.shifts[place])


@inlined
def lose_some(true, noise, draws, width, layers, beams, seen):
    """Mark the beams that do not return, or whose return is not detected, as not seen."""
    # both losses are independent: one draw against the product of their probabilities
    if noise.bins.shape[0] == 0:
        kept = (1.0 - noise.dropout) * noise.rates[0]
        for ray in range(layers * beams):
            seen[ray] = seen[ray] & (draws[ray] < kept)
        return
    for layer in range(layers):
        for beam in range(beams):
            ray, distance = layer * beams + beam, true[layer * width + beam]
            distance = distance if noise.least <= distance <= noise.most else 0.0
            kept = (1.0 - noise.dropout) * noise.rates[bin_of(noise, ray, distance)]
            seen[ray] = seen[ray] and draws[ray] < kept


@inner
def words_for(key_0, key_1, index, first, seen, rays, words):
    """Write the words of `philox_into` for beams that are seen, in blocks of four words that serve `rays` beams each.

    Words of other blocks are 0. Returns the beams between the first block and the last one: [begin, end).
    """
    size, count = seen.shape[0], words.shape[0]
    begin, end, found = size, 0, 0
    for ray in range(size):
        found += seen[ray]
    if 2 * found > size:  # hardly a block would be left out
        philox_into(key_0, key_1, index, first, words)
        return 0, size
    for block in range((count + 3) // 4):
        ray, at = block * rays, 4 * block
        stop, wanted = min(ray + rays, size), False
        while ray < stop and not wanted:
            wanted = seen[ray]
            ray += 1
        one, two, three, four = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
        if wanted:
            one, two, three, four = philox_block(key_0, key_1, index, first + block)
            begin, end = min(begin, block * rays), stop
        words[at] = one
        if at + 3 < count:
            words[at + 1], words[at + 2], words[at + 3] = two, three, four
        else:
            for k in range(at + 1, count):
                words[k] = two if k == at + 1 else three
    return begin, end


@kernel
def measure_into(true, width, noise, key_0, key_1, index, words, draws, ranges, seen):
    """Write the readings of a scan.

    Parameters
    ----------
    true : (layers · width,) [m]
        Distance to the first surface, rows filled up; infinity where there is none.
    width : int
        Length of a row.
    noise : Noise
    key_0, key_1 : uint64
        Key of the scanner's stream.
    index : int
        Number of the scan.
    words : (≥ layers · beams,) uint64
        Scratch.
    draws : (≥ layers · beams,)
        Scratch.
    ranges : (layers · beams,) [m], out
    seen : (layers · beams,) bool, out
        Whether there was a return.
    """
    size, layers = ranges.shape[0], true.shape[0] // width
    beams = size // layers
    most = noise.most
    draws = draws[:size]
    for layer in range(layers):
        row, out = true[layer * width : layer * width + beams], seen[layer * beams : (layer + 1) * beams]
        for beam in range(beams):
            out[beam] = (noise.least <= row[beam]) & (row[beam] <= most)
    # random numbers for beams that return nothing are not drawn: many scans see little
    # each kind of error has numbers of its own (LOSS, RANGE …), so that one does not change the others; what a sensor
    # has no errors of is not drawn
    if noise.dropout > 0.0 or any_below(noise.rates, 1.0):
        begin, end = words_for(key_0, key_1, index, LOSS * size, seen, 4, words[:size])
        uniform_into(words[begin:end], draws[begin:end])
        lose_some(true, noise, draws, width, layers, beams, seen)
    draws[:] = 0.0
    if noise.sigma > 0.0 or noise.slope > 0.0 or any_above(noise.spreads, 0.0):
        # a word gives two normal numbers
        begin, end = words_for(key_0, key_1, index, RANGE * size, seen, 8, words[: (size + 1) // 2])
        normal_into(words[begin // 2 : (end + 1) // 2], draws[begin:end])
    spread_into(true, noise, draws, width, layers, beams, ranges)
    if noise.early > 0.0:
        # which beams return early, and where: two draws for each
        philox_into(key_0, key_1, index, EARLY * size, words[:size])
        uniform_into(words[:size], draws)
        early = draws < noise.early
        philox_into(key_0, key_1, index, DUST * size, words[:size])
        uniform_into(words[:size], draws)
        for ray in range(size):
            if early[ray]:
                # early returns are uniform up to the true distance
                way = max(min(true[ray // beams * width + ray % beams], most) - noise.least, 0.0)
                ranges[ray] = noise.least + way * draws[ray]
                seen[ray] = True
    # readings are rounded last, as a device rounds what it has measured; its blind beams never tell anything
    if noise.quantum > 0.0:
        for ray in range(size):
            ranges[ray] = np.rint(ranges[ray] / noise.quantum) * noise.quantum
    if noise.blind.shape[0] > 0:
        for ray in range(size):
            seen[ray] = seen[ray] and noise.blind[ray % beams] == 0
    for ray in range(size):
        is_seen = seen[ray] & (ranges[ray] != noise.nothing)  # a reading equal to that of no return counts as none
        seen[ray], ranges[ray] = is_seen, ranges[ray] if is_seen else noise.nothing
