"""``cbsim run``: simulation of a scenario, with checks and recording."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbsim.cli.interrupts import exit_callbacks
from cbsim.cli.list import shipped_scenarios
from cbsim.cli.options import file_named, may_replace, option_file, pairs
from cbsim.cli.output import (
    EXIT_CODES,
    announce_compilation,
    has_compiled,
    print_result,
    print_status,
    print_warnings,
    progress,
    write_json,
)
from cbsim.errors import CbsimError, Problems, UsageError
from cbsim.paths import is_regular, scenario_name, stored_path, writing

if TYPE_CHECKING:
    from cbsim.evaluation.junit import Failure
    from cbsim.evaluation.outcome import MakeRecorder, Outcome
    from cbsim.simulation.loop import RunObserver
    from cbsim.viewer.progress_window import Progress
    from cbsim.world.world import World

__all__ = ["run"]

NOT_BEGUN = "interrupted before the first step"


def run(
    scenario: Annotated[
        str | None,
        typer.Argument(help="A shipped scenario, or a scenario or model file.", autocompletion=shipped_scenarios),
    ] = None,
    rndf: Annotated[str | None, typer.Option(help="Road network; replaces the scenario's.")] = None,
    objects: Annotated[str | None, typer.Option(help="Object file, v1 or v2; replaces the scenario's.")] = None,
    mdf: Annotated[str | None, typer.Option(help="Mission; replaces the scenario's.")] = None,
    duration: Annotated[float | None, typer.Option(help="Duration of the run [s].")] = None,
    step: Annotated[float | None, typer.Option(help="Length of a step [s].")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of every random stream.")] = None,
    planner: Annotated[list[str] | None, typer.Option(help="[NAME=]module:Class of a planner; repeatable.")] = None,
    record: Annotated[str | None, typer.Option(help="Write a recording (MCAP).")] = None,
    foxglove: Annotated[
        bool, typer.Option("--foxglove", help="Add channels for Foxglove and Lichtblick to the recording.")
    ] = False,
    foxglove_serve: Annotated[
        str | None,
        typer.Option(metavar="[HOST:PORT]", help="Serve the run to Foxglove and Lichtblick, in real time."),
    ] = None,
    foxglove_origin: Annotated[
        list[str] | None, typer.Option(help="Origins of web pages that may connect, as https://host; '*' for all.")
    ] = None,
    json: Annotated[str | None, typer.Option(help="Write the result as JSON to a file, or to '-'.")] = None,
    junit: Annotated[str | None, typer.Option(help="Write the result as JUnit XML to a file.")] = None,
    deadline: Annotated[float | None, typer.Option(help="Wall-clock limit of a planner's decision [s].")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="key=value: setting of the scenario or model.")
    ] = None,
    view: Annotated[bool, typer.Option("--view", help="Show the run in a window.")] = False,
    realtime: Annotated[
        float | None, typer.Option(metavar="[X]", help="Run at X times real time; by default 1.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Missing sensor confs are errors.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Run a scenario; exit 0 if every check passed, 1 if one failed."""
    targets = {"--record": record, "--json": None if json == "-" else json, "--junit": junit}
    _check_targets(targets)
    if foxglove and record is None:
        raise UsageError("--foxglove needs a recording: give one with --record")
    if foxglove_origin and foxglove_serve is None:
        raise UsageError("--foxglove-origin needs --foxglove-serve")
    report = _Report(scenario_name(scenario or objects or rndf or ""), json, junit and str(Path(junit).absolute()))
    exit_callbacks.append(report.left)
    try:
        with _output_kept_for_result(json):
            options: dict[str, Any] = {
                "rndf": option_file(rndf, "rndf"),
                "objects": option_file(objects, "objects"),
                "mdf": option_file(mdf, "mdf"),
                "step": step,
                "seed": seed,
                "duration": duration,
            }
            seats, settings = pairs(planner or [], "--planner", default=""), pairs(set_ or [], "--set")
            options |= {"planner": seats, "settings": settings, "strict": strict, "deadline": deadline}
            world, view = _load(scenario, options, view=view, quiet=quiet)
            serve = None if foxglove_serve is None else (foxglove_serve, tuple(foxglove_origin or ()))
            with _observers(world, realtime, view=view, serve=serve, quiet=quiet) as observer:
                outcome = _execute(world, targets, observer, foxglove=foxglove, quiet=quiet)
    except KeyboardInterrupt as stop:
        report.interrupted(stop)
        raise KeyboardInterrupt(_interrupted(stop, record)) from None
    except Exception as error:
        report.fail(error)
        raise
    finally:
        exit_callbacks.remove(report.left)
    report.write(outcome)
    if quiet:
        _print_failures(outcome)
    else:
        _print(outcome, record, whole=json != "-")
    sys.exit(EXIT_CODES[outcome.verdict])


