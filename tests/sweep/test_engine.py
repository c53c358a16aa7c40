from __future__ import annotations

import errno
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

import cbsim.sweep
from cbsim.errors import FileError, UsageError
from cbsim.evaluation.judge import judge
from cbsim.evaluation.outcome import execute
from cbsim.loading.load import load
from cbsim.recording.recording import Recording
from cbsim.sweep import compare, read, replay, resume, run
from cbsim.sweep.again import command_of, point_of, row_of
from cbsim.sweep.folder import Folder
from cbsim.sweep.plan import Plan
from cbsim.sweep.preparation import examples
from cbsim.sweep.runs.row import OUTSIDE
from cbsim.sweep.space import Space
from cbsim.sweep.table import Table, parts
from cbsim.sweep.texts import variations_of
from tests.common import ROOT
from tests.sweep.small import PLANNER

pytest.importorskip("pyarrow")
VARY = {"wall": "3:6:1", "seed": "count:3"}


def rows(folder):
    """Rows without what differs from run to run."""
    return read(folder).drop_columns(list(OUTSIDE)).to_pylist()


@pytest.fixture
def swept(small):
    run("small.yaml", VARY, folder="one", jobs=0, record="none")
    return small


def test_rows_are_those_of_single_runs(swept):
    table = read("one")
    assert table["row"].to_pylist() == list(range(12))
    assert table["wall"].to_pylist() == [w for w in (3, 4, 5, 6) for _ in range(3)]
    assert table["seed"].to_pylist() == [1, 2, 3] * 4
    for row in table.to_pylist()[::5]:
        outcome = execute(load("small.yaml", settings={"wall": row["wall"]}, seed=row["seed"]))
        assert (row["digest"], row["verdict"]) == (outcome.digest, outcome.verdict)
        assert row["check.collision Bot"] == outcome.checks[0].passed
        assert bool(row["failure"]) == (row["verdict"] == "fail")
    assert {"pass", "fail"} == set(table["verdict"].to_pylist())
    assert len(set(table["digest"].to_pylist())) == 12


def test_metrics_are_those_of_a_recording(swept):
    row = read("one").to_pylist()[7]
    world = load("small.yaml", settings={"wall": row["wall"]}, seed=row["seed"])
    execute(world, record="one.mcap")
    found = {f"{m.rule}.{m.metric}": m.value for m in cbsim.metrics("one.mcap")}
    assert found
    assert found == {name: row[name] for name in found}


@pytest.mark.slow
def test_two_workers_make_the_same_rows_as_one(swept):
    run("small.yaml", VARY, folder="two", jobs=2, record="none")
    run("small.yaml", VARY, folder="single", jobs=1, record="none")
    assert rows("single") == rows("one")
    assert rows("two") == rows("one")


def test_sweep_of_the_scenario_itself_is_run(small):
    with (small / "small.yaml").open("a") as stream:
        stream.write("sweep: {wall: {choice: [5, 8]}, seed: {count: 2}}\n")
    table = run("small.yaml", folder="own", jobs=0, record="none")
    assert table.select(["wall", "seed"]).to_pylist() == [
        {"wall": wall, "seed": seed} for wall in (5.0, 8.0) for seed in (1, 2)
    ]


