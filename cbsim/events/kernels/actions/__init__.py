"""Actions, one file each; a new one is a file, a code in `cbsim.world.events.tables` and a branch here."""

from cbsim.events.kernels.actions.run_state import set_run_state
from cbsim.jit import inlined
from cbsim.world.events.tables import KIND

__all__ = ["begin_action"]

RUN_STATE = 0


@inlined
def begin_action(tables, state, a):
    """Begin action a."""
    kind = tables.actions[a, KIND]
    if kind == RUN_STATE:
        set_run_state(tables.actions, state, a)
