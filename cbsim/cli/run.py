"""``cbsim run``: run a scenario, judge it, record it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbsim.cli.list import shipped_scenarios
from cbsim.cli.options import file_named, may_replace, option_file, pairs
from cbsim.cli.output import (
    EXIT_CODES,
    announce_compilation,
    emit,
    has_compiled,
    print_warnings,
    progress,
    say,
    write_json,
)
from cbsim.cli.process import last_words
from cbsim.errors import CbsimError, Problems, UsageError
from cbsim.paths import is_regular, scenario_name, stored_path

if TYPE_CHECKING:
    from cbsim.evaluation.junit import Failure
    from cbsim.evaluation.outcome import MakeRecorder, Outcome
    from cbsim.simulation.observers import RunObserver
    from cbsim.viewer.progress_window import Progress
    from cbsim.world.world import World

__all__ = ["run"]

NOT_BEGUN = "interrupted before the first step"


def run(
    scenario: Annotated[
        str | None,
        typer.Argument(help="A shipped scenario, or a scenario or model file.", autocompletion=shipped_scenarios),
    ] = None,
    rndf: Annotated[str | None, typer.Option(help="Road network, in place of the scenario's.")] = None,
    objects: Annotated[str | None, typer.Option(help="Object file, v1 or v2, in place of the scenario's.")] = None,
    mdf: Annotated[str | None, typer.Option(help="Mission, in place of the scenario's.")] = None,
    duration: Annotated[float | None, typer.Option(help="How long to run [s].")] = None,
    step: Annotated[float | None, typer.Option(help="Length of a step [s].")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of every random stream.")] = None,
    planner: Annotated[list[str] | None, typer.Option(help="[NAME=]module:Class of a planner; repeatable.")] = None,
    record: Annotated[str | None, typer.Option(help="Write a recording (MCAP).")] = None,
    foxglove: Annotated[
        bool, typer.Option("--foxglove", help="Write into the recording what Foxglove and Lichtblick show, too.")
    ] = False,
    foxglove_serve: Annotated[
        str | None,
        typer.Option(metavar="[HOST:PORT]", help="Let Foxglove and Lichtblick look while it runs, in real time."),
    ] = None,
    foxglove_origin: Annotated[
        list[str] | None, typer.Option(help="Web pages that may look, too, as https://host; '*' for all.")
    ] = None,
    json: Annotated[str | None, typer.Option(help="Write the result as JSON to a file, or to '-'.")] = None,
    junit: Annotated[str | None, typer.Option(help="Write the result as JUnit XML to a file.")] = None,
    deadline: Annotated[float | None, typer.Option(help="Wall-clock time a planner has for a decision [s].")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="key=value, of a scenario or a model.")] = None,
    view: Annotated[bool, typer.Option("--view", help="Look at the run in a window.")] = False,
    realtime: Annotated[
        float | None, typer.Option(metavar="[X]", help="Keep to X times real time; without X, to real time.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Missing sensor confs are errors.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Run a scenario; exit 0 if every check passed, 1 if one failed."""
    targets = {"--record": record, "--json": None if json == "-" else json, "--junit": junit}
    _check_targets(targets)
    if foxglove and record is None:
        raise UsageError("--foxglove writes into a recording: name one with --record")
    if foxglove_origin and foxglove_serve is None:
        raise UsageError("--foxglove-origin says who may look at --foxglove-serve, which is missing")
    report = _Report(scenario_name(scenario or objects or rndf or ""), json, junit and str(Path(junit).absolute()))
    last_words.append(report.left)
    try:
        with _apart(json):
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
            with _observer(world, realtime, view=view, serve=serve, quiet=quiet) as observer:
                outcome = _execute(world, targets, observer, foxglove=foxglove, quiet=quiet)
    except KeyboardInterrupt as stop:
        report.interrupted(stop)
        raise KeyboardInterrupt(_interrupted(stop, record)) from None
    except Exception as error:
        report.fail(error)
        raise
    finally:
        last_words.remove(report.left)
    report.write(outcome)
    if quiet:
        _print_failures(outcome)
    else:
        _print(outcome, record, whole=json != "-")
    sys.exit(EXIT_CODES[outcome.verdict])


def _load(scenario: str | None, options: dict[str, Any], *, view: bool, quiet: bool) -> tuple[World, bool]:
    """Load a World with options of `cbsim.loading.load.load`, and print its warnings, whether that goes well or not.

    With `view`, a window shows the progress. The result tells whether it is still wanted.
    """
    problems = Problems()
    load = partial(_loaded, scenario, options, problems, quiet=quiet)
    try:
        if not view:
            return load(), False
        from cbsim.viewer.screen import require_screen

        require_screen("a run without --view needs none")
        named = file_named(scenario or options["objects"] or options["rndf"] or "")
        if not is_regular(named):  # which is told without opening a window first
            return load(), True
        return _load_in_window(load, Path(named).name)
    finally:
        print_warnings(problems, quiet=quiet)


def _loaded(scenario: str | None, options: dict[str, Any], problems: Problems, *, quiet: bool) -> World:
    if not quiet:
        announce_compilation()
    from cbsim.loading.load import load

    return load(scenario, **options, problems=problems)


