"""Events of a mission's clock: RUN after its delay, pauses, and restarts of the first bot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cbsim.geometry.pose import Pose
from cbsim.road.restarts import Restart, restarts_of, width_at
from cbsim.road.route import checkpoints
from cbsim.spec.events import Action, Condition, Event, Place
from cbsim.spec.mission_clock import MissionClock
from cbsim.spec.objects import Controller, Kind
from cbsim.spec.scenario import Placement
from cbsim.world.places import start_poses
from cbsim.world.scene import Actor, Scene

__all__ = ["clock_events", "restart_poses", "restarted_actor"]

RESTS = 1.0  # [s] after the checkpoint, before the restart


def restarted_actor(scene: Scene) -> int | None:
    """Find the number of the first bot that a planner may drive; None if there is none."""
    driven = (k for k, actor in enumerate(scene.actors) if actor.item.controller is Controller.SENSOR)
    return next((k for k in driven if scene.actors[k].item.kind is Kind.AUTONOMOUS), None)


def _restarts(scene: Scene) -> list[Restart]:
    clock = scene.clock
    if clock is None or not clock.restart or scene.roadmap is None or scene.mission is None:
        return []
    return restarts_of(scene.roadmap, scene.mission)


def restart_poses(scene: Scene) -> dict[Place, Pose]:
    """Poses of the first bot at the begins of its restarts, as if the scenario had placed it there."""
    row = restarted_actor(scene)
    if row is None:
        return {}
    starts = [one.start for one in _restarts(scene)]
    bot = scene.actors[row]
    copies = [Actor(bot.item, Placement(start), mesh=bot.mesh) for start in starts]
    return dict(zip(map(Place, starts), start_poses(copies, scene), strict=True)) if copies else {}


def clock_events(scene: Scene, names: Sequence[str], bot: str) -> tuple[Event, ...]:
    """Write the clock of a mission as events.

    Parameters
    ----------
    scene : Scene
    names : sequence of str
        Autonomous objects with a vehicle: the clock is that of all.
    bot : str
        The first that a planner may drive, which restarts.
    """
    clock = scene.clock
    if clock is None or not names:
        return ()
    return *_run(clock, names), *_pauses(clock, names), *_legs(scene, bot)


def _set(state: str, names: Sequence[str]) -> tuple[Action, ...]:
    return tuple(Action("run_state", (("object", name), ("state", state))) for name in names)


def _run(clock: MissionClock, names: Sequence[str]) -> Iterator[Event]:
    if clock.delay is not None:
        yield Event("mission RUN", Condition("time", (("at", clock.delay),)), _set("RUN", names), clock.location)


def _pauses(clock: MissionClock, names: Sequence[str]) -> Iterator[Event]:
    for number, pause in enumerate(clock.pauses, 1):
        name, when = f"mission PAUSE {number}", pause.when
        if clock.delay is not None and not _begins_from(when, clock.delay):
            when = Condition("all", (), (Condition("event", (("name", "mission RUN"),)), when), pause.location)
        yield Event(name, when, _set("PAUSE", names), pause.location)
        if pause.duration is not None:
            paused = Condition("event", (("name", name),))
            after = Condition("after", (("delay", pause.duration),), (paused,))
            yield Event(f"mission RUN {number}", after, _set("RUN", names), pause.location)


def _begins_from(when: Condition, time: float) -> bool:
    """Whether a condition is one of time, and not before a time [s]."""
    at = when["at"]
    return when.kind == "time" and isinstance(at, float) and at >= time


def _legs(scene: Scene, bot: str) -> Iterator[Event]:
    """Yield a passage of each checkpoint that ends a part of the mission, and the restart that follows."""
    row, before, at_once = restarted_actor(scene), "", -1
    if row is None or scene.mission is None or scene.roadmap is None:
        return
    nose = 0.5 * float(np.asarray(scene.actors[row].item.size)[1])
    places = checkpoints(scene.roadmap)
    for restart in _restarts(scene):
        passed, began = f"mission part {restart.leg + 1}", f"mission restart {restart.leg + 1}"
        point = places[scene.mission.checkpoints[restart.leg].number]
        arguments = ("waypoint", Place(point)), ("within", 0.5 * width_at(scene.roadmap, point)), ("before", nose)
        when = Condition("waypoint", (("object", bot), *arguments))
        if before:
            follows = Condition("event", (("name", before),))
            when = follows if at_once == restart.leg else Condition("all", (), (follows, when))
        yield Event(passed, when)
        rests = Condition("standstill", (("object", bot), ("for", RESTS)))
        over = Condition("all", (), (Condition("event", (("name", passed),)), rests))
        place = ("place", Place(restart.start)), ("leg", float(restart.leg))
        yield Event(began, over, (Action("restart", (("object", bot), *place)),))
        before, at_once = began, restart.leg + 1 if restart.route is None else -1
