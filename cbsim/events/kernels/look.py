"""Events in a step: which come true, and what they begin."""

from __future__ import annotations

from cbsim.events.kernels.actions import begin_action
from cbsim.events.kernels.actions.synchronise import synchronise
from cbsim.events.kernels.conditions import TIME, holds
from cbsim.events.kernels.conditions.simulation_time import has_come
from cbsim.jit import deferred, inner
from cbsim.traffic.kernels.demand.events import write_event
from cbsim.world.events.tables import EVENT, KIND, SLOT
from cbsim.world.packed.kernels import constants_of, events_of, road_of, shapes_of, state_of
from cbsim.world.traffic.events import HAPPENED, OVERRULED

__all__ = ["look_at_events"]


@deferred("int64")
def look_at_events(pack, sizes, floats, blocks, step, stack, ints, notes):
    """Let events come true at the state before a step, and begin their actions in the order of their lines.

    Of two actions of one step that would change the same thing, the later line wins.

    Parameters
    ----------
    pack : Pack
    sizes, floats, blocks : tuple, (n,), (m,) int64
        `Layout.sizes`, and both blocks of the Snapshot before the step; written.
    step : int
        Its clock.
    stack : (n,) int64
        Room for the conditions of the longest event.
    ints, notes
        As `cbsim.traffic.kernels.demand.events.note_events` has them.

    Returns
    -------
    int
        How many have come true.
    """
    tables, constants, shapes, road = events_of(pack), constants_of(pack), shapes_of(pack), road_of(pack)
    state = state_of(floats, blocks, sizes)
    time, found = step * constants.step, 0
    for e in range(state.event.shape[0]):
        if state.event[e] >= 0:  # it has come true already
            continue
        first, last = tables.offsets[e], tables.offsets[e + 1] - 1
        if first == last and tables.nodes[first, KIND] == TIME:  # most events
            happens = has_come(tables.values, first, time)
        else:
            # conditions stand in postfix order: what is left on the stack is the whole
            size = 0
            for n in range(first, last + 1):
                size = holds(tables, shapes, state, n, time, stack, size)
            happens = stack[0] != 0
        if happens:
            state.event[e] = step
            found += 1
            if ints.shape[0] > 0:
                write_event(notes, ints, step, HAPPENED, e, 0)
    # all conditions first: none of them sees what an action of this step changes
    if found > 0:
        begin_actions(tables, constants, road, state, step, ints, notes)
    if state.guided.shape[0] + state.order.shape[0] > 0:
        synchronise(tables, constants, road, state, time)
    return found


@inner
def begin_actions(tables, constants, road, state, step, ints, notes):
    """Begin the actions of the events that have come true in this step."""
    actions = tables.actions
    for a in range(actions.shape[0]):
        if state.event[actions[a, EVENT]] != step:
            continue
        # SLOT names what an action changes
        overruled = False
        for b in range(a + 1, actions.shape[0]):
            same = actions[b, SLOT] == actions[a, SLOT] and state.event[actions[b, EVENT]] == step
            overruled = overruled or same
        if not overruled:
            begin_action(tables, constants, road, state, a, step * constants.step)
        elif ints.shape[0] > 0:
            write_event(notes, ints, step, OVERRULED, actions[a, EVENT], 0)
