"""Merging of small parts at the end of a sweep: nothing is lost or counted twice, whenever it is interrupted."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cbsim.sweep import compare, merging, read, replay, resume, run
from cbsim.sweep.merging import merge
from cbsim.sweep.runs.row import OUTSIDE
from cbsim.sweep.table import Table, numbers_of, parts
from tests.common import ROOT

pytest.importorskip("pyarrow")
VARY = {"wall": "3:6:1", "seed": "count:3"}  # twelve rows in four parts


def rows(folder):
    """Rows without what differs from run to run."""
    return read(folder).drop_columns(list(OUTSIDE)).to_pylist()


@pytest.fixture
def swept(small):
    """Folder `one` of small parts."""
    run("small.yaml", VARY, folder="one", jobs=0, record="none")
    assert [len(numbers_of(path)) for path in parts("one")] == [1, 1, 1, 1]
    return small


@pytest.fixture
def few(monkeypatch):
    """Merges two parts of three rows into one."""
    monkeypatch.setattr(merging, "FEWEST", 2)
    monkeypatch.setattr(merging, "ROWS", 6)


def names(folder="one"):
    return sorted(path.name for path in Path(folder, "rows").iterdir())


MERGED = ["part-000000-000001.parquet", "part-000002-000003.parquet"]


def test_merged_rows_are_those_of_the_parts(swept, few):
    before = read("one")
    merge(Path("one/rows"))
    assert names() == MERGED
    assert read("one").equals(before)
    dataset = pytest.importorskip("pyarrow.parquet")
    assert all(dataset.ParquetFile(path).num_row_groups == 1 for path in parts("one"))


def test_a_sweep_merges_its_parts_at_its_end(small, few):
    run("small.yaml", VARY, folder="one", jobs=0, record="none")
    assert names() == MERGED
    assert read("one")["row"].to_pylist() == list(range(12))


def test_few_parts_stay(swept):
    merge(Path("one/rows"))
    assert len(names()) == 4


def test_resume_replay_and_diff_take_merged_parts(swept, few, monkeypatch):
    shutil.copytree("one", "small_parts")
    for path in parts("one")[1:2]:
        path.unlink()
    merge(Path("one/rows"))
    assert names() == ["part-000000.parquet", MERGED[1]]  # not across the one that is missing
    written = []
    write = Table.write
    monkeypatch.setattr(Table, "write", lambda self, n, r: (written.append(n), write(self, n, r)))
    resume("one", jobs=0, record="none")
    assert written == [1]
    assert names() == MERGED
    assert rows("one") == rows("small_parts")
    assert replay("one", 7).differences == []
    assert resume("one", jobs=0, record="none").num_rows == 12
    assert written == [1]
    assert compare("one", "small_parts").equal_digests == 12
    assert len(names("small_parts")) == 4


KILLED = """
import os, sys
from pathlib import Path
from cbsim.sweep import merging
merging.FEWEST, merging.ROWS = 2, 6
left = int(sys.argv[1])
def counted(function):
    def call(*arguments, **options):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), 9)
        return function(*arguments, **options)
    return call
Path.unlink, Path.replace, os.fsync = counted(Path.unlink), counted(Path.replace), counted(os.fsync)
merging.merge(Path("one/rows"))
"""


@pytest.mark.parametrize("after", range(8))  # a file is synced, named, and two are removed, twice
def test_merging_that_is_killed_loses_nothing_and_counts_nothing_twice(swept, few, after):
    before = read("one")
    command = [sys.executable, "-c", KILLED, str(after)]
    ended = subprocess.run(command, env={"PYTHONPATH": str(ROOT), "PATH": ""}, stderr=subprocess.PIPE, check=False)
    assert ended.returncode == -9, ended.stderr
    assert read("one").equals(before)
    assert resume("one", jobs=0, record="none").equals(before)
    assert [name for name in names() if not name.endswith(".unfinished")] == MERGED


def test_a_full_disk_leaves_the_small_parts(swept, few, monkeypatch):
    before = read("one")

    def full(*_arguments, **_options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        merge(Path("one/rows"))
    assert len(names()) == 4
    assert resume("one", jobs=0, record="none").equals(before)


def test_a_table_is_read_while_its_parts_are_merged(swept, few, monkeypatch):
    before = read("one")
    real = parts
    listed = []

    def slow(folder):
        files = real(folder)
        if not listed:
            merge(Path("one/rows"))  # after they were listed
        listed.append(len(files))
        return files

    monkeypatch.setattr("cbsim.sweep.table.parts", slow)
    assert read("one").equals(before)
    assert listed == [4, 2]