def _load(scenario: str | None, options: dict[str, Any], *, view: bool, quiet: bool) -> tuple[World, bool]:
    """Load a World with options of `cbsim.loading.load.load`, and print warnings even if that fails.

    With `view`, a window shows the progress. The second result tells whether the window is still open.
    """
    problems = Problems()
    load = partial(_loaded, scenario, options, problems, quiet=quiet)
    try:
        if not view:
            return load(), False
        from cbsim.viewer.screen import require_screen

        require_screen("a run without --view needs none")
        named = file_named(scenario or options["objects"] or options["rndf"] or "")
        if not is_regular(named):  # reported before a window is opened
            return load(), True
        return _load_in_window(load, Path(named).name)
    finally:
        print_warnings(problems, quiet=quiet)


def _loaded(scenario: str | None, options: dict[str, Any], problems: Problems, *, quiet: bool) -> World:
    announce_compilation(quiet=quiet)
    from cbsim.loading.load import load

    return load(scenario, **options, problems=problems)


def _load_in_window(load: Callable[[], World], name: str) -> tuple[World, bool]:
    """Load and compile while a window shows the progress; if it is closed, the run continues without it."""
    from cbsim.viewer.progress_window import WindowClosedError, run_in_progress_window

    def prepare(progress: Progress) -> World:
        from cbsim.simulation.rehearsal import compiled

        return compiled(load, progress)

    try:
        return run_in_progress_window(prepare, name), True
    except WindowClosedError as closed:
        return closed.future.result(), False


def _output_kept_for_result(json: str | None) -> AbstractContextManager[object]:
    """Reserve standard output for the result, if it goes there: output of planners goes to standard error."""
    return redirect_stdout(sys.stderr) if json == "-" else nullcontext()


class _Report:
    """Files of the result, or of the error that prevents one."""

    def __init__(self, scenario: str, json: str | None, junit: str | None) -> None:
        self.scenario = scenario
        self.json = json if json is None or json == "-" else str(Path(json).absolute())
        self.junit = junit

    def write(self, outcome: Outcome) -> None:
        """Write the result."""
        if self.json is not None:
            write_json(outcome.to_dict(), self.json)
        self._write_junit(outcome)

    def fail(self, error: Exception) -> None:
        """Write the error; failures to write are ignored in favour of the error itself."""
        message = str(error) if isinstance(error, CbsimError | OSError) else f"{type(error).__name__}: {error}"
        self._write_json({"scenario": self.scenario, "verdict": "error", "checks": [], "message": message})

    def interrupted(self, stop: KeyboardInterrupt | None = None) -> None:
        """Write the progress of an interrupted run."""
        told = {"scenario": self.scenario, "verdict": "error", "checks": [], "message": NOT_BEGUN}
        self._write_json(getattr(stop, "to_dict", lambda: told)())

    def left(self) -> None:
        """Write the same before the process ends immediately, whatever standard output is redirected to."""
        with redirect_stdout(sys.__stdout__):
            self.interrupted()

    def _write_json(self, told: dict[str, Any]) -> None:
        """Write a replacement for the result."""
        with suppress(UsageError):
            if self.json is not None and may_replace(self.json):
                write_json(told, self.json)
        if self.junit is not None and may_replace(self.junit):
            from cbsim.evaluation.junit import Failure

            with suppress(UsageError):
                self._write_junit(Failure(told["scenario"], told["message"]))

    def _write_junit(self, result: Outcome | Failure) -> None:
        if self.junit is None:
            return
        from cbsim.evaluation.junit import junit

        with writing(self.junit):
            Path(self.junit).write_bytes(junit([result]))


def _interrupted(stop: KeyboardInterrupt, record: str | None) -> str:
    """Describe the progress of an interrupted run, and what of it is recorded."""
    if not getattr(stop, "steps", 0):
        return NOT_BEGUN
    kept = "" if record is None else f"; '{record}' holds it up to there: judge, replay, report, plot and view read it"
    return f"{stop}{kept}"


