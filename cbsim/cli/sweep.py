"""``cbsim sweep``: many runs of a scenario, resumed, compared, replayed and reported."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbsim.cli.list import shipped_scenarios
from cbsim.cli.options import pairs
from cbsim.cli.output import EXIT_CODES
from cbsim.cli.sweep_output import Told
from cbsim.errors import UsageError, did_you_mean, printable

if TYPE_CHECKING:
    from cbsim.sweep.engine import Progress

__all__ = ["sweep"]

ACTIONS = {"resume": 1, "diff": 2, "replay": 2, "report": 1}  # words that follow each
USAGE = "expected SCENARIO, 'resume DIR', 'report DIR', 'replay DIR ROW' or 'diff DIR DIR'"


def sweep(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="SCENARIO|ACTION",
            help="A scenario, or 'resume DIR', 'report DIR', 'replay DIR ROW' or 'diff A B'.",
            autocompletion=shipped_scenarios,
        ),
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUES", help="5:64:1, 5:64, 5,8,11, normal:10:2 or count:100; repeatable."),
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option(metavar="CONDITION", help="Constraint such as 'gap > 2 * speed'; repeatable.")
    ] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Draw so many points in place of the grid.")] = None,
    method: Annotated[
        str, typer.Option(metavar="METHOD", help="grid, latin (hypercube), sobol or pairwise points.")
    ] = "",
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the draw of points, or of the search.")] = None,
    minimize: Annotated[str, typer.Option(metavar="COLUMN", help="Search the smallest value: margin.ttc.")] = "",
    maximize: Annotated[str, typer.Option(metavar="COLUMN", help="Search the largest value.")] = "",
    boundary: Annotated[bool, typer.Option("--boundary", help="Search the boundary between pass and fail.")] = False,
    rare: Annotated[str, typer.Option(metavar="COLUMN", help="Estimate a small probability: margin.ttc.")] = "",
    at_most: Annotated[float | None, typer.Option(help="Of a rare event: value with which it has happened.")] = None,
    at_least: Annotated[float | None, typer.Option(help="The same of a metric that is a largest value.")] = None,
    particles: Annotated[int, typer.Option(min=2, help="Runs of a rare event at a time.")] = 50,
    repeats: Annotated[int, typer.Option(min=1, help="Independent repetitions of a rare event.")] = 10,
    every: Annotated[float, typer.Option(help="Time between two looks at its metric [s]; 0: every step.")] = 0.0,
    runs: Annotated[int, typer.Option(min=1, help="Number of runs of a search.")] = 200,
    batch: Annotated[int, typer.Option(min=1, help="Runs of a search that are chosen together.")] = 8,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="DIR", help="Folder of the results; by default 'sweep'.")
    ] = "",
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=0, help="Worker processes; by default one per core.")
    ] = None,
    ray: Annotated[str, typer.Option(metavar="ADDRESS", help="Run on a Ray cluster: its address, or 'auto'.")] = "",
    planner: Annotated[list[str] | None, typer.Option(help="[NAME=]module:Class of a planner; repeatable.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="key=value: setting that all runs have; repeatable.")
    ] = None,
    duration: Annotated[float | None, typer.Option(help="Duration of each run [s].")] = None,
    step: Annotated[float | None, typer.Option(help="Length of a step [s].")] = None,
    deadline: Annotated[float | None, typer.Option(help="Wall-clock limit of a planner's decision [s].")] = None,
    metrics: Annotated[
        str | None, typer.Option(metavar="RULES", help="Rules whose metrics are columns, with commas; or 'none'.")
    ] = None,
    record: Annotated[
        str, typer.Option(metavar="WHICH", help="Runs to record: failed, all or none; of a replay, the file.")
    ] = "",
    recordings: Annotated[int, typer.Option(min=0, help="At most so many failed runs are recorded.")] = 100,
    json: Annotated[str | None, typer.Option(help="Write progress and result as JSON lines, to a file or '-'.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Run a scenario many times; exit 0 if all runs passed, 1 if one failed, 3 if cbsim failed in one."""
    action = what[0] if what[0] in ACTIONS and not (len(what) == 1 and Path(what[0]).is_file()) else ""
    if len(what) != (1 + ACTIONS[action] if action else 1):
        hint = did_you_mean(what[0], ACTIONS)
        raise UsageError(f"{USAGE}, not '{' '.join(what)}'" + (f" ({hint})" if hint and not action else ""))
    with Told(json, quiet=quiet) as told:
        if action == "diff":
            _diff(what[1], what[2], told)
        if action == "replay":
            _replay(what[1], what[2], record, told)
        if action == "report":
            from cbsim.cli.sweep_report import report

            report(what[1], output, told)
            return
        options: dict[str, Any] = {"jobs": jobs, "record": _recorded(record), "recordings": recordings}
        options |= {"progress": told.progress, "pool": _cluster(ray)}
        if action == "resume" and _is_rare(what[1]):
            _rare(what[1], told, lambda: _resume(what[1], options | {"record": _recorded(record or "none")}))
        if action == "resume":
            _run(what[1], told, lambda: _resume(what[1], options))
        plan = {
            "where": where or [], "sample": sample, "method": method, "sample_seed": 1 if seed is None else seed,
            "planner": pairs(planner or [], "--planner", default=""), "settings": pairs(set_ or [], "--set"),
            "duration": duration, "step": step, "deadline": deadline, "metrics": _metrics(metrics),
        }  # fmt: skip
        folder = output or "sweep"
        if rare or at_most is not None or at_least is not None:
            how = {"at_most": at_most, "at_least": at_least, "particles": particles, "repeats": repeats, "every": every}
            if not rare or vary or where or sample is not None or method or minimize or maximize or boundary:
                raise UsageError(
                    "a rare event has --rare COLUMN with --at-most or --at-least, and varies nothing: give --set"
                )
            plan = {name: plan[name] for name in ("planner", "settings", "duration", "step", "deadline")}
            kept = {"seed": 1 if seed is None else seed, "record": _recorded(record or "none")}
            _rare(folder, told, lambda: _begin_rare(what[0], rare, folder, plan | how | options | kept))
        if minimize or maximize or boundary:
            plan |= {"minimize": minimize, "maximize": maximize, "boundary": boundary, "runs": runs, "batch": batch}
        _run(folder, told, lambda: _begin(what[0], vary or [], folder, plan | options))


