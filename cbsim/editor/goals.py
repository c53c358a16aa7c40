"""Goals of objects: set by clicking waypoints, their speeds and pauses, and taken away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from cbsim.editor import making
from cbsim.editor.placing import nearest_point, value_near
from cbsim.spec.objects import Controller, Goal, TrafficObject

if TYPE_CHECKING:
    from cbsim.editor.session import Session

__all__ = ["add_at", "drop", "faster", "with_goals"]


def add_at(session: Session, pixel: tuple[int, int], *, whole_lane: bool = False) -> None:
    """Add the waypoint at a pixel to the goals of the selected objects, or the rest of its lane."""
    point = nearest_point(session.roadmap, session.camera.to_world(pixel), session.snap)
    rows = [row for row in session.selected if session.document.objects[row].controller is not None]
    if point is None:
        session.told = "there is no waypoint: goals are waypoints"
    elif not rows:
        session.told = "select an object that moves, then click its goals"
    elif whole_lane and session.document.version == 1:
        session.told = "version 1 has no goals without waypoint: click each one, or save as version 2"
    else:
        added = Goal(0.0, 0.0, point.segment, point.lane, None if whole_lane else point.point)
        session.change("add goal", {row: _with_one_more(session.document.objects[row], added) for row in rows})
        session.goal = None


def _with_one_more(item: TrafficObject, goal: Goal) -> TrafficObject:
    speed = item.goals[-1].speed if item.goals else making.SPEED
    return with_goals(item, (*item.goals, replace(goal, speed=speed)))


def with_goals(item: TrafficObject, goals: tuple[Goal, ...]) -> TrafficObject:
    """Give an object other goals; one that has any follows them."""
    controller = Controller.WAYPOINT if goals else item.controller
    script = () if goals else item.script
    return replace(item, goals=goals, controller=controller, script=script)


def drop(session: Session) -> bool:
    """Take the goal away that is worked on; in the tool for goals, the last one. False where there is none."""
    item = session.leading
    if item is None or not item.goals or (session.goal is None and session.tool != "goals"):
        return False
    number = len(item.goals) - 1 if session.goal is None else session.goal
    goals = (*item.goals[:number], *item.goals[number + 1 :])
    return session.change("remove goal", {session.selected[-1]: with_goals(item, goals)})


def faster(session: Session, by: float) -> None:
    """Change the speed to the goal that is worked on, else to all goals of the selected objects [m/s]."""

    def changed(goal: Goal) -> Goal:
        return replace(goal, speed=max(value_near(goal.speed, goal.speed + by, 0.1), 0.0))

    change_goals(session, "speed", changed)


def change_goals(session: Session, label: str, changed: Callable[[Goal], Goal]) -> bool:
    """Change the goal that is worked on, else all goals of the selected objects; False where there are none."""
    rows = [session.selected[-1]] if session.goal is not None else session.selected
    items = dict[int, TrafficObject]()
    for row in rows:
        item = session.document.objects[row]
        chosen = range(len(item.goals)) if session.goal is None else [session.goal]
        goals = tuple(changed(goal) if k in chosen else goal for k, goal in enumerate(item.goals))
        if goals:
            items[row] = replace(item, goals=goals)
    if not items:
        session.told = "the selected objects have no goals: press g and click waypoints"
    return bool(items) and session.change(label, items)
