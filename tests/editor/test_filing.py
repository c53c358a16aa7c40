"""Work that is never lost: saved whole, kept through crashes, never over another program's."""

from __future__ import annotations

import pytest

from cbsim.editor.document import Document
from cbsim.editor.opening import open_session
from cbsim.editor.safe import Rescue, replace_file
from cbsim.editor.session import RunWith
from cbsim.errors import FileError, UsageError
from tests.editor.common import PLAIN
from tests.editor.hands import Posted
from tests.editor.scripts import SITE


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    path = tmp_path / "site.xml"
    path.write_bytes(SITE.encode())
    return path


@pytest.fixture
def hand(site, tmp_path):
    one = Posted(site, tmp_path / "state")
    yield one
    one.window.close()


def again(site, tmp_path):
    return Posted(site, tmp_path / "state")


def test_a_file_that_is_saved_unchanged_keeps_its_bytes(hand, site):
    hand.key("ctrl+s")
    assert site.read_bytes() == SITE.encode()


def test_work_that_was_not_saved_is_offered_after_a_crash_and_can_be_undone(hand, site, tmp_path):
    hand.key("tab", "[")
    changed = hand.session.document.data
    hand.window.close()  # nobody asked: the program is gone
    assert site.read_bytes() == SITE.encode()
    second = again(site, tmp_path)
    assert "unsaved work" in second.session.question.text
    second.key("tab", "r")  # what is no answer does nothing
    assert second.session.document.data == changed
    assert second.session.filing.dirty
    second.key("ctrl+z")
    assert second.session.document.data == SITE.encode()
    second.key("ctrl+y", "ctrl+s")
    assert site.read_bytes() == changed
    assert again(site, tmp_path).session.question is None


def test_work_that_is_given_up_is_not_offered_again(hand, site, tmp_path):
    hand.key("tab", "[")
    hand.window.close()
    second = again(site, tmp_path)
    second.key("d")
    assert second.session.document.data == SITE.encode()
    assert again(site, tmp_path).session.question is None


def test_closing_with_unsaved_work_asks(hand, site):
    hand.key("tab", "[", "ctrl+q")
    assert hand.session.running
    assert "unsaved" in hand.session.question.text
    hand.key("esc")
    assert hand.session.running
    hand.key("ctrl+q", "s")
    assert not hand.session.running
    assert site.read_bytes() == hand.session.document.data != SITE.encode()


def test_discarding_leaves_the_file_and_nothing_else(hand, site, tmp_path):
    hand.key("tab", "[", "ctrl+q", "d")
    assert not hand.session.running
    assert site.read_bytes() == SITE.encode()
    assert [path.name for path in tmp_path.iterdir()] == ["site.xml"]


def test_a_file_that_another_program_has_changed_is_overwritten_only_when_told(hand, site):
    hand.key("tab", "[")
    site.write_bytes(PLAIN.encode())
    hand.key("ctrl+s")
    assert "another program" in hand.session.question.text
    hand.key("esc")
    assert site.read_bytes() == PLAIN.encode()
    hand.key("ctrl+s", "o")
    assert site.read_bytes() == hand.session.document.data


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
    assert "lost" in hand.session.told
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
        hand = Posted(tmp_path / name, tmp_path / "state")
        assert not (tmp_path / name).exists()
        hand.key("ctrl+s")
        document = Document(tmp_path / name, (tmp_path / name).read_bytes(), version)
        assert document.objects == ()
        hand.window.close()


def test_replacing_a_file_keeps_rights_and_links_and_leaves_nothing_behind(tmp_path):
    target, link = tmp_path / "real.xml", tmp_path / "link.xml"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    replace_file(link, b"new")
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.xml", "real.xml"]


def test_a_file_that_cannot_be_written_is_said_and_the_old_one_stays(tmp_path):
    folder = tmp_path / "there.xml"
    folder.mkdir()
    with pytest.raises(UsageError, match="cannot write"):
        replace_file(folder, b"new")
    assert list(tmp_path.iterdir()) == [folder]


def test_work_on_a_file_beside_which_nothing_can_be_written_is_kept_elsewhere(tmp_path):
    gone = tmp_path / "no such folder" / "site.xml"
    rescue = Rescue(gone, tmp_path / "state")
    assert rescue.keep(b"work", b"base") == ""
    found = rescue.find(b"base")
    assert (found.data, found.same_base) == (b"work", True)
    assert not rescue.find(b"other").same_base
    rescue.forget()
    assert rescue.find(b"base") is None


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b'{"data": 3}', b'{"path": "x", "data": "!!", "time": 0}', bytes(range(160, 224))]
)
def test_a_damaged_copy_is_no_offer(tmp_path, text):
    rescue = Rescue(tmp_path / "site.xml", tmp_path / "state")
    rescue.places[0].write_bytes(text)
    assert rescue.find(b"base") is None


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
        open_session(str(path), RunWith())
