"""Work that is never lost: saved whole, kept through crashes, never over another program's."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from cbsim.editor.loading import open_session
from cbsim.editor.saving.autosave import Autosave
from cbsim.editor.session import RunSettings
from cbsim.errors import FileError, Problems
from tests.editor.common import PLAIN, RECORDS
from tests.editor.hands import Posted
from tests.editor.scripts import SITE


def again(site):
    return Posted(site)


def test_a_file_that_is_saved_unchanged_keeps_its_bytes(hand, site):
    hand.key("ctrl+s")
    assert site.read_bytes() == SITE.encode()


def test_work_that_was_not_saved_is_offered_after_a_crash_and_can_be_undone(hand, site, tmp_path):
    hand.key("tab", "[")
    changed = hand.session.document.data
    hand.crash()
    assert site.read_bytes() == SITE.encode()
    second = again(site)
    assert "unsaved work" in second.session.question.text
    second.key("tab", "r")  # what is no answer does nothing
    assert second.session.document.data == changed
    assert second.session.store.dirty
    second.key("ctrl+z")
    assert second.session.document.data == SITE.encode()
    second.key("ctrl+y", "ctrl+s")
    assert site.read_bytes() == changed
    assert again(site).session.question is None


def test_work_that_is_given_up_is_not_offered_again(hand, site):
    hand.key("tab", "[")
    hand.crash()
    second = again(site)
    second.key("d")
    assert second.session.document.data == SITE.encode()
    assert again(site).session.question is None


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


def test_a_file_that_another_program_has_changed_can_be_taken_and_ones_own_work_is_a_step_back(hand, site):
    hand.key("tab", "[")
    own = hand.session.document.data
    site.write_bytes(PLAIN.encode())
    hand.key("ctrl+s", "t")
    assert hand.session.document.data == site.read_bytes() == PLAIN.encode()
    assert not hand.session.store.dirty
    hand.key("ctrl+z")
    assert hand.session.document.data == own
    hand.key("ctrl+s")
    assert site.read_bytes() == own


@pytest.mark.parametrize("end", ["crash", "quit"])
def test_ones_own_work_is_still_offered_after_another_programs_was_taken(hand, site, tmp_path, end):
    hand.key("tab", "[")
    own = hand.session.document.data
    site.write_bytes(PLAIN.encode())
    hand.key("ctrl+s", "t", "tab")
    assert not hand.session.store.dirty
    if end == "crash":
        hand.crash()
    else:
        hand.key("ctrl+q")
        assert not hand.session.running
    second = again(site)
    assert "has changed since" in second.session.question.text
    second.key("r")
    assert second.session.document.data == own


def test_the_copy_of_ones_own_work_goes_once_what_was_taken_is_saved(hand, site, tmp_path):
    hand.key("tab", "[")
    site.write_bytes(PLAIN.encode())
    hand.key("ctrl+s", "t", "ctrl+s")
    assert not list(tmp_path.glob(".*"))
    hand.key("ctrl+q")
    assert again(site).session.question is None


@pytest.mark.parametrize("version", [1, 2])
def test_a_sound_file_of_the_other_version_is_not_taken_and_called_what_it_is(site, tmp_path, version):
    texts = {1: RECORDS.encode(), 2: SITE.encode()}
    site.write_bytes(texts[3 - version])
    hand = again(site)
    hand.key("tab", "[")
    own = hand.session.document.data
    site.write_bytes(texts[version])
    hand.key("ctrl+s", "t")
    assert f"it is a file of version {version} now" in hand.session.message
    assert hand.session.document.data == own
    assert hand.session.store.dirty
    assert site.read_bytes() == texts[version]
    hand.window.close()


def test_what_another_program_left_that_is_no_object_file_is_not_taken(hand, site):
    hand.key("tab", "[")
    own = hand.session.document.data
    site.write_bytes(b"<object_file><object></object_file>")
    hand.key("ctrl+s", "t")
    assert "cannot be read" in hand.session.message
    assert hand.session.document.data == own
    assert hand.session.store.dirty


def test_work_on_a_file_that_has_changed_since_is_saved_over_it_only_when_told(hand, site, tmp_path):
    hand.key("tab", "[")
    changed = hand.session.document.data
    hand.crash()
    site.write_bytes(PLAIN.encode())
    second = again(site)
    assert "has changed since" in second.session.question.text
    second.key("r", "ctrl+s")
    assert "another program" in second.session.question.text
    assert site.read_bytes() == PLAIN.encode()
    second.key("o")
    assert site.read_bytes() == changed


def test_that_a_file_has_changed_since_is_known_after_a_second_crash_too(hand, site, tmp_path):
    hand.key("tab", "[")
    hand.crash()
    site.write_bytes(PLAIN.encode())
    second = again(site)
    second.key("r", "[")
    second.crash()
    third = again(site)
    assert "has changed since" in third.session.question.text
    third.key("r", "ctrl+s")
    assert "another program" in third.session.question.text


def test_work_on_a_file_of_the_other_version_is_recovered_in_its_own(hand, site, tmp_path):
    hand.key("tab", "[")
    changed = hand.session.document.data
    hand.crash()
    site.write_bytes(RECORDS.encode())
    second = again(site)
    assert second.session.document.version == 1
    second.key("r")
    assert (second.session.document.version, second.session.document.data) == (2, changed)
    second.key("ctrl+s", "o")
    assert site.read_bytes() == changed


def test_two_editors_on_one_file_keep_their_work_apart(hand, site, tmp_path):
    other = again(site)
    hand.key("tab", "[")
    other.key("tab", "tab", "r")
    mine, theirs = hand.session.document.data, other.session.document.data
    assert len(list(tmp_path.glob(".site.xml.*.cbsim-edits"))) == 2
    third = again(site)
    assert third.session.question is None
    assert "another editor" in third.session.message
    third.key("ctrl+q")
    other.key("ctrl+q", "d")
    assert not other.session.running
    hand.crash()
    assert again(site).session.question is not None
    found = Autosave(site).find(b"").work
    assert [one.data for one in found] == [mine] != [theirs]


def test_a_copy_that_somebody_takes_away_is_made_again(hand, tmp_path):
    hand.key("tab", "[")
    (copy,) = tmp_path.glob(".*")
    copy.unlink()
    hand.turn()
    assert copy.exists()
    hand.key("ctrl+z")
    assert not copy.exists()


def test_several_copies_are_asked_about_one_after_the_other(hand, site, tmp_path):
    other = again(site)
    hand.key("tab", "[")
    other.key("tab", "tab", "r")
    for one in (hand, other):
        one.crash()
    second = again(site)
    assert "1 more" in second.session.question.text
    second.key("esc")
    assert "more" not in second.session.question.text
    second.key("d")
    third = again(site)
    assert "more" not in third.session.question.text
    third.key("r")
    assert third.session.document.data == other.session.document.data


def test_a_copy_that_cannot_be_read_stays_until_it_is_discarded(site, tmp_path):
    broken = b"<object_file><name>x</name><object>"
    autosave = Autosave(site)
    autosave.keep(broken, "", 2)
    autosave.release()
    hand = again(site)
    hand.key("r")
    assert hand.session.message.startswith("it cannot be read")
    assert hand.session.message.endswith(f"it stays in '{autosave.place.name}'")
    hand.key("ctrl+q")
    assert broken in autosave.place.read_bytes()
    hand = again(site)
    hand.key("d")
    assert not autosave.place.exists()
    assert again(site).session.question is None


def test_unsaved_work_on_a_file_that_somebody_broke_is_told_of(hand, site, tmp_path):
    hand.key("tab", "[")
    hand.crash()
    site.write_bytes(b"<object_file><object></object_file>")
    problems = Problems()
    with pytest.raises(FileError):
        open_session(str(site), RunSettings(), problems=problems)
    assert [problem.code for problem in problems] == ["W671"]
    site.unlink()
    assert "unsaved work" in again(site).session.question.text


def test_work_on_a_file_that_is_not_there_yet_is_offered_as_it_was(tmp_path, site):
    hand = again(tmp_path / "new.xml")
    hand.key("o")
    hand.click((400, 300))
    changed = hand.session.document.data
    hand.crash()
    second = again(tmp_path / "new.xml")
    assert "changed since" not in second.session.question.text
    second.key("r", "ctrl+s")
    assert (tmp_path / "new.xml").read_bytes() == changed


def test_a_file_that_is_taken_away_meanwhile_is_written_again_if_wanted(hand, site):
    site.unlink()
    hand.key("ctrl+q")
    assert "no longer there" in hand.session.question.text
    hand.key("s")
    assert not hand.session.running
    assert site.read_bytes() == SITE.encode()


def test_a_file_that_is_taken_away_meanwhile_stays_away_if_wanted(hand, site):
    site.unlink()
    hand.key("ctrl+q", "d")
    assert not hand.session.running
    assert not site.exists()


def test_a_read_only_file_is_not_written_and_the_work_stays(hand, site):
    site.chmod(0o444)
    hand.key("tab", "[", "ctrl+s")
    assert "read-only" in hand.session.question.text
    assert site.read_bytes() == SITE.encode()
    hand.key("a")
    assert hand.session.prompt.label.startswith("save as")
    hand.key("esc", "ctrl+q", "s")
    assert hand.session.running
    assert hand.session.store.dirty


def full_disk(monkeypatch) -> None:
    def full(_handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)


def test_a_full_disk_loses_nothing_and_is_tried_again(hand, site, tmp_path, monkeypatch):
    hand.key("tab", "[")
    with monkeypatch.context() as full:
        full_disk(full)
        hand.key("[", "ctrl+s")
        assert "No space left" in hand.session.question.text
        hand.key("esc")
        assert "No space left" in hand.session.store.error
        assert site.read_bytes() == SITE.encode()
        copy, kept = sorted(path.name for path in tmp_path.iterdir() if path.is_file())
        assert copy.endswith(".cbsim-edits")
        assert kept == "site.xml"
    assert hand.session.store.error, "it is not tried sixty times a second"
    hand.session.store._again = 0.0
    hand.turn()
    assert not hand.session.store.error
    changed = hand.session.document.data
    hand.crash()
    second = again(site)
    second.key("r")
    assert second.session.document.data == changed


def test_a_crash_in_the_middle_of_saving_leaves_the_old_file_and_the_copy(hand, site, tmp_path, monkeypatch):
    hand.key("tab", "[")
    changed = hand.session.document.data
    with monkeypatch.context() as crashing:
        crashing.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            hand.key("ctrl+s")
    hand.crash()
    assert site.read_bytes() == SITE.encode()
    second = again(site)
    second.key("r")
    assert second.session.document.data == changed


def test_a_run_begins_with_a_copy_of_the_last_step(hand, tmp_path):
    session = hand.session
    session.select([2])
    session.change("name", {2: replace(session.document.objects[2], name="Other")})
    assert not list(tmp_path.glob(".*"))
    session.start_trial_run()
    assert list(tmp_path.glob(".*"))
    hand.key("esc")
