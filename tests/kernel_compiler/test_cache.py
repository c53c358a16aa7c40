"""The kernel cache survives damage, and machine code comes from folders that nobody else can write to."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import config

from cbsim import jit
from cbsim.kernel_compiler import cache
from cbsim.kernel_compiler import entries as files
from tests.kernel_compiler.common import run_program

KERNEL = """
from cbsim.jit import kernel

@kernel
def add_one(value):
    return value + 1.0
"""
CHECKOUT = """
import logging
logging.getLogger("cbsim.kernels").setLevel(logging.WARNING)
from cbsim.world.streams import stream_key, uniforms
from cbsim.world import kernels
from cbsim.kernel_compiler import EntryPoint
import gc
uniforms(stream_key(1, "a", "b"), 0, 1)
kernels_called = [each for each in gc.get_objects() if isinstance(each, EntryPoint) and each.overloads]
print(len(kernels_called), sum(len(each.stats.cache_misses) for each in kernels_called))
"""
PROGRAM = """
from kernels import add_one
print(add_one(1.0), add_one(1), len(add_one.stats.cache_hits))
"""

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


@pytest.fixture
def run_kernel(tmp_path):
    """Run a program with one kernel in a process of its own, on a cache of its own; gives its output."""
    (tmp_path / "kernels.py").write_text(KERNEL)
    (tmp_path / "cache").mkdir(mode=0o700)
    path = os.pathsep.join([str(tmp_path), str(Path(cache.__file__).parents[2])])

    def run(folder: Path = tmp_path / "cache", variable: str = "CBSIM_CACHE") -> tuple[str, str]:
        environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(tmp_path)}
        environment.pop("CBSIM_CACHE", None)
        environment[variable] = str(folder)
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip(), done.stderr

    return run


def entries(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.nbc"))


DAMAGES = {
    "empty": lambda _: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "random": lambda content: os.urandom(len(content)),
    "one bit": lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
    "only a digest": lambda content: content[: files.DIGEST],
}


def test_damaged_entries_are_told_in_one_line_compiled_again_and_mended(run_kernel, tmp_path):
    assert run_kernel() == ("2.0 2.0 0", "")
    assert run_kernel() == ("2.0 2.0 2", "")
    for path in entries(tmp_path):
        path.write_bytes(b"")
    out, err = run_kernel()
    assert out == "2.0 2.0 0"
    assert err.count("\n") == 1
    assert "kernel cache is damaged" in err
    assert run_kernel() == ("2.0 2.0 2", "")


@pytest.mark.parametrize("damage", DAMAGES)
def test_nothing_of_a_damaged_entry_is_unpickled(tmp_path, monkeypatch, damage):
    kept = cache.Entries(tmp_path, "f", b"")
    kept.save(("a",), list(range(1000)))
    path = kept.path(("a",))
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    monkeypatch.setattr(files.pickle, "loads", lambda _: pytest.fail("it was unpickled"))
    assert kept.load(("a",)) is None


def test_an_entry_of_another_key_under_the_same_name_is_not_taken(tmp_path):
    kept = cache.Entries(tmp_path, "f", b"")
    kept.save(("a",), 1)
    assert kept.load(("a",)) == 1
    kept.path(("a",)).rename(kept.path(("b",)))
    assert kept.load(("b",)) is None


def test_saving_leaves_no_draft_behind_where_it_fails(tmp_path, monkeypatch):
    kept = cache.Entries(tmp_path, "f", b"")
    monkeypatch.setattr(files.Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        kept.save(("a",), 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have owners on POSIX only")
@pytest.mark.parametrize("variable", ["CBSIM_CACHE", "XDG_CACHE_HOME"])
@pytest.mark.parametrize("which", ["", "cbsim"])
def test_a_named_folder_that_others_can_write_to_is_told_and_not_used(run_kernel, tmp_path, variable, which):
    named = tmp_path / "named"
    (named / which).mkdir(parents=True, mode=0o700)
    (named / which).chmod(0o777)
    out, err = run_kernel(named, variable)
    assert out == "2.0 2.0 0"
    assert err.count("\n") == 1
    assert "others own or can write to" in err
    assert entries(named) == []


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have owners on POSIX only")
def test_the_system_folder_of_temporary_files_may_hold_the_cache(run_kernel, tmp_path):
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(0o1777)
    assert run_kernel(tmp_path / "tmp") == ("2.0 2.0 0", "")
    assert run_kernel(tmp_path / "tmp") == ("2.0 2.0 2", "")
    assert (tmp_path / "tmp" / "cbsim").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have owners on POSIX only")
def test_a_link_in_place_of_the_folder_is_not_followed(run_kernel, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "named").mkdir(mode=0o700)
    (tmp_path / "named" / "cbsim").symlink_to(tmp_path / "elsewhere")
    _, err = run_kernel(tmp_path / "named")
    assert "others own or can write to" in err
    assert entries(tmp_path / "elsewhere") == []


def test_two_checkouts_with_the_same_sources_share_the_cache(tmp_path):
    found = set()
    for name in ("one", "two"):
        shutil.copytree(cache.PACKAGE, tmp_path / name / "cbsim", ignore=shutil.ignore_patterns("__pycache__"))
        found.add(run_program(tmp_path, CHECKOUT, PYTHONPATH=str(tmp_path / name)))
    assert found == {("2 2", ""), ("2 0", "")}


def test_a_cache_on_a_read_only_file_system_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("CBSIM_CACHE", str(tmp_path))
    folder = tmp_path / "cbsim" / jit.kernel_digest()
    folder.mkdir(parents=True, mode=0o700)
    assert jit.read_only_folders() == []
    monkeypatch.setattr(jit.os, "access", lambda path, _mode: Path(path) != folder)
    assert jit.read_only_folders() == [folder]
    assert jit.cache_folder() != folder


def test_other_folders_are_searched_first_and_never_written(tmp_path):
    shipped = cache.Entries(tmp_path / "shipped", "f", b"")
    shipped.folder.mkdir()
    shipped.save(("a",), 1)
    before = sorted(shipped.folder.iterdir())
    (tmp_path / "own").mkdir()
    kept = cache.Entries(tmp_path / "own", "f", b"", [shipped.folder])
    kept.save(("b",), 2)
    assert (kept.load(("a",)), kept.load(("b",)), kept.load(("c",))) == (1, 2, None)
    shipped.path(("a",)).write_bytes(b"damaged")
    assert kept.load(("a",)) is None
    kept.save(("a",), 3)
    assert kept.load(("a",)) == 3
    assert sorted(shipped.folder.iterdir()) == before


@pytest.fixture
def run_shipped(tmp_path):
    """Run kernels of a copy of the package, with or without machine code in it; gives its output and its folder."""
    package = tmp_path / "copy" / "cbsim"
    shutil.copytree(cache.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "_kernels"))

    def run(cache_name: str) -> tuple[str, str]:
        folder = tmp_path / cache_name
        folder.mkdir(mode=0o700, exist_ok=True)
        code = CHECKOUT.replace("logging.WARNING", "logging.INFO")
        return run_program(tmp_path, code, PYTHONPATH=str(package.parent), CBSIM_CACHE=str(folder))

    return run, package / "_kernels"


def compiled_line(err: str) -> str:
    (line,) = (line for line in err.splitlines() if line.startswith("compiling kernels"))
    return line


def test_damaged_machine_code_in_the_package_is_told_and_neither_loaded_nor_written(run_shipped, tmp_path):
    run, shipped = run_shipped
    out, err = run("first")
    assert out == "2 2"
    assert "another build" not in compiled_line(err)
    shutil.copytree(tmp_path / "first" / "cbsim", shipped)
    assert run("second") == ("2 0", "")  # all of it comes from the package
    assert entries(tmp_path / "second") == []
    for path in entries(shipped):
        path.write_bytes(path.read_bytes()[:-9])
    before = {path: path.read_bytes() for path in entries(shipped)}
    out, err = run("second")
    assert out == "2 2"
    assert err.count("the kernel cache is damaged") == 1
    assert str(shipped) in err
    assert len(err.splitlines()) == 2
    assert {path: path.read_bytes() for path in entries(shipped)} == before
    out, err = run("second")  # from the user's cache now
    assert out == "2 0"
    assert len(err.splitlines()) == 1


def test_machine_code_of_another_build_in_the_package_is_told_and_not_loaded(run_shipped, tmp_path):
    run, shipped = run_shipped
    run("first")
    (built,) = (tmp_path / "first" / "cbsim").iterdir()
    shutil.copytree(built, shipped / "0123456789abcdef")  # sound entries, but of other sources, versions or target
    out, err = run("second")
    assert out == "2 2"
    assert "with this package, machine code of another build" in compiled_line(err)
    assert len(err.splitlines()) == 1
    assert run("second") == ("2 0", "")


def test_every_file_with_kernels_is_part_of_the_digest():
    package = jit.PACKAGE
    sources = {
        path
        for path in package.rglob("*.py")
        if re.search(r"^@(kernel|inner|inlined)\b", path.read_text("utf-8"), re.M)
    }
    assert len(sources) > 100
    assert sources <= set(jit.kernel_sources())
