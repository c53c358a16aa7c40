"""Compiled quiet steps: many steps inside one call, each hashed; one step is n = 1, and the bits are the same."""

from __future__ import annotations

import numpy as np

from cbsim.jit import kernel
from cbsim.traffic.kernels.follower import follow_legs
from cbsim.traffic.kernels.literal import move_literally
from cbsim.traffic.kernels.vehicles import drive_vehicles
from cbsim.world.kernels import hash_words

__all__ = ["advance_into"]


@kernel
def advance_into(constants, shapes, state, float_words, int_words, zero, rows, hashes, record, contacts):  # noqa: ARG001
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
    found, most = 0, 4 * constants.moving.shape[0]
    for k in range(hashes.shape[0]):
        if found + most > contacts.shape[0]:
            return k, found
        state.clock[0] += 1
        follow_legs(constants, state, (state.clock[0] - 1) * constants.step)
        move_literally(constants, state, state.clock[0] * constants.step)
        drive_vehicles(constants, state, planar)
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
