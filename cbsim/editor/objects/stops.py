"""Stops of objects: goals, or entries of a script.

A goal is at a waypoint. A script entry is a straight segment with a heading relative to the map (D9), starting at the
end of the previous entry.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.editor.objects.placement import angle_near, value_near
from cbsim.spec.objects import Controller, Goal, ScriptEntry, TrafficObject

__all__ = ["Stop", "script_ends", "stops_of", "with_entry_end", "with_goals", "with_script"]

Stop = Goal | ScriptEntry


def stops_of(item: TrafficObject) -> tuple[Stop, ...]:
    """Return the goals of an object, or the entries of its script if it follows one."""
    return item.script if item.controller is Controller.SCRIPT else item.goals


def script_ends(item: TrafficObject, start: ArrayLike) -> list[NDArray[np.float64]]:
    """Positions (2,) at which the entries of an object's script end [m], given its start (2,) [m]."""
    found, place = list[NDArray[np.float64]](), np.asarray(start, float)
    for entry in item.script:
        place = place + entry.distance * np.array([-math.sin(entry.angle), math.cos(entry.angle)])
        found.append(place)
    return found


def with_entry_end(
    item: TrafficObject, number: int, start: ArrayLike, place: ArrayLike, grain: float, turn: float = 0.1
) -> TrafficObject:
    """Move the end of a script entry to a position (2,) [m], rounded to a distance `grain` [m] and angle `turn` [deg].

    Later entries keep their headings and distances.
    """
    begin = [np.asarray(start, float), *script_ends(item, start)][number]
    x, y = (np.asarray(place, float) - begin).tolist()
    old = item.script[number]
    distance = value_near(old.distance, math.hypot(x, y), grain)
    angle = angle_near(old.angle, math.atan2(-x, y), turn) if distance > 0.0 else old.angle
    entry = replace(old, distance=distance, angle=angle)
    return replace(item, script=(*item.script[:number], entry, *item.script[number + 1 :]))


def with_goals(item: TrafficObject, goals: tuple[Goal, ...]) -> TrafficObject:
    """Return an object with other goals, which it follows if there are any."""
    controller = Controller.WAYPOINT if goals else item.controller
    script = () if goals else item.script
    return replace(item, goals=goals, controller=controller, script=script)


def with_script(item: TrafficObject, script: tuple[ScriptEntry, ...]) -> TrafficObject:
    """Return an object with another script, which it follows."""
    goals = () if script else item.goals
    return replace(item, script=script, controller=Controller.SCRIPT, goals=goals)
