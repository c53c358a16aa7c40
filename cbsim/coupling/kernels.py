"""Compiled bookkeeping of active contacts between models and other bodies."""

from __future__ import annotations

import numpy as np

from cbsim.collision.kernels.active_contacts import add_contact, is_active, release_contacts
from cbsim.collision.kernels.stage import models_from
from cbsim.collision.kernels.workspace import MOVING
from cbsim.jit import kernel
from cbsim.world.packed.kernels import constants_of, shapes_of, state_of

__all__ = ["note_models"]


@kernel
def note_models(pack, sizes, floats, ints, position, orientation, pairs, pair_workspace, fresh):
    """Release ended contacts of models, and add_contact current ones.

    Parameters
    ----------
    pack, sizes, floats, ints
        As `cbsim.simulation.kernels.advance_into` has them.
    position, orientation : (bodies, 3) float64, (bodies, 4) float64
        Of all bodies at the end of the step; rows of models in the blocks are still those before it.
    pairs : (n, 2) int64
        Rows of bodies that touch: at least one belongs to a model, and the two not to the same model.
    pair_workspace : PairWorkspace
    fresh : (n,) bool, out
        Whether the contact begins in this step; False where no slot is free.
    """
    constants, shapes, state = constants_of(pack), shapes_of(pack), state_of(floats, ints, sizes)
    moving, active_contacts, bodies = constants.moving, state.active_contacts, shapes.kind.shape[0]
    models, _ = models_from(constants, bodies)
    # models are neither movers nor vehicles: only their rows in the table of contacts matter here
    roles = np.full((bodies, 3), -1)
    for k in range(moving.shape[0]):
        roles[moving[k], MOVING] = k
    release_contacts(moving, position, orientation, active_contacts, shapes, models, bodies, pair_workspace)
    for n in range(pairs.shape[0]):
        a, b = pairs[n, 0], pairs[n, 1]
        fresh[n] = not is_active(active_contacts, roles, a, b) and add_contact(active_contacts, roles, a, b)
