"""What a user does, and what the file says afterwards: each operation of the editor, as changes of its text.

A script gets a hand and the session that the hand works; places are asked of the session, so that a script says "the
waypoint 1.1.2" and the hand goes to its pixel.
"""

from __future__ import annotations

import numpy as np

from cbsim.editor.drawing import corner_handles, goal_places, turn_handle
from cbsim.editor.objects.placement import place_of
from cbsim.spec.road import PointId
from tests.editor.common import PLAIN, RECORDS
from tests.editor.hands import Hand

SITE = PLAIN.replace('segment="2" lane="1" waypoint="1"', 'segment="2" lane="2" waypoint="1"')
CARDS = (
    RECORDS.replace("1 2 3\n", "1 1 1\n").replace("4.5.6", "2.2.1").replace("7 8 9 //", "3 1 1 //")
    .replace("1 1 1 // way", "3 1 2 // way").replace("1 1 2 // way", "3 1 3 // way")
)  # fmt: skip


def at(session, point: str, right: float = 0.0, ahead: float = 0.0):
    """Pixel of a waypoint, or of a place beside it and ahead of it [m]."""
    place, _ = session.roadmap.place(PointId(*map(int, point.split("."))), ahead, -right)
    return session.camera.to_screen(place)


def of(session, row: int):
    """Pixel of an object."""
    return session.camera.to_screen(place_of(session.document.objects[row], session.roadmap)[0])


def row_of(session, kind: str) -> int:
    """Row of the first object of a kind."""
    return next(row for row, item in enumerate(session.document.objects) if item.kind == kind)


def near(hand: Hand, session, kind: str) -> int:
    """Select an object by the keyboard, and come near; its row."""
    row = row_of(session, kind)
    hand.key("esc", "esc", "esc", *["tab"] * (row + 1), "f")
    return row


def drag_along(hand, session) -> None:
    start = of(session, near(hand, session, "static"))
    hand.drag(start, start + at(session, "2.2.1", ahead=7.0) - at(session, "2.2.1"))


def drag_across(hand, session) -> None:
    start = of(session, near(hand, session, "static"))
    hand.drag(start, start + at(session, "2.2.1", right=1.5, ahead=7.0) - at(session, "2.2.1"))


def drag_to_waypoint(hand, session) -> None:
    row = near(hand, session, "dynamic")
    hand.key("a")
    hand.drag(of(session, row), at(session, "4.1.2") + np.array([3, 2]))


def drag_freely(hand, session) -> None:
    start = of(session, near(hand, session, "static"))
    hand.drag(start, start + at(session, "2.2.1", right=10.0) - at(session, "2.2.1"), holding="alt")


def turn_by_handle(hand, session) -> None:
    row = near(hand, session, "static")
    handle, middle = turn_handle(session, session.preview(), row), of(session, row)
    x, y = handle - middle
    hand.drag(handle, middle + np.array([y, -x]), holding="shift")


def turn_by_keys(hand, session) -> None:
    near(hand, session, "static")
    hand.key("[", "[", "]", "r", "ctrl+z", "[")


def resize(hand, session) -> None:
    row = near(hand, session, "static")
    corner, middle = corner_handles(session, session.preview(), row)[0], of(session, row)
    hand.drag(corner, middle + 2.0 * (corner - middle))


def nudge(hand, session) -> None:
    near(hand, session, "dynamic")
    hand.key("up", "up", "right", "alt+left")


def goals_by_clicking(hand, session) -> None:
    near(hand, session, "dynamic")
    hand.key("a", "g")
    for point in ("1.2.1", "1.2.2", "1.2.2"):
        hand.click(at(session, point))
    hand.key("backspace", "esc")


def goals_of_a_lane(hand, session) -> None:
    near(hand, session, "dynamic")
    hand.key("a", "g")
    hand.click(at(session, "1.2.1"), holding="shift")
    hand.key("esc")


def drag_goal(hand, session) -> None:
    row = near(hand, session, "dynamic")
    hand.key("a")
    hand.drag(goal_places(session, row)[0][1], at(session, "1.2.1"))


def remove_goal(hand, session) -> None:
    row = near(hand, session, "dynamic")
    hand.key("a")
    hand.click(goal_places(session, row)[0][1])
    hand.key("delete")


def speed_and_pause(hand, session) -> None:
    row = near(hand, session, "dynamic")
    hand.key("a")
    hand.click(goal_places(session, row)[0][1])
    hand.key("v")
    hand.write("6.5")
    hand.key("enter", "p")
    hand.write("-1")
    hand.key("enter", "backspace", "backspace")
    hand.write("2")
    hand.key("enter", "esc", ".", ".", ",")