def _begin(scenario: str, vary: list[str], folder: str, options: dict[str, Any]) -> None:
    if "boundary" in options:
        from cbsim.sweep.searching import search

        search(scenario, vary, folder=folder, **options)
        return
    from cbsim.sweep.engine import run_to_folder

    run_to_folder(scenario, vary, folder=folder, **options)


def _begin_rare(scenario: str, metric: str, folder: str, options: dict[str, Any]) -> None:
    from cbsim.sweep.rare_events import rare

    rare(scenario, metric, folder=folder, **options)


def _is_rare(folder: str) -> bool:
    from cbsim.sweep.folder import Folder

    return Folder.opened(folder).plan.search.get("kind") == "rare"


def _rare(folder: str, told: Told, work: Callable[[], None]) -> None:
    """Estimate a small probability; leave with 0, whatever it is."""
    from cbsim.sweep.rare_events import rare_result, result_lines

    _interruptible(folder, work)
    found = rare_result(folder)
    rows = f"  rows in {printable(folder)}/rows (Parquet); 'cbsim sweep replay {printable(folder)} ROW' runs one again"
    told.result({"verdict": "pass", "folder": folder, **found}, [*result_lines(found), rows])
    sys.exit(0)


def _resume(folder: str, options: dict[str, Any]) -> None:
    from cbsim.sweep.resuming import resume_in_folder

    resume_in_folder(folder, **options)


def _run(folder: str, told: Told, work: Callable[[], None]) -> None:
    """Run a sweep, and leave with the exit code of its verdicts."""
    _interruptible(folder, work)
    counts = told.last
    assert counts is not None
    verdict = "error" if counts.errors else "fail" if counts.failing else "pass"
    passed = counts.total - counts.failing - counts.errors
    told.result({"verdict": verdict, "folder": folder, "passed": passed, **counts.to_dict()}, _summary(folder, counts))
    sys.exit(EXIT_CODES[verdict])


