"""Contacts of models at the end of a step, noted in the Snapshot and returned where they begin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.collision.contacts import NO_CONTACTS
from cbsim.collision.kernels.pairs import TOUCHING, PairWorkspace, make_pair_workspace, pair_distance
from cbsim.coupling.candidates import candidates_of
from cbsim.coupling.kernels import note_models
from cbsim.coupling.step_islands import IslandResult, ModelTrajectories
from cbsim.geometry.linear import times
from cbsim.jit import wrapping
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

__all__ = ["note_contacts"]


def note_contacts(
    world: World, snapshot: Snapshot, trajectories: ModelTrajectories, results: Sequence[IslandResult]
) -> Floats:
    """Note contacts of models; return a row (n, 12) per beginning contact, as `cbsim.collision.contacts.CONTACT`."""
    models = world.layout.bodies - world.constants.first_model
    first, active_contacts = world.layout.bodies - models, snapshot.columns.active_contacts
    known = (active_contacts >= first).any() or (active_contacts[-models:] >= 0).any()
    if not known and not any(result.events or result.interpenetrations for result in results):
        return NO_CONTACTS
    candidates, columns, end = candidates_of(world, snapshot), snapshot.columns, trajectories[0][0]
    moved = np.concatenate(
        [instance.rows for instance in world.instances]
    )  # rows of massless links lie between; these have no contacts
    position, orientation, velocity = (
        np.array(table) for table in (columns.position, columns.orientation, columns.velocity)
    )
    position[moved], orientation[moved], velocity[moved] = end[:, :3], end[:, 6:10], end[:, 3:6]

    def row_of(who: tuple[str, int, int]) -> int:
        kind, number, body = who
        if kind == "model":
            return int(world.instances[number].rows[body])
        return candidates.actors[number].row if kind == "actor" else candidates.obstacles[number].row

    pair_workspace = make_pair_workspace(len(world.shapes.triangles))
    rows: list[tuple[float, ...]] = [
        (one.time, row_of(one.one), row_of(one.other), *one.place, *one.normal, *one[5:])
        for result in results
        for one in result.events
    ]
    for result in results:
        rows += _overlaps(world, snapshot.time, result, pair_workspace, position, orientation, velocity)
    table = np.array(rows, float).reshape(-1, NO_CONTACTS.shape[1])
    pairs: NDArray[np.int64] = table[:, 1:3].astype(np.int64)
    fresh = np.zeros(len(pairs), np.bool_)
    with wrapping():
        note_models(
            world.pack, world.layout.sizes, *snapshot.blocks, position, orientation, pairs, pair_workspace, fresh
        )
    return table[fresh]


def _overlaps(
    world: World,
    time: float,
    result: IslandResult,
    pair_workspace: PairWorkspace,
    position: Floats,
    orientation: Floats,
    velocity: Floats,
) -> list[tuple[float, ...]]:
    """Rows of interpenetrating pairs: where they overlap at the end of the step, given the tables of all bodies."""
    found, out = list[tuple[float, ...]](), np.zeros(10)
    for row, number in result.interpenetrations:
        for body in world.instances[number].rows.tolist():
            one, other = min(row, body), max(row, body)
            here, there = (position[one], orientation[one]), (position[other], orientation[other])
            pair_distance(world.shapes, one, *here, other, *there, np.inf, pair_workspace, out)
            if out[0] <= TOUCHING:
                closing = times(velocity[one] - velocity[other], out[1:4])
                place = 0.5 * (out[4:7] + out[7:10])
                found.append((time, one, other, *place, *out[1:4], float(closing), 0.0, max(0.0, -out[0])))
    return found
