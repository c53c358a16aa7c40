"""Scenario YAML: reading with every error at its line, writing, and the JSON Schema for editors.

The document becomes a tree that knows its places (`yaml_tree`); settings and parameters are put in (`parameters`), the
models validate what comes out (`models`), and every problem of theirs is taken back to the line of its key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import ErrorDetails, core_schema

from cbsim.errors import Location, Problem, Problems, did_you_mean
from cbsim.formats.objects.values import HEIGHT, PARAMETERS, RADIUS, SIZE, WIDTH
from cbsim.formats.reader import Source, read_yaml
from cbsim.formats.scenario.models import RULES, ScenarioModel
from cbsim.formats.scenario.parameters import check_varied, override, replace_parameters
from cbsim.formats.scenario.spec import scenario_of
from cbsim.formats.scenario.text import scenario_text
from cbsim.formats.yaml_tree import Item, locate, plain, shown, tree
from cbsim.paths import Files, find_shipped
from cbsim.spec.profiles import profiles_with
from cbsim.spec.scenario import Expectation, Scenario

__all__ = ["KINDS", "RULES", "count", "find_named", "read", "read_with", "schema", "write"]

COMPLAINTS = 1000  # problems that are reported one by one
SIZE_LIMIT = 8 * 2**20  # [characters] of a scenario; ten thousand objects take one million

KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {  # kind of named file → shipped folder, suffixes
    "network": ("rndf", (".rndf", ".rdf")),
    "mission": ("rndf", (".mdf",)),
    "objects": ("scenarios", (".xml", ".obj")),
    "models": ("scenarios", (".jm", ".jpm", ".jm3", ".json", ".itd", ".irt", ".urdf", ".xml")),
}


def read(source: Source, problems: Problems) -> Scenario | None:
    """Read a scenario; None if it has errors, all of which are in `problems`."""
    return read_with(source, problems, {})


def read_with(source: Source, problems: Problems, overrides: Mapping[str, str]) -> Scenario | None:
    """Read a scenario with overridden values.

    Parameters
    ----------
    source : Source
        The file.
    problems : Problems
        Collects problems: E801 to E809, and those of the YAML itself.
    overrides : mapping
        ``--set``: a declared parameter, or a key path such as ``add.0.size.x`` → YAML text of the value.

    Returns
    -------
    Scenario or None
        None if there are errors.
    """
    found = Problems()
    root = _tree(source, found)
    if root is not None:
        root = override(root, overrides, found)
        check_varied(root, found)
        root = replace_parameters(root, found)
    spec = None if root is None else _validated(root, found)
    problems.extend(found)
    return None if found.errors else spec


def _tree(source: Source, problems: Problems) -> Item | None:
    if len(source.text) > SIZE_LIMIT:
        problems.error("E810", f"a scenario has at most {SIZE_LIMIT} characters", source.at(1))
        return None
    syntax = Problems()
    node = read_yaml(source, syntax)
    problems.extend(_with_hint(problem, source) for problem in syntax)
    if node is None:
        if not problems.errors:
            problems.error("E801", "the scenario is empty; a mapping of keys was expected", source.at(1))
        return None
    root = tree(node, source, problems)
    if root is not None and not isinstance(root.value, dict):
        problems.error("E801", "a scenario is a mapping of keys such as 'network' and 'objects'", root.location)
        return None
    return root


def _with_hint(problem: Problem, source: Source) -> Problem:
    """Report what stops YAML from reading ``{speed: ${v}}``."""
    line = next((text for number, text in source.lines() if number == problem.location.line), "")
    return replace(problem, hint="inside { } or [ ], put ${name} in quotes") if "${" in line else problem


def _validated(root: Item, problems: Problems) -> Scenario | None:
    try:
        model = ScenarioModel.model_validate(plain(root))
    except ValidationError as wrong:
        errors = wrong.errors(include_url=False)
        for error in errors[:COMPLAINTS]:
            _complain(error, root, problems)
        if len(errors) > COMPLAINTS:
            problems.error("E805", f"and {len(errors) - COMPLAINTS} more mistakes", root.location)
        return None
    spec = scenario_of(model, lambda *path: locate(root, path), dict(_places(root)))
    for expectation in spec.judged:
        _complain_of_profile(expectation, problems)
    return spec


def _complain_of_profile(expectation: Expectation, problems: Problems) -> None:
    """Report arguments that the file does not give, and its profile has no number for."""
    rule, profile = expectation.rule, expectation.profile
    for argument, value in expectation.arguments:
        having = profiles_with(rule, argument)
        if value is None and having and profile not in having:
            message = f"the profile {profile} has no '{argument}' for the rule '{rule}'; {' and '.join(having)} has one"
            problems.error("E805", message, expectation.location, f"give '{argument}', or choose another profile")


def _places(root: Item) -> Iterable[tuple[str, Location]]:
    """Locations of top-level keys and their entries, for problems of the linter and the world."""
    if not isinstance(root.value, dict):
        return
    for key, item in root.value.items():
        yield key, locate(root, [key])
        if isinstance(item.value, dict):
            yield from ((f"{key}.{name}", locate(root, [key, name], key=True)) for name in item.value)
            if key == "planner":
                yield from _details(root, key, item.value)
        elif isinstance(item.value, list):
            yield from ((f"{key}.{number}", locate(root, [key, number])) for number in range(len(item.value)))
        elif key in SINGLE:
            yield f"{key}.{SINGLE[key]}", locate(root, [key])


def _details(root: Item, key: str, entries: dict[str, Item]) -> Iterable[tuple[str, Location]]:
    """Locations of the keys of the entries of a mapping."""
    for name, entry in entries.items():
        if isinstance(entry.value, dict):
            yield from ((f"{key}.{name}.{detail}", locate(root, [key, name, detail])) for detail in entry.value)


SINGLE = {"objects": "0", "planner": ""}  # a single value for a list of one, or for the first bot

EXPECTED = {
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "string_type": "text; put it in quotes",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "finite_number": "a finite number",
    "greater_than": "greater than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "less than {lt:g}",
    "less_than_equal": "at most {le:g}",
    "literal_error": "one of {expected}",
    "string_pattern_mismatch": "text such as {example}",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "a text that is not empty",
    "too_short": "a list of at least {min_length}",
}
OTHER_WORDS = {"rndf": "network", "mdf": "mission", "object": "objects", "model": "models"}  # names of the options
BOUNDS = ("greater_than_equal", "less_than_equal")
REASONS = {"size": SIZE.reason, "radius": RADIUS.reason, "width": WIDTH.reason}
EXAMPLES = {"planner": "'module:Class'", "parameters": "a name of letters, digits and underscores"}


def _complain(error: ErrorDetails, root: Item, problems: Problems) -> None:
    """Report a validation error at the line of its key or value."""
    kind, path, context = error["type"], error["loc"], error.get("ctx", {})
    name = str(path[-1]) if path else ""
    if kind == "missing":
        problems.error("E804", f"the key '{name}' is missing", locate(root, path[:-1]))
    elif kind == "extra_forbidden":
        known = context.get("known", [])
        meant = OTHER_WORDS.get(name.lower(), "")
        near = f"did you mean '{meant}'?" if meant in known else did_you_mean(name, known)
        hint = near or f"known are {', '.join(known)}"
        problems.error("E803", f"no key {shown(name)} here", locate(root, path, key=True), hint)
    elif kind == "contradiction":
        problems.error("E806", context["text"], locate(root, path))
    elif kind == "wrong_value":
        problems.error("E805", context["text"], locate(root, path))
    else:
        _complain_of_value(error, root, problems)


def _complain_of_value(error: ErrorDetails, root: Item, problems: Problems) -> None:
    path = [part for part in error["loc"] if part != "[key]"]
    place, value = locate(root, path), error["input"]
    unknown = isinstance(value, str) and "${" in value
    if unknown and any(problem.code == "E807" and problem.location.line == place.line for problem in problems):
        return  # an undeclared parameter has been reported already
    context = {**error.get("ctx", {}), "example": EXAMPLES.get(str(path[0]) if path else "", "")}
    expected = EXPECTED.get(error["type"])
    wanted = error["msg"].lower() if expected is None else f"expected {expected.format(**context)}"
    name = ".".join(map(str, path)) or "the scenario"
    hint = _reason(path) if error["type"] in BOUNDS else ""
    if error["type"] == "literal_error":
        hint = did_you_mean(str(value), re.findall(r"'([^']*)'", str(context.get("expected", ""))))
    problems.error("E805", f"'{name}' is {shown(value)}, {wanted}", place, hint)


def _reason(path: Sequence[int | str]) -> str:
    """Reason of the bounds of a number, if there is one."""
    names = [part for part in path if isinstance(part, str)]
    if "parameters" in names and names[-1] in PARAMETERS:
        return PARAMETERS[names[-1]].reason
    if names[-1:] == ["z"] and "size" not in names:
        return HEIGHT.reason
    return next((REASONS[name] for name in reversed(names) if name in REASONS), "")


def write(spec: Scenario) -> str:
    """Write a scenario as YAML, leaving out what has its default; parameters have been replaced already."""
    return scenario_text(spec)


def count(spec: Scenario) -> dict[str, int]:
    """Count objects of the scenario itself, without those of object files."""
    return {"objects": len(spec.add), "models": len(spec.models), "expectations": len(spec.expect)}


class _Schema(GenerateJsonSchema):
    """The schema for editors, in which a parameter may stand for any number, word or switch."""

    def _or_parameter(self, schema: JsonSchemaValue) -> JsonSchemaValue:
        return {"anyOf": [schema, {"type": "string", "pattern": r"\$\{.*\}"}]}

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        """Describe a number."""
        return self._or_parameter(super().float_schema(schema))

    def int_schema(self, schema: core_schema.IntSchema) -> JsonSchemaValue:
        """Describe a whole number."""
        return self._or_parameter(super().int_schema(schema))

    def bool_schema(self, schema: core_schema.BoolSchema) -> JsonSchemaValue:
        """Describe a switch."""
        return self._or_parameter(super().bool_schema(schema))

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        """Describe a choice of words."""
        return self._or_parameter(super().literal_schema(schema))


def schema() -> dict[str, Any]:
    """JSON Schema of a scenario, for editors and for `cbsim check --schema`."""
    whole = ScenarioModel.model_json_schema(by_alias=True, schema_generator=_Schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole, "title": "cbsim scenario"}


def find_named(kind: str, name: str, folder: Path, files: Files) -> Path | None:
    """Find a file that a scenario names, with or without suffix: beside it, in the working directory, or shipped.

    Parameters
    ----------
    kind : str
        ``network``, ``mission``, ``objects`` or ``models``.
    name : str
        Name in the scenario.
    folder : Path
        Folder of the scenario.
    files : Files
        Readable files.
    """
    shipped, suffixes = KINDS[kind]
    near = (files.find(name + ending, [folder, Path()]) for ending in ("", *suffixes))
    beside = next((path for path in near if path is not None), None)
    if beside is not None:
        return beside
    try:
        found = find_shipped(name, shipped, suffixes)
    except (OSError, ValueError):  # an invalid name
        return None
    return found if found is not None and files.exists(found) else None
