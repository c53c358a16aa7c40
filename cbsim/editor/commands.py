"""Commands on the selected objects: remove, copy, nudge, turn, and prompts for values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cbsim.editor import goals
from cbsim.editor.documents.edits import Edit
from cbsim.editor.documents.scenario_document import ScenarioDocument
from cbsim.editor.events import commands as event_commands
from cbsim.editor.objects import placement
from cbsim.editor.objects.fields import fields_of, goal_fields, number_of
from cbsim.editor.objects.stops import stops_of
from cbsim.editor.prompt import Prompt
from cbsim.editor.session_state import SessionState
from cbsim.errors import UsageError
from cbsim.formats.objects.values import PAUSE, SPEED
from cbsim.paths import sensor_folders
from cbsim.spec.number import number_text
from cbsim.spec.objects import Kind, Triple

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "align", "ask_field", "ask_name", "ask_pause", "ask_sensor", "ask_speed", "confs_of", "copy", "duplicate", "escape",
    "nudge", "paste", "pick_tool", "remove", "select_next", "turn",
]  # fmt: skip


def pick_tool(session: SessionState, tool: Kind | str) -> None:
    """Select a tool, or deselect the current one; scenarios have none."""
    if isinstance(session.document, ScenarioDocument):
        session.message = "here events are edited; open an object file to edit its objects"
        return
    session.tool = None if session.tool == tool else tool
    if session.tool == "goals":
        session.message = "click waypoints; shift+click: the rest of the lane; backspace: take the last one back"
    elif session.tool == "script":
        session.message = (
            "click places to drive to, one straight way after the other; backspace: take the last one back"
        )
    elif session.tool is not None:
        session.message = f"click where the {session.tool} object goes; with shift, several"


def remove(session: SessionState) -> None:
    """Remove the active goal, else the selected objects."""
    if event_commands.remove_event(session):
        return
    if not goals.remove_stop(session) and session.selected and session.tool not in goals.TOOLS:
        session.apply(Edit("remove", removed=frozenset(session.selected)), [])


def copy(session: SessionState) -> None:
    """Copy the selected objects to the object clipboard."""
    session.clipboard = [session.document.objects[row] for row in sorted(session.selected)]
    session.message = f"{len(session.clipboard)} copied"


def paste(session: SessionState) -> None:
    """Paste objects at the mouse, or beside their originals if the mouse is outside."""
    if not session.clipboard:
        session.message = "nothing is copied"
        return
    places = [placement.place_of(item, session.roadmap)[0] for item in session.clipboard]
    away = np.array([3.0, -3.0])
    if session.hover[0] >= 0:
        away = session.camera.to_world(session.hover) - np.mean(places, axis=0)
    pasted = []
    for item, place in zip(session.clipboard, places, strict=True):
        snap = session.snap if len(places) == 1 else 0.0
        known = (row for row, other in enumerate(session.document.objects) if other is item)
        pasted.append((placement.moved(item, session.roadmap, place + away, snap=snap), next(known, None)))
    session.add_all(pasted, "paste")


def duplicate(session: SessionState) -> None:
    """Duplicate the selected objects, each one length and a metre ahead."""
    made = []
    for row in sorted(session.selected):
        item = session.document.objects[row]
        place, heading = placement.place_of(item, session.roadmap)
        way = item.size.y + 1.0 if item.kind is not Kind.MESH else 5.0
        ahead = place + way * np.array([-math.sin(heading), math.cos(heading)])
        made.append((placement.moved(item, session.roadmap, ahead), row))
    if made:
        session.add_all(made, "copy")


def nudge(session: SessionState, right: float, ahead: float) -> None:
    """Move the selected objects along and across their lanes [m]."""
    if event_commands.nudge_event(session, right):
        return
    items = {}
    for row in session.selected:
        item = session.document.objects[row]
        x, y, z = item.position_offset
        moved = Triple(placement.value_near(x, x + right), placement.value_near(y, y + ahead), z)
        items[row] = replace(item, position_offset=moved)
    session.change("nudge", items)


def turn(session: SessionState, degrees: float) -> None:
    """Turn the selected objects counter-clockwise [deg]."""
    items = {}
    for row in session.selected:
        item = session.document.objects[row]
        heading = placement.place_of(item, session.roadmap)[1] + math.radians(degrees)
        items[row] = placement.turned(item, session.roadmap, heading)
    session.change("turn", items)


def align(session: SessionState) -> None:
    """Align the selected objects with their lanes."""
    items = {row: placement.aligned(session.document.objects[row], session.roadmap) for row in session.selected}
    session.change("align", items)


def select_next(session: SessionState, ahead: int) -> None:
    """Select the next or previous object, or goal if one is active."""
    item = session.leading
    if session.goal is not None and item is not None:
        session.goal = (session.goal + ahead) % len(stops_of(item))
        return
    count = len(session.document.objects)
    if count:
        here = session.selected[-1] if session.selected else (-1 if ahead > 0 else count)
        session.select([(here + ahead) % count])


def escape(session: SessionState) -> None:
    """Close the help, else cancel a drag, else deselect the tool, the goal or the objects."""
    if session.helping:
        session.helping = False
    elif session.cancel_drag():
        pass
    elif session.tool is not None:
        session.tool = None
    elif session.goal is not None:
        session.goal = None
    elif session.events.row is not None:
        session.events.row = None
    else:
        session.select([])


# --- lines that are typed --------------------------------------------------------------------------------------------
def ask_speed(session: SessionState) -> None:
    """Prompt for the speed to the active goal, or to all goals of the selected objects."""
    item = session.leading
    if item is None or not stops_of(item):
        session.message = "speeds are those to goals: select an object that has some"
        return

    def act(text: str) -> None:
        speed = number_of(text, SPEED)
        if not goals.change_stops(session, "speed", lambda goal: replace(goal, speed=speed)):
            raise UsageError(session.message)

    which = f"goal {session.goal + 1}" if session.goal is not None else "all goals"
    session.prompt = Prompt(f"speed to {which} [m/s]", number_text(stops_of(item)[session.goal or 0].speed), act)


def ask_pause(session: SessionState) -> None:
    """Prompt for the pause at the active goal, else before the first one."""
    item = session.leading
    if item is None or item.controller is None:
        session.message = "pauses are those of objects that move: select one"
        return

    def act(text: str) -> None:
        pause = number_of(text, PAUSE)
        if session.goal is not None:
            done = goals.change_stops(session, "pause", lambda goal: replace(goal, pause=pause))
        else:
            rows = [row for row in session.selected if session.document.objects[row].controller is not None]
            items = {row: replace(session.document.objects[row], initial_pause=pause) for row in rows}
            done = session.change("pause", items)
        if not done:
            raise UsageError(session.message)

    if session.goal is not None:
        goal = stops_of(item)[session.goal]
        session.prompt = Prompt(f"pause at goal {session.goal + 1} [s]", number_text(goal.pause), act)
    else:
        session.prompt = Prompt("pause before the first goal [s]", number_text(item.initial_pause), act)


def ask_sensor(session: SessionState) -> None:
    """Prompt for the conf of another sensor."""
    item = session.leading
    if item is None or item.kind is not Kind.AUTONOMOUS:
        session.message = "sensors are those of autonomous objects: select one"
        return
    ask_field(session, "add sensor")


def ask_field(session: SessionState, label: str) -> None:
    """Prompt for the value of a field of the primary object."""
    item = session.leading
    if item is None:
        return
    row = session.selected[-1]
    fields = fields_of(item, session.document.version, confs_of(session))
    if session.goal is not None:
        fields += goal_fields(item, session.goal, session.document.version)
    field = next(field for field in fields if field.label == label)

    def act(text: str) -> None:
        if not session.change(label.partition(" [")[0], {row: field.put(text)}):
            raise UsageError(session.message)

    session.prompt = Prompt(label, field.text, act, field.choices)


def ask_name(session: SessionState) -> None:
    """Prompt for the name stored in the file, or for that of the selected event of a scenario."""
    if isinstance(session.document, ScenarioDocument):
        event_commands.ask_event_name(session)
        return
    if session.document.version == 1:
        session.message = "files of version 1 have no names"
        return

    def act(text: str) -> None:
        if not text.strip() or not session.apply(Edit("name", name=text.strip())):
            raise UsageError(session.message or "a name is not empty")

    session.prompt = Prompt("name of the file's content", session.document.title, act)


def confs_of(session: SessionState) -> tuple[str, ...]:
    """Sensor confs available to the primary object, from the search folders."""
    item = session.leading
    if item is None or item.kind is not Kind.AUTONOMOUS:
        return ()
    found = dict[str, None]()
    for folder in sensor_folders(item.name, session.document.path.parent, session.files.environment)[:-1]:
        found.update(dict.fromkeys(_confs_below(folder)))
    return tuple(found)


def _confs_below(folder: Path) -> list[str]:
    try:
        paths = [*folder.glob("*.conf"), *folder.glob("onboard/*.conf")]
    except OSError:
        return []
    return sorted(path.relative_to(folder).as_posix() for path in paths)