def _interruptible(folder: str, work: Callable[[], None]) -> None:
    try:
        work()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; 'cbsim sweep resume {folder}' continues") from None


def _summary(folder: str, counts: Progress) -> list[str]:
    from cbsim.sweep.statistics import wilson

    passed = counts.total - counts.failing - counts.errors
    low, high = wilson(passed, counts.total)
    rate = f"pass rate {100.0 * passed / counts.total:.2f} % [{100.0 * low:.2f}, {100.0 * high:.2f}]"
    lines = [f"{counts.total} runs: {passed} passed, {counts.failing} failed, {counts.errors} errors; {rate}"]
    if counts.failing or counts.errors:
        lines += [f"  {line}" for line in _failures(folder)]
    lines += [f"  {line}" for line in _best(folder)]
    return [
        *lines,
        f"  rows in {printable(folder)}/rows (Parquet); 'cbsim sweep report {printable(folder)}' shows them",
    ]


def _failures(folder: str, most: int = 5) -> list[str]:
    """Describe the first runs that did not pass."""
    from cbsim.sweep.table import read

    table = read(folder, ["verdict", "failure"])
    bad = table.filter(_not_passed(table)).slice(0, most + 1).to_pylist()
    lines = [f"row {row['row']}: {row['verdict']}  {_last(row['failure'])[:160]}" for row in bad[:most]]
    return [*lines, "…"] if len(bad) > most else lines


def _best(folder: str) -> list[str]:
    """Describe the best runs of a search."""
    from cbsim.sweep.folder import Folder
    from cbsim.sweep.runs.row import parameter_column
    from cbsim.sweep.searching import best_rows

    plan = Folder.opened(folder).plan
    if not plan.search.get("column"):
        return []
    column, names = plan.search["column"], [parameter_column(one.key) for one in plan.variations]
    return [
        f"row {row['row']}: {column} {row[column]:.6g} with {', '.join(f'{name}={row[name]}' for name in names)}"
        for row in best_rows(folder)
    ]


def _not_passed(table: Any) -> Any:
    from cbsim.sweep.table import arrow

    return arrow("compute").not_equal(table["verdict"], "pass")


def _last(text: str | None) -> str:
    return ((text or "").strip().splitlines() or [""])[-1]


def _diff(before: str, after: str, told: Told) -> None:
    from cbsim.sweep.reports.comparison import compare

    found = compare(before, after)
    told.result(found.to_dict(), found.lines())
    sys.exit(1 if found.newly_failing else 0)


def _replay(folder: str, row: str, record: str, told: Told) -> None:
    from cbsim.sweep.again import command_of, point_of, replay
    from cbsim.sweep.folder import Folder

    if not row.isdecimal():
        raise UsageError(f"'{row}' is no row: expected a whole number from 0 on")
    if record in ("failed", "all", "none"):
        raise UsageError(f"--record {record} is for sweeps; a replay takes the name of a file")
    found = replay(folder, int(row), record or None)
    opened = Folder.opened(folder)
    command = command_of(opened, point_of(opened, found.row))
    same = not found.differences
    how = "the same in every bit" if same else "DIFFERS"
    lines = [f"row {row}: {found.made['verdict']}, digest {found.made['digest']}, {how}"]
    lines += [f"  {name}: {found.row[name]!r} in the sweep, {found.made[name]!r} now" for name in found.differences]
    lines += [f"  {line}" for line in (found.made["failure"] or "").splitlines()]
    result = {"row": int(row), "same": same, "differences": found.differences, "command": command, "result": found.made}
    told.result(result, [*lines, f"  {command}"])
    sys.exit(0 if same else 1)


def _cluster(address: str) -> Any:
    """Connect to a Ray cluster, if one is asked for."""
    if not address:
        return None
    from cbsim.sweep.runs.ray_pool import RayPool

    return RayPool(address)


def _recorded(text: str) -> str:
    if text not in ("", "failed", "all", "none"):
        raise UsageError(f"--record is '{text}', expected failed, all or none")
    return text or "failed"


def _metrics(text: str | None) -> list[str] | None:
    if text is None:
        return None
    return [] if text == "none" else [part.strip() for part in text.split(",") if part.strip()]