def _check_targets(targets: dict[str, str | None]) -> None:
    """Refuse two options that name the same file."""
    named: dict[Path, str] = {}
    for option, target in targets.items():
        if target is not None and (other := named.setdefault(Path(target).absolute(), option)) != option:
            raise UsageError(f"{other} and {option} both name '{target}'")


@contextmanager
def _observers(
    world: World, realtime: float | None, *, view: bool, serve: tuple[str, tuple[str, ...]] | None, quiet: bool
) -> Iterator[RunObserver | None]:
    """Create the observers of the run: a window or a real-time clock, and a Foxglove server."""
    from cbsim.simulation.pace import Pace

    with ExitStack() as leaving:
        observer: RunObserver | None = (
            None if realtime is None and serve is None else Pace(1.0 if realtime is None else realtime)
        )
        if view:
            from cbsim.viewer.live_view import LiveView

            observer = live_view = LiveView(world, 1.0 if realtime is None else realtime)
            leaving.callback(live_view.close)
        if serve is not None and observer is not None:
            from cbsim.foxglove.server import Served

            address, origins = serve
            observer = served = Served(world, address, observer, origins)
            leaving.callback(served.close)
            if not quiet:
                print_status(f"serving at {served.url}")
        yield observer


def _execute(
    world: World, targets: dict[str, str | None], observer: RunObserver | None, *, foxglove: bool, quiet: bool
) -> Outcome:
    from cbsim.evaluation.outcome import execute

    record = targets["--record"]
    _check_drivers(world)
    for option, target in targets.items():
        if target is not None:
            _check_not_input(world, option, target)
    with progress(f"simulating {world.name}", world.settings.duration, quiet=quiet) as update:
        try:
            return execute(
                world,
                record=record,
                recorder=_recorder(foxglove=foxglove),
                progress=lambda done: update(done * world.step),
                observer=observer,
            )
        except OSError as reason:
            if record is None or reason.filename is not None:
                raise
            raise OSError(reason.errno, f"cannot write the recording: {reason.strerror}", record) from None


def _recorder(*, foxglove: bool) -> MakeRecorder | None:
    if not foxglove:
        return None
    from cbsim.foxglove import foxglove_recorder

    return foxglove_recorder


def _check_drivers(world: World) -> None:
    """Refuse two planners for one vehicle: one by name, and one for the first bot."""
    seats = [name for name, _ in world.settings.planners]
    from cbsim.planner.driver import default_driven_object

    first = default_driven_object(world)
    if "" in seats and first in seats:
        raise UsageError(f"two planners for '{first}': a planner without a name drives the first bot")


def _check_not_input(world: World, option: str, target: str) -> None:
    """Refuse to overwrite a file that the run has read."""
    for name in map(stored_path, world.scene.sources):
        if name.exists() and Path(target).exists() and Path(target).samefile(name):
            raise UsageError(f"{option} '{target}' would overwrite a file that the run reads")


def _print_failures(outcome: Outcome) -> None:
    """Print failed checks, one line each; of a planner's traceback, the last line."""
    for check in outcome.checks:
        if not check.passed:
            print_status(f"{check.status}  {check.name}: {(check.message.strip().splitlines() or [''])[-1].strip()}")


def _print(outcome: Outcome, record: str | None, *, whole: bool) -> None:
    """Print warnings of the run, and its result unless that goes to standard output as JSON."""
    for complaint in outcome.complaints:
        print_status(f"warning: {complaint}")
    if not outcome.checks and not outcome.world.scene.alone:
        print_status("warning: the scenario has no expectations ('expect: …'), so that the run cannot fail")
    if not whole:
        return
    data: dict[str, Any] = outcome.to_dict()
    slow = " (including compilation of kernels: the next run is faster)" if has_compiled() else ""
    judged = "" if data["checks"] else " (0 checks)"
    print_result(f"{data['scenario']}: {data['verdict']}{judged}   {outcome.summary.ran}{slow}")
    for check in outcome.checks:
        print_result(f"  {check.status}  {check.name}: {check.message}")
    for line in outcome.score.lines() if outcome.score is not None else ():
        print_result(f"  {line}")
    for item in data["objects"][:20]:
        x, y, z = item["position"]
        print_result(
            f"  {item['name']:<24} {item['type']:<10} x {x:9.2f}  y {y:9.2f}  z {z:6.2f} m   {item['speed']:6.2f} m/s"
        )
    if len(data["objects"]) > 20:
        print_result(f"  … and {len(data['objects']) - 20} more objects")
    if record is not None:
        print_result(f"  recorded to {record}")
