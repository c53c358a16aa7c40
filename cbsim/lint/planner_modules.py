"""Planners that a scenario names and that cannot be found, looked for without importing or starting anything."""

from __future__ import annotations

import ast
import importlib.util
import shlex
import shutil
import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from cbsim.errors import Location, Problems, did_you_mean
from cbsim.spec.planner import COMMAND_LINE, is_external
from cbsim.spec.scenario import Scenario

__all__ = ["lint_planners"]

MOST_BYTES = 1 << 20  # of a module that is parsed


def lint_planners(scenario: Scenario, problems: Problems) -> None:
    """W835: there is no such module, class or program; modules are looked up as a run in this folder would."""
    for name, planner in scenario.planner:
        place = _place(scenario, name)
        if planner.startswith(COMMAND_LINE):
            missing = _missing_program(planner.removeprefix(COMMAND_LINE))
        elif is_external(planner):
            continue
        else:
            missing = _missing_class(*planner.split(":"))
        if missing is not None:
            message, hint = missing
            problems.warning("W835", f"planner '{planner}' cannot be found: {message}", place, hint)


def _place(scenario: Scenario, name: str) -> Location:
    keys = (f"planner.{name}.class", f"planner.{name}.cmd", f"planner.{name}")
    return next((scenario.places[key] for key in keys if key in scenario.places), scenario.location)


def _missing_program(command: str) -> tuple[str, str] | None:
    try:
        words = shlex.split(command)
    except ValueError as error:
        return str(error), ""
    if words and shutil.which(words[0]) is not None:
        return None
    return f"there is no program '{words[0] if words else ''}' here", "it is looked for in the working directory"


def _missing_class(module: str, name: str) -> tuple[str, str] | None:
    spec = _spec(module.split("."))
    if spec is None:
        where = "in the working directory or among the installed packages"
        return f"no module named '{module}' {where}", ""
    names = _names(spec)
    if names is None or name in names:
        return None
    return f"'{module}' has no '{name}'", did_you_mean(name, sorted(names))


def _spec(parts: list[str]) -> ModuleSpec | None:
    """Find a module by its path; of packages, nothing is executed."""
    try:
        spec = PathFinder.find_spec(parts[0], [str(Path.cwd()), *sys.path])
        if spec is None:
            spec = importlib.util.find_spec(parts[0])
        found = parts[0]
        for part in parts[1:]:
            if spec is None or spec.submodule_search_locations is None:
                return None
            found = f"{found}.{part}"
            spec = PathFinder.find_spec(found, list(spec.submodule_search_locations))
    except (ImportError, ValueError, OSError):
        return None
    return spec


def _names(spec: ModuleSpec) -> set[str] | None:
    """Names at the top of a module; None if its text does not tell them all."""
    if spec.origin is None or not spec.origin.endswith(".py"):
        return None
    try:
        with Path(spec.origin).open("rb") as stream:
            text = stream.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            return None
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                names.add(node.name)
            case ast.Name(ctx=ast.Store()):
                names.add(node.id)
            case ast.ImportFrom() | ast.Import():
                if any(one.name == "*" for one in node.names):
                    return None
                names.update(one.asname or one.name.partition(".")[0] for one in node.names)
    return None if "__getattr__" in names else names
