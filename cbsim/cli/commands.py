"""Registration of commands: uniform metavars in help texts, and handling of Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from inspect import signature
from typing import Any, get_args, get_type_hints

import typer

__all__ = ["InterruptionError", "add"]

METAVARS = {
    "at": "SECONDS",
    "begin": "SECONDS",
    "deadline": "SECONDS",
    "duration": "SECONDS",
    "end": "SECONDS",
    "foxglove_origin": "ORIGIN",
    "json": "FILE|-",
    "junit": "FILE",
    "mdf": "FILE",
    "objects": "FILE",
    "planner": "[NAME=]MODULE:CLASS",
    "record": "FILE",
    "rndf": "FILE",
    "scenario": "SCENARIO",
    "set_": "KEY=VALUE",
    "step": "SECONDS",
    "to": "FORMAT",
}
"""Name of a parameter → metavar in the help, unless its declaration has one."""


class InterruptionError(Exception):
    """Ctrl-C in a command; typer would handle a `KeyboardInterrupt` itself, with a message of its own."""


def add(app: typer.Typer, name: str, function: Callable[..., None], summary: str) -> None:
    """Add a command.

    Parameters
    ----------
    app : Typer
    name : str
    function : callable
        Function whose parameters are those of the command.
    summary : str
        Line in the list of commands; it must fit into the width of the help.
    """

    def command(*arguments: Any, **options: Any) -> None:
        try:
            function(*arguments, **options)
        except KeyboardInterrupt as stop:
            raise InterruptionError(*stop.args) from None

    update_wrapper(command, function)
    del command.__wrapped__  # type: ignore[attr-defined] # through which typer would find the original annotations
    command.__annotations__ = hints = _named(function)
    told = signature(function)
    parameters = [one.replace(annotation=hints[key]) for key, one in told.parameters.items()]
    command.__signature__ = told.replace(parameters=parameters)  # type: ignore[attr-defined]
    app.command(name, short_help=summary)(command)


def _named(function: Callable[..., None]) -> dict[str, Any]:
    """Give every parameter with a value a metavar, if it has none: by its name, else by its type."""
    hints = get_type_hints(function, include_extras=True)
    for name, hint in hints.items():
        for declared in getattr(hint, "__metadata__", ()):
            if declared.metavar is None and hint.__origin__ is not bool:
                declared.metavar = METAVARS.get(name) or _by_type(hint.__origin__)
    return hints


def _by_type(kind: Any) -> str:
    kinds = {kind, *get_args(kind)}
    return "N" if int in kinds else "X" if kinds & {float, list[float]} else "TEXT"
