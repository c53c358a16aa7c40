"""The engine of sweeps: chunks handed to a pool, their rows written as they come, lost workers replaced."""

from __future__ import annotations

import errno
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cbsim.errors import UsageError
from cbsim.spec.sweep import SweepSpec
from cbsim.sweep.folder import Folder
from cbsim.sweep.merging import merge
from cbsim.sweep.plan import RECORDED, Plan, chunk_size
from cbsim.sweep.preparation import begin
from cbsim.sweep.runs.pool import Done, Pool, available_cores, pool_of
from cbsim.sweep.runs.row import recording_file
from cbsim.sweep.runs.task import Chunk, failed_row
from cbsim.sweep.space import Space, check, space_of
from cbsim.sweep.table import Table, read
from cbsim.sweep.texts import variations_of

__all__ = [
    "MOST_RECORDINGS",
    "Progress",
    "Sweep",
    "chunks_of",
    "planned",
    "run",
    "run_to_folder",
]

TRIES = 2  # of a row by itself, after its chunk was lost
MOST_RECORDINGS = 100
ROOM = 256 << 20  # bytes of Snapshots that are kept; paths that leave others begin at step 0 beyond that
EXHAUSTED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@dataclass
class Progress:
    """How far a sweep is.

    Attributes
    ----------
    done, total : int
        Rows.
    failing, errors : int
        Rows whose verdict is ``fail`` and ``error``.
    resumed : int
        Rows that were there already.
    elapsed : float
        [s] since it began or was resumed.
    """

    done: int = 0
    total: int = 0
    failing: int = 0
    errors: int = 0
    resumed: int = 0
    elapsed: float = 0.0

    @property
    def rate(self) -> float:
        """Rows per second."""
        return (self.done - self.resumed) / max(self.elapsed, 1e-9)

    @property
    def left(self) -> float | None:
        """Time left [s]; None where nothing is done yet."""
        rate = self.rate
        return (self.total - self.done) / rate if rate > 0.0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        counts = {"done": self.done, "total": self.total, "failing": self.failing, "errors": self.errors}
        return counts | {"rate": round(self.rate, 3), "left": None if self.left is None else round(self.left, 1)}


