"""Commands on stops of the selected objects: adding, moving, changing and removing them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from cbsim.editor.objects import templates
from cbsim.editor.objects.fields import whole_lane_in
from cbsim.editor.objects.placement import GRAIN, grain_of, nearest_point, place_of, value_near
from cbsim.editor.objects.stops import Stop, stops_of, with_entry_end, with_goals, with_script
from cbsim.editor.session_state import SessionState
from cbsim.spec.objects import Controller, Goal, ScriptEntry, TrafficObject

__all__ = ["TOOLS", "add_at", "change_speed", "change_stops", "moved_stop", "remove_stop"]

TOOLS = ("goals", "script")


# --- adding ----------------------------------------------------------------------------------------------------------
def add_at(session: SessionState, pixel: tuple[int, int], *, whole_lane: bool = False) -> None:
    """Add a stop at a pixel to the selected objects, after the active one or at the end."""
    rows = [row for row in session.selected if session.document.objects[row].controller is not None]
    if not rows:
        session.message = "select an object that moves, then click where it goes"
        return
    if session.tool == "script":
        items = {row: _driven(session, row, pixel) for row in rows}
    else:
        goal = _goal_at(session, pixel, whole_lane=whole_lane)
        if goal is None:
            return
        items = {row: _sent(session, row, goal) for row in rows}
    dropped = any(len(stops_of(item)) <= len(stops_of(session.document.objects[row])) for row, item in items.items())
    next_one = None if session.goal is None else session.goal + 1
    if session.change("add goal" if session.tool == "goals" else "add to script", items):
        session.goal = None if dropped else next_one
        if dropped:
            session.message = "what it followed before is gone; ctrl+z gives it back"


def _goal_at(session: SessionState, pixel: tuple[int, int], *, whole_lane: bool) -> Goal | None:
    point = nearest_point(session.roadmap, session.camera.to_world(pixel), session.snap)
    if point is None:
        session.message = "there is no waypoint: goals are waypoints"
        return None
    refused = whole_lane_in(session.document.version) if whole_lane else ""
    if refused:
        session.message = refused
        return None
    return Goal(0.0, 0.0, point.segment, point.lane, None if whole_lane else point.point)


def _place_in(session: SessionState, row: int, stops: Sequence[Stop]) -> int:
    """Index at which a new stop of an object is inserted."""
    here = session.goal if row == session.selected[-1] else None
    return len(stops) if here is None or here >= len(stops) else here + 1


def _sent(session: SessionState, row: int, goal: Goal) -> TrafficObject:
    item = session.document.objects[row]
    goals = item.goals if item.controller is not Controller.SCRIPT else ()
    k = _place_in(session, row, goals)
    speed = goals[k - 1].speed if k else templates.SPEED
    return with_goals(item, (*goals[:k], replace(goal, speed=speed), *goals[k:]))


def _driven(session: SessionState, row: int, pixel: tuple[int, int]) -> TrafficObject:
    """Add a script entry that ends at a pixel, or at a nearby waypoint."""
    item = session.document.objects[row]
    script = item.script if item.controller is Controller.SCRIPT else ()
    k = _place_in(session, row, script)
    speed = script[k - 1].speed if k else templates.SPEED
    longer = with_script(item, (*script[:k], ScriptEntry(speed, 0.0, 0.0, 0.0), *script[k:]))
    return _with_entry_end_at(session, longer, k, pixel)


def _with_entry_end_at(
    session: SessionState, item: TrafficObject, number: int, pixel: tuple[int, int]
) -> TrafficObject:
    """Move the end of a script entry to a pixel, rounded, or to a nearby waypoint."""
    start, place = place_of(item, session.roadmap)[0], session.camera.to_world(pixel)
    point = nearest_point(session.roadmap, place, session.snap)
    if point is None or session.roadmap is None:
        return with_entry_end(item, number, start, place, grain_of(session.snap))
    return with_entry_end(item, number, start, session.roadmap.position(point), GRAIN, 0.01)


def moved_stop(session: SessionState, row: int, number: int, pixel: tuple[int, int]) -> TrafficObject | None:
    """Return an object with a stop moved to a pixel; goals move to waypoints only."""
    item = session.document.objects[row]
    if item.controller is Controller.SCRIPT:
        return _with_entry_end_at(session, item, number, pixel)
    point = nearest_point(session.roadmap, session.camera.to_world(pixel), session.snap)
    if point is None:
        return None
    goal = replace(item.goals[number], segment=point.segment, lane=point.lane, waypoint=point.point)
    return replace(item, goals=(*item.goals[:number], goal, *item.goals[number + 1 :]))


# --- changing --------------------------------------------------------------------------------------------------------
def remove_stop(session: SessionState) -> bool:
    """Remove the active stop, or the last one while a stop tool is selected; False if there is none."""
    item = session.leading
    if item is None or not stops_of(item) or (session.goal is None and session.tool not in TOOLS):
        return False
    number = len(stops_of(item)) - 1 if session.goal is None else session.goal
    if item.controller is Controller.SCRIPT:
        fewer = with_script(item, (*item.script[:number], *item.script[number + 1 :]))
    else:
        fewer = with_goals(item, (*item.goals[:number], *item.goals[number + 1 :]))
    done = session.change("remove goal", {session.selected[-1]: fewer})
    if done and session.tool in TOOLS and session.goal is not None:
        session.goal = number - 1 if number else None
    return done


def change_speed(session: SessionState, by: float) -> None:
    """Change the speed to the active stop, else to all stops of the selected objects [m/s]."""

    def changed(stop: Stop) -> Stop:
        return replace(stop, speed=max(value_near(stop.speed, stop.speed + by, 0.1), 0.0))

    change_stops(session, "speed", changed)


def change_stops(session: SessionState, label: str, changed: Callable[[Stop], Stop]) -> bool:
    """Change the active stop, else all stops of the selected objects; False if there are none."""
    rows = [session.selected[-1]] if session.goal is not None else session.selected
    items = dict[int, TrafficObject]()
    for row in rows:
        item = session.document.objects[row]
        stops = stops_of(item)
        chosen = range(len(stops)) if session.goal is None else [session.goal]
        after = tuple(changed(stop) if k in chosen else stop for k, stop in enumerate(stops))
        if after:
            items[row] = replace(item, **{"script" if item.controller is Controller.SCRIPT else "goals": after})  # type: ignore[arg-type]
    if not items:
        session.message = "the selected objects go nowhere: press g and click waypoints, or s and click places"
    return bool(items) and session.change(label, items)
