"""``cbsim run``: run a scenario, judge it, record it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbsim.cli.output import emit, print_warnings, progress, say, write_json
from cbsim.errors import Problems, UsageError

if TYPE_CHECKING:
    from cbsim.run.outcome import Outcome

__all__ = ["run"]


def run(
    scenario: Annotated[str | None, typer.Argument(help="A shipped scenario's name, or a scenario file.")] = None,
    rndf: Annotated[str | None, typer.Option(help="Road network, in place of the scenario's.")] = None,
    objects: Annotated[str | None, typer.Option(help="Object file, v1 or v2, in place of the scenario's.")] = None,
    mdf: Annotated[str | None, typer.Option(help="Mission, in place of the scenario's.")] = None,
    duration: Annotated[float | None, typer.Option(help="How long to run [s].")] = None,
    step: Annotated[float | None, typer.Option(help="Length of a step [s].")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of every random stream.")] = None,
    planner: Annotated[list[str] | None, typer.Option(help="[NAME=]module:Class of a planner; repeatable.")] = None,
    record: Annotated[str | None, typer.Option(help="Write a recording (MCAP).")] = None,
    json: Annotated[str | None, typer.Option(help="Write the result as JSON to a file, or to '-'.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="key=value of a scenario parameter.")] = None,
    strict: Annotated[bool, typer.Option(help="Missing sensor confs are errors.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Run a scenario; exit 0 if every check passed, 1 if one failed."""
    from cbsim.run.load import load
    from cbsim.run.outcome import execute

    if not quiet:
        announce_compilation()
    problems = Problems()
    try:
        world = load(
            scenario,
            rndf=rndf,
            objects=objects,
            mdf=mdf,
            step=step,
            seed=seed,
            duration=duration,
            planner=_pairs(planner or [], "--planner", default=""),
            settings=_pairs(set_ or [], "--set"),
            strict=strict,
            problems=problems,
        )
    finally:
        print_warnings(problems, quiet=quiet)
    with progress(f"simulating {world.name}", world.settings.duration, quiet=quiet) as update:
        outcome = execute(world, record=record, progress=lambda done: update(done * world.step))
    if json is not None:
        write_json(outcome.to_dict(), json)
    if json != "-" and not quiet:
        _print(outcome, record)
    sys.exit(0 if outcome.verdict == "pass" else 1)


def announce_compilation() -> None:
    """Say so when the kernels have to be compiled first: the first run ever takes some seconds longer."""
    from cbsim.jit import cache_folder

    if not any(cache_folder().rglob("*.nbi")):
        say("compiling kernels, once for this machine; 'cbsim warmup' does it ahead …")


def _pairs(given: list[str], option: str, default: str | None = None) -> dict[str, str]:
    """Split ``key=value`` texts; a text without a key gets the default one, if there is one."""
    pairs: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            if default is None:
                raise UsageError(f"{option} '{text}' is not of the form key=value")
            key, value = default, text
        pairs[key.strip()] = value
    return pairs


def _print(outcome: Outcome, record: str | None) -> None:
    data: dict[str, Any] = outcome.to_dict()
    emit(
        f"{data['scenario']}: {data['verdict']}   {data['time']:g} s in {data['steps']} steps, "
        f"{data['real_time_factor']:.0f} x real time, digest {data['digest']}"
    )
    for check in data["checks"]:
        emit(f"  {'passed' if check['passed'] else 'FAILED'}  {check['name']}: {check['message']}")
    for item in data["objects"][:20]:
        x, y, z = item["position"]
        emit(f"  {item['name']:<24} {item['type']:<10} x {x:9.2f}  y {y:9.2f}  z {z:6.2f} m   {item['speed']:6.2f} m/s")
    if len(data["objects"]) > 20:
        emit(f"  … and {len(data['objects']) - 20} more objects")
    if record is not None:
        emit(f"  recorded to {record}")
