"""Key bindings of the editor; the help screen and the documentation are generated from them."""

from __future__ import annotations

import math

from cbsim.editor import commands, goals
from cbsim.editor.events import commands as event_commands
from cbsim.editor.session_state import SessionState
from cbsim.spec.objects import Kind
from cbsim.viewer.actions import Action

__all__ = ["ACTIONS", "MOUSE"]

PAN = 80.0  # [points]
STEP, FINE = 0.5, 0.05  # [m] step of a nudge, and fine step
ARROWS = {"up": (0.0, 1.0), "down": (0.0, -1.0), "right": (1.0, 0.0), "left": (-1.0, 0.0)}
WAYS = {"up": "ahead along the lane", "down": "back", "right": "to the right across it", "left": "to the left"}


def _nudge(arrow: str) -> Action:
    x, y = ARROWS[arrow]
    said = f"{WAYS[arrow]} by {STEP:g} m; with alt, {FINE:g} m"
    return Action((arrow,), said, "move", lambda s: commands.nudge(s, STEP * x, STEP * y))


def _nudge_little(arrow: str) -> Action:
    x, y = ARROWS[arrow]
    return Action((f"alt+{arrow}",), "", "move", lambda s: commands.nudge(s, FINE * x, FINE * y))


def _pan(arrow: str) -> Action:
    x, y = ARROWS[arrow]

    def act(session: SessionState) -> None:
        session.camera = session.camera.panned(-x * PAN * session.points, y * PAN * session.points)

    return Action((f"shift+{arrow}",), f"look further {arrow}", "look", act)


def _zoom(session: SessionState, factor: float) -> None:
    session.camera = session.camera.zoomed(factor)


def _upright(session: SessionState) -> None:
    session.camera = session.camera.turned(-session.camera.angle)


def _fit_selected(session: SessionState) -> None:
    session.fit(session.selected or None)


def _toggle(session: SessionState, key: str, shown: bool) -> None:
    session.options.shown[key] = not session.options.shown.get(key, shown)


def _help(session: SessionState) -> None:
    session.helping = not session.helping


ACTIONS: tuple[Action, ...] = (
    Action(("ctrl+s",), "save", "file", lambda s: s.store.save()),
    Action(("ctrl+shift+s",), "save as: .xml is version 2, .obj version 1", "file", lambda s: s.store.ask_where()),
    Action(("f5",), "run it; again: back to work", "file", lambda s: s.start_trial_run()),
    Action(("f2",), "name the file's content, or the event", "file", commands.ask_name),
    Action(("?", "f1"), "this help", "file", _help),
    Action(("ctrl+q", "ctrl+w"), "close", "file", lambda s: s.store.close()),
    Action(("b",), "put down a bot: an autonomous object", "add", lambda s: commands.pick_tool(s, Kind.AUTONOMOUS)),
    Action(("t",), "put down traffic: a dynamic object", "add", lambda s: commands.pick_tool(s, Kind.DYNAMIC)),
    Action(("o",), "put down an obstacle: a static object", "add", lambda s: commands.pick_tool(s, Kind.STATIC)),
    Action(("m",), "put down a mesh", "add", lambda s: commands.pick_tool(s, Kind.MESH)),
    Action(("g",), "set goals: click waypoints", "add", lambda s: commands.pick_tool(s, "goals")),
    Action(("s",), "write a script: click places", "add", lambda s: commands.pick_tool(s, "script")),
    Action(("n",), "add a sensor; tab goes through confs", "add", commands.ask_sensor),
    Action(("k",), "put down an event of a scenario, at the time below the mouse", "add", lambda s: s.place_event()),
    Action(("ctrl+z",), "undo", "edit", lambda s: s.undo()),
    Action(("ctrl+y", "ctrl+shift+z"), "do again", "edit", lambda s: s.redo()),
    Action(("ctrl+c",), "copy", "edit", commands.copy),
    Action(("ctrl+v",), "paste at the mouse", "edit", commands.paste),
    Action(("ctrl+d",), "copy to the place ahead", "edit", commands.duplicate),
    Action(("delete", "backspace"), "remove the event or goal, else the objects", "edit", commands.remove),
    Action(("v",), "type the speed to a goal, or to all", "edit", commands.ask_speed),
    Action((".",), "faster by 0.5 m/s", "edit", lambda s: goals.change_speed(s, 0.5)),
    Action((",",), "slower by 0.5 m/s", "edit", lambda s: goals.change_speed(s, -0.5)),
    Action(("p",), "type the pause at a goal, or at first", "edit", commands.ask_pause),
    Action(("tab",), "select the next object, or goal", "select", lambda s: commands.select_next(s, 1)),
    Action(("shift+tab",), "select the one before", "select", lambda s: commands.select_next(s, -1)),
    Action(("j",), "select the next event", "select", lambda s: event_commands.select_event(s, 1)),
    Action(("shift+j",), "select the event before", "select", lambda s: event_commands.select_event(s, -1)),
    Action(("ctrl+a",), "select all", "select", lambda s: s.select(range(len(s.document.objects)))),
    Action(("esc",), "leave help, tool, goal, event, selection", "select", commands.escape),
    *(_nudge(arrow) for arrow in ARROWS),
    *(_nudge_little(arrow) for arrow in ARROWS),
    Action(("[",), "turn left by 5°", "move", lambda s: commands.turn(s, 5.0)),
    Action(("]",), "turn right by 5°", "move", lambda s: commands.turn(s, -5.0)),
    Action(("r",), "turn left by a right angle", "move", lambda s: commands.turn(s, 90.0)),
    Action(("u",), "turn along the lane", "move", commands.align),
    Action(("+", "="), "nearer", "look", lambda s: _zoom(s, 1.25)),
    Action(("-",), "farther away", "look", lambda s: _zoom(s, 0.8)),
    *(_pan(arrow) for arrow in ARROWS),
    Action(("a",), "show all", "look", lambda s: s.fit()),
    Action(("f",), "show what is selected", "look", _fit_selected),
    Action(("0",), "north up", "look", _upright),
    Action(("q",), "turn the picture left", "look", lambda s: s.turn_picture(-math.radians(15.0))),
    Action(("e",), "turn the picture right", "look", lambda s: s.turn_picture(math.radians(15.0))),
    Action(("i",), "show or hide ids of waypoints", "look", lambda s: _toggle(s, "ids", False)),
    Action(("l",), "show or hide names", "look", lambda s: _toggle(s, "names", True)),
)
"""All key bindings of the editor; rows without a description are covered by another row."""

MOUSE: tuple[tuple[str, str], ...] = (
    ("click", "select; with shift, besides the others"),
    ("click a field", "type another value"),
    ("click a problem", "go to its object, and see its line"),
    ("drag", "move along and across lanes; with alt, anywhere"),
    ("drag the disc", "turn, by 1°; with shift 15°, with alt 0.1°"),
    ("drag a corner", "resize"),
    ("drag a goal", "to another waypoint; of a script, anywhere"),
    ("drag an event", "to another time, with alt by steps of the run; double click: name it, or put one down"),
    ("drag a place of an event", "to a waypoint or anywhere; with alt, only anywhere"),
    ("drag the ground", "move the picture; with shift, select in a box"),
    ("wheel", "nearer and farther away, at the cursor"),
    ("right button", "turn the picture"),
)
"""Mouse gestures, for the help."""
