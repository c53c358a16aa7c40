"""The timeline of a scenario's events: shown, dragged, placed, renamed, removed, run, saved."""

from __future__ import annotations

import difflib

import pytest

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
    return Posted(path, folder / "state", rndf=None)


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
