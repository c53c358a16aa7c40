"""Columns of events in the first Snapshot."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Ints
from cbsim.spec.events import RUN_STATES
from cbsim.world.events.tables import (
    CAR_LINK,
    CAR_ORDER,
    IS_ABSENT,
    IS_ON_ITS_WAY,
    LINK,
    ORDER,
    PRESENCE,
    SEGMENT,
    WAITING_FOR,
    Events,
)
from cbsim.world.tables import Constants, State
from cbsim.world.traffic.tables import ABSENT, PARKED_HEIGHT, PHASE

__all__ = ["put_events"]

PAUSE = RUN_STATES.index("PAUSE")
PROGRAM = -1  # state of a light that no event has set


def put_events(state: State, events: Events, constants: Constants, car_rows: Ints) -> None:
    """Write events that wait, no ordered speeds, absent objects and objects that are held."""
    state.event[:], state.condition[:] = WAITING_FOR, events.memory
    state.guided[:, [ORDER, LINK]], state.guided[:, PRESENCE] = -1.0, IS_ON_ITS_WAY
    state.guided[:, SEGMENT] = constants.guided_first
    state.light[:] = PROGRAM
    state.run_state[list(events.held)] = PAUSE
    state.order[:, [CAR_ORDER, CAR_LINK]] = -1.0
    absent = list(events.absent)
    state.guided[np.isin(constants.guided_body, absent), PRESENCE] = IS_ABSENT
    state.intent[np.isin(car_rows, absent), PHASE] = ABSENT
    state.position[absent, 2] = PARKED_HEIGHT
