"""`rare`: probability of a rare event, by adaptive multilevel splitting over forked Snapshots."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from cbsim.errors import UsageError
from cbsim.sweep.engine import MOST_RECORDINGS, Progress, Sweep, planned
from cbsim.sweep.folder import Folder
from cbsim.sweep.plan import RECORDED, Plan
from cbsim.sweep.preparation import begin, require_same
from cbsim.sweep.runs.paths import LONGEST_CHAIN, Path, marks_of
from cbsim.sweep.runs.pool import Pool, available_cores, pool_of
from cbsim.sweep.runs.row import FORKED
from cbsim.sweep.runs.task import Chunk
from cbsim.sweep.splitting import Estimate, Mark, Restart, Splitting, combined
from cbsim.sweep.table import read
from cbsim.world.forks import MOST_BRANCHES

__all__ = ["RareEvent", "event_of", "path_of_row", "rare", "rare_result", "result_lines", "resume_rare"]

PARTICLES, REPEATS, CHUNK = 50, 10, 5
RESULT = "rare.json"


class RareEvent(NamedTuple):
    """Estimated probability of a rare event.

    Attributes
    ----------
    event : str
        ``margin.ttc ≤ 0.5``.
    estimate : Estimate
        With an interval at 95 %.
    paths : int
        Runs, most of which began at a fork.
    cost : float
        Simulated steps, in whole runs.
    iterations : tuple of int
        Of each repetition.
    """

    event: str
    estimate: Estimate
    paths: int
    cost: float
    iterations: tuple[int, ...]

    @property
    def probability(self) -> float:
        """The estimate."""
        return self.estimate.probability

    @property
    def interval(self) -> tuple[float, float]:
        """Confidence interval at 95 %."""
        return self.estimate.low, self.estimate.high

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        low, high = self.interval
        return {
            "event": self.event, "probability": self.probability, "low": low, "high": high,
            "interval": self.estimate.method, "repetitions": list(self.estimate.repetitions),
            "iterations": list(self.iterations), "paths": self.paths, "cost": self.cost,
        }  # fmt: skip


def rare(  # noqa: PLR0913 - the public face spells out every option
    scenario: str | FilePath,
    metric: str,
    *,
    folder: str | FilePath,
    at_most: float | None = None,
    at_least: float | None = None,
    particles: int = PARTICLES,
    repeats: int = REPEATS,
    kill: int | None = None,
    every: float = 0.0,
    seed: int = 1,
    jobs: int | None = None,
    record: str = "none",
    recordings: int = MOST_RECORDINGS,
    progress: Callable[[Progress], None] | None = None,
    pool: Pool | None = None,
    **options: Any,
) -> RareEvent:
    """Estimate the probability that a metric of a run comes to a value.

    Parameters
    ----------
    scenario : str or Path
        With traffic, errors of drivers, noise or latencies that are random, and planners with `save` and `restore`.
    metric : str
        The level: ``margin.ttc``, or ``Other: margin.ttc`` of another bot than the first.
    folder : str or Path
        Of the results; it is made.
    at_most, at_least : float
        One of them: the value with which the event has happened.
    particles : int
        Runs at a time.
    repeats : int
        Independent repetitions; the confidence interval is that of their mean.
    kill : int, optional
        Least number of runs that are replaced at a time; by default a tenth.
    every : float
        Time between two looks at the metric [s]; by default every step.
    seed : int
        Of everything; the same seed gives the same rows.
    record : str
        Which paths are recorded, by runs from step 0: ``failed``, those that reach the event, ``all`` or ``none``.
    jobs, recordings, progress, pool, **options
        As of `cbsim.sweep.run`: `planner`, `settings`, `step`, `duration`, `deadline`.

    Returns
    -------
    RareEvent

    Raises
    ------
    FileError, UsageError
        If nothing is random in what is yet to happen, a planner cannot be continued, or the metric is no extreme.
    """
    if (at_most is None) == (at_least is None):
        raise UsageError("a rare event has one of at_most and at_least")
    bound = at_most if at_least is None else at_least
    assert bound is not None
    chosen = max(1, particles // 10) if kill is None else kill
    if particles < 2 or repeats < 1 or not 1 <= chosen < particles:
        counts = f"{particles} particles, {chosen} of them replaced at a time, {repeats} repeats"
        raise UsageError(f"{counts}: expected two or more particles, fewer of them replaced, and one repeat or more")
    if not math.isfinite(bound) or not 0.0 <= every < math.inf:
        raise UsageError(
            f"the bound {bound!r} and the time between looks {every!r} s must be finite numbers, the time ≥ 0"
        )
    if record not in RECORDED:
        raise UsageError(f"record is '{record}', expected one of {', '.join(RECORDED)}")
    how = {
        "kind": "rare", "column": metric, "rises": at_least is not None, "bound": bound,
        "target": bound if at_most is None else -bound, "particles": particles, "repeats": repeats, "kill": chosen,
        "every": every,
    }  # fmt: skip
    plan = planned(scenario, (), search=how, sample_seed=seed, jobs=jobs or 1, **options)
    workers = pool_of(available_cores() if jobs is None else jobs) if pool is None else pool
    try:
        made = begin(folder, plan, workers, first_path(plan), extra=FORKED)
        return _estimate(Sweep(made, workers, record=record, recordings=recordings, listener=progress))
    finally:
        workers.close()


def resume_rare(folder: str | FilePath, *, jobs: int | None, pool: Pool | None, **options: Any) -> RareEvent:
    """Continue an estimate; parameters as of `cbsim.sweep.resume`."""
    opened = Folder.opened(folder)
    options["listener"] = options.pop("progress")
    workers = pool_of(jobs) if pool is None else pool
    try:
        require_same(opened, workers, first_path(opened.plan))
        return _estimate(Sweep(opened, workers, **options))
    finally:
        workers.close()


def rare_result(folder: str | FilePath) -> dict[str, Any]:
    """Read the result of an estimate that is complete.

    Raises
    ------
    UsageError
        If it is not.
    """
    try:
        found: dict[str, Any] = json.loads((FilePath(folder) / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise UsageError(f"'{folder}' has no complete estimate: 'cbsim sweep resume {folder}' continues it") from None
    return found


def result_lines(found: Mapping[str, Any]) -> list[str]:
    """Describe a result, as of `rare_result`, for people."""
    cost = f"{found['paths']} paths, as many steps as {found['cost']:.0f} runs"
    if not found["probability"]:
        return [f"{found['event']}: never reached; {cost}; more particles may reach it"]
    interval = f"[{found['low']:.3g}, {found['high']:.3g}]"
    lines = [f"{found['event']}: probability {found['probability']:.3g} {interval} at 95 %; {cost}"]
    missed = sum(one == 0.0 for one in found["repetitions"])
    if missed:
        lines.append(f"  {missed} of {len(found['repetitions'])} repetitions did not reach it: ask for more particles")
    if found["interval"] == "asymptotic":
        lines.append("  the interval is that of an ideal level, and too narrow for others: ask for more repeats")
    return lines


def event_of(how: Mapping[str, Any]) -> str:
    """Describe the event of the settings of a search: ``margin.ttc ≤ 0.5``."""
    return f"{how['column']} {'≥' if how['rises'] else '≤'} {how['bound']:g}"


def path_of_row(row: Mapping[str, Any]) -> Path:
    """Path of a row, to be run again from step 0."""
    forks = tuple((int(step), int(branch)) for step, branch in json.loads(row["forks"]))
    parent = None if row["parent"] is None else int(row["parent"])
    level = marks_of(row)[0].level
    return Path(int(row["row"]), int(row["repetition"]), int(row["seed"]), parent, forks, level)


def first_path(plan: Plan) -> Path:
    """First path of a plan."""
    return Path(0, 0, _seed(plan.sample_seed, 0, 0))


def _seed(seed: int, repetition: int, particle: int) -> int:
    """Seed of a path from the start; 48 bits, so that it can be read and typed."""
    text = f"{seed}\0rare\0{repetition}\0{particle}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=6).digest(), "little")


def _estimate(sweep: Sweep) -> RareEvent:
    """Run all repetitions, one after another."""
    how = sweep.plan.search
    sweep.start(how["particles"] * how["repeats"])
    found: list[float] = []
    rounds: list[int] = []
    first = 0
    for number in range(how["repeats"]):
        one = _Repetition(sweep, number, first)
        found.append(one.run())
        rounds.append(one.iterations)
        first = one.next
        sweep.progress.total = first * how["repeats"] // (number + 1)
    sweep.progress.total = first
    sweep.work(iter(()))  # tells that it is done
    costs = read(sweep.folder.path, ["cost"])["cost"].to_pylist()
    result = RareEvent(event_of(how), combined(found, how["particles"]), first, math.fsum(costs), tuple(rounds))
    target = sweep.folder.path / RESULT
    unfinished = target.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(result.to_dict(), indent=1) + "\n", encoding="utf-8")
    unfinished.replace(target)
    return result


class _Repetition:
    """One repetition, and what is kept of the paths that are alive.

    Attributes
    ----------
    next : int
        Number of the next row.
    iterations : int
    """

    def __init__(self, sweep: Sweep, number: int, first: int) -> None:
        self.sweep, self.number, self.next, self.iterations = sweep, number, first, 0
        self._alive: dict[int, tuple[Path, list[Mark]]] = {}
        self._branch = 0

    def run(self) -> float:
        """Return the estimate."""
        how, seed = self.sweep.plan.search, self.sweep.plan.sample_seed
        splitting = Splitting(how["particles"], how["kill"], how["target"], (seed, self.number))
        asking = splitting.paths()
        wanted = next(asking)
        while True:
            paths = [self._path(restart, k) for k, restart in enumerate(wanted)]
            found = [(path.row, marks_of(row)) for path, row in zip(paths, self._made(paths), strict=True)]
            self._alive |= {path.row: (path, marks) for path, (_, marks) in zip(paths, found, strict=True)}
            try:
                wanted = asking.send(found)
            except StopIteration as ended:
                self.iterations = splitting.iterations
                self.sweep.pasts.clear()
                return float(ended.value)
            self._alive = {number: self._alive[number] for number in splitting.alive}
            for number in [one for one in self.sweep.pasts if one not in self._alive]:
                del self.sweep.pasts[number]

    def _path(self, restart: Restart, particle: int) -> Path:
        """Make a path with a row of its own."""
        row, self.next = self.next, self.next + 1
        if restart.parent is None:
            return Path(row, self.number, _seed(self.sweep.plan.sample_seed, self.number, particle))
        parent, marks = self._alive[restart.parent]
        mark = marks[restart.mark]
        self._branch += 1
        if self._branch >= MOST_BRANCHES:
            raise UsageError(f"a repetition needs {MOST_BRANCHES} forks or more: ask for fewer particles")
        chain = (*(one for one in parent.forks if one[0] < mark.step), (mark.step, self._branch))
        if len(chain) > LONGEST_CHAIN:
            raise UsageError(
                f"a run would be forked {len(chain)} times, more than {LONGEST_CHAIN}: ask for more particles"
            )
        pasts = self.sweep.pasts.get(parent.row)
        past = None if pasts is None else pasts[restart.mark]
        return Path(row, self.number, parent.seed, parent.row, chain, mark.level, past)

    def _made(self, paths: Sequence[Path]) -> list[dict[str, Any]]:
        """Run the paths, but for those that are there, and read their rows."""
        chunks = [Chunk(paths[k].row, tuple(paths[k : k + CHUNK])) for k in range(0, len(paths), CHUNK)]
        self.sweep.progress.total = max(self.sweep.progress.total, self.next)
        self.sweep.work(iter(chunks))
        rows = self.sweep.table.rows(chunk.number for chunk in chunks)
        for path, row in zip(paths, rows, strict=True):
            if (row["seed"], row["forks"]) != (path.seed, json.dumps(path.forks)):
                raise UsageError(f"row {path.row} of '{self.sweep.folder.path}' is not what this estimate chooses")
            if row["verdict"] == "error":
                raise UsageError(f"the estimate stops, since row {path.row} has no level: {row['failure']}")
        return rows
