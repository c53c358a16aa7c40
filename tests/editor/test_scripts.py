"""Each operation of the editor, done with mouse and keys, and the file it leaves, to the byte.

What is expected stands in `saved.diffs`: the lines of the file that are others then, and nothing else may be.
"""

from __future__ import annotations

import difflib
import inspect
import re
from pathlib import Path

import pytest

from tests.editor import scripts
from tests.editor.hands import Posted, Real, UnsettledError
from tests.viewer.screen import x_server

SCRIPTS = {
    name: work
    for name, work in vars(scripts).items()
    if inspect.isfunction(work) and list(inspect.signature(work).parameters) == ["hand", "session"]
}
TRIES = 3
TEXTS = {".xml": scripts.SITE, ".obj": scripts.CARDS}
EXPECTED = dict(
    re.findall(
        r"^===== (\w+ \.\w+)\n(.*?)(?=^=====|\Z)", (Path(__file__).parent / "saved.diffs").read_text(), re.M | re.S
    )
)


def difference(before: str, after: str) -> str:
    """Lines that differ, with their numbers, to the byte."""
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), n=0)
    return "".join(line for line in lines if not line.startswith(("---", "+++")))


@pytest.fixture
def dummy(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def test_every_operation_is_expected_to_do_something_certain():
    assert set(EXPECTED) == {f"{name} {suffix}" for name in SCRIPTS for suffix in TEXTS}


@pytest.mark.parametrize("suffix", TEXTS)
@pytest.mark.parametrize("name", SCRIPTS)
def test_posted_events_change_the_file_in_these_lines_only(dummy, tmp_path, name, suffix):
    path = tmp_path / f"site{suffix}"
    path.write_bytes(TEXTS[suffix].encode())
    hand = Posted(path)
    try:
        SCRIPTS[name](hand, hand.session)
        hand.key("esc", "ctrl+s")
        assert difference(TEXTS[suffix], path.read_bytes().decode()) == EXPECTED[f"{name} {suffix}"]
        while hand.session.document.undoable:
            hand.key("ctrl+z")
        hand.key("ctrl+s")
        assert path.read_bytes() == TEXTS[suffix].encode()
    finally:
        hand.window.close()


@pytest.mark.slow
@pytest.mark.parametrize("suffix", TEXTS)
def test_real_keys_and_a_real_mouse_give_the_same_files(dummy, tmp_path, suffix):
    """It may try again: a busy X server repeats a key whose release comes late, as if it had been held."""
    for attempt in range(TRIES):
        try:
            rehearse(tmp_path / str(attempt), suffix)
            return
        except UnsettledError:
            if attempt == TRIES - 1:
                raise


def rehearse(folder, suffix):
    """Do all scripts by posted events and by a real keyboard and mouse, and compare every file."""
    ours, theirs = (folder / name / f"site{suffix}" for name in ("ours", "theirs"))
    for path in (ours, theirs):
        path.parent.mkdir(parents=True)
        path.write_bytes(TEXTS[suffix].encode())
    with x_server() as display:
        real = Real(display, theirs)
        hand = Posted(ours)
        try:
            for name, work in SCRIPTS.items():
                first = len(hand.log)
                work(hand, hand.session)
                hand.key("esc", "ctrl+s")
                real.again(hand.log[first:])
                real.settle(theirs, ours.read_bytes(), name)
                first = len(hand.log)
                while hand.session.document.undoable:
                    hand.key("ctrl+z")
                hand.key("esc", "a", "ctrl+s")
                real.again(hand.log[first:])
                real.settle(theirs, TEXTS[suffix].encode(), name)
            assert real.leave() == 0
        finally:
            real.kill()
            hand.window.close()
