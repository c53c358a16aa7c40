"""Sweeps: two workers against one, overhead of a run, memory and reading of large tables.

    python benchmarks/bench_sweep.py [workers] [overhead] [memory] [reading] [--rows 1000000]

``workers`` runs the scenario of `--scenario` with one and with two workers, by turns: medians of rates on the clock
from the times at which chunks of rows came, without the first and the last of each worker, so that its start is left
out. Other programs on the machine disturb it; what follows from CPU seconds for two free cores is told beside it.
``overhead`` compares rows with the bare runs of which they consist, by turns, in CPU seconds. ``memory`` and
``reading`` take a table of real columns whose rows are not run: a pool gives copies of one real row, pickled as
between processes, to the engine, which writes them. Each size has a process of its own, whose peak is told. Reading
is on the clock and in CPU seconds of all threads, each by a new process.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import pickle
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import show

from cbsim.evaluation.outcome import execute
from cbsim.sweep.engine import planned, run_to_folder
from cbsim.sweep.plan import USUAL_CHUNK, Plan
from cbsim.sweep.runs.pool import Done, InProcessPool, LocalPool, Pool
from cbsim.sweep.runs.row import Runner
from cbsim.sweep.runs.task import Chunk, Description
from cbsim.sweep.space import Point

ROOT = Path(__file__).resolve().parents[1]
PLANNER = "examples.own_planner:OwnPlanner"
ROUNDS = 3
FEW = 8  # rows of a sweep that shows what starting costs
CHUNKS = 24  # of a worker whose times are taken, between its first and its last
SHORT = 0.05  # [s] of runs whose overhead is measured
SIZES = (1_000, 10_000, 100_000, 1_000_000)
READERS = {
    "cbsim.sweep.read, all columns": "from cbsim.sweep import read; print(len(read(FOLDER)))",
    "pandas, all columns": "import pandas; print(len(pandas.read_parquet(FOLDER + '/rows')))",
    "polars, all columns": "import polars; print(len(polars.read_parquet(FOLDER + '/rows/*.parquet')))",
    "DuckDB, pass rate by crate": (
        "import duckdb; print(len(duckdb.sql(f\"select crate, avg((verdict = 'pass')::int), count(*) "
        "from '{FOLDER}/rows/*.parquet' group by crate\").fetchall()))"
    ),
    "page of the report, without replays": (
        "from cbsim.sweep.reports.report import write_page; write_page(FOLDER, FOLDER + '/report.html')"
    ),
}


def cpu() -> tuple[float, float]:
    """CPU seconds of this process, and of those that it has waited for."""
    here, ended = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return here.ru_utime + here.ru_stime, ended.ru_utime + ended.ru_stime


def swept(scenario: str, rows: int, pool: Pool, jobs: int, **options: Any) -> tuple[float, float, float]:
    """Run a sweep over seeds; seconds on the clock, CPU seconds of this process, and of its workers."""
    with tempfile.TemporaryDirectory() as folder:
        began, before = time.perf_counter(), cpu()
        given = {"jobs": jobs, "record": "none", "recordings": 0, "progress": None, "pool": pool, **options}
        run_to_folder(scenario, {"seed": {"count": rows}}, folder=Path(folder) / "sweep", **given)
        return time.perf_counter() - began, *(b - a for a, b in zip(before, cpu(), strict=True))


class TimedPool(LocalPool):
    """Notes when chunks come back, and the CPU seconds of rows in the workers."""

    def __init__(self, jobs: int) -> None:
        super().__init__(jobs)
        self.times: list[float] = []

    def wait(self, timeout: float, progress: Callable[[int, int], None]) -> list[Done]:
        """Wait for chunks to end."""
        found = super().wait(timeout, progress)
        self.times += [time.perf_counter()] * len(found)
        return found

    def rate(self) -> float:
        """Rows per second: the median over stretches of four chunks of each worker, without the first and the last."""
        stretch = 4 * self.jobs
        times = self.times[self.jobs : len(self.times) - self.jobs]
        took = [later - one for one, later in zip(times, times[stretch:], strict=False)]
        return stretch * USUAL_CHUNK / statistics.median(took)


def workers(scenario: str) -> None:
    """Rates of one and of two workers."""
    found: dict[str, list[float]] = {"one": [], "two": [], "clock": [], "cores": [], "worker": [], "asking": []}
    for _ in range(ROUNDS):
        rates, costs = {}, {}
        for jobs in (1, 2):
            rows = USUAL_CHUNK * (CHUNKS + 2) * jobs
            _, few_asking, few_worker = swept(scenario, FEW, LocalPool(jobs), 2, planner=PLANNER)
            pool = TimedPool(jobs)
            _, asking, worker = swept(scenario, rows, pool, 2, planner=PLANNER)
            rates[jobs] = pool.rate()
            costs[jobs] = (asking - few_asking) / (rows - FEW), (worker - few_worker) / (rows - FEW)
        found["one"].append(rates[1])
        found["two"].append(rates[2])
        found["clock"].append(rates[2] / rates[1])
        # one worker has a core of its own; of two, one shares its core with the process that asks
        found["cores"].append(2.0 * costs[1][1] / sum(costs[2]))
        found["worker"].append(1e3 * costs[1][1])
        found["asking"].append(1e3 * costs[2][0])
    load = os.getloadavg()[0]
    show("rows of one worker", found["one"], "1/s")
    show("rows of two workers", found["two"], "1/s")
    show("two workers / one, on the clock", found["clock"], "x", f"load {load:.1f} on {os.cpu_count()} cores")
    show("two workers / one, by CPU time on two free cores", found["cores"], "x")
    show("CPU time of a row in the worker", found["worker"], "ms")
    show("CPU time of a row in the process that asks", found["asking"], "ms")


def bare(scenario: str, rows: int) -> float:
    """CPU seconds of runs with the same planner and rules, in one World."""
    runner = Runner(planned(scenario, {"seed": {"count": rows}}, planner=PLANNER, duration=SHORT, metrics=[]))
    world, _, _ = runner.world(Point(0, (1,)))
    execute(world, seed=1)
    before = cpu()[0]
    for seed in range(1, rows + 1):
        execute(world, seed=seed)
    return cpu()[0] - before


def overhead(scenario: str) -> None:
    """What a row costs beyond its run, in chunks of eight."""
    rows, found = 400, []
    for _ in range(ROUNDS):
        runs = bare(scenario, rows) / rows
        costs = [sum(swept(scenario, count, LocalPool(1), 1, **BARE)[1:]) for count in (FEW, rows + FEW)]
        found.append(1e3 * ((costs[1] - costs[0]) / rows - runs))
    show(f"row beyond its run of {SHORT} s, both processes", found, "ms", "goal: at most 2")


BARE: dict[str, Any] = {"planner": PLANNER, "duration": SHORT, "metrics": []}


class CopyingPool:
    """Gives copies of one row, changed in what a sweep varies, in place of runs."""

    def __init__(self) -> None:
        self._real = InProcessPool()
        self._row: dict[str, Any] = {}
        self._names: tuple[str, ...] = ()
        self._waiting: list[Chunk] = []

    @property
    def free(self) -> int:
        """As of two workers."""
        return 2 - len(self._waiting)

    def describe(self, plan: Plan, point: Point) -> Description:
        """Describe the plan, and run its first point."""
        found = self._real.describe(plan, point)
        self._names = tuple(one.key for one in plan.variations)
        self._row = Runner(plan).run(point)
        return found

    def submit(self, _plan: Plan, chunk: Chunk) -> None:
        """Take a chunk, as another process would get it."""
        self._waiting.append(pickle.loads(pickle.dumps(chunk, protocol=5)))

    def wait(self, _timeout: float, _progress: Callable[[int, int], None]) -> list[Done]:
        """Give the rows of a chunk."""
        chunk = self._waiting.pop(0)
        rows = [self._copy(point) for point in chunk.points]
        return [Done(chunk, pickle.loads(pickle.dumps(rows, protocol=5)))]

    def _copy(self, point: Point) -> dict[str, Any]:
        noise = (point.row * 2654435761 % 2**32) / 2**32  # numbers that differ from row to row, as those of runs do
        row = dict(self._row) | dict(zip(self._names, point.values, strict=True)) | {"row": point.row}
        row |= {name: v + noise for name, v in self._row.items() if isinstance(v, float) and "." in name}
        is_bad = noise < 0.03
        return row | {
            "digest": f"{int(noise * 2**63):016x}", "wall_time": 0.1 + noise, "time": 78.0,
            "verdict": "fail" if is_bad else "pass", "failure": f"reach: not within {noise:.4f} s" if is_bad else "",
        }  # fmt: skip

    def close(self) -> None:
        """Forget the Worlds."""
        self._real.close()


def written(scenario: str, rows: int, folder: str) -> None:
    """Write a table of copied rows, and tell the peak of memory."""
    began = time.perf_counter()
    vary = {"crate": "1:10:1", "add.Crate.at.offset": "-3.99:-3:0.01", "seed": {"count": max(1, rows // 1000)}}
    run_to_folder(
        scenario, vary, folder=folder, jobs=2, record="none", recordings=0, progress=None, pool=CopyingPool(),
        planner=PLANNER,
    )  # fmt: skip
    told = {"seconds": time.perf_counter() - began, **peak()}
    print(json.dumps(told))


def peak() -> dict[str, float]:
    """Largest memory of this process [MB]."""
    return {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0}


def made(scenario: str, rows: int, folder: Path) -> dict[str, float]:
    """Write a table in a process of its own."""
    command = [sys.executable, __file__, "written", str(rows), str(folder), "--scenario", scenario]
    told: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return told


def memory(scenario: str, rows: int, folder: Path) -> None:
    """Peaks of the process that asks, for tables of several sizes."""
    for size in [one for one in SIZES if one <= rows]:
        told = made(scenario, size, folder / f"rows-{size}")
        disk = sum(path.stat().st_size for path in (folder / f"rows-{size}" / "rows").iterdir())
        note = f"{size / told['seconds']:.0f} rows/s, {disk / size:.0f} bytes a row on disk"
        show(f"peak of the process that asks, {size} rows", [told["peak"]], "MB", note)


def reading(scenario: str, rows: int, folder: Path) -> None:
    """Time to read a table, by new processes that have imported what they need."""
    target = folder / f"rows-{rows}"
    if not target.exists():
        made(scenario, rows, target)
    for what, code in READERS.items():
        imports, _, work = code.partition("; ")
        module = imports.split()[1]
        if importlib.util.find_spec(module) is None:
            print(f"{what}: skipped, '{module}' is not installed (pip install {module})")
            continue
        text = (
            f"import json, time, resource\nFOLDER = {str(target)!r}\n{imports}\n"
            f"began, used = time.perf_counter(), time.process_time()\n{work}\n"
            "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
            "print(json.dumps([time.perf_counter() - began, time.process_time() - used, peak]))"
        )
        found = [json.loads(subprocess.check_output([sys.executable, "-c", text]).splitlines()[-1]) for _ in range(3)]
        clock, used, memories = zip(*found, strict=True)
        show(f"{what}, {rows} rows", list(clock), "s", f"CPU {min(used):.2f} s, peak {max(memories):.0f} MB")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["workers", "overhead", "memory", "reading"])
    parser.add_argument("--rows", type=int, default=SIZES[-1])
    parser.add_argument("--folder", type=Path, help="where tables are kept; those that are there are read")
    parser.add_argument("--scenario", default="four_way_stop")
    given = parser.parse_args()
    os.chdir(ROOT)  # where the planner is
    if given.what[0] == "written":
        written(given.scenario, int(given.what[1]), given.what[2])
        return
    with tempfile.TemporaryDirectory() as empty:
        folder = Path(empty) if given.folder is None else given.folder.absolute()
        for what in given.what:
            if what in ("workers", "overhead"):
                {"workers": workers, "overhead": overhead}[what](given.scenario)
            else:
                {"memory": memory, "reading": reading}[what](given.scenario, given.rows, folder)


if __name__ == "__main__":
    main()