@pytest.mark.slow
def test_killed_sweep_is_resumed_to_the_same_rows(swept):
    command = [sys.executable, "-m", "cbsim", "sweep", "small.yaml", "--vary", "wall=3:6:1", "--vary", "seed=count:3"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([*command, "-o", "killed", "-j", "1", "--record", "none"], env=environment)
    folder = swept / "killed"
    while not folder.is_dir() or len(list(folder.glob("rows/part-*.parquet"))) < 3:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    there = {path: path.stat().st_mtime_ns for path in parts("killed")}
    assert len(there) == 3  # of four
    assert rows("killed") == rows("one")[: len(rows("killed"))]
    resume("killed", jobs=2, record="none")
    assert rows("killed") == rows("one")
    assert {path: path.stat().st_mtime_ns for path in there} == there  # none of them ran again


def test_resume_does_the_missing_rows_only(swept, monkeypatch):
    for path in parts("one")[1:3]:
        path.unlink()
    before, written = rows("one"), []
    write = Table.write
    monkeypatch.setattr(Table, "write", lambda self, n, r: (written.append(n), write(self, n, r)))
    resume("one", jobs=0)
    assert written == [1, 2]
    assert len(before) == 6
    assert [one["row"] for one in rows("one")] == list(range(12))


def test_changed_scenario_planner_or_version_is_refused_by_name(swept):
    text = (swept / "small.yaml").read_text()
    (swept / "small.yaml").write_text(text + "# another line\n")
    with pytest.raises(UsageError, match=r"the file '.*small.yaml' has changed"):
        resume("one", jobs=0)
    (swept / "small.yaml").write_text(text)
    planner = (swept / "small_planner.py").read_text()
    (swept / "small_planner.py").write_text(planner + "\n# better\n")
    with pytest.raises(UsageError, match="the planner's module 'small_planner' has changed"):
        resume("one", jobs=1)
    (swept / "small_planner.py").write_text(planner)
    manifest = json.loads((swept / "one" / "sweep.json").read_text())
    manifest["identity"]["version"]["numba"] = "0.1"
    (swept / "one" / "sweep.json").write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match=r"the version of numba has changed \(0.1 before"):
        resume("one", jobs=0)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_changed_planner_of_a_later_point_is_refused_by_name(small, monkeypatch, jobs):
    (small / "other_planner.py").write_text(PLANNER)
    (small / "deadly_planner.py").write_text("import os\nos.kill(os.getpid(), 9)\n" if jobs else "raise ValueError\n")
    for name in ("other_planner", "deadly_planner"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    vary = {"planner.Bot.class": ["small_planner:Small", "deadly_planner:No", "other_planner:Small"], "wall": [3, 8]}
    run("small.yaml", vary, folder="some", jobs=jobs, record="none")
    kept, deadly = rows("some"), ["error" if jobs else "fail"] * 2
    assert [row["verdict"] for row in kept] == ["fail", "pass", *deadly, "fail", "pass"]
    parts("some")[-1].unlink()
    resume("some", jobs=jobs, record="none")
    assert rows("some") == kept
    (small / "other_planner.py").write_text(PLANNER + "\n# better\n")
    with pytest.raises(UsageError, match="the planner's module 'other_planner' has changed"):
        resume("some", jobs=jobs)


def test_examples_have_each_text_once_and_keep_constraints():
    vary = ["planner=a:A,b:B,c:C,b:B", "gap=1:3:1", "where=1,2,[x],{y: z}", "seed=1,2"]
    space = Space(variations_of(vary), ["gap > 1 or planner != 'c:C'"])
    plan = Plan("small", variations=space.variations, where=("gap > 1 or planner != 'c:C'",))
    assert [point.values for point in examples(plan, space[0])] == [
        ("b:B", 1, 1, 1), ("c:C", 2, 1, 1), ("a:A", 1, ["x"], 1), ("a:A", 1, {"y": "z"}, 1)
    ]  # fmt: skip


def test_planner_that_ends_its_process_costs_its_row_only(small):
    values = "{choice: [[1.8, 4.5, 1.5], [2.5, 4.5, 1.5], [2.4, 4.5, 1.5], [2.0, 4.5, 1.5]]}"
    table = run("small.yaml", {"add.Bot.size": values, "seed": "count:2"}, folder="dying", jobs=1, record="none")
    found = table.select(["verdict", "failure", "digest"]).to_pylist()
    assert [one["verdict"] for one in found] == ["pass"] * 2 + ["error"] * 2 + ["fail"] * 2 + ["pass"] * 2
    assert all("killed by signal 9" in one["failure"] and one["digest"] is None for one in found[2:4])
    assert all("ValueError: too wide" in one["failure"] for one in found[4:6])


def test_point_that_cannot_be_loaded_is_an_error_of_its_row(small):
    table = run("small.yaml", {"add.Bot.parameters.mass": "1500,-5"}, folder="bad", jobs=0)
    assert table["verdict"].to_pylist() == ["pass", "error"]
    assert "E805" in table["failure"].to_pylist()[1]


def test_full_disk_stops_cleanly_and_the_sweep_can_be_resumed(swept, monkeypatch):
    write, count = Table.write, []

    def until_full(self, number, made):
        count.append(number)
        if len(count) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(self, number, made)

    monkeypatch.setattr(Table, "write", until_full)
    with pytest.raises(OSError, match="No space left on device; what is done is kept: 'cbsim sweep resume full'"):
        run("small.yaml", VARY, folder="full", jobs=0, record="none")
    monkeypatch.undo()
    os.chdir(swept)
    assert not list((swept / "full" / "rows").glob("*.unfinished"))
    assert len(rows("full")) == 6
    resume("full", jobs=0, record="none")
    assert rows("full") == rows("one")


def test_full_disk_under_a_recording_stops_cleanly_too(small, monkeypatch):
    def full(*_args, **_options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("cbsim.recording.recorder.FileRecorder.begin", full)
    with pytest.raises(OSError, match=r"No space left on device; .* 'cbsim sweep resume full' continues"):
        run("small.yaml", {"wall": "3,8"}, folder="full", jobs=0)
    monkeypatch.undo()
    os.chdir(small)
    assert resume("full", jobs=0)["verdict"].to_pylist() == ["fail", "pass"]


def test_table_is_read_by_pandas_polars_and_duckdb_while_it_grows(small):
    """Some of them may not be installed; pyarrow, which writes it, is."""
    seen: list[dict[str, int]] = []

    def look(progress):
        if not 0 < progress.done < progress.total:
            return
        counts = {"cbsim": len(read("grown"))}
        with suppress(ImportError):
            counts["pandas"] = len(importlib.import_module("pandas").read_parquet("grown/rows"))
        with suppress(ImportError):
            counts["polars"] = len(importlib.import_module("polars").read_parquet("grown/rows/*.parquet"))
        with suppress(ImportError):
            query = "select count(*) from 'grown/rows/*.parquet' where verdict = 'pass'"
            counts["duckdb"] = importlib.import_module("duckdb").sql(query).fetchall()[0][0]
        assert set(counts.values()) == {progress.done}
        seen.append(counts)

    run("small.yaml", {"wall": "8", "seed": "count:6"}, folder="grown", jobs=0, record="none", progress=look)
    assert [one["cbsim"] for one in seen] == [1, 2, 3, 4, 5]


def test_unfinished_part_is_no_row(swept):
    part = parts("one")[-1]
    part.rename(part.with_suffix(".unfinished"))
    assert len(rows("one")) == 9
    resume("one", jobs=0)
    assert len(rows("one")) == 12


def test_row_is_replayed_bit_for_bit_and_recorded(swept):
    number = next(row["row"] for row in rows("one") if row["verdict"] == "fail")
    again = replay("one", number, record="row.mcap")
    assert again.differences == []
    assert judge("row.mcap").verdict == "fail"
    assert Recording.open("row.mcap").header.seed == again.row["seed"]
    with pytest.raises(UsageError, match="there is no row 12"):
        replay("one", 12)


def test_replay_tells_what_differs(swept):
    (swept / "small_planner.py").write_text((swept / "small_planner.py").read_text().replace("0.3", "1.00"))
    sys.modules.pop("small_planner", None)
    again = replay("one", 0)
    assert "digest" in again.differences


def test_command_of_a_row_gives_its_digest(swept):
    folder = Folder.opened("one")
    row = row_of("one", 7)
    command = command_of(folder, point_of(folder, row))
    assert command == "cbsim run small.yaml --set wall=5 --seed 2"
    words = [sys.executable, "-m", "cbsim", *command.split()[1:], "--json", "-"]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert json.loads(done.stdout)["digest"] == row["digest"]


def test_failed_runs_are_recorded_and_the_number_is_bounded(small):
    run("small.yaml", {"wall": "3,9", "seed": "count:4"}, folder="some", jobs=0, record="failed", recordings=2)
    found = sorted(path.name for path in (small / "some" / "recordings").iterdir())
    failed = [row["row"] for row in rows("some") if row["verdict"] == "fail"]
    assert failed == [0, 1, 2, 3]
    assert found == ["row-0.mcap", "row-1.mcap"]
    assert judge(small / "some" / "recordings" / "row-1.mcap").verdict == "fail"


@pytest.mark.parametrize("jobs", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_first_failing_rows_are_recorded_and_no_more(small, jobs):
    def recorded(folder):
        return sorted(int(path.stem[4:]) for path in (small / folder / "recordings").iterdir())

    run("small.yaml", {"wall": "9,3", "seed": "count:20"}, folder="some", jobs=jobs, recordings=3, metrics=[])
    failed = [row["row"] for row in rows("some") if row["verdict"] == "fail"]
    assert failed == list(range(20, 40))
    assert recorded("some") == [20, 21, 22]
    if jobs:  # other chunks
        return
    files = parts("some")
    files[2].unlink()  # rows 16 to 23
    files[4].unlink()  # rows 32 to 39
    (small / "some" / "recordings" / "row-20.mcap").rename(small / "some" / "recordings" / "row-25.mcap")
    resume("some", jobs=jobs, recordings=3)
    assert recorded("some") == [20, 21, 25]  # what is there counts, and stays


def test_comparison_finds_what_changed(swept):
    (swept / "small_planner.py").write_text((swept / "small_planner.py").read_text().replace("0.3", "1.00"))
    sys.modules.pop("small_planner", None)
    run("small.yaml", VARY, folder="faster", jobs=0, record="none")
    found = compare("one", "faster")
    before, after = rows("one"), rows("faster")
    newly = [k for k in range(12) if (before[k]["verdict"], after[k]["verdict"]) == ("pass", "fail")]
    assert newly
    assert [one.before for one in found.newly_failing] == newly
    assert found.newly_passing == []
    assert found.equal_digests == 0
    travel = next(one for one in found.moved if one.metric == "travel.distance")
    assert travel.is_significant
    same = compare("one", "one")
    assert (same.equal_digests, same.moved, same.p) == (12, [], 1.0)


def test_sweeps_of_other_keys_are_not_compared(swept):
    run("small.yaml", {"wall": "3,8"}, folder="other", jobs=0, record="none")
    with pytest.raises(UsageError, match="varies seed, wall, and 'other' wall"):
        compare("one", "other")


@pytest.mark.parametrize(
    ("vary", "options", "message"),
    [
        ({"wal": "1,2"}, {}, r"E809.*did you mean 'wall'"),
        ({"add.Bto.size.x": "1,2"}, {}, r"E809.*did you mean 'Bot'"),
        ({"wall": "1:2"}, {}, "the grid is infinite"),
        ({}, {}, "nothing is varied"),
        ({"wall": "1,2"}, {"planner": "nobody:Nobody"}, "planner 'nobody:Nobody' cannot be found"),
        ({"wall": "1,2"}, {"metrics": ["confort"]}, r"no rule 'confort' that measures \(did you mean 'comfort'"),
        ({"wall": "1,2"}, {"record": "some"}, "expected one of failed, all, none"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(small, vary, options, message):
    with pytest.raises((UsageError, FileError), match=message):
        run("small.yaml", vary, folder="bad", jobs=0, **options)
    assert not (small / "bad").exists()


def test_folder_with_something_in_it_is_refused(swept):
    with pytest.raises(UsageError, match="'cbsim sweep resume one' continues"):
        run("small.yaml", VARY, folder="one", jobs=0)
    with pytest.raises(UsageError, match="holds no sweep"):
        resume("small.yaml")
    (swept / "one" / "sweep.json").write_text("{}")
    with pytest.raises(UsageError, match="is damaged"):
        resume("one")


def test_interrupted_command_says_how_to_continue(small):
    command = [
        sys.executable,
        "-m",
        "cbsim",
        "sweep",
        "small.yaml",
        "--vary",
        "seed=count:20000",
        "-o",
        "long",
        "-j",
        "1",
    ]
    process = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not list(small.glob("long/rows/part-*")):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; 'cbsim sweep resume long' continues" in told
