"""All scans of a step in one call: where everything was, where each sensor was, and what its beams met."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.jit import kernel
from cbsim.sensing.kernels.fan import Fan
from cbsim.sensing.kernels.poses import bodies_at_into, mount_in_place
from cbsim.sensing.kernels.still import cast_still_into
from cbsim.sensing.kernels.sweep import cast_swept_into, poses_into

__all__ = ["Lasers", "scans_into"]


class Lasers(NamedTuple):
    """All laser scanners of a World, one row each; their beams one after another, as in `Fan`.

    Attributes
    ----------
    body, layers, beams, width : (lasers,) int64
        Row of the bot; as in `Fan`.
    mount : (lasers, 7) [m], 1
        Pose in the frame of the bot.
    reach, scan_time : (lasers,) [m], [s]
    first, step, slack : (lasers,) [rad]
    at, row : (lasers,) int64
        Where its directions and its slopes begin.
    azimuths, east, north, up : (directions,)
        Azimuth [rad] and unit vector of each.
    slopes, order : (slopes,)
    """

    body: NDArray[np.int64]
    layers: NDArray[np.int64]
    beams: NDArray[np.int64]
    width: NDArray[np.int64]
    mount: NDArray[np.float64]
    reach: NDArray[np.float64]
    scan_time: NDArray[np.float64]
    first: NDArray[np.float64]
    step: NDArray[np.float64]
    slack: NDArray[np.float64]
    at: NDArray[np.int64]
    row: NDArray[np.int64]
    azimuths: NDArray[np.float64]
    east: NDArray[np.float64]
    north: NDArray[np.float64]
    up: NDArray[np.float64]
    slopes: NDArray[np.float64]
    order: NDArray[np.int64]


@kernel
def disturbed(lasers, s, errors, beams):
    """Fan of a laser whose beams are off their azimuths by `errors` (n,) [rad], all layers alike.

    `beams` (3 · directions of the laser,) takes the directions.
    """
    width, start = lasers.width[s], lasers.at[s]
    size = lasers.layers[s] * width
    east, north, up = beams[:size], beams[size : 2 * size], lasers.up[start : start + size]
    worst = 0.0
    for layer in range(lasers.layers[s]):
        for j in range(width):
            i = layer * width + j
            error = errors[min(j, lasers.beams[s] - 1)]
            azimuth = lasers.azimuths[start + i] + error
            level = math.sqrt(max(1.0 - up[i] * up[i], 0.0))
            east[i], north[i] = -math.sin(azimuth) * level, math.cos(azimuth) * level
            worst = max(worst, abs(error))
    return east, north, up, worst


@kernel
def scans_into(
    constants, placed, state, shapes, lasers, jobs, times, errors, positions, orientations, floats, ints, beams,
    aims, places, turns, ranges, poses, sweeps,
):  # fmt: skip
    """Take scans.

    Parameters
    ----------
    constants, placed, state, shapes, lasers
        Of the World, of its first Snapshot, of a Snapshot not earlier than any of the scans, and of the World.
    jobs : (n, 4) int64
        Row of the laser; where its ranges begin; where the errors of its azimuths begin or -1; where the poses of its
        sweep begin or -1.
    times : (n,) [s]
        When each is taken.
    errors : (m,) [rad]
        Of azimuths.
    positions, orientations, floats, ints, beams, aims, places, turns : out
        Scratch: (bodies, 3), (bodies, 4), that of `scratch_for`, thrice the directions of the largest laser with
        errors, and of the largest that takes time (3 · (layers + 1) · width), (beams, 3), (beams, 4).
    ranges : (directions,) [m], out
        Distance to the first surface of every beam, rows filled up as in `Fan`; infinity where there is none.
    poses : (n, 7) [m], 1, out
        Of the sensor when each scan is taken.
    sweeps : (k, 7) [m], 1, out
        Of the sensor at the instant of each beam of scans that take time.
    """
    last = math.nan
    for n in range(jobs.shape[0]):
        s, out, errors_at, sweep_at = jobs[n, 0], jobs[n, 1], jobs[n, 2], jobs[n, 3]
        time, own, reach = times[n], lasers.body[s], lasers.reach[s]
        if time != last:
            bodies_at_into(constants, placed, state, time, positions, orientations)
            last = time
        poses[n, :3], poses[n, 3:] = positions[own], orientations[own]
        mount_in_place(lasers.mount[s], poses, n)
        start, row, layers = lasers.at[s], lasers.row[s], lasers.layers[s]
        stop, slack = start + layers * lasers.width[s], lasers.slack[s]
        east, north, up = lasers.east[start:stop], lasers.north[start:stop], lasers.up[start:stop]
        if errors_at >= 0:
            east, north, up, worst = disturbed(lasers, s, errors[errors_at:], beams)
            slack += worst
        fan = Fan(
            layers, lasers.beams[s], lasers.width[s], lasers.first[s], lasers.step[s], slack, east, north, up,
            lasers.slopes[row : row + layers], lasers.order[row : row + layers],
        )  # fmt: skip
        found = ranges[out : out + stop - start]
        if sweep_at >= 0:
            sweep = sweeps[sweep_at : sweep_at + fan.beams]
            scan_time = lasers.scan_time[s]
            mount, still = lasers.mount[s], (positions, orientations)
            poses_into(constants, placed, state, own, mount, time, scan_time, still, places, turns, sweep)
            bodies = positions, orientations, shapes
            cast_swept_into(
                constants, placed, state, fan, own, reach, time, scan_time, bodies, sweep, aims, places, turns, ints,
                found,
            )  # fmt: skip
        else:
            origin, turn = poses[n, :3], poses[n, 3:]
            cast_still_into(origin, turn, fan, own, reach, positions, orientations, shapes, floats, ints, found)
