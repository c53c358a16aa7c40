"""Actions, one file each; a new one is a file, a code in `cbsim.world.events.tables` and a branch here."""

from cbsim.events.kernels.actions.lane_change import order_lane
from cbsim.events.kernels.actions.light import set_light
from cbsim.events.kernels.actions.presence import appear, block, take_away
from cbsim.events.kernels.actions.restart import restart
from cbsim.events.kernels.actions.run_state import set_run_state
from cbsim.events.kernels.actions.speed import end_order, order_speed, set_order
from cbsim.jit import inlined
from cbsim.world.events.tables import KIND, RATE

__all__ = ["begin_action"]

RUN_STATE, SPEED, STOP, RESUME, SYNCHRONISE, APPEAR, LEAVE, BLOCK, LIGHT, RESTART, LANE_CHANGE = range(11)


@inlined
def begin_action(tables, constants, road, state, a, time):
    """Begin action a at a time [s]."""
    actions, values, kind = tables.actions, tables.action_values, tables.actions[a, KIND]
    if kind == RUN_STATE:
        set_run_state(actions, state, a)
    elif kind in (SPEED, STOP):
        order_speed(actions, values, state, a)
    elif kind == RESUME:
        end_order(actions, state, a)
    elif kind == SYNCHRONISE:
        set_order(actions, state, a, 0.0, values[a, RATE], float(a))
    elif kind == APPEAR:
        appear(tables, constants, state, a, time)
    elif kind == LEAVE:
        take_away(tables, constants, road, state, a)
    elif kind == LIGHT:
        set_light(actions, state, a)
    elif kind == BLOCK:
        block(tables, constants, state, a)
    elif kind == LANE_CHANGE:
        order_lane(actions, state, a)
    elif kind == RESTART:
        restart(tables, constants, state, a)
