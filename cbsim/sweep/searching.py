"""`search`: runs whose points follow from those before: a smallest margin, or the boundary between pass and fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cbsim.errors import UsageError
from cbsim.sweep.boundary import BoundarySeeker
from cbsim.sweep.engine import MOST_RECORDINGS, Progress, Sweep, planned
from cbsim.sweep.folder import Folder
from cbsim.sweep.plan import RECORDED, Plan
from cbsim.sweep.preparation import begin, require_same
from cbsim.sweep.runs.pool import Pool, available_cores, pool_of
from cbsim.sweep.runs.row import parameter_column
from cbsim.sweep.runs.task import Chunk
from cbsim.sweep.searchers import Optimizer, Searcher
from cbsim.sweep.space import Point
from cbsim.sweep.table import read

__all__ = ["RUNS", "resume_search", "search"]

RUNS, BATCH = 200, 8


def search(  # noqa: PLR0913 - the public face spells out every option
    scenario: str | Path,
    vary: Mapping[str, object] | Sequence[str] = (),
    *,
    folder: str | Path,
    minimize: str = "",
    maximize: str = "",
    boundary: bool = False,
    runs: int = RUNS,
    batch: int = BATCH,
    jobs: int | None = None,
    record: str = "failed",
    recordings: int = MOST_RECORDINGS,
    progress: Callable[[Progress], None] | None = None,
    pool: Pool | None = None,
    **options: Any,
) -> Any:
    """Search the parameters of a scenario.

    Parameters
    ----------
    scenario, vary, folder, jobs, record, recordings, progress, pool, **options
        As of `cbsim.sweep.run`; `sample_seed` is the seed of the search.
    minimize, maximize : str
        Column whose smallest or largest value is sought, by optuna's TPE sampler.
    boundary : bool
        In place of both: seek the boundary between pass and fail.
    runs : int
        How many.
    batch : int
        Runs that are chosen together; the rows depend on it, and not on the number of workers.

    Returns
    -------
    pyarrow.Table
        A row per run, in the order in which they were chosen.
    """
    if [bool(minimize), bool(maximize), boundary].count(True) != 1:
        raise UsageError("a search has exactly one of minimize, maximize and boundary")
    if runs < 1 or batch < 1:
        raise UsageError(f"{runs} runs in batches of {batch}: expected whole numbers from 1 on")
    if record not in RECORDED:
        raise UsageError(f"record is '{record}', expected one of {', '.join(RECORDED)}")
    asked = {"kind": "boundary" if boundary else "maximize" if maximize else "minimize", "runs": runs, "batch": batch}
    plan = planned(scenario, vary, search=asked | {"column": minimize or maximize}, jobs=jobs or 1, **options)
    searcher_of(plan, None)  # whether it can be made, before anything runs
    workers = pool_of(available_cores() if jobs is None else jobs) if pool is None else pool
    try:
        first = Point(0, searcher_of(plan, None).ask(1)[0])
        made = begin(folder, plan, workers, first)
        _search(Sweep(made, workers, record=record, recordings=recordings, listener=progress))
    finally:
        workers.close()
    return read(folder)


def resume_search(folder: str | Path, *, jobs: int | None, pool: Pool | None, **options: Any) -> None:
    """Continue a search; parameters as of `cbsim.sweep.resume`."""
    opened = Folder.opened(folder)
    options["listener"] = options.pop("progress")
    workers = pool_of(jobs) if pool is None else pool
    try:
        require_same(opened, workers, Point(0, searcher_of(opened.plan, None).ask(1)[0]))
        _search(Sweep(opened, workers, **options))
    finally:
        workers.close()


def searcher_of(plan: Plan, folder: Path | None) -> Searcher:
    """Make the searcher of a plan."""
    how = plan.search
    if how["kind"] == "boundary":
        return BoundarySeeker(plan.variations, plan.where, plan.sample_seed)
    return Optimizer(
        plan.variations, plan.where, how["column"],
        maximize=how["kind"] == "maximize", seed=plan.sample_seed, folder=folder,
    )  # fmt: skip


def _search(sweep: Sweep) -> None:
    """Run batch after batch; a row is a chunk, so that all workers share a batch. What is there is told again.

    Raises
    ------
    UsageError
        If a row that is there has another point than the searcher chooses.
    """
    plan = sweep.plan
    runs, batch = plan.search["runs"], plan.search["batch"]
    searcher = searcher_of(plan, sweep.folder.path)
    sweep.start(runs)
    for first in range(0, runs, batch):
        points = [Point(first + k, values) for k, values in enumerate(searcher.ask(min(batch, runs - first)))]
        sweep.work(iter([Chunk(point.row, (point,)) for point in points]))
        rows = sweep.table.rows(point.row for point in points)
        for point, row in zip(points, rows, strict=True):
            names = [parameter_column(one.key) for one in plan.variations]
            wanted = sweep.table.fitted(dict(zip(names, point.values, strict=True)))
            if any(wanted[name] != row[name] for name in names):
                raise UsageError(f"row {point.row} of '{sweep.folder.path}' is not what this search chooses")
        searcher.tell(rows)


def best_rows(folder: str | Path, count: int = 5) -> list[dict[str, Any]]:
    """Rows with the best values of a search, the best first.

    Parameters
    ----------
    folder : str or Path
    count : int
    """
    plan = Folder.opened(folder).plan
    how = plan.search
    if not how or not how["column"]:
        raise UsageError(f"'{folder}' is no search of a smallest or largest value")
    table = read(folder)
    order = "descending" if how["kind"] == "maximize" else "ascending"
    ranked = table.sort_by([(how["column"], order), ("row", "ascending")]).slice(0, count)
    return [row for row in ranked.to_pylist() if row[how["column"]] is not None]