def _load_in_window(load: Callable[[], World], name: str) -> tuple[World, bool]:
    """Load and compile while a window shows the progress; where that is closed, the run will go on without it."""
    from cbsim.viewer.progress_window import WindowClosedError, run_in_progress_window

    def prepare(progress: Progress) -> World:
        from cbsim.simulation.rehearsal import compiled

        return compiled(load, progress)

    try:
        return run_in_progress_window(prepare, name), True
    except WindowClosedError as closed:
        return closed.future.result(), False


def _apart(json: str | None) -> AbstractContextManager[object]:
    """Keep standard output for the result, when it goes there: what a planner prints goes to standard error."""
    return redirect_stdout(sys.stderr) if json == "-" else nullcontext()


class _Report:
    """Where the result goes besides the screen; an error that keeps the run from a verdict goes there too."""

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
        """Write the error, as far as there is a place for it; what stops that is less than the error itself."""
        message = str(error) if isinstance(error, CbsimError | OSError) else f"{type(error).__name__}: {error}"
        self._tell({"scenario": self.scenario, "verdict": "error", "checks": [], "message": message})

    def interrupted(self, stop: KeyboardInterrupt | None = None) -> None:
        """Write how far the run came before it was interrupted; without a step, it did not begin."""
        told = {"scenario": self.scenario, "verdict": "error", "checks": [], "message": NOT_BEGUN}
        self._tell(getattr(stop, "to_dict", lambda: told)())

    def left(self) -> None:
        """Write that before the process ends on the spot, wherever standard output goes to just now."""
        with redirect_stdout(sys.__stdout__):
            self.interrupted()

    def _tell(self, told: dict[str, Any]) -> None:
        """Write what stands in place of a result."""
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

        try:
            Path(self.junit).write_bytes(junit([result]))
        except OSError as reason:
            raise UsageError(f"cannot write '{self.junit}': {reason.strerror}") from None


def _interrupted(stop: KeyboardInterrupt, record: str | None) -> str:
    """Say how far an interrupted run came, and what is kept of it."""
    if not getattr(stop, "steps", 0):
        return NOT_BEGUN
    kept = "" if record is None else f"; '{record}' holds it up to there: judge, replay, report, plot and view read it"
    return f"{stop}{kept}"


def _check_targets(targets: dict[str, str | None]) -> None:
    """Refuse two options that name one file."""
    named: dict[Path, str] = {}
    for option, target in targets.items():
        if target is not None and (other := named.setdefault(Path(target).absolute(), option)) != option:
            raise UsageError(f"{other} and {option} both name '{target}'")


@contextmanager
def _observer(
    world: World, realtime: float | None, *, view: bool, serve: tuple[str, tuple[str, ...]] | None, quiet: bool
) -> Iterator[RunObserver | None]:
    """Bring whoever goes along: a window, or a clock, and those who look from elsewhere."""
    from cbsim.simulation.observers import Pace

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
                say(f"serving at {served.url}")
        yield observer


def _execute(
    world: World, targets: dict[str, str | None], observer: RunObserver | None, *, foxglove: bool, quiet: bool
) -> Outcome:
    from cbsim.evaluation.outcome import execute

    record = targets["--record"]
    _check_seats(world)
    for option, target in targets.items():
        if target is not None:
            _keep_inputs(world, option, target)
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


def _check_seats(world: World) -> None:
    """Refuse two planners for one vehicle: one named, one for the first bot, which is the same."""
    seats = [name for name, _ in world.settings.planners]
    from cbsim.planner.driver import first_seat

    first = first_seat(world)
    if "" in seats and first in seats:
        raise UsageError(f"two planners for '{first}': the first bot is meant where no name is given")


def _keep_inputs(world: World, option: str, target: str) -> None:
    """Refuse to write over a file that the run has read."""
    for name in map(stored_path, world.scene.sources):
        if name.exists() and Path(target).exists() and Path(target).samefile(name):
            raise UsageError(f"{option} '{target}' would overwrite a file that the run reads")


def _print_failures(outcome: Outcome) -> None:
    """Say in one line each which checks failed; of a planner's traceback, its last line."""
    for check in outcome.checks:
        if not check.passed:
            say(f"FAILED  {check.name}: {(check.message.strip().splitlines() or [''])[-1].strip()}")


def _print(outcome: Outcome, record: str | None, *, whole: bool) -> None:
    """Say what the run complains of, and all that came of it unless that goes to standard output as JSON."""
    for complaint in outcome.complaints:
        say(f"warning: {complaint}")
    if not outcome.checks and not outcome.world.scene.alone:
        say("warning: nothing was judged, so that the run could not fail: the scenario expects nothing ('expect: …')")
    if not whole:
        return
    data: dict[str, Any] = outcome.to_dict()
    slow = " (kernels were compiled on the way: the next run is faster)" if has_compiled() else ""
    judged = "" if data["checks"] else " (0 checks)"
    emit(f"{data['scenario']}: {data['verdict']}{judged}   {outcome.summary.ran}{slow}")
    for check in data["checks"]:
        emit(f"  {'passed' if check['passed'] else 'FAILED'}  {check['name']}: {check['message']}")
    for item in data["objects"][:20]:
        x, y, z = item["position"]
        emit(f"  {item['name']:<24} {item['type']:<10} x {x:9.2f}  y {y:9.2f}  z {z:6.2f} m   {item['speed']:6.2f} m/s")
    if len(data["objects"]) > 20:
        emit(f"  … and {len(data['objects']) - 20} more objects")
    if record is not None:
        emit(f"  recorded to {record}")
