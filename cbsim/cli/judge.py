"""``cbsim judge``: evaluation of a scenario's expectations on a recording."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from typing import Annotated

import typer

from cbsim.cli.output import EXIT_CODES, print_problems, print_result, print_status, progress, write_json
from cbsim.cli.recordings import exit_if_damaged, open_recording, report_ending
from cbsim.errors import Problems

__all__ = ["judge"]


def judge(
    recording: Annotated[str, typer.Argument(metavar="REC", help="A recording.")],
    expect: Annotated[
        str | None, typer.Option(metavar="SCENARIO", help="Evaluate the expectations of this scenario instead.")
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write what rules measure of the bots as .csv, .json or .parquet."),
    ] = None,
    json: Annotated[str | None, typer.Option(help="Write the result as JSON to a file, or to '-'.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print failed checks only.")] = False,
) -> None:
    """Evaluate the checks of a recording; exit 0 if all passed, 1 if one failed, 2 on damage, 3 if cbsim failed."""
    from cbsim.evaluation.judge import judge as decide
    from cbsim.evaluation.judge import scene_of
    from cbsim.loading.scenario_file import read_scenario

    opened = open_recording(recording)
    problems = Problems()
    with progress(f"judging {recording}", None, quiet=quiet):
        scene = None
        if expect is not None:
            asked = read_scenario(expect)
            scene = replace(scene_of(opened), expectations=asked.expect, score=asked.score)
        found = decide(opened, scene)
        if metrics is not None:
            from cbsim.evaluation.metrics import metrics as measure
            from cbsim.evaluation.metrics import write_metrics

            write_metrics(measure(opened, scene=scene), metrics)
        report_ending(recording, opened, problems)
    print_problems(problems, quiet=quiet)
    checks, verdict = found.checks, found.verdict
    steps, time = len(opened), float(opened.times[-1]) if len(opened) else 0.0
    if json is not None:
        told = {"scenario": opened.header.scenario, "verdict": verdict, "checks": [asdict(check) for check in checks]}
        scored = {} if found.score is None else {"score": found.score.to_dict()}
        write_json({**told, **scored, "steps": max(0, steps - 1), "time": time}, json)
    if json != "-" and not quiet:
        judged = "" if checks else " (0 checks)"
        print_result(f"{opened.header.scenario}: {verdict}{judged}   {time:g} s in {max(0, steps - 1)} steps")
    for check in checks:
        line = f"{check.status}  {check.name}: {check.message}"
        if json != "-" and not quiet:
            print_result(f"  {line}")
        elif not check.passed:
            print_status(line)
    if found.score is not None and json != "-" and not quiet:
        for line in found.score.lines():
            print_result(f"  {line}")
    exit_if_damaged(problems)
    sys.exit(EXIT_CODES[verdict])