class Sweep:
    """A sweep that is being run.

    Parameters
    ----------
    folder : Folder
    pool : Pool
    record : str
        Which runs are recorded: ``failed``, ``all`` or ``none``.
    recordings : int
        Largest number of failed runs that are recorded: the first by row.
    listener : callable, optional
        Called with the `Progress` whenever it changes.
    """

    def __init__(
        self,
        folder: Folder,
        pool: Pool,
        *,
        record: str = "failed",
        recordings: int = MOST_RECORDINGS,
        listener: Callable[[Progress], None] | None = None,
    ) -> None:
        self.folder, self.pool, self.plan = folder, pool, folder.plan
        self.names = tuple(one.key for one in self.plan.variations)
        self.table = Table(folder.path, folder.columns, folder.version)
        self.record, self.recordings = record, recordings
        self.progress = Progress()
        self._listener = listener
        self._began = time.monotonic()
        self._partial: dict[int, int] = {}  # rows done of chunks in flight
        self._failed: list[int] = []  # the first failing rows, as many as are still recorded
        self._pieces: dict[int, tuple[Chunk, dict[int, dict[str, Any]]]] = {}  # chunks that run row by row
        self._tries: dict[int, int] = {}
        self.pasts: dict[int, list[Any]] = {}  # of paths of a rare event, whose runs others may continue

    def run(self, chunks: Iterator[Chunk], total: int) -> None:
        """Run all chunks that have no part yet, and merge the parts; one chunk per worker is in flight, and in memory.

        Raises
        ------
        OSError
            If a part cannot be written; what has been written stays, and can be resumed.
        """
        self.start(total)
        self.work(chunks)
        with suppress(OSError):  # the rows are there
            merge(self.table.folder)

    def start(self, total: int) -> None:
        """Count what is there."""
        self._began = time.monotonic()
        self.progress.total = total
        self._count_done()

    def work(self, chunks: Iterator[Chunk]) -> None:
        """Run chunks that have no part yet."""
        waiting = self._missing(chunks)
        again: deque[Chunk] = deque()
        in_flight = 0
        while True:
            while self.pool.free > 0:
                chunk = again.popleft() if again else next(waiting, None)
                if chunk is None:
                    break
                self.pool.submit(self.plan, chunk)
                in_flight += 1
            if not in_flight:
                break
            try:
                ended = self.pool.wait(0.5, self._note)
            except OSError as reason:
                if reason.errno not in EXHAUSTED:
                    raise
                raise self._stopped(reason, self.folder.path) from None
            for done in ended:
                in_flight -= 1
                self._partial.pop(done.chunk.number, None)
                again.extend(self._take(done))
            self._tell()
        self._tell()

    def _missing(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        there = self.table.done()
        versions = self.folder.manifest["identity"]["version"]
        for chunk in chunks:
            if chunk.number not in there:
                budget = self.recordings - sum(row < chunk.points[0].row for row in self._failed)
                keep = self.record if self.record != "failed" or budget > 0 else "none"
                folder = str(self.folder.path.absolute())
                yield chunk._replace(record=keep, recordings=budget, folder=folder, versions=versions)

    def _take(self, done: Done) -> list[Chunk]:
        """Write the rows of a chunk; return what has to run again because its worker died."""
        number = done.chunk.number
        if number in self._pieces:
            return self._take_piece(done)
        if done.rows is not None:
            self._write(number, done.rows)
            return []
        self._pieces[number] = done.chunk, {}
        return [done.chunk._replace(points=(point,)) for point in done.chunk.points]

    def _take_piece(self, done: Done) -> list[Chunk]:
        """Take a single row of a chunk whose worker had died."""
        number, point = done.chunk.number, done.chunk.points[0]
        whole, rows = self._pieces[number]
        if done.rows is None:
            self._tries[point.row] = self._tries.get(point.row, 0) + 1
            if self._tries[point.row] < TRIES:
                return [done.chunk]
            rows[point.row] = failed_row(point, self.names, f"the run ended its worker: {done.reason}")
        else:
            rows[point.row] = done.rows[0]
        if len(rows) == len(whole.points):
            del self._pieces[number]
            self._write(number, [rows[one.row] for one in whole.points])
        return []

    def _write(self, number: int, rows: Sequence[Mapping[str, Any]]) -> None:
        try:
            self.table.write(number, rows)
        except OSError as reason:
            raise self._stopped(reason, self.table.folder) from None
        self._count(row["verdict"] for row in rows)
        if self.record == "failed":
            self._trim([row["row"] for row in rows if row["verdict"] != "pass" and row.get("digest")])
        if sum(len(past.snapshot) for pasts in self.pasts.values() for past in pasts) < ROOM:
            self.pasts |= {row["row"]: row["pasts"] for row in rows if "pasts" in row}

    def _stopped(self, reason: OSError, place: Path) -> OSError:
        """Say how to continue after rows or recordings could not be written."""
        text = f"{reason.strerror or reason}; what is done is kept: 'cbsim sweep resume {self.folder.path}' continues"
        return OSError(reason.errno or errno.EIO, text, str(place))

    def _count(self, verdicts: Iterator[str]) -> None:
        for verdict in verdicts:
            self.progress.done += 1
            self.progress.failing += verdict == "fail"
            self.progress.errors += verdict == "error"

    def _trim(self, failed: Sequence[int]) -> None:
        """Keep the recordings of the first failing rows; a chunk does not know those of chunks that ran beside it."""
        ranked = sorted({*self._failed, *failed})
        self._failed = ranked[: self.recordings]
        for row in ranked[self.recordings :]:
            recording_file(self.folder.path, row).unlink(missing_ok=True)

    def _count_done(self) -> None:
        there = 0
        with suppress(UsageError):  # nothing is there yet
            for batch in read(self.folder.path, ["row", "verdict"]).to_batches():
                self._count(iter(batch.column("verdict").to_pylist()))
                there += self._recorded(batch) if self.record == "failed" else 0
        self.recordings = max(0, self.recordings - there)
        self.progress.resumed = self.progress.done

    def _recorded(self, batch: Any) -> int:
        """Count failing rows that have recordings, which stay."""
        rows = zip(batch.column("row").to_pylist(), batch.column("verdict").to_pylist(), strict=True)
        return sum(verdict != "pass" and recording_file(self.folder.path, row).is_file() for row, verdict in rows)

    def _note(self, number: int, rows: int) -> None:
        self._partial[number] = rows

    def _tell(self) -> None:
        self.progress.elapsed = time.monotonic() - self._began
        if self._listener is not None:
            shown = replace(self.progress, done=self.progress.done + sum(self._partial.values()))
            self._listener(shown)


def chunks_of(space: Space, size: int) -> Iterator[Chunk]:
    """Cut a space into chunks."""
    for number, first in enumerate(range(0, len(space), size)):
        yield Chunk(number, tuple(space[row] for row in range(first, min(first + size, len(space)))))


def planned(  # noqa: PLR0913 - the public face spells out every option
    scenario: str | Path,
    vary: Mapping[str, object] | Sequence[str] = (),
    *,
    where: Sequence[str] = (),
    sample: int | None = None,
    method: str = "",
    sample_seed: int = 1,
    planner: str | Mapping[str, str] | None = None,
    settings: Mapping[str, object] | None = None,
    seed: int | None = None,
    step: float | None = None,
    duration: float | None = None,
    deadline: float | None = None,
    metrics: Sequence[str] | None = None,
    search: Mapping[str, Any] | None = None,
    jobs: int = 1,
) -> Plan:
    """Combine the sweep of a scenario with what a caller varies.

    Raises
    ------
    UsageError, FileError
        If there are no points, or infinitely many; if the scenario cannot be read.
    """
    spec = scenario_sweep(str(scenario))
    given = variations_of(vary)
    if search:
        if sample is not None or method:
            raise UsageError("a search chooses its points itself: --sample and --method are for sweeps")
        named = {one.key: one for one in spec.variations} | {one.key: one for one in given}
        variations, rows, chosen = tuple(named.values()), 1, ""
        variations = () if search["kind"] == "rare" else variations
        list(map(check, variations))
    else:
        space = space_of(spec, given, where=tuple(where), sample=sample, method=method, seed=sample_seed)
        variations, rows, chosen = space.variations, len(space), space.method
    if not variations and (search or {}).get("kind") != "rare":
        raise UsageError("nothing is varied: give --vary key=values, or 'sweep: …' in the scenario")
    return Plan(
        str(scenario),
        {"": planner} if isinstance(planner, str) else dict(planner or {}),
        {key: str(value) for key, value in (settings or {}).items()},
        *(seed, step, duration, deadline),
        variations,
        (*spec.where, *where),
        chosen,
        None if search else sample or spec.sample,
        sample_seed,
        None if metrics is None else tuple(metrics),
        search=dict(search or {}),
        chunk=chunk_size(rows, jobs),
        folder=str(Path.cwd()),
    )


def scenario_sweep(scenario: str) -> SweepSpec:
    """Read the `sweep` of a scenario."""
    from cbsim.loading.scenario_file import read_scenario

    return read_scenario(scenario).sweep


def run(
    scenario: str | Path,
    vary: Mapping[str, object] | Sequence[str] = (),
    *,
    folder: str | Path,
    jobs: int | None = None,
    record: str = "failed",
    recordings: int = MOST_RECORDINGS,
    progress: Callable[[Progress], None] | None = None,
    pool: Pool | None = None,
    **options: Any,
) -> Any:
    """Run a scenario many times.

    Parameters
    ----------
    scenario : str or Path
    vary : mapping or sequence of str
        Key → values such as ``"5:64:1"``, a list, or what a scenario says; or texts ``key=values``.
    folder : str or Path
        Of the results; it is made.
    jobs : int, optional
        Worker processes; by default one per core; 0 runs everything in this process.
    record : str
        Which runs are recorded: ``failed``, ``all`` or ``none``.
    recordings : int
        Largest number of failed runs that are recorded: the first by row.
    progress : callable, optional
        Called with a `Progress`.
    pool : Pool, optional
        Where runs happen, in place of processes of this machine.
    **options
        `where`, `sample`, `method`, `sample_seed`, `planner`, `settings`, `seed`, `step`, `duration`, `deadline` and
        `metrics`, as of the command line.

    Returns
    -------
    pyarrow.Table
        A row per run.
    """
    settled: dict[str, Any] = {"jobs": jobs, "record": record, "recordings": recordings}
    settled |= {"progress": progress, "pool": pool}
    run_to_folder(scenario, vary, folder=folder, **settled, **options)
    return read(folder)


def run_to_folder(
    scenario: str | Path,
    vary: Mapping[str, object] | Sequence[str],
    *,
    folder: str | Path,
    jobs: int | None,
    record: str,
    recordings: int,
    progress: Callable[[Progress], None] | None,
    pool: Pool | None,
    **options: Any,
) -> None:
    """Run a sweep as `run` does, without reading its table, which may be larger than memory."""
    if record not in RECORDED:
        raise UsageError(f"record is '{record}', expected one of {', '.join(RECORDED)}")
    count = available_cores() if jobs is None else jobs
    plan = planned(scenario, vary, jobs=count, **options)
    space = plan.space()
    workers = pool_of(count) if pool is None else pool
    try:
        made = begin(folder, plan, workers, space[0])
        sweep = Sweep(made, workers, record=record, recordings=recordings, listener=progress)
        sweep.run(chunks_of(space, plan.chunk), len(space))
    finally:
        workers.close()
