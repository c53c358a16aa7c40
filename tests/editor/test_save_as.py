"""Saving under another name or as the other version, and files that are new, or none."""

from __future__ import annotations

import re

import pytest

from cbsim.editor.documents.object_document import Document
from cbsim.editor.loading import open_session
from cbsim.editor.saving.autosave import Autosave
from cbsim.editor.session import RunSettings
from cbsim.errors import FileError, UsageError
from tests.editor.common import PLAIN
from tests.editor.hands import Posted
from tests.editor.scripts import SITE


def test_save_as_over_a_file_leaves_the_unsaved_work_on_that_one(hand, tmp_path):
    other = tmp_path / "b.xml"
    other.write_bytes(PLAIN.encode())
    autosave = Autosave(other)
    autosave.keep(b"precious", "", 2)
    autosave.release()
    hand.key("tab", "[", "ctrl+shift+s", *["backspace"] * 8)
    hand.write("b.xml")
    hand.key("enter")
    assert "unsaved work" in hand.session.question.text
    hand.key("o", "ctrl+q")
    assert not hand.session.running
    assert [one.data for one in Autosave(other).find(b"").work] == [b"precious"]


def test_save_as_over_oneself_asks_as_saving_does(hand, site):
    hand.key("tab", "[")
    site.write_bytes(PLAIN.encode())
    hand.key("ctrl+shift+s", "enter")
    assert "another program" in hand.session.question.text
    assert site.read_bytes() == PLAIN.encode()


def test_saving_over_oneself_as_the_other_version_tells_what_is_lost_before_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    path = tmp_path / "site.obj"  # an ending of version 1, and a text of version 2
    path.write_bytes(SITE.encode())
    hand = Posted(path)
    assert (hand.session.document.version, hand.session.store.dirty) == (2, False)
    hand.key("ctrl+shift+s", "enter")
    assert "'site.obj' exists; in version 1, " in hand.session.question.text
    told = hand.session.question.text
    count = int(re.search(r"(\d+) things will be lost", told)[1])
    assert len(told.splitlines()) == 1 + count, "each of them is named"
    hand.key("esc")
    assert path.read_bytes() == SITE.encode()
    hand.key("ctrl+shift+s", "enter", "o")
    assert Document(path, path.read_bytes(), 1).objects == hand.session.document.objects
    assert "things were lost" in hand.session.message
    hand.window.close()


@pytest.mark.parametrize("name", ["~nobody-of-that-name/a.xml", "a" * 300, "a\0.xml", "no such folder/a.xml", "."])
def test_names_that_are_none_are_refused_where_they_are_typed(hand, name):
    try:
        hand.session.store._save_as(name)
        said = hand.session.message
    except UsageError as error:
        said = str(error)
    assert "cannot write" in said or "no file's name" in said


def test_unsaved_work_is_given_up_for_the_other_version_only_when_told(hand, site, tmp_path):
    hand.key("tab", "[", "ctrl+shift+s", *["backspace"] * 4)
    hand.write(".obj")
    hand.key("enter")
    assert "lost" in hand.session.question.text
    hand.key("esc")
    assert not (tmp_path / "site.obj").exists()
    assert list(tmp_path.glob(".*"))
    hand.key("ctrl+shift+s", *["backspace"] * 4)
    hand.write(".obj")
    hand.key("enter", "o")
    assert (tmp_path / "site.obj").exists()
    assert hand.session.document.version == 1


def test_save_as_the_other_version_writes_what_reads_back_the_same(hand, site, tmp_path):
    hand.key("ctrl+shift+s", *["backspace"] * 4)
    hand.write(".obj")
    hand.key("enter")
    path = tmp_path / "site.obj"
    assert Document(path, path.read_bytes(), 1).objects == hand.session.document.objects
    assert hand.session.document.version == 1
    assert [item.anchor for item in hand.session.document.objects] == [
        item.anchor for item in Document(site, SITE.encode(), 2).objects
    ]
    assert "lost" in hand.session.message
    assert site.read_bytes() == SITE.encode()


def test_save_as_the_same_version_keeps_text_and_history(hand, site, tmp_path):
    hand.key("tab", "[", "ctrl+shift+s", *["backspace"] * 8)
    hand.write("other.xml")
    hand.key("enter")
    assert (tmp_path / "other.xml").read_bytes() == hand.session.document.data
    hand.key("ctrl+z", "ctrl+s")
    assert (tmp_path / "other.xml").read_bytes() == SITE.encode()


def test_a_new_file_begins_empty_and_is_written_when_saved(tmp_path, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    for name, version in (("new.obj", 1), ("new.xml", 2)):
        hand = Posted(tmp_path / name)
        assert not (tmp_path / name).exists()
        hand.key("ctrl+s")
        document = Document(tmp_path / name, (tmp_path / name).read_bytes(), version)
        assert document.objects == ()
        hand.window.close()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.xml", b"<object_file><object></object_file>"),
        ("a.xml", b"<robot/>"),
        ("a.obj", b"2\n2\n1\n0\n1 1 1\n0\n0\n0\n1\n1\n1\n0\n0\n0\n7\n"),
        ("a.bin", bytes(range(256))),
    ],
)
def test_what_cannot_be_edited_is_refused_with_its_lines(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text)
    with pytest.raises(FileError, match=r"a\.\w+(:\d+)?: error"):
        open_session(str(path), RunSettings())
