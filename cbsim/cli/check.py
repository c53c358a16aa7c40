"""``cbsim check``: all problems of files, with their lines."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cbsim.cli.options import file_named, option_file
from cbsim.cli.output import counted, print_problems, print_status, progress, write_json
from cbsim.cli.recordings import check_recording, is_recording_file
from cbsim.errors import FileError, Problem, Problems, Severity, UsageError
from cbsim.paths import Files

__all__ = ["check"]


def check(
    files: Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Files of any known format.")] = None,
    rndf: Annotated[str | None, typer.Option(help="Network that missions and object files refer to.")] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of scenario files.")] = False,
    json: Annotated[str | None, typer.Option(help="Write the problems as JSON to a file, or to '-'.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Missing sensor confs are errors.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Lint files together; a network among them is used for missions and object files. Exit 2 if there are errors."""
    if schema:
        from cbsim.formats.scenario import schema as scenario_schema

        write_json(scenario_schema(), "-")
        return
    if not files:
        raise UsageError("nothing to check: name a file, or --schema")
    from cbsim.lint.files import lint_files

    problems, files, rndf = Problems(), [file_named(name) for name in files], option_file(rndf, "rndf")
    recordings = [name for name in files if is_recording_file(name)]
    others = [name for name in files if name not in recordings]
    with progress("checking", 2 * len(files), quiet=quiet) as update:
        for name in recordings:
            check_recording(name, problems)
        lint_files(others, rndf, problems, strict=strict, progress=lambda done: update(2 * len(recordings) + done))
        for name in others:
            _check_placed_models(name, problems, strict=strict)
    if json is not None:
        write_json([_row(problem) for problem in problems.in_order()], json)
    if json != "-":
        print_problems(problems, quiet=quiet, infos=True, stream="out")
        if not quiet:
            print_status(f"{len(files)} file{'s' if len(files) > 1 else ''}: {counted(problems)}")
    sys.exit(2 if problems.count(Severity.ERROR) else 0)


def _check_placed_models(name: str, problems: Problems, *, strict: bool) -> None:
    """Build the models of a scenario with its settings, as a run does; report what prevents it."""
    from cbsim.formats import read_file
    from cbsim.spec.scenario import Scenario

    files = Files([name])
    try:
        reading = read_file(name, files)
    except FileError:
        return
    if not isinstance(reading.spec, Scenario):
        return
    from cbsim.loading.loader import Loader
    from cbsim.loading.placed_models import placed_model

    loader = Loader(files, strict)
    loader.problems.extend(problems)  # avoids reporting problems twice
    for model in reading.spec.models:
        placed_model(model, {}, reading.spec.step, reading.source.folder, loader)
    own = [one for one in loader.problems if one.severity is Severity.ERROR or one.location.path == name]
    told = set(map(str, problems))
    problems.extend(one for one in own if str(one) not in told)


def _row(problem: Problem) -> dict[str, object]:
    also = None if problem.also is None else problem.also._asdict()
    return {
        "severity": str(problem.severity),
        "code": problem.code,
        "message": problem.message,
        "location": problem.location._asdict(),
        "hint": problem.hint,
        "also": also,
    }
