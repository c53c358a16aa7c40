"""Traffic lights: the state at the end of a lanelet, and where to stop for it."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.world.traffic.tables import DRIVING, ENTRY, ENTRY_END, EXTRAS, SIGNALS

__all__ = ["BEFORE_LINE", "gives_up_claim", "place_at_light"]

YELLOW, RED = 1, 2  # values of `cbsim.road.signals.SignalState`
RESTS = 0.1  # [m/s]
BEFORE_LINE = 0.5  # [m] where a car means to stop before a line, and before a conflict area
BRAKES, AT_MOST = 3.0, 4.5  # [m/s²] with which one stops for yellow, where that is enough, and at most


@inner
def state_at(crossings, shown, lanelet, time):
    """State that holds at the end of a lanelet [`SignalState`]: of several lights the strictest.

    `shown` are the states that events have set of the lights, -1 for none, and has no rows where none can.
    """
    strictest = 0
    for k in range(crossings.signal_offsets[lanelet], crossings.signal_offsets[lanelet + 1]):
        light = crossings.signal_lights[k]
        if shown.shape[0] > 0 and shown[light] >= 0:
            strictest = max(strictest, shown[light])
            continue
        # phases of a program end at times from its begin; the last end is the length of the cycle
        phase, last = crossings.signal_programs[light], crossings.signal_programs[light + 1] - 1
        cycle = crossings.signal_phases[last, 0]
        within = time - cycle * math.floor(time / cycle)
        while phase < last and within >= crossings.signal_phases[phase, 0]:
            phase += 1
        strictest = max(strictest, int(crossings.signal_phases[phase, 1]))
    return strictest


@inlined
def place_at_light(crossings, shown, lanelet, time, ahead, speed):
    """Distance at which one that is so far before the end of a lanelet [m] stops for a light, infinite for going on.

    Returns
    -------
    float
        Of the front from the line, before which one means to stop by `BEFORE_LINE` [m]: for red, and for yellow if
        3 m/s² do. One that has just less than that before it turned yellow stops nearer to the line.
    """
    if crossings.signal_offsets[lanelet] == crossings.signal_offsets[lanelet + 1]:
        return math.inf
    state = state_at(crossings, shown, lanelet, time)
    if state == RED:
        return ahead
    if state == YELLOW and (speed < RESTS or speed * speed <= 2.0 * BRAKES * ahead):
        return max(ahead, BEFORE_LINE + 0.5 * speed * speed / AT_MOST)
    return math.inf


@inlined
def gives_up_claim(road, lanelet, k, phase, ahead, speed):
    """Whether a car that stops at a light so far ahead [m] gives up its claim of the conflicts behind it.

    It may if the light is at the end of its own lanelet, which has no conflicts, and it does stop: while it waits for
    the next green others go.
    """
    is_free = k == 0 and phase == DRIVING and road.links[lanelet, ENTRY] == road.links[lanelet, ENTRY_END]
    return is_free and road.links[lanelet, EXTRAS] & SIGNALS != 0 and speed * speed <= 2.0 * AT_MOST * ahead
