"""Substitution of ``${name}`` and ``--set key=value`` in the tree of a scenario, before validation."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from cbsim.errors import Location, Problems, did_you_mean
from cbsim.formats.reader import Source, read_yaml
from cbsim.formats.scenario.fields import Axes, Model, ParameterName
from cbsim.formats.scenario.models import ScenarioModel
from cbsim.formats.scenario.sweep import SweepModel
from cbsim.formats.yaml_tree import (
    Item,
    Scalar,
    child_of,
    index_in,
    is_small,
    locate,
    names_in,
    plain,
    set_item,
    shown,
    tree,
    typed,
)
from cbsim.spec.number import Written

__all__ = ["check_varied", "escaped", "override", "replace_parameters"]

NAME = re.compile(r"\$(\$?)\{([^{}]*)\}")
DECLARED = "parameters"
TEXT_LIMIT = 8 * 2**20  # [characters] of texts with parameters


def replace_parameters(root: Item, problems: Problems) -> Item | None:
    """Substitute the values of declared parameters for ``${name}``; ``$${name}`` becomes ``${name}``.

    A scalar that is nothing but ``${name}`` takes the value with its type; elsewhere its text is put in, and a scalar
    without quotes is then read again, so that ``1.${n}`` may be a number. Unknown names are E807, unused ones I811.

    Returns
    -------
    Item or None
        None if there are too many values (E023) or characters (E810) then: a list of a thousand may be in a
        thousand places.
    """
    if not isinstance(root.value, dict):
        return root
    declared = root.value.get(DECLARED)
    values = declared.value if declared is not None and isinstance(declared.value, dict) else {}
    replacer = _Replacer(values, problems)
    done = {key: item if key == DECLARED else _replaced(replacer, key, item) for key, item in root.value.items()}
    for name in values:
        if name not in replacer.used:
            place = locate(root, [DECLARED, name], key=True)
            problems.info("I811", f"the parameter {shown(name)} is never used", place)
    if replacer.length > TEXT_LIMIT:
        problems.error("E810", f"with its parameters, a scenario has at most {TEXT_LIMIT} characters", root.location)
        return None
    whole = replace(root, value=done)
    return whole if is_small(whole, problems) else None


def _replaced(replacer: _Replacer, key: str, item: Item) -> Item:
    """Replace parameters in a part of the scenario; constraints of a sweep keep them, since they are what it varies."""
    if key != "sweep" or not isinstance(item.value, dict) or "where" not in item.value:
        return replacer.item(item)
    for name in NAME.findall(str(plain(item.value["where"]))):
        if not name[0]:
            replacer.value_of(name[1], item.value["where"])
    kept = {name: one if name == "where" else replacer.item(one) for name, one in item.value.items()}
    return replace(item, value=kept)


def escaped(text: str) -> str:
    """Escape a text so that `replace_parameters` restores it."""
    return NAME.sub(lambda match: "$" + match[0], text)


class _Replacer:
    """Copies a tree with parameters replaced, each aliased part once."""

    def __init__(self, values: Mapping[str, Item], problems: Problems) -> None:
        self.values = values
        self.problems = problems
        self.used: set[str] = set()
        self.done: dict[int, Item] = {}
        self.length = 0  # characters of texts with parameters in them

    def item(self, item: Item) -> Item:
        if id(item) not in self.done:
            self.done[id(item)] = self._item(item)
        return self.done[id(item)]

    def _item(self, item: Item) -> Item:
        if isinstance(item.value, dict):
            mapping = {key: self.item(child) for key, child in item.value.items()}
            same = all(map(operator.is_, mapping.values(), item.value.values()))
            return item if same else replace(item, value=mapping)
        if isinstance(item.value, list):
            listed = [self.item(child) for child in item.value]
            return item if all(map(operator.is_, listed, item.value)) else replace(item, value=listed)
        if isinstance(item.value, str) and "${" in item.value:
            return self._scalar(item, item.value)
        return item

    def _scalar(self, item: Item, text: str) -> Item:
        whole = NAME.fullmatch(text)
        if whole is not None and not whole[1]:
            value = self.value_of(whole[2], item)
            return item if value is None else replace(value, location=item.location)
        if self.length > TEXT_LIMIT:
            return item
        replaced = NAME.sub(lambda match: self._part(match, item), text)
        if item.unquoted and replaced != text:
            return replace(item, value=typed(replaced))
        return replace(item, value=replaced)

    def _part(self, match: re.Match[str], item: Item) -> str:
        if match[1]:
            return match[0][1:]
        value = self.value_of(match[2], item)
        if value is None:
            return match[0]
        if self.length > TEXT_LIMIT:
            return ""
        if isinstance(value.value, list | dict):
            message = f"the parameter {shown(match[2])} is not a single value, so it cannot be part of a text"
            self.problems.error("E807", message, item.location)
            return match[0]
        text = _text_of(value.value)
        self.length += len(text)
        return text

    def value_of(self, name: str, item: Item) -> Item | None:
        """Value of a declared parameter; None, and a problem, where there is none."""
        self.used.add(name)
        value = self.values.get(name)
        if value is None:
            hint = did_you_mean(name, self.values) or _list("declared are", self.values)
            self.problems.error("E807", f"no parameter {shown(name)} is declared", item.location, hint)
        return value


def _text_of(value: Scalar) -> str:
    """Write a scalar as YAML has it."""
    if isinstance(value, Written):
        return value.text
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _list(words: str, names: Iterable[str], most: int = 20) -> str:
    some = list(islice(names, most + 1))
    return f"{words} {', '.join(some[:most])}{', …' if len(some) > most else ''}" if some else ""


def override(root: Item, settings: Mapping[str, str], problems: Problems) -> Item:
    """Apply ``--set key=value``: a declared parameter, or a key path such as ``add.0.size.x``.

    An unknown key is E809, which lists what there is; a value that is no YAML is E020 of the ``--set``.
    """
    for key, text in settings.items():
        place = Location(f"--set {key}", inside=key)
        path = _target(root, key, place, problems)
        value = _parse(text, place, problems)
        if path is not None and value is not None:
            root = set_item(root, path, value, _expand)
    return root


def check_varied(root: Item, problems: Problems) -> None:
    """Report keys of `sweep` that name nothing: E809, as a setting of them would, at their own lines.

    E805 is a plain list of scalars for a key whose value is a list: it may be meant as one value, or as several.
    """
    sweep = child_of(root, "sweep")
    if sweep is None or not isinstance(sweep.value, dict):
        return
    for key, values in sweep.value.items():
        if key in SweepModel.model_fields:
            continue
        path = _target(root, key, sweep.keys[key], problems)
        now: Item | None = root
        for part in path or ():
            now = None if now is None else child_of(now, part)
        if path is None or now is None or not isinstance(now.value, list) or not isinstance(values.value, list):
            continue
        if values.value and not any(isinstance(one.value, list) for one in values.value):
            message = f"{shown(key)} is a list in this scenario, and none of the values to choose from is"
            hint = "a list that is one value is written [[…]], several that are no lists {choice: […]}"
            problems.error("E805", message, values.location, hint)


def _parse(text: str, place: Location, problems: Problems) -> Item | None:
    """Read the value as YAML; nothing at all is null."""
    found = Problems()
    source = Source.decode(place.path, text.encode("utf-8", "replace"))
    node = read_yaml(source, found)
    item = Item(None, place) if node is None else tree(node, source, found)
    problems.extend(replace(problem, location=place) for problem in found)
    return None if found.errors or item is None else _moved(item, place)


def _moved(item: Item, place: Location) -> Item:
    """Locate all parts of an overriding value at its ``--set``."""
    if isinstance(item.value, dict):
        moved = {key: _moved(child, place) for key, child in item.value.items()}
        return replace(item, value=moved, location=place, keys=dict.fromkeys(moved, place))
    if isinstance(item.value, list):
        return replace(item, value=[_moved(child, place) for child in item.value], location=place)
    return replace(item, location=place)


def _target(root: Item, key: str, place: Location, problems: Problems) -> list[str] | None:
    """Find the key path of a setting."""
    declared = child_of(root, DECLARED)
    names = list(declared.value) if declared is not None and isinstance(declared.value, dict) else []
    if key in names:
        return [DECLARED, key]
    path = key.split(".")
    dead_end = _dead_end(root, path)
    if dead_end is None:
        return path
    problems.error("E809", f"there is no {shown(key)} to set", place, _what_there_is(*dead_end, names))
    return None


def _what_there_is(here: Any, part: str, item: Item | None, parameters: Sequence[str]) -> str:
    """Hint for a key path that ended at a type, with what the file has there."""
    if here is ScenarioModel:
        fields = ScenarioModel.spellings()
        lists = (_list("parameters:", parameters), _list("fields:", fields))
        return did_you_mean(part, [*parameters, *fields]) or "; ".join(filter(None, lists))
    if isinstance(here, type) and issubclass(here, Model):
        return did_you_mean(part, here.spellings()) or _list("there is", here.spellings())
    if get_origin(here) is list:
        named = [] if item is None else [name for name in names_in(item) if name]
        numbers = "the list has no such entry; they are counted from 0"
        return numbers if part.isdecimal() else did_you_mean(part, named) or _list("entries:", named) or numbers
    return _list("declared are", parameters) if get_origin(here) is dict else "it has no parts"


def _dead_end(root: Item, path: Sequence[str]) -> tuple[Any, str, Item | None] | None:
    """Follow a key path through the models; if it is invalid, return the type, the missing step and what is there."""
    here: Any = ScenarioModel
    item: Item | None = root
    for part in path:
        below = _below(here, item, part)
        if below is None:
            return here, part, item
        here = below
        item = None if item is None else child_of(item, part)
    return None


def _below(here: Any, item: Item | None, part: str) -> Any:
    """Type of one step down from a type, or None where there is no such step.

    Lists have existing items only, parameters declared names only; other mappings take new names.
    """
    if isinstance(here, type) and issubclass(here, Model):
        fields = {info.alias or name: info.annotation for name, info in here.model_fields.items()}
        return _bare(fields[part]) if part in fields else None
    if get_origin(here) is list:
        known = item is not None and isinstance(item.value, list) and index_in(item, part) is not None
        return _bare(get_args(here)[0]) if known else None
    if get_origin(here) is dict:
        name, value = get_args(here)
        known = name is not ParameterName or (item is not None and child_of(item, part) is not None)
        return _bare(value) if part and known else None
    return None


def _bare(annotation: Any) -> Any:
    """Strip ``Annotated`` and ``| None`` from a field's type."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif get_origin(annotation) in (Union, UnionType) and type(None) in get_args(annotation):
            rest = [part for part in get_args(annotation) if part is not type(None)]
            if len(rest) > 1:
                return annotation
            annotation = rest[0]
        else:
            return annotation


def _expand(item: Item, path: Sequence[str]) -> Item:
    """Expand a scalar on a key path to the mapping that it is short for, or null to an empty one."""
    if item.value is None:
        return replace(item, value={}, keys={})
    short = SHORT_OF.get(path[0], "")  # no key: the one planner of the first bot
    return replace(item, value={short: item}, keys={short: item.location})


def _short_forms() -> dict[str, str]:
    """Key of the short form, by any key of the same mapping."""
    models: list[type[Model]] = [ScenarioModel]
    forms: dict[str, str] = {}
    seen: set[type[Model]] = set()  # conditions contain conditions
    while models:
        model = models.pop()
        if model in seen:
            continue
        seen.add(model)
        for info in model.model_fields.values():
            inner = _bare(info.annotation)
            inner = _bare(get_args(inner)[-1]) if get_origin(inner) in (list, dict) else inner
            if isinstance(inner, type) and issubclass(inner, Model) and not issubclass(inner, Axes):
                models.append(inner)
        if model.short:
            forms |= dict.fromkeys(model.spellings(), model.short)
    return forms


SHORT_OF = _short_forms()
