"""``cbsim new``: generators of cities and of test repositories."""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import Annotated

import typer

from cbsim.cli.commands import add
from cbsim.cli.output import print_result
from cbsim.errors import UsageError

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Generate a city, or tests of a planner.")

ENDINGS = (".rndf", ".mdf", ".xml", ".yaml")  # suffixes of the files of a city


@app.callback()
def new() -> None:
    """Generate a city, or tests of a planner."""


def city(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Folder to write to; made if missing.")],
    columns: Annotated[int, typer.Option(min=2, max=200, help="Streets that run north.")] = 4,
    rows: Annotated[int, typer.Option(min=2, max=200, help="Streets that run east.")] = 4,
    block: Annotated[float, typer.Option(min=40.0, max=1000.0, help="Length of a block [m].")] = 120.0,
    lanes: Annotated[int, typer.Option(min=1, max=3, help="Lanes in each direction.")] = 1,
    zones: Annotated[int, typer.Option(min=0, help="Parking zones.")] = 1,
    cars: Annotated[
        int | None,
        typer.Option(min=0, max=2_000_000, help="Cars that wander through it; by default one for six lanes, 3 to 24."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of everything random.")] = 1,
    name: Annotated[str, typer.Option(help="Name of the network and of its files.")] = "city",
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Generate a city: road network, mission, objects and a scenario that runs."""
    from cbsim.export.city import write_city

    there = [str(path) for ending in ENDINGS if os.path.lexists(path := Path(folder) / f"{name}{ending}")]
    if there and not force:
        raise UsageError(f"this would overwrite {', '.join(there)}; --force does it")
    for path in write_city(
        folder, columns=columns, rows=rows, block=block, lanes=lanes, zones=zones, seed=seed, name=name, cars=cars
    ):
        print_result(str(path))


def planner_tests(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Folder to write to; made if missing.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Scaffold a repository that tests a planner: a first planner, a scenario for it, and a README."""
    from cbsim.testing.scaffold import FILES, write_planner_tests

    there = [str(path) for name in FILES if os.path.lexists(path := Path(folder) / name)]
    if there and not force:
        raise UsageError(f"this would overwrite {', '.join(there)}; --force does it")
    for path in write_planner_tests(folder):
        print_result(str(path))


for name, function, summary in (
    ("city", city, "Generate a city: network, mission, objects, scenario."),
    ("planner-tests", planner_tests, "Scaffold a repository that tests a planner."),
):
    add(app, name, function, summary)
