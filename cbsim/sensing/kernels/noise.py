"""True distances of one scan to readings, beam by beam, every draw from the scanner's own stream."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.jit import inner, kernel
from cbsim.world.kernels import normal_into, philox_into, uniform_into

__all__ = ["ANGLE", "Noise", "measure_into"]

RANGE, LOSS, ANGLE, EARLY, DUST = range(5)
"""Draws of one scan; number n begins at the block n · beams · layers, so that none overlaps another."""


class Noise(NamedTuple):
    """What a conf says of a laser's errors; whatever is zero draws nothing.

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
        What a beam without return reads [m].
    bins, rates, spreads, shifts : (bins,)
        Outer radii [m], detection rates, further standard deviations and errors [m] by bins of elliptical distance.
    stretch : (rays,)
        Elliptical distance of each beam per metre; empty without bins.
    blind : (beams,) bool
        Beams in blind sectors; empty where there are none.
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
    blind: NDArray[np.bool_]


@inner
def bin_of(noise, ray, distance):
    """Return the bin of a ray's elliptical distance; beyond the last radius the last bin goes on."""
    last = noise.bins.shape[0] - 1
    if last < 0:
        return 0
    return min(np.searchsorted(noise.bins, distance * noise.stretch[ray], side="right"), last)


@kernel
def measure_into(true, noise, key_0, key_1, index, words, draws, ranges, seen):
    """Write the readings of a scan.

    Parameters
    ----------
    true : (layers, beams) [m]
        Distance to the first surface; infinity where there is none.
    noise : Noise
    key_0, key_1 : uint64
        Key of the scanner's stream.
    index : int
        Number of the scan.
    words : (layers · beams + 1,) uint64
        Scratch.
    draws : (layers · beams,)
        Scratch.
    ranges : (layers, beams) [m], out
    seen : (layers, beams) bool, out
        Whether there was a return.
    """
    layers, beams = true.shape
    size = layers * beams
    most = noise.most
    for layer in range(layers):
        for beam in range(beams):
            distance = true[layer, beam]
            seen[layer, beam] = noise.least <= distance <= most
            ranges[layer, beam] = distance if seen[layer, beam] else 0.0
    if noise.dropout > 0.0 or noise.rates.min() < 1.0:
        philox_into(key_0, key_1, index, LOSS * size, words[:size])
        uniform_into(words[:size], draws)
        for ray in range(size):
            layer, beam = ray // beams, ray % beams
            kept = (1.0 - noise.dropout) * noise.rates[bin_of(noise, ray, ranges[layer, beam])]
            seen[layer, beam] = seen[layer, beam] and draws[ray] < kept
    if noise.sigma > 0.0 or noise.slope > 0.0 or noise.spreads.max() > 0.0:
        even = size + size % 2
        philox_into(key_0, key_1, index, RANGE * size, words[:even])
        normal_into(words[:even], draws)
    else:
        draws[:] = 0.0
    for ray in range(size):
        layer, beam = ray // beams, ray % beams
        distance = ranges[layer, beam]
        place = bin_of(noise, ray, distance)
        sigma = math.hypot(noise.sigma + noise.slope * distance, noise.spreads[place])
        distance = max(distance + sigma * draws[ray], 0.0)
        ranges[layer, beam] = max(distance + noise.bias + noise.shifts[place], 0.0)
    if noise.early > 0.0:
        philox_into(key_0, key_1, index, EARLY * size, words[:size])
        uniform_into(words[:size], draws)
        early = draws < noise.early
        philox_into(key_0, key_1, index, DUST * size, words[:size])
        uniform_into(words[:size], draws)
        for ray in range(size):
            layer, beam = ray // beams, ray % beams
            if early[ray]:
                way = max(min(true[layer, beam], most) - noise.least, 0.0)
                ranges[layer, beam] = noise.least + way * draws[ray]
                seen[layer, beam] = True
    for layer in range(layers):
        for beam in range(beams):
            if noise.quantum > 0.0:
                ranges[layer, beam] = np.rint(ranges[layer, beam] / noise.quantum) * noise.quantum
            if noise.blind.shape[0] > 0 and noise.blind[beam]:
                seen[layer, beam] = False
            if not seen[layer, beam] or ranges[layer, beam] == noise.nothing:  # a reading like none is none
                seen[layer, beam] = False
                ranges[layer, beam] = noise.nothing
