"""`resume`: a sweep or a search continued from its folder, with the runs that are missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cbsim.sweep.engine import MOST_RECORDINGS, Progress, Sweep, chunks_of
from cbsim.sweep.folder import Folder
from cbsim.sweep.preparation import require_same
from cbsim.sweep.runs.pool import Pool, pool_of
from cbsim.sweep.searching import resume_search
from cbsim.sweep.table import read

__all__ = ["resume", "resume_in_folder"]


def resume(
    folder: str | Path,
    *,
    jobs: int | None = None,
    record: str = "failed",
    recordings: int = MOST_RECORDINGS,
    progress: Callable[[Progress], None] | None = None,
    pool: Pool | None = None,
) -> Any:
    """Run what is missing of a sweep; parameters as of `run`.

    Raises
    ------
    UsageError
        If a file, the planner or a version has changed since it began; the message names it.
    """
    settled: dict[str, Any] = {"jobs": jobs, "record": record, "recordings": recordings}
    settled |= {"progress": progress, "pool": pool}
    resume_in_folder(folder, **settled)
    return read(folder)


def resume_in_folder(
    folder: str | Path,
    *,
    jobs: int | None,
    record: str,
    recordings: int,
    progress: Callable[[Progress], None] | None,
    pool: Pool | None,
) -> None:
    """Run what is missing as `resume` does, without reading the table."""
    opened = Folder.opened(folder)
    plan = opened.plan
    if plan.search.get("kind") == "rare":
        from cbsim.sweep.rare_events import resume_rare

        resume_rare(folder, jobs=jobs, record=record, recordings=recordings, progress=progress, pool=pool)
        return
    if plan.search:
        resume_search(folder, jobs=jobs, record=record, recordings=recordings, progress=progress, pool=pool)
        return
    space = plan.space()
    workers = pool_of(jobs) if pool is None else pool
    try:
        require_same(opened, workers, space[0])
        sweep = Sweep(opened, workers, record=record, recordings=recordings, listener=progress)
        sweep.run(chunks_of(space, plan.chunk), len(space))
    finally:
        workers.close()
