"""Steps of a mechanism: the doors for Python."""

from __future__ import annotations

from cbsim.dynamics.kernels.columns import ACTIVE, ITERATIONS, SOLVED, STATUS, STEP_LENGTH, STEP_REACHED
from cbsim.dynamics.kernels.interior import interior, start_cold
from cbsim.dynamics.kernels.smooth import begin, finish, newton
from cbsim.dynamics.kernels.stops import begin_stop
from cbsim.jit import kernel

__all__ = ["advance", "advance_touching"]


@kernel
def advance(model, work, z, inputs, external, settings, counts, steps, report):
    """Advance a mechanism without inequalities by a number of steps, in place."""
    h = settings[STEP_LENGTH]
    total = 0.0
    for n in range(steps):
        begin(model.links, model.link, model.joint, work.arena, z, inputs, external, settings, h, h)
        newton(
            model.links, model.link, model.joint, work.arena, work.block, model.chord_block,
            model.program, model.fan, model.pair, work.fanned, settings, counts, h, report,
        )  # fmt: skip
        total += report[ITERATIONS]
        report[STEP_REACHED] = n
        if report[STATUS] != SOLVED:
            return total
        finish(model.links, model.link, work.arena, z, h)
    return total


@kernel
def advance_touching(model, work, z, inputs, external, settings, counts, steps, report):
    """Advance a mechanism with contacts or stops by a number of steps, in place."""
    h = settings[STEP_LENGTH]
    total = 0.0
    for n in range(steps):
        begin(model.links, model.link, model.joint, work.arena, z, inputs, external, settings, h, h)
        for i in range(len(model.stop_link)):
            begin_stop(model.link, model.joint, work.arena, model.stop_link, model.stop, work.hold, i)
        for i in range(len(model.contact_link)):
            work.touch[i, ACTIVE] = 1.0
        start_cold(model.contact_link, work.touch, work.hold)
        interior(
            model.links, model.link, model.joint, work.arena, work.block, model.chord_block,
            model.program, model.fan, model.pair, work.fanned, model.contact_link, model.contact, work.touch,
            model.stop_link, model.stop, work.hold, settings, counts, h, report,
        )  # fmt: skip
        total += report[ITERATIONS]
        report[STEP_REACHED] = n
        if report[STATUS] != SOLVED:
            return total
        finish(model.links, model.link, work.arena, z, h)
    return total
