"""Files replaced whole, and copies of unsaved work: one for each editor, held while it lives, found afterwards."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading

import pytest

from cbsim.editor.saving.atomic_write import atomic_write
from cbsim.editor.saving.autosave import Autosave, digest
from cbsim.errors import UsageError
from tests.common import ROOT


def test_replacing_a_file_keeps_rights_and_links_and_leaves_nothing_behind(tmp_path):
    target, link = tmp_path / "real.xml", tmp_path / "link.xml"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    atomic_write(link, b"new")
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.xml", "real.xml"]


@pytest.mark.parametrize("kind", ["folder", "pipe", "read-only", "loop"])
def test_a_file_that_cannot_be_written_is_said_and_what_was_there_stays(tmp_path, kind):
    path = tmp_path / "there.xml"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to(path)
    else:
        path.write_bytes(b"old")
        path.chmod(0o444)
    with pytest.raises(UsageError, match="cannot write"):
        atomic_write(path, b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_work_is_kept_with_its_base_and_version_until_it_is_discarded(tmp_path):
    autosave, other = Autosave(tmp_path / "site.xml"), Autosave(tmp_path / "site.xml")
    assert autosave.keep(b"w\n\xe9", digest(b"base"), 1) == ""
    (copy,) = tmp_path.iterdir()
    assert copy.stat().st_mode & 0o077 == 0, "the file itself may be nobody else's to read"
    assert other.find(b"base") == ([], 1)
    autosave.release()
    (found,) = other.find(b"base").work
    assert (found.data, found.base, found.version) == (b"w\n\xe9", digest(b"base"), 1)
    found.discard()
    assert other.find(b"base") == ([], 0)


def test_work_that_cannot_be_kept_is_said(tmp_path):
    autosave = Autosave(tmp_path / "gone" / "site.xml")
    assert autosave.keep(b"work", "") == "unsaved work cannot be kept beside the file: No such file or directory"
    assert not autosave.is_there()
    (tmp_path / "gone").mkdir()
    assert autosave.keep(b"work", "") == ""


def test_what_fails_half_way_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.xml"
    path.write_bytes(b"old")

    def full(_handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match=r"cannot write .*: No space left on device"):
        atomic_write(path, b"new")
    assert path.read_bytes() == b"old"
    assert Autosave(path).keep(b"work", "").endswith("No space left on device")
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_rights_of_any_other_and_a_name_as_long_as_names_can_be(tmp_path):
    target = tmp_path / ("a" * 251 + ".xml")
    before = os.umask(0o027)
    try:
        atomic_write(target, b"old")
    finally:
        os.umask(before)
    assert target.stat().st_mode & 0o777 == 0o640
    atomic_write(target, b"new")
    assert target.read_bytes() == b"new"


def test_copies_are_found_through_links_and_in_folders_that_moved(tmp_path):
    folder, link = tmp_path / "here", tmp_path / "link.xml"
    folder.mkdir()
    (folder / "site.xml").write_bytes(b"old")
    link.symlink_to(folder / "site.xml")
    autosave = Autosave(link)
    autosave.keep(b"work", "")
    autosave.release()
    assert Autosave(folder / "site.xml").find(b"old").work
    folder.rename(tmp_path / "there")
    assert Autosave(tmp_path / "there" / "site.xml").find(b"old").work


def test_editors_that_begin_at_once_never_share_a_copy(tmp_path):
    crowd = [Autosave(tmp_path / "a.xml") for _ in range(16)]
    begin = threading.Barrier(len(crowd))

    def work(autosave, k):
        begin.wait()
        for _ in range(3):
            autosave.keep(b"%d" % k, "")

    threads = [threading.Thread(target=work, args=(autosave, k)) for k, autosave in enumerate(crowd)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({autosave.place for autosave in crowd}) == len(crowd)
    assert all(autosave.is_there() for autosave in crowd)


def test_a_copy_of_what_the_file_holds_goes(tmp_path):
    first = Autosave(tmp_path / "a.xml")
    first.keep(b"saved after all", "")
    first.release()
    assert Autosave(tmp_path / "a.xml").find(b"saved after all") == ([], 0)
    assert not list(tmp_path.iterdir())


KILLED = """
import sys
from pathlib import Path
from cbsim.editor.saving.autosave import Autosave
autosave = Autosave(Path(sys.argv[1]))
print(autosave.keep(b"work", "", 2), flush=True)
sys.stdin.read()
"""


def test_a_copy_is_held_while_its_program_lives_and_found_when_it_is_killed(tmp_path):
    words = [sys.executable, "-c", KILLED, str(tmp_path / "a.xml")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"\n"
        autosave = Autosave(tmp_path / "a.xml")
        assert autosave.find(b"") == ([], 1)
        program.kill()
        program.wait()
        assert [one.data for one in autosave.find(b"").work] == [b"work"]


@pytest.mark.parametrize("text", [b"", b"2 \xe9\nwork", b"3 ab\nwork", b"2 ab", bytes(range(160, 224))])
def test_a_damaged_copy_is_no_offer_and_stays_as_it_is(tmp_path, text):
    place = tmp_path / ".site.xml.0123abcd.cbsim-edits"
    place.write_bytes(text)
    assert Autosave(tmp_path / "site.xml").find(b"base") == ([], 0)
    assert place.read_bytes() == text


def test_what_is_no_copy_of_this_file_is_not_waited_for_nor_followed(tmp_path):
    os.mkfifo(tmp_path / ".site.xml.1.cbsim-edits")
    (tmp_path / "elsewhere").write_bytes(b"2 ab\nwork")
    (tmp_path / ".site.xml.2.cbsim-edits").symlink_to(tmp_path / "elsewhere")
    (tmp_path / ".site.xml.3").mkdir()
    (tmp_path / ".site.xml.extra.cbsim-edits").write_bytes(b"2 ab\nwork")
    (tmp_path / ".site.xml.xml.4.cbsim-edits").write_bytes(b"2 ab\nwork")
    assert Autosave(tmp_path / "site.xml").find(b"base") == ([], 0)
