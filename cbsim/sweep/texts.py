"""Variations as a command line spells them: ``gap=5:64:1``, ``speed=5,8,11``, ``gap=normal:10:2``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cbsim.errors import Problems, UsageError
from cbsim.formats.reader import Source, read_yaml
from cbsim.formats.yaml_tree import plain, tree
from cbsim.spec.number import Written
from cbsim.spec.sweep import Choice, Count, Distribution, Normal, Range, Variation

__all__ = ["variation_of", "variations_of"]

FORMS = "5:64:1, 5:64, 5,8,11, normal:MEAN:DEVIATION or count:N"


def variations_of(given: Mapping[str, object] | Sequence[str]) -> list[Variation]:
    """Read variations: texts ``key=values``, or a mapping from keys to such values, lists, or what a scenario says."""
    if not isinstance(given, Mapping):
        pairs: list[tuple[str, object]] = []
        for text in given:
            key, equals, values = text.partition("=")
            if not equals or not key.strip():
                raise UsageError(f"--vary '{text}' is not of the form key=values, with values such as {FORMS}")
            before = next((text for name, text in pairs if name == key.strip()), None)
            if before is not None:
                twice = f"--vary {key.strip()}={before} and --vary {key.strip()}={values.strip()}"
                raise UsageError(f"'{key.strip()}' is varied twice: {twice}; expected all of its values in one --vary")
            pairs.append((key.strip(), values.strip()))
        return [variation_of(*pair) for pair in pairs]
    return [variation_of(key, values) for key, values in given.items()]


def variation_of(key: str, values: object) -> Variation:
    """Read the values of one key; scalars and arrays of NumPy are numbers and lists."""
    if isinstance(values, Range | Choice | Normal | Count):
        return Variation(key, type(values)(*(_plain(key, one) for one in values)))
    values = _plain(key, values)
    if isinstance(values, str):
        return Variation(key, _from_text(key, values))
    if isinstance(values, dict):
        return Variation(key, _from_mapping(key, values))
    if isinstance(values, list):
        return Variation(key, Choice(tuple(values)))
    raise UsageError(f"'{key}' is varied by {values!r}, expected values such as {FORMS}")


def _plain(key: str, value: object) -> Any:
    """Return a value as JSON has it.

    Raises
    ------
    UsageError
        If JSON has none of its kind.
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(key, one) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_plain(key, one) for one in value]
    raise UsageError(f"'{key}' is varied by {value!r}, expected values such as {FORMS}")


def _from_text(key: str, text: str) -> Distribution:
    parts = text.split(":")
    if parts[0] == "normal" and len(parts) == 3:
        return Normal(*_numbers(key, text, parts[1:]))
    if parts[0] == "count" and len(parts) in (2, 3):
        whole = [int(part) for part in parts[1:] if part.strip().isdecimal()]
        if len(whole) != len(parts) - 1 or whole[0] < 1:
            raise UsageError(f"'{key}={text}': expected count:N or count:N:FIRST, whole numbers from 1 on")
        return Count(*whole)
    if text.startswith("{"):
        value = _yaml(key, text)
        if isinstance(value, dict):
            return _from_mapping(key, value)
    if 2 <= len(parts) <= 3 and all(_is_number(part) for part in parts):
        return Range(*_numbers(key, text, parts))
    return Choice(tuple(_yaml(key, part) for part in _split(text)))


def _from_mapping(key: str, values: dict[str, Any]) -> Distribution:
    from pydantic import ValidationError

    from cbsim.formats.scenario.sweep import VariationModel

    try:
        return VariationModel.model_validate(values).values
    except ValidationError as wrong:
        raise UsageError(f"'{key}' cannot be varied by {values}: {wrong.errors()[0]['msg']}") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numbers(key: str, text: str, parts: Sequence[str]) -> list[float]:
    if not all(map(_is_number, parts)):
        raise UsageError(f"'{key}={text}': expected numbers")
    return [float(part) for part in parts]


def _split(text: str) -> list[str]:
    """Split at commas outside of brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "[{(":
            depth += 1
        elif letter in ")}]":
            depth -= 1
        if letter == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _yaml(key: str, text: str) -> Any:
    problems = Problems()
    source = Source.decode(f"--vary {key}", text.encode("utf-8", "replace"))
    node = read_yaml(source, problems)
    item = None if node is None else tree(node, source, problems)
    problems.raise_if_any()
    return None if item is None else _numbered(plain(item))


def _numbered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbered(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_numbered(one) for one in value]
    return float(value) if isinstance(value, Written) else value
