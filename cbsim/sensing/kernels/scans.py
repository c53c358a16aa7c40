"""Scans of all lasers at a step, in one kernel call: poses of bodies and sensors, distances of beams, readings."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import block_view, inner, kernel
from cbsim.sensing.kernels.fan import Fan
from cbsim.sensing.kernels.noise import Noises, measure_into, noise_at
from cbsim.sensing.kernels.poses import bodies_at_into, leave_out_far, loose_at_into, mount_in_place
from cbsim.sensing.kernels.standing import cast_standing_into, scenery_of
from cbsim.sensing.kernels.still import Outlines, cast_still_into
from cbsim.sensing.kernels.sweep import cast_swept_into, poses_into
from cbsim.world.packed.kernels import constants_of, shapes_of, state_of, unpacker

__all__ = ["Lasers", "ScanScratch", "scans_into"]

LASER, POSE_ROW, READINGS_AT, ERRORS_AT, SWEEP_AT, HEAD_AT, SEEN_AT = range(7)  # columns of `jobs`


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
    mount: Annotated[NDArray[np.float64], (7,)]
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


class ScanScratch(NamedTuple):
    """Scratch arrays of `scans_into`, which Python passes in two blocks.

    Attributes
    ----------
    loose_positions, loose_orientations : (loose, 3) [m], (loose, 4)
        Poses of the loose bodies at the time of a scan.
    positions, orientations : (bodies or 0, 3) [m], (bodies or 0, 4)
        Poses of all bodies, if any laser sweeps.
    floats, ints : (k,), (m,) int64
        From `cbsim.sensing.kernels.still.scratch_for`.
    beams : (3 · directions or 0,)
        Directions of the largest laser, if any has errors of azimuth.
    aims : (6 · directions or 0,)
        Directions and origins of the beams of the largest laser, by component, if any sweeps.
    swept, turned : (beams or 0, 3) [m], (beams or 0, 4)
        Poses of a body at the instants of the beams of a sweep.
    words, draws : (directions,) int64, (directions,)
        Random words and numbers of `measure_into`.
    ranges : (directions,) [m]
        True distances to the first surface, rows padded as in `Fan`; infinity without one.
    """

    loose_positions: Annotated[NDArray[np.float64], (3,)]
    loose_orientations: Annotated[NDArray[np.float64], (4,)]
    positions: Annotated[NDArray[np.float64], (3,)]
    orientations: Annotated[NDArray[np.float64], (4,)]
    floats: NDArray[np.float64]
    ints: NDArray[np.int64]
    beams: NDArray[np.float64]
    aims: NDArray[np.float64]
    swept: Annotated[NDArray[np.float64], (3,)]
    turned: Annotated[NDArray[np.float64], (4,)]
    words: NDArray[np.int64]
    draws: NDArray[np.float64]
    ranges: NDArray[np.float64]


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
            # horizontal part of the direction, whose height an error of azimuth keeps
            level = math.sqrt(max(1.0 - up[i] * up[i], 0.0))
            east[i], north[i] = -math.sin(azimuth) * level, math.cos(azimuth) * level
            worst = max(worst, abs(error))
    return east, north, up, worst


lasers_of = unpacker(Lasers)
noises_of = unpacker(Noises, Lasers)
scratch_of = unpacker(ScanScratch)


@inner
def fan_at(lasers, s, errors, beams):
    """Fan of a laser; its beams are off their azimuths by `errors` (n,) [rad] unless there are none."""
    start, row, layers = lasers.at[s], lasers.row[s], lasers.layers[s]
    stop, slack = start + layers * lasers.width[s], lasers.slack[s]
    east, north, up = lasers.east[start:stop], lasers.north[start:stop], lasers.up[start:stop]
    if errors.shape[0] > 0:
        east, north, up, worst = disturbed(lasers, s, errors, beams)
        slack += worst  # the window of a body is wider by the largest error
    return Fan(
        layers, lasers.beams[s], lasers.width[s], lasers.first[s], lasers.step[s], slack, east, north, up,
        lasers.slopes[row : row + layers], lasers.order[row : row + layers],
    )  # fmt: skip


@inner
def order_of(indices, rates):
    """Order of scans by their times (n,), by insertion: those of one instant share the poses of bodies."""
    order = np.empty(indices.shape[0], np.int64)
    for job in range(indices.shape[0]):
        at, time = job, indices[job] / rates[job]
        while at > 0 and indices[order[at - 1]] / rates[order[at - 1]] > time:
            order[at] = order[at - 1]
            at -= 1
        order[at] = job
    return order


@kernel
def scans_into(world, sizes, first, now, devices, surroundings, due, keys, errors, scratch, out):
    """Take scans.

    Parameters
    ----------
    world, sizes : Pack, tuple
        `Constants` and `Shapes`, and `Layout.sizes`.
    first, now : ((n,), (m,))
        Blocks of the World's first Snapshot, and of one not earlier than any of the scans.
    devices, surroundings : Pack
        `Lasers` and `Noises`; `Scenery`.
    due : tuple of ndarray
        Jobs (n, 7) int64: row of the laser; row of its pose; where its readings, the errors of its azimuths and the
        poses of its sweep begin, or -1; where among the readings its time and its pose are written, or -1; where in
        `seen` its beams begin. Where the readings and the sweeps of each laser begin (lasers,) int64, to which the
        places in jobs are added. Numbers of the scans (n,) int64, and how many their lasers take (n,) [1/s]: one is
        taken at its number / rate. Occasions of their noise (n,) int64.
    keys : (lasers, 2) uint64
        Of the scanners' streams.
    errors : (m,) [rad]
        Of azimuths.
    scratch : Pack, out
        A `ScanScratch`.
    out : tuple of ndarray
        Poses of the sensor when each scan is taken (n, 7) [m], 1, and at the instant of each beam of scans that take
        time, row by row (k,). What each beam reads (n,) [m], and whether there was a return (rays,) bool.
    """
    jobs, begins, indices, rates, numbers = due
    poses, sweeps, readings, seen = out
    work = scratch_of(scratch)
    places, turns, positions, orientations = (
        work.loose_positions, work.loose_orientations, work.positions, work.orientations,
    )  # fmt: skip
    constants, shapes, scenery = constants_of(world), shapes_of(world), scenery_of(surroundings)
    placed, state = state_of(first[0], first[1], sizes), state_of(now[0], now[1], sizes)
    lasers, noises = lasers_of(devices), noises_of(devices)
    loose = Outlines(
        scenery.kind, scenery.size, scenery.radius, scenery.root, shapes.triangles, shapes.node_box, shapes.node_link
    )
    outlines = Outlines(
        shapes.kind, shapes.size, shapes.radius, shapes.root, shapes.triangles, shapes.node_box, shapes.node_link
    )
    # nan: no poses yet
    last = everywhere = math.nan
    order = order_of(indices, rates)
    if order.shape[0] > 0:
        since = indices[order[0]] / rates[order[0]]
        leave_out_far(constants, state, lasers, scenery, jobs, since, places, turns)
    for job in order:
        s, number, n, base = jobs[job, LASER], numbers[job], jobs[job, POSE_ROW], begins[jobs[job, LASER]]
        out, errors_at, sweep_at = base + jobs[job, READINGS_AT], jobs[job, ERRORS_AT], jobs[job, SWEEP_AT]
        time, reach, own, mount = indices[job] / rates[job], lasers.reach[s], scenery.own[s], lasers.mount[s]
        if time != last:
            loose_at_into(constants, placed, state, scenery.loose, time, places, turns)
            last = time
        for k in range(3):
            poses[n, k] = places[own, k]
        for k in range(4):
            poses[n, 3 + k] = turns[own, k]
        mount_in_place(mount, poses, n)
        if jobs[job, HEAD_AT] >= 0:
            head = base + jobs[job, HEAD_AT]
            readings[head] = time
            for k in range(7):
                readings[head + 1 + k] = poses[n, k]
        fan = fan_at(lasers, s, errors[errors_at:] if errors_at >= 0 else errors[:0], work.beams)
        found = work.ranges[: fan.layers * fan.width]
        if sweep_at >= 0:
            if time != everywhere:
                bodies_at_into(constants, placed, state, time, positions, orientations)
                everywhere = time
            sweep, scan_time = block_view(sweeps, base + sweep_at, (fan.beams, 7)), lasers.scan_time[s]
            own = lasers.body[s]
            still, bodies = (positions, orientations), (positions, orientations, shapes)
            poses_into(constants, placed, state, own, mount, time, scan_time, still, work.swept, work.turned, sweep)
            cast_swept_into(constants, placed, state, fan, own, reach, time, scan_time, bodies, sweep, work, found)
        else:
            # loose bodies are at their poses at that time, static ones where they stand
            origin, turn = poses[n, :3], poses[n, 3:]
            cast_still_into(origin, turn, fan, own, reach, places, turns, loose, work.floats, work.ints, found)
            here, attitude = state.position, state.orientation
            cast_standing_into(
                origin, turn, fan, reach, scenery, here, attitude, outlines, work.floats, work.ints, found
            )
        rays, shown = fan.layers * fan.beams, jobs[job, SEEN_AT]
        noise, one, two = noise_at(noises, s), keys[s, 0], keys[s, 1]
        measure_into(
            found, fan.width, noise, one, two, number, work.words.view(np.uint64), work.draws,
            readings[out : out + rays], seen[shown : shown + rays],
        )  # fmt: skip
