"""The timeline of a scenario's events: shown, dragged, placed, renamed, removed, run, saved."""

from __future__ import annotations

import difflib
import itertools

import numpy as np
import pygame
import pytest

import cbsim
from cbsim.editor.events.strip import colours_of
from cbsim.editor.objects.placement import place_of
from cbsim.palette import CHROME, WORDS
from tests.common import ROOT
from tests.editor.hands import Posted

EVENTS = (ROOT / "scenarios" / "events.yaml").read_text(encoding="utf-8")


@pytest.fixture
def hand(tmp_path, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    one = opened(tmp_path, EVENTS)
    yield one
    one.window.close()


def opened(folder, text: str) -> Posted:
    path = folder / "site.yaml"
    path.write_bytes(text.encode())
    return Posted(path, rndf=None)


def mark_of(hand, name: str):
    """Pixel of an event's mark."""
    hand.turn()
    strip = hand.session.panels.strip
    (row,) = (k for k, event in enumerate(hand.session.document.spec.events) if event.name == name)
    mark = strip.layout.marks[row]
    y = strip.y(mark, hand.session.points)
    assert y is not None
    return mark.x, y


def difference(before: str, after: bytes) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.decode().splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def test_a_time_is_dragged_and_saved_and_nothing_else_changes(hand):
    session = hand.session
    axis = session.panels.strip.axis
    x, y = mark_of(hand, "the truck brakes")
    assert axis.time(x) == pytest.approx(6.0)
    hand.drag((x, y), (axis.x(12.52), y))
    hand.key("ctrl+s")
    (old, new) = difference(EVENTS, session.document.path.read_bytes())
    time = session.document.spec.events[0].when["at"]
    assert time == 12.5
    assert new == "+" + old[1:].replace("time: 6}", f"time: {time:g}}}")
    hand.key("ctrl+z", "ctrl+s")
    assert session.document.path.read_bytes().decode() == EVENTS


def names_of(hand) -> list[str]:
    return [event.name for event in hand.session.document.spec.events]


def test_nothing_overlaps_and_who_waits_stands_below(hand):
    hand.turn()
    strip = hand.session.panels.strip
    lanes = {}
    for mark in strip.layout.marks:
        lanes.setdefault(mark.lane, []).append((mark.left, mark.right))
        for other in mark.awaits:
            assert strip.layout.marks[other].lane < mark.lane
            assert strip.layout.marks[other].x < mark.x
    for spans in lanes.values():
        spans.sort()
        assert all(left[1] < right[0] for left, right in itertools.pairwise(spans))
    brakes, left, *_ = strip.layout.marks
    assert (brakes.is_known, left.is_known, brakes.time) == (True, False, 6.0)


def test_an_event_is_put_down_by_a_double_click_with_an_action_of_the_selected_object(hand, monkeypatch):
    monkeypatch.setattr(pygame.time, "get_ticks", lambda: 1000)  # however slowly the machine draws
    session = hand.session
    axis, box = session.panels.strip.axis, session.panels.strip.box
    session.select([[item.name for item in session.document.objects].index("Van")])
    place = (axis.x(30.0), box.bottom - 8)
    hand.click(place)
    hand.click(place)
    assert "action of 'Van' at 30" in session.prompt.label
    assert "run_state" not in session.prompt.choices
    hand.write("fly")
    hand.key("enter")
    assert "no such action" in session.prompt.error
    for _ in "fly":
        hand.key("backspace")
    hand.write("speed")
    hand.key("enter")
    assert session.prompt.text == "{speed: {object: Van, to: 3}}"
    hand.key("enter")
    event = session.document.spec.events[-1]
    assert event.when["at"] == pytest.approx(30, abs=0.1)
    assert (event.name, event.do[0].kind, event.do[0]["object"]) == ("speed", "speed", "Van")
    assert session.events.row == len(session.document.spec.events) - 1
    lines = difference(EVENTS, session.document.data)
    assert lines[0] == "+  - name: speed"
    assert len(lines) == 3
    hand.key("delete")
    assert session.document.data.decode() == EVENTS


def test_events_are_put_down_named_moved_and_removed_by_keys(hand):
    session = hand.session
    hand.key("tab")  # the bot
    hand._do("point", round(session.panels.strip.axis.x(20.0)), session.panels.strip.box.y + 5)
    hand.key("k")
    hand.write("run_state")
    hand.key("enter", "enter", "f2")
    hand.write("halt: now")
    hand.key("enter")
    assert names_of(hand)[-1] == "halt: now"
    before = session.document.spec.events[-1].when["at"]
    hand.key("right", "alt+left")
    assert session.document.spec.events[-1].when["at"] == pytest.approx(before + 0.45)
    hand.key("j")
    assert session.events.row == 0
    hand.key("shift+j", "delete")
    assert "halt: now" not in names_of(hand)
    while session.document.undoable:
        hand.key("ctrl+z")
    assert session.document.data.decode() == EVENTS


def test_conditions_and_actions_are_typed_and_mistakes_are_told(hand):
    session = hand.session
    hand.click(mark_of(hand, "two seconds left"))
    (place,) = (box.center for box, label in session.panels.fields if label == "when")
    hand.click(place)
    assert session.prompt.text == "{time_to_collision: {object: Bot, to: Truck, below: 2}}"
    hand.key("backspace", "backspace", "backspace")
    hand.write("-1}}")
    hand.key("enter")
    assert "greater than 0" in session.prompt.error
    hand.key(*["backspace"] * 4)
    hand.write("3}}")
    hand.key("enter")
    assert session.prompt is None
    assert session.document.spec.events[1].when["below"] == 3.0


def test_an_event_that_waits_for_more_than_time_is_not_dragged_and_says_so(hand):
    session = hand.session
    x, y = mark_of(hand, "two seconds left")
    hand.drag((x, y), (x + 200, y))
    assert "only a 'time'" in session.message
    assert session.document.data.decode() == EVENTS


def test_an_event_too_late_and_a_circle_are_marked(tmp_path, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    text = EVENTS.replace("when: {time: 6}", "when: {time: 99}")
    text = text.replace("{standstill: {object: Truck, for: 4}}", "{event: the truck goes on}")
    hand = opened(tmp_path, text)
    hand.turn()
    session, strip = hand.session, hand.session.panels.strip
    assert {"W827", "E832"} <= {problem.code for problem in session.problems}
    late, _, stuck, *_ = strip.layout.marks
    assert (late.x, stuck.time) == (strip.axis.right, None)
    colours = colours_of(session.document.spec, session.problems)
    assert colours == [WORDS.warning, CHROME.ink, WORDS.danger, *[CHROME.ink] * 3]
    hand.window.close()


def test_the_corner_of_a_region_is_dragged(hand):
    session = hand.session
    hand.click(mark_of(hand, "the barrier falls"))
    before = session.camera.to_screen(np.array([3.0, 200.0]))
    after = session.camera.to_screen(np.array([30.0, 220.0]))
    hand.drag(before, after, holding="alt")
    corner = session.document.spec.events[4].when["polygon"].corners[2]
    assert (corner.waypoint, corner.x, corner.y) == (None, pytest.approx(30, abs=2), pytest.approx(220, abs=2))
    (old, new) = difference(EVENTS, session.document.data)
    assert new[1:] == old[1:].replace("[3, 200]", f"[{corner.x:g}, {corner.y:g}]")


def test_what_came_true_in_a_run_is_shown_at_its_time(hand):
    session = hand.session
    session.start_trial_run()
    assert session.trial_run is not None, session.message
    session.trial_run.viewer.source.advance_to(10.0)
    hand.key("f5")
    hand.turn()
    happened = session.events.happened
    assert happened["the truck brakes"] == pytest.approx(6.0)
    assert "stop for good" not in happened
    mark = session.panels.strip.layout.marks[1]
    assert mark.happened == happened["two seconds left"] > 6.0
    assert mark.happened_x > mark.x


def test_objects_of_a_scenario_stand_where_a_run_begins_and_are_not_moved(tmp_path, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    text = (ROOT / "scenarios" / "mission_clock.yaml").read_text(encoding="utf-8")
    hand = opened(tmp_path, text)
    session = hand.session
    world = cbsim.load(str(session.document.path))
    place, heading = place_of(session.document.objects[0], session.roadmap)
    pose = world["CajunBot"].pose(world.start)
    assert place == pytest.approx(pose.position[:2], abs=1e-9)
    assert heading == pytest.approx(pose.heading)
    at = session.camera.to_screen(place)
    hand.drag(at, at + 40)
    assert session.document.data.decode() == text
    hand.key("o")
    assert "open an object file" in session.message
    hand.window.close()


def test_unsaved_work_on_a_scenario_is_recovered_and_saved_under_another_name(tmp_path, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    hand = opened(tmp_path, EVENTS)
    hand.key("j", "right")
    work = hand.session.document.data
    assert work.decode() == EVENTS.replace("{time: 6}", "{time: 6.5}")
    hand.crash()
    hand = Posted(tmp_path / "site.yaml", rndf=None)
    assert hand.session.document.data.decode() == EVENTS
    hand.key("r")
    assert hand.session.document.data == work
    hand.key("ctrl+shift+s")
    hand.session.prompt.select_all()
    hand.write(str(tmp_path / "other.yaml"))
    hand.key("enter")
    assert (tmp_path / "other.yaml").read_bytes() == work
    assert (tmp_path / "site.yaml").read_text(encoding="utf-8") == EVENTS
    assert hand.session.message == "saved other.yaml as scenario"
    assert len(hand.session.document.objects) == 4
    hand.window.close()
