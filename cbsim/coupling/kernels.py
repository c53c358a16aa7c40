"""Compiled bookkeeping of contacts between models and others."""

from __future__ import annotations

import numpy as np

from cbsim.collision.kernels.desk import MOVING
from cbsim.collision.kernels.memory import forget_the_parted, note, touches_already
from cbsim.collision.kernels.pairs import make_bench
from cbsim.collision.kernels.stage import models_from
from cbsim.jit import kernel
from cbsim.world.packed.kernels import constants_of, shapes_of, state_of

__all__ = ["note_models"]


@kernel
def note_models(pack, sizes, floats, ints, pairs, fresh):
    """Forget touches of models that have ended, and note those that are.

    Parameters
    ----------
    pack, sizes, floats, ints
        As `cbsim.simulation.kernels.advance_into` has them.
    pairs : (n, 2) int64
        Rows of bodies that touch, at least one of them of a model, and both not of the same one.
    fresh : (n,) bool, out
        Whether the touch begins; not where there is no slot to note it in.
    """
    constants, shapes, state = constants_of(pack), shapes_of(pack), state_of(floats, ints, sizes)
    moving, partner, bodies = constants.moving, state.partner, shapes.kind.shape[0]
    models, _ = models_from(constants, bodies)
    bench, roles = make_bench(shapes.triangles.shape[0]), np.full((bodies, 3), -1)
    for k in range(moving.shape[0]):
        roles[moving[k], MOVING] = k
    forget_the_parted(moving, state.position, state.orientation, partner, shapes, models, bodies, bench)
    for n in range(pairs.shape[0]):
        a, b = pairs[n, 0], pairs[n, 1]
        fresh[n] = not touches_already(partner, roles, a, b) and note(partner, roles, a, b)
