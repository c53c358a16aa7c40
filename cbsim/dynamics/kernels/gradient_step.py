"""A step and its gradients: the doors for Python.

``settings`` are those of the solver, but for tolerances: a gradient belongs to a solution, so the equations are solved
to ``RTOL`` of 1e-10 or so, at contacts and stops with slack · impulse = ``KAPPA``.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.columns import ACTIVE, SOLVED, STATUS, STEP_LENGTH
from cbsim.dynamics.kernels.gradient import differentiate
from cbsim.dynamics.kernels.interior import direct, interior, start_cold
from cbsim.dynamics.kernels.smooth import begin, direct_bodies, finish, newton
from cbsim.dynamics.kernels.stops import begin_stop
from cbsim.dynamics.kernels.tree import eliminate
from cbsim.jit import kernel

__all__ = ["linearize", "linearize_touching"]


@kernel
def linearize(model, work, room, z, inputs, external, settings, counts, minimal, by_state, by_input, report):
    """Advance a mechanism without inequalities by one step, in place, and write the gradients of that step."""
    h = settings[STEP_LENGTH]
    begin(model.links, model.link, model.joint, work.arena, z, inputs, external, settings, h, h)
    newton(
        model.links, model.link, model.joint, work.arena, work.block, model.chord_block,
        model.program, model.fan, model.pair, work.fanned, settings, counts, h, report,
    )  # fmt: skip
    if report[STATUS] != SOLVED:
        return
    direct_bodies(model.links, model.link, model.joint, work.arena, work.block, model.chord_block, h)
    eliminate(model.link, work.arena, work.block, model.program, model.fan, model.pair, work.fanned)
    differentiate(model, work, room, z, inputs, external, settings, h, h, minimal, by_state, by_input)
    finish(model.links, model.link, work.arena, z, h)


@kernel
def linearize_touching(model, work, room, z, inputs, external, settings, counts, minimal, by_state, by_input, report):
    """Advance a mechanism with contacts or stops by one step, in place, and write the gradients of that step."""
    h = settings[STEP_LENGTH]
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
    if report[STATUS] != SOLVED:
        return
    direct(
        model.links, model.link, model.joint, work.arena, work.block, model.chord_block,
        model.program, model.fan, model.pair, work.fanned, model.contact_link, model.contact, work.touch,
        model.stop_link, model.stop, work.hold, h,
    )  # fmt: skip
    differentiate(model, work, room, z, inputs, external, settings, h, h, minimal, by_state, by_input)
    finish(model.links, model.link, work.arena, z, h)
