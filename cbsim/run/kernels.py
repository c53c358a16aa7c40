"""Compiled quiet steps: many steps inside one call, each hashed; one step is n = 1, and the bits are the same."""

from __future__ import annotations

import numpy as np

from cbsim.collision.kernels.literal import meet_literally
from cbsim.collision.kernels.memory import forget_the_parted, order_rows
from cbsim.collision.kernels.stage import make_crash, make_pairs, near_pairs, steps_kept
from cbsim.jit import kernel
from cbsim.traffic.kernels.follower import follow_legs
from cbsim.traffic.kernels.literal import move_literally
from cbsim.traffic.kernels.vehicles import drive_vehicles, read_vehicles
from cbsim.world.kernels import hash_words

__all__ = ["advance_into"]


@kernel
def advance_into(constants, shapes, state, float_words, int_words, zero, rows, hashes, record, contacts):
    """Advance a Snapshot in place by as many steps as `hashes` is long, or fewer if there is no room for contacts.

    Parameters
    ----------
    constants, shapes, state : Constants, Shapes, State
        Of the World, and of the Snapshot that is written.
    float_words, int_words : (n,) uint64
        The Snapshot's two blocks seen as words, for the hash.
    zero : uint64
        Seed of the hash.
    rows : (r,) int64
        Bodies whose motion is wanted.
    hashes : (steps,) uint64, out
        Hash after each step.
    record : (steps, r, 13) float64, out
        Position, orientation, velocity and angular velocity of `rows` after each step.
    contacts : (capacity, 12) float64, out
        One row per begin of touching, columns as in `cbsim.run.batch.CONTACT`. A step begins only while there is room
        for as many as it can add, four for each moving body.

    Returns
    -------
    steps, found : int
        Steps taken and contacts written.
    """
    planar = np.empty((constants.vehicle_body.shape[0], 6))
    crash, pairs, kept = make_crash(constants, shapes, state), make_pairs(), 0
    legs, desk, yard, bench, ways = crash
    moving, partner, start = constants.moving, state.partner, state.clock[0]
    found, most = 0, 4 * constants.moving.shape[0]
    for k in range(hashes.shape[0]):
        if found + most > contacts.shape[0]:
            return k, found
        state.clock[0] += 1
        follow_legs(constants, state, start * constants.step)
        read_vehicles(constants, state, planar)
        if kept == 0:
            kept = steps_kept(hashes.shape[0] - k)
            pairs = near_pairs(constants, shapes.radius, start, legs, planar, desk, kept, pairs)
        since, until, before = start * constants.step, state.clock[0] * constants.step, found
        move_literally(constants, state, until)
        if pairs[1] > 0:
            literal, count, _, _, _ = pairs
            found = meet_literally(
                legs, state.velocity, partner, shapes, desk, since, until, literal, count, bench, ways, contacts, found
            )
        if planar.shape[0] > 0:
            found, pairs = drive_vehicles(
                constants, shapes, state, planar, legs, desk, yard, kept, pairs, contacts, found
            )
        forget_the_parted(moving, state.position, state.orientation, partner, shapes, bench)
        order_rows(contacts, before, found)
        start += 1
        kept -= 1
        hashes[k] = hash_words(int_words, hash_words(float_words, zero))
        for r in range(rows.shape[0]):
            body = rows[r]
            for c in range(3):
                record[k, r, c] = state.position[body, c]
                record[k, r, 7 + c] = state.velocity[body, c]
                record[k, r, 10 + c] = state.angular_velocity[body, c]
            for c in range(4):
                record[k, r, 3 + c] = state.orientation[body, c]
    return hashes.shape[0], found
