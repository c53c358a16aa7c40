"""Files replaced whole, and copies of unsaved work: one for each editor, held while it lives, found afterwards."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile
import threading

import pytest

from cbsim.editor.atomic_write import atomic_write
from cbsim.editor.autosave import Autosave, digest
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


def test_a_file_of_two_names_keeps_both(tmp_path):
    one, other = tmp_path / "one.xml", tmp_path / "other.xml"
    one.write_bytes(b"something longer")
    os.link(one, other)
    atomic_write(one, b"new")
    assert one.read_bytes() == other.read_bytes() == b"new"
    assert one.samefile(other)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_file_of_somebody_else_stays_theirs(tmp_path, monkeypatch):
    target = tmp_path / "a.xml"
    target.write_bytes(b"something longer")
    before = target.stat().st_ino

    def refused(*_words):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refused)
    atomic_write(target, b"new")
    assert target.read_bytes() == b"new"
    assert target.stat().st_ino == before
    assert list(tmp_path.iterdir()) == [target]


def test_rights_that_stand_in_lists_stay(tmp_path):
    target = tmp_path / "a.xml"
    target.write_bytes(b"old")
    try:
        os.setxattr(target, "user.note", b"kept")
    except OSError:
        pytest.skip("this disk has no extended attributes")
    atomic_write(target, b"new")
    assert os.getxattr(target, "user.note") == b"kept"


def test_a_name_as_long_as_names_can_be_is_saved(tmp_path):
    target = tmp_path / ("a" * 251 + ".xml")
    atomic_write(target, b"old")
    atomic_write(target, b"new")
    assert target.read_bytes() == b"new"
    autosave = Autosave(target, tmp_path / "state")
    assert autosave.keep(b"work", digest(b"new")) == ""
    autosave.release()
    assert [one.data for one in Autosave(target, tmp_path / "state").find(b"new").work] == [b"work"]


def test_a_file_in_a_folder_that_takes_no_new_ones_is_written_where_it_stands(tmp_path, monkeypatch):
    target = tmp_path / "a.xml"
    target.write_bytes(b"something longer")

    def refused(**_words):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("cbsim.editor.atomic_write.tempfile.mkstemp", refused)
    atomic_write(target, b"new")
    assert target.read_bytes() == b"new"
    with pytest.raises(UsageError, match="Permission denied"):
        atomic_write(tmp_path / "b.xml", b"new")


@pytest.mark.parametrize("folder", ["open", "closed"])
def test_what_breaks_while_a_file_is_written_over_leaves_all_of_it_in_a_file_that_is_named(
    tmp_path, monkeypatch, folder
):
    one, other, elsewhere = tmp_path / "one.xml", tmp_path / "other.xml", tmp_path / "tmp"
    elsewhere.mkdir()
    one.write_bytes(b"old")
    os.link(one, other)
    settle, make = os.fsync, tempfile.mkstemp

    def broken(handle):
        if os.fstat(handle).st_ino == one.stat().st_ino:
            raise OSError(errno.EDQUOT, "Disk quota exceeded")
        settle(handle)

    def closed(*, prefix, suffix, dir):  # noqa: A002 (as it is called)
        if folder == "closed" and dir == tmp_path:
            raise PermissionError(errno.EACCES, "Permission denied")
        return make(prefix=prefix, suffix=suffix, dir=dir)

    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(elsewhere))
    monkeypatch.setattr(tempfile, "mkstemp", closed)
    with monkeypatch.context() as breaking:
        breaking.setattr(os, "fsync", broken)
        with pytest.raises(UsageError, match=r"damaged.*Disk quota exceeded; the complete .* in '.*\.tmp'") as caught:
            atomic_write(one, b"something longer")
    (draft,) = (tmp_path if folder == "open" else elsewhere).glob(".cbsim-edit.*")
    assert f"'{draft}'" in str(caught.value)
    assert draft.read_bytes() == b"something longer"
    draft.unlink()
    atomic_write(one, b"new")
    assert other.read_bytes() == b"new"
    assert sorted(tmp_path.rglob("*")) == [one, other, elsewhere]


def test_a_right_that_cannot_be_given_keeps_none_of_the_others_away(tmp_path, monkeypatch):
    target = tmp_path / "a.xml"
    target.write_bytes(b"old")
    rights = {"security.one": b"1", "user.note": b"2"}
    given = {}

    def give(_path, name, value, **_):
        if name.startswith("security"):
            raise PermissionError(errno.EPERM, "Operation not permitted")
        given[name] = value

    monkeypatch.setattr(os, "listxattr", lambda _path, **_: list(rights), raising=False)
    monkeypatch.setattr(os, "getxattr", lambda _path, name, **_: rights[name], raising=False)
    monkeypatch.setattr(os, "setxattr", give, raising=False)
    atomic_write(target, b"new")
    assert given == {"user.note": b"2"}


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


def test_work_on_a_file_beside_which_nothing_can_be_written_is_kept_elsewhere(tmp_path):
    gone = tmp_path / "no such folder" / "site.xml"
    autosave = Autosave(gone, tmp_path / "state")
    assert autosave.keep(b"work", digest(b"base"), 1) == ""
    other = Autosave(gone, tmp_path / "state")
    assert other.find(b"base") == ([], [], 1)
    autosave.release()
    (found,) = other.find(b"base").work
    assert (found.data, found.base, found.version) == (b"work", digest(b"base"), 1)
    found.discard()
    assert other.find(b"base") == ([], [], 0)


def test_work_that_can_be_kept_nowhere_is_said(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    autosave = Autosave(tmp_path / "gone" / "site.xml", tmp_path / "file" / "state")
    assert "neither beside the file nor in the state folder" in autosave.keep(b"work", "")
    assert not autosave.is_there()


def test_a_copy_moves_to_the_state_folder_when_its_own_goes(tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    autosave = Autosave(folder / "site.xml", tmp_path / "state")
    autosave.keep(b"one", "")
    for copy in folder.glob(".site.xml.*"):
        copy.unlink()
    folder.rmdir()
    assert not autosave.is_there()
    assert autosave.keep(b"two", "") == ""
    autosave.release()
    assert [one.data for one in Autosave(folder / "site.xml", tmp_path / "state").find(b"").work] == [b"two"]


def test_somebody_without_a_home_keeps_work_beside_the_file(tmp_path, monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr("cbsim.editor.autosave.Path.home", homeless)
    autosave = Autosave(tmp_path / "a.xml")
    assert autosave.keep(b"work", "") == ""
    autosave.release()
    assert [one.data for one in Autosave(tmp_path / "a.xml").find(b"").work] == [b"work"]
    said = Autosave(tmp_path / "no folder" / "a.xml").keep(b"work", "")
    assert said.endswith("No such file or directory; there is none")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert Autosave(tmp_path / "no folder" / "a.xml").keep(b"work", "") == ""


def test_what_killed_editors_left_before_there_was_a_copy_goes_when_it_is_old(tmp_path):
    autosave, state = Autosave(tmp_path / "a.xml", tmp_path / "state"), tmp_path / "state"
    state.mkdir(parents=True)
    left = [tmp_path / ".cbsim-editsabc.tmp", state / ".cbsim-editsx.tmp"]
    fresh, held, others = (tmp_path / f".cbsim-edit{name}.tmp" for name in ("sdef", "sheld", ".draft"))
    for path in (*left, fresh, held, others):
        path.write_bytes(b"{")
    for path in (*left, held, others):
        os.utime(path, (1e9, 1e9))
    with held.open("rb") as stream:
        fcntl = pytest.importorskip("fcntl")
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert autosave.find(b"") == ([], [], 0)
        assert not [path for path in left if path.exists()]
        assert all(path.exists() for path in (fresh, held, others))
    autosave.find(b"")
    assert not held.exists()
    assert others.read_bytes() == b"{", "what a save could not put into its place is somebody's work"


def test_copies_are_found_through_links_and_in_folders_that_moved(tmp_path):
    folder, link = tmp_path / "here", tmp_path / "link.xml"
    folder.mkdir()
    (folder / "site.xml").write_bytes(b"old")
    link.symlink_to(folder / "site.xml")
    autosave = Autosave(link, tmp_path / "state")
    autosave.keep(b"work", "")
    autosave.release()
    assert Autosave(folder / "site.xml", tmp_path / "state").find(b"old").work
    folder.rename(tmp_path / "there")
    assert Autosave(tmp_path / "there" / "site.xml", tmp_path / "state").find(b"old").work


def test_editors_that_begin_at_once_never_share_a_copy(tmp_path):
    crowd = [Autosave(tmp_path / "a.xml", tmp_path / "state") for _ in range(16)]
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
    assert len({autosave._own[0] for autosave in crowd}) == len(crowd)
    assert all(autosave.is_there() for autosave in crowd)


def test_a_copy_of_what_the_file_holds_goes(tmp_path):
    first = Autosave(tmp_path / "a.xml", tmp_path / "state")
    first.keep(b"saved after all", "")
    first.release()
    assert Autosave(tmp_path / "a.xml", tmp_path / "state").find(b"saved after all") == ([], [], 0)
    assert not list(tmp_path.iterdir())


KILLED = """
import sys
from pathlib import Path
from cbsim.editor.autosave import Autosave
autosave = Autosave(Path(sys.argv[1]), Path(sys.argv[2]))
print(autosave.keep(b"work", "", 2), flush=True)
sys.stdin.read()
"""


def test_a_copy_is_held_while_its_program_lives_and_found_when_it_is_killed(tmp_path):
    words = [sys.executable, "-c", KILLED, str(tmp_path / "a.xml"), str(tmp_path / "state")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"\n"
        autosave = Autosave(tmp_path / "a.xml", tmp_path / "state")
        assert autosave.find(b"") == ([], [], 1)
        program.kill()
        program.wait()
        assert [one.data for one in autosave.find(b"").work] == [b"work"]


GOOD = {"path": "site.xml", "time": "now", "base": "", "version": 2, "data": "AAAA"}


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"[]",
        b'{"data": 3}',
        b'{"path": "x", "data": "!!", "time": 0}',
        bytes(range(160, 224)),
        b"[" * 100_000,
        json.dumps({**GOOD, "data": None}).encode(),
        json.dumps({**GOOD, "data": "\u00e9"}).encode(),
    ],
)
def test_a_damaged_copy_is_no_offer_and_is_put_aside_as_it_is(tmp_path, text):
    autosave = Autosave(tmp_path / "site.xml", tmp_path / "state")
    place = tmp_path / ".site.xml.cbsim-edits"
    place.write_bytes(text)
    work, (bad,), held = autosave.find(b"base")
    assert (work, held) == ([], 0)
    assert bad.read_bytes() == text
    assert not place.exists()


def test_what_is_no_file_is_not_waited_for_nor_followed(tmp_path):
    os.mkfifo(tmp_path / ".site.xml.cbsim-edits")
    (tmp_path / "elsewhere").write_text(json.dumps(GOOD))
    (tmp_path / ".site.xml.2.cbsim-edits").symlink_to(tmp_path / "elsewhere")
    (tmp_path / ".site.xml.extra.cbsim-edits").write_bytes(b"of another file")
    (tmp_path / ".site.xml.4.cbsim-edits").write_text(json.dumps({**GOOD, "path": "other.xml"}))
    assert Autosave(tmp_path / "site.xml", tmp_path / "state").find(b"base") == ([], [], 0)
