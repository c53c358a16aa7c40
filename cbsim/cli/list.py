"""``cbsim list``: shipped scenarios and models, rules of `expect`, and planners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from cbsim.cli.output import print_result, write_json
from cbsim.errors import UsageError, did_you_mean
from cbsim.paths import data_folder, shipped_names

__all__ = ["list_", "shipped_scenarios"]

Row = dict[str, str]
WIDTH = 100  # characters of a description in the table; JSON has the whole text


def list_(
    what: Annotated[
        str | None, typer.Argument(metavar="KIND", help="scenarios, rules, planners or models; by default all.")
    ] = None,
    json: Annotated[str | None, typer.Option(help="Write the list as JSON to a file, or to '-'.")] = None,
) -> None:
    """List shipped scenarios and models, rules of `expect`, and planners."""
    if what is not None and what not in KINDS:
        hint = did_you_mean(what, KINDS)
        raise UsageError(f"no list of '{what}'; there is {', '.join(KINDS)}" + (f" ({hint})" if hint else ""))
    found = {kind: rows() for kind, rows in KINDS.items() if what in (None, kind)}
    if json is not None:
        write_json(dict(found), json)
    if json == "-":
        return
    for number, (kind, rows) in enumerate(found.items()):
        if what is None:
            print_result(("\n" if number else "") + kind)
        broad = max((len(row["name"]) for row in rows), default=0)
        for row in rows:
            told = row["description"]
            shown = told if len(told) <= WIDTH else f"{told[: WIDTH - 1]}…"
            print_result(f"  {row['name']:<{broad}}  {shown}".rstrip())


def _scenarios() -> list[Row]:
    from cbsim.formats import read_file
    from cbsim.spec.scenario import Scenario

    rows = []
    for name, path in shipped_names("scenarios", (".yaml", ".yml")).items():
        spec = read_file(path).spec
        rows.append({"name": name, "description": _first(spec.description) if isinstance(spec, Scenario) else ""})
    return rows


def _rules() -> list[Row]:
    from cbsim.evaluation.rules import RULES

    return [{"name": name, "description": _first(rule.__doc__ or "")} for name, rule in RULES.items()]


def _planners() -> list[Row]:
    from cbsim.planner.pilot import Pilot

    return [{"name": "cbsim.planner.pilot:Pilot", "description": _first(Pilot.__doc__ or "")}]


def _models() -> list[Row]:
    from cbsim.formats import read_file
    from cbsim.models import count

    rows = []
    for path in sorted((data_folder("scenarios") / "models").glob("*.*")):
        reading = read_file(path)
        counts = count(reading)
        told = f"{reading.format.name}: {counts.get('bodies', 0)} bodies, {counts.get('joints', 0)} joints"
        rows.append({"name": path.name, "description": told})
    return rows


def _first(text: str) -> str:
    """Return the first paragraph as one line."""
    return " ".join(text.strip().split("\n\n")[0].split())


def shipped_scenarios(incomplete: str) -> list[str]:
    """Complete the name of a shipped scenario or model; without a match, the shell completes files."""
    models = [path.name for path in sorted((data_folder("scenarios") / "models").glob("*.*"))]
    names = [*shipped_names("scenarios", (".yaml", ".yml")), *models]
    return [name for name in names if name.startswith(incomplete)]


KINDS: dict[str, Callable[[], list[Row]]] = {
    "scenarios": _scenarios,
    "rules": _rules,
    "planners": _planners,
    "models": _models,
}