def pause_at_first(hand, session) -> None:
    near(hand, session, "dynamic")
    hand.key("p")
    hand.write("1.5")
    hand.key("enter")


def sensors(hand, session) -> None:
    near(hand, session, "autonomous")
    hand.key("n")
    hand.write("onboard/scan_gp_driver_1")
    hand.key("tab", "enter")


def field(hand, session) -> None:
    near(hand, session, "static")
    (place,) = (box.center for box, label in session.panels.fields if label == "length [m]")
    hand.click(place)
    hand.write("2.75")
    hand.key("enter")


def add_each(hand, session) -> None:
    for key, point in (("b", "1.2.1"), ("t", "2.1.1"), ("o", "4.2.1"), ("m", "4.1.1")):
        hand.key(key)
        hand.click(at(session, point))


def copy_ahead(hand, session) -> None:
    near(hand, session, "static")
    hand.key("ctrl+d")


def paste(hand, session) -> None:
    near(hand, session, "static")
    hand.key("ctrl+c", "esc", "a")
    hand.drag(at(session, "4.2.2"), at(session, "4.2.2"), button=3)
    hand.key("ctrl+v")


def remove(hand, session) -> None:
    near(hand, session, "static")
    hand.key("delete")


def many(hand, session) -> None:
    near(hand, session, "dynamic")
    hand.key("a")
    hand.click(of(session, row_of(session, "static")), holding="shift")
    hand.key("up", "delete", "ctrl+z")


def box(hand, session) -> None:
    hand.key("esc", "a")
    ends = [of(session, row_of(session, kind)) for kind in ("autonomous", "dynamic")]
    hand.drag(np.min(ends, axis=0) - 8, np.max(ends, axis=0) + 8, holding="shift")
    hand.key("[")


def undo_all(hand, session) -> None:
    drag_along(hand, session)
    hand.key("[", "up", "ctrl+d", "delete")
    hand.key(*["ctrl+z"] * 5)


def undo_and_redo(hand, session) -> None:
    near(hand, session, "static")
    hand.key("[", "[", "[", "ctrl+z", "ctrl+z", "ctrl+y")


def title(hand, session) -> None:
    hand.key("f2")
    if session.prompt is not None:  # version 1 has no names
        hand.write("Night & day")
        hand.key("enter")


def run_and_come_back(hand, session) -> None:
    near(hand, session, "static")
    hand.key("[", "f5", "space", "esc", "[")


def drag_to_edge(hand, session) -> None:
    start = of(session, near(hand, session, "static"))
    lane = session.roadmap.lane(2, 2)
    hand.drag(start, start + at(session, "2.2.1", right=0.5 * lane.width - 0.7, ahead=5.0) - at(session, "2.2.1"))


def drag_beside_the_road(hand, session) -> None:
    start = of(session, near(hand, session, "static"))
    lane = session.roadmap.lane(2, 2)
    hand.drag(start, start + at(session, "2.2.1", right=0.5 * lane.width + 0.7, ahead=5.0) - at(session, "2.2.1"))


def goal_between(hand, session) -> None:
    row = near(hand, session, "dynamic")
    hand.key("a")
    hand.click(goal_places(session, row)[0][1])
    hand.key("g")
    hand.click(at(session, "1.2.1"))
    hand.click(at(session, "1.2.2"))
    hand.key("backspace", "esc")


def goal_typed(hand, session) -> None:
    row = near(hand, session, "dynamic")
    hand.key("a")
    hand.click(goal_places(session, row)[0][1])
    (place,) = (box.center for box, label in session.panels.fields if label == "goal 1 is at")
    hand.click(place)
    hand.write("1.2.2")
    hand.key("enter")


def script_by_clicking(hand, session) -> None:
    near(hand, session, "autonomous" if session.document.version == 1 else "dynamic")
    hand.key("a", "s")
    for point in ("1.2.1", "1.2.2", "1.1.1"):
        hand.click(at(session, point))
    hand.key("backspace", "esc")


def script_dragged(hand, session) -> None:
    script_by_clicking(hand, session)
    row = session.selected[-1]
    ends = goal_places(session, row)
    hand.drag(ends[0][1], ends[0][1] + np.array([30, -20]))
    hand.key("p")
    hand.write("3")
    hand.key("enter", "v")
    hand.write("2")
    hand.key("enter")
    (place,) = (box.center for box, label in session.panels.fields if label == "heading of entry 1 [deg]")
    hand.click(place)
    hand.write("-45")
    hand.key("enter", "esc", "esc")
