"""Values of options that several commands share."""

from __future__ import annotations

import math
from pathlib import Path

from cbsim.errors import UsageError
from cbsim.paths import find_shipped, is_regular

__all__ = ["file_named", "is_input", "may_replace", "number", "option_file", "pairs"]

RESULTS = (b'"verdict"', b"<testsuites", b'"errors"', b'"severity"')  # marks of earlier results of commands

SHIPPED = (("scenarios", (".yaml",)), ("rndf", (".rndf",)), ("sensors", (".conf",)))  # folder, suffixes of bare names


OPTIONS = {"rndf": ("rndf", (".rndf",)), "mdf": ("rndf", (".mdf",)), "objects": ("scenarios", (".xml", ".obj"))}


def file_named(name: str) -> str:
    """Find a file by name: an existing file, else a shipped one."""
    try:
        if Path(name).exists():
            return name
        found = next((path for folder, ends in SHIPPED if (path := find_shipped(name, folder, ends))), None)
    except (OSError, ValueError):  # an invalid name
        return name
    return name if found is None else str(found)


def option_file(name: str | None, kind: str) -> str | None:
    """Find the file of an option: an existing file, else a shipped one, with or without its suffix.

    Parameters
    ----------
    name : str or None
    kind : str
        ``rndf``, ``mdf`` or ``objects``.
    """
    if name is None or is_regular(name):
        return name
    try:
        found = find_shipped(name, *OPTIONS[kind])
    except (OSError, ValueError):
        return name
    return name if found is None else str(found)


def is_input(name: str) -> bool:
    """Return whether a name is that of an input: an existing file that is not an earlier result, or a shipped file."""
    path = Path(name)
    try:
        return not may_replace(name) if path.exists() else file_named(name) != name
    except (OSError, ValueError):
        return False


def may_replace(target: str) -> bool:
    """Return whether a result may be written to a file: it is missing, empty or an earlier result."""
    path = Path(target)
    if target == "-" or not path.exists():
        return True
    try:
        with path.open("rb") as stream:
            head = stream.read(4096)
    except OSError:
        return False
    return head in (b"", b"[]\n") or any(mark in head for mark in RESULTS)


def number(value: float, option: str, expected: str, least: float = 0.0, most: float = math.inf) -> float:
    """Return a finite number between bounds, both included.

    Raises
    ------
    UsageError
        If it is not: ``--at is nan, expected a time from 0 s on``.
    """
    if not (math.isfinite(value) and least <= value <= most):
        raise UsageError(f"{option} is {value:g}, expected {expected}")
    return value


def pairs(given: list[str], option: str, default: str | None = None) -> dict[str, str]:
    """Split strings ``key=value``; a string without a key gets the default key, if there is one."""
    found: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if option == "--planner" and default is not None:
            from cbsim.spec.planner import named_planner  # imported here: help needs no NumPy

            key, value = named_planner(text)
        elif not equals:
            if default is None:
                raise UsageError(f"{option} '{text}' is not of the form key=value")
            key, value = default, text
        if option == "--planner" and key.strip() in found:
            seat = f"'{key.strip()}'" if key.strip() else "the first bot"
            raise UsageError(f"two planners for {seat}: '{found[key.strip()]}' and '{value}'")
        found[key.strip()] = value
    return found
