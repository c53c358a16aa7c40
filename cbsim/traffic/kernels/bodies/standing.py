"""Bodies that stand for good, as far as a car can know: they are passed, or close the road."""

from __future__ import annotations

from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.look import STANDS
from cbsim.traffic.kernels.workspace import PACE
from cbsim.world.traffic.tables import HIT, PAUSING, PHASE, PLACE, WAITING

__all__ = ["STOOD", "blocks_for_good", "stands_for_good"]

STOOD = 10.0  # [s] after which a body that stands is passed


@inner
def blocks_for_good(travel, intent, watch, work, e, static, others):
    """Whether an entry is a body that stands and will not go on, as far as anybody can know."""
    # cars come first among the entries, then bodies that never move, then others
    if e < intent.shape[0]:
        return intent[e, PHASE] == HIT or (intent[e, PHASE] == PAUSING and travel[e, WAITING] >= STOOD)
    if e < static:
        return True
    if e >= others:  # a car that is partly there
        return intent[-2 - work.entries.watched[e], PHASE] == HIT
    return abs(work.entries.stands[e, PACE]) <= STANDS and watch[work.entries.watched[e], PLACE] == 0.0


@inlined
def stands_for_good(work, travel, intent, watch, i, e, static, others):
    """Whether an entry is a body that has stood for 10 s and is in no queue at a line, as far as car i can know."""
    if static <= e < others and travel[i, WAITING] < STOOD:
        return False
    return blocks_for_good(travel, intent, watch, work, e, static, others)
