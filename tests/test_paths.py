"""Paths that no file is at: the reader of files says why, in words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cbsim.errors import FileError
from cbsim.paths import DATA, Files, data_folder, find_shipped, is_regular, stored_name, stored_path

LONG = "x" * 5000


def refusal(path) -> str:
    with pytest.raises(FileError) as caught:
        Files([path]).read(path)
    (problem,) = caught.value.problems
    return f"{problem.code} {problem.message}"


def test_path_too_long_for_the_system_is_refused_in_words():
    assert refusal(LONG).startswith("E014")
    assert "too long" in refusal(LONG)
    assert not is_regular(LONG)
    assert find_shipped(LONG) is None


def test_circle_of_links_is_refused(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    for path in (tmp_path / "a", tmp_path / "a" / "file"):
        assert refusal(path).startswith("E014")
        assert not is_regular(path)


def test_pipe_and_folder_are_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe.mcap")
    assert refusal(tmp_path / "pipe.mcap").startswith("E012")
    (tmp_path / "folder").mkdir()
    assert refusal(tmp_path / "folder").startswith("E012")


def test_file_below_a_file_is_missing_and_a_nul_is_refused(tmp_path):
    (tmp_path / "a").write_text("")
    assert refusal(tmp_path / "a" / "b").startswith("E011")
    assert refusal("a\0b").startswith("E014")


def test_deleted_working_directory_leaves_absolute_paths_readable(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    (tmp_path / "kept.txt").write_text("here")
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert Files([tmp_path / "kept.txt"]).read(tmp_path / "kept.txt") == b"here"
    assert refusal("kept.txt").startswith("E014")


@pytest.mark.parametrize("kind", DATA)
def test_stored_names_lead_back_to_their_files(kind, tmp_path):
    files = [path for path in data_folder(kind).rglob("*") if path.is_file()]
    assert files
    for path in (*files, tmp_path / "own.rndf"):
        assert stored_path(stored_name(path)) == path


@pytest.mark.parametrize("name", ["hexapod.irt", "models/hexapod.irt", "four_way_stop", "four_way_stop.yaml"])
def test_what_is_shipped_is_found_by_its_bare_name_its_file_name_and_its_place(name):
    found = find_shipped(name)
    assert found is not None
    assert found.stem == Path(name).stem
    assert found.is_relative_to(data_folder("scenarios"))
