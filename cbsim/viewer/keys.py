"""Key bindings of the viewer; the help screen and the documentation are generated from them."""

from __future__ import annotations

import math

from cbsim.viewer.actions import CLOSE, Action
from cbsim.viewer.layers import LAYERS
from cbsim.viewer.session_state import SessionState

__all__ = ["ACTIONS", "MOUSE"]

TURN = math.radians(15.0)
PAN = 80.0  # [points]
SWITCHES = {
    "ids": "i", "checkpoints": "c", "names": "n", "trails": "t", "goals": "g", "route": "u", "lasers": "l",
    "beams": "b", "annotations": "p", "ttc": "d", "joints": "j", "events": "k", "markings": "y", "meshes": "o",
    "conflicts": "w",
}  # fmt: skip


def _pan(right: float, down: float) -> Action:
    arrow = {(1, 0): "left", (-1, 0): "right", (0, 1): "up", (0, -1): "down"}[(int(right), int(down))]

    def act(session: SessionState) -> None:
        session.following = False
        session.camera = session.camera.panned(right * PAN * session.points, down * PAN * session.points)

    return Action((f"shift+{arrow}",), f"look further {arrow}", "look", act)


def _zoom(session: SessionState, factor: float) -> None:
    session.camera = session.camera.zoomed(factor)


def _turn(session: SessionState, angle: float) -> None:
    session.camera = session.camera.turned(angle)


def _upright(session: SessionState) -> None:
    session.heading_up = False
    session.camera = session.camera.turned(-session.camera.angle)


def _heading_up(session: SessionState) -> None:
    session.heading_up = not session.heading_up
    if session.heading_up and not session.following:
        session.follow()


def _measure(session: SessionState) -> None:
    session.measuring = not session.measuring
    session.options.measure.clear()


def _steer(session: SessionState) -> None:
    session.show_inputs = not session.show_inputs


def _help(session: SessionState) -> None:
    session.helping = not session.helping


def _longer(session: SessionState) -> None:
    lengths = (10.0, 30.0, math.inf, 0.0, 3.0)
    here = lengths.index(session.options.trail) if session.options.trail in lengths else -1
    session.options.trail = lengths[(here + 1) % len(lengths)]


def _picture(session: SessionState) -> None:
    if session.save_picture is not None:
        session.message = session.save_picture()


def _quit(session: SessionState) -> None:
    session.running = False


def _switch(key: str) -> Action:
    layer = next(layer for layer in LAYERS if layer.key == key)
    return Action((SWITCHES[key],), f"show or hide {layer.title}", "show", lambda s: s.toggle(key, layer.shown))


ACTIONS: tuple[Action, ...] = (
    Action(("space",), "pause, go on; at the end, begin again", "time", lambda s: s.play()),
    Action((".", "right"), "one step ahead", "time", lambda s: s.step(1)),
    Action((",", "left"), "one step back", "time", lambda s: s.step(-1)),
    Action(("pagedown",), "a second ahead", "time", lambda s: s.seek(s.time + 1.0)),
    Action(("pageup",), "a second back", "time", lambda s: s.seek(s.time - 1.0)),
    Action(("home",), "to the start", "time", lambda s: s.seek(-math.inf)),
    Action(("end",), "to the newest there is", "time", lambda s: s.seek(s.known)),
    Action(("]", "up"), "faster", "time", lambda s: s.faster(1)),
    Action(("[", "down"), "slower", "time", lambda s: s.faster(-1)),
    Action(("+", "="), "nearer", "look", lambda s: _zoom(s, 1.25)),
    Action(("-",), "farther away", "look", lambda s: _zoom(s, 0.8)),
    _pan(1, 0),
    _pan(-1, 0),
    _pan(0, 1),
    _pan(0, -1),
    Action(("a",), "show the whole network and all that moves", "look", lambda s: s.fit()),
    Action(("f",), "follow the selected body, or let go", "look", lambda s: s.follow()),
    Action(("h",), "follow with its heading up, or north", "look", _heading_up),
    Action(("q",), "turn left", "look", lambda s: _turn(s, -TURN)),
    Action(("e",), "turn right", "look", lambda s: _turn(s, TURN)),
    Action(("0",), "north up", "look", _upright),
    Action(("v",), "look from above, the east, the south", "look", lambda s: s.next_projection()),
    Action(("tab",), "select the next body that moves", "select", lambda s: s.select_next(1)),
    Action(("shift+tab",), "select the one before", "select", lambda s: s.select_next(-1)),
    Action(("x",), "show or hide the inputs of models", "select", _steer),
    Action(("m",), "measure: click places; again: end", "select", _measure),
    Action(("esc",), "leave help, measuring, the selection", "select", lambda s: s.escape()),
    *(_switch(key) for key in SWITCHES),
    Action(("shift+t", "T"), "trails of 10 s, 30 s, all, none, 3 s", "show", _longer),
    Action(("s",), "save a picture (cbsim-1.png …)", "file", _picture),
    Action(("?", "f1"), "this help", "file", _help),
    Action(CLOSE, "close", "file", _quit),
)
"""All key bindings of the viewer."""

MOUSE: tuple[tuple[str, str], ...] = (
    ("drag", "move the picture"),
    ("wheel", "nearer and farther away, at the cursor"),
    ("right drag", "turn the picture"),
    ("click", "select a body; while measuring, a place"),
    ("double click", "follow a body"),
    ("arrows, alt+arrows", "a model's keys and joystick"),
)
"""Mouse gestures, for the help."""
