"""`Part`: a record of a file, validated by its model, with errors at their lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from cbsim.errors import Location, Problems, did_you_mean
from cbsim.formats.shift.grammar import LIMIT, Record
from cbsim.formats.values import quote
from cbsim.formats.yaml_tree import Item, child_of, locate, plain
from cbsim.formats.yaml_tree import shown as shown_scalar
from cbsim.spec.shift.model import Kept

__all__ = ["Part", "is_number", "is_off", "json_text"]

EXPECTED = {
    "float_type": "a number",
    "string_type": "a text in quotes",
    "bool_type": "true or false",
    "list_type": "a list",
    "finite_number": "a finite number",
    "greater_than_equal": "at least {ge:g}",
    "less_than_equal": "at most {le:g}",
    "literal_error": "one of {expected}",
    "string_too_short": "a text that is not empty",
    "string_too_long": "at most {max_length} characters",
    "too_short": "a list of at least {min_length}",
    "too_long": "a list of at most {max_length}",
}
ROUNDS = 3  # unknown keys first, then wrong values


def json_text(value: Any) -> str:
    """Write a value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def is_number(value: Any) -> bool:
    """Whether a value is a number in the range of files."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LIMIT


def shown(value: Any) -> str:
    """Format a value for a message: lists by their length."""
    return f"a list of {len(value)}" if isinstance(value, list) else shown_scalar(value)


def is_off(item: Item) -> bool:
    """Whether a record is inactive."""
    switch = child_of(item, "active") if isinstance(item.value, dict) else None
    return switch is not None and switch.value is False


class Part:
    """A record of a file, validated.

    Parameters
    ----------
    item : Item
        Item of the file.
    model : type of Record
        Its keys.
    what : str
        Its kind in messages, ``a body``; with its name if there is one, ``body 'b'``.
    problems : Problems
        Collects all problems.
    """

    def __init__(self, item: Item, model: type[Record], what: str, problems: Problems) -> None:
        self.item, self.what, self.problems = item, _called(item, what), problems
        self.place = item.location
        self.valid = True
        self._model, self._missing = model, set[str]()
        self.values: dict[str, Any] = self._validate()

    def _validate(self) -> dict[str, Any]:
        if not isinstance(self.item.value, dict):
            self.error("E962", f"{self.what} is {shown(self.item.value)}, expected an object in braces")
            return {}
        data = {name: plain(child) for name, child in self.item.value.items() if child.value is not None}
        for _ in range(ROUNDS):
            try:
                return {name: value for name, value in self._model.model_validate(data) if value is not None}
            except ValidationError as wrong:
                errors = wrong.errors(include_url=False)
                for error in errors:
                    self._complain(error)
                    data.pop(str(error["loc"][0]) if error["loc"] else "", None)
                if all(error["type"] == "missing" for error in errors):
                    break
        return data

    def _complain(self, error: ErrorDetails) -> None:
        path, kind = error["loc"], error["type"]
        name = str(path[0]) if path else ""
        if kind == "extra_forbidden":
            known = list(self._model.model_fields)
            hint = did_you_mean(name, known) or f"known are {', '.join(known)}"
            text = f"{self.what} has no key {quote(name)}; it is left out"
            self.problems.warning("W963", text, locate(self.item, [name], key=True), hint)
        elif kind == "missing":
            if name not in self._missing and self.child(name) is None:
                self._missing.add(name)
                self.error("E964", f"{self.what} has no key '{name}'")
        else:
            extra = self._model.model_fields[name].json_schema_extra
            shape = str(extra.get("shape", "")) if isinstance(extra, dict) and kind.startswith(("too", "list")) else ""
            expected = shape or EXPECTED.get(kind, error["msg"].lower()).format(**error.get("ctx", {}))
            hint = did_you_mean(str(error["input"]), str(expected).split("'")[1::2]) if kind == "literal_error" else ""
            where = ".".join(map(str, path))
            self.error(
                "E965", f"{where} of {self.what} is {shown(error['input'])}, expected {expected}", *path, hint=hint
            )

    def error(self, code: str, message: str, *path: str | int, hint: str = "", also: Location | None = None) -> None:
        """Report an error at one of its keys, or at itself."""
        self.valid = False
        self.problems.error(code, message, self.at(*path), hint, also)

    def warning(self, code: str, message: str, *path: str | int, hint: str = "") -> None:
        """Report something suspicious."""
        self.problems.warning(code, message, self.at(*path), hint)

    def at(self, *path: str | int) -> Location:
        """Locate a key path below it."""
        return locate(self.item, path) if path else self.place

    def get(self, name: str, default: Any = None) -> Any:
        """Look up a value; invalid and null values count as missing."""
        return self.values.get(name, default)

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def either(self, *names: str) -> str:
        """Choose the spelling that is used, of several; the first one if none is."""
        used = [name for name in names if name in self.values]
        if len(used) > 1:
            self.warning("W966", f"{self.what} has both '{used[0]}' and '{used[1]}'; '{used[0]}' counts", used[1])
        return used[0] if used else names[0]

    def child(self, name: str) -> Item | None:
        """Return the item of a key, unless it is missing or null."""
        found = child_of(self.item, name) if isinstance(self.item.value, dict) else None
        return None if found is None or found.value is None else found

    def children(self, name: str, *, single: bool = False) -> Iterator[Item]:
        """Return the entries of a list; with ``single`` one that stands without a list too."""
        found = self.child(name)
        if found is None:
            return
        if isinstance(found.value, list):
            yield from (one for one in found.value if one.value is not None)
        elif single:
            yield found
        else:
            self.error("E962", f"{name} of {self.what} is {shown(found.value)}, expected a list", name)

    @property
    def kept(self) -> Kept:
        """Keys that are written back unchanged."""
        return tuple((name, json_text(self.values[name])) for name in self._model.kept if name in self.values)

    def as_it_stands(self, but: tuple[str, ...]) -> Kept:
        """Return all keys that are known but some, in order, with their values in the file, wrong ones too."""
        children = self.item.value.items() if isinstance(self.item.value, dict) else ()
        known = [(name, one) for name, one in children if name in self._model.model_fields and name not in but]
        return tuple(sorted((name, json_text(plain(one))) for name, one in known if one.value is not None))


def _called(item: Item, what: str) -> str:
    """Name of a record for messages."""
    name = child_of(item, "name") if isinstance(item.value, dict) and what.startswith(("a ", "an ")) else None
    return (
        what
        if name is None or not isinstance(name.value, str) or not name.value
        else (f"{what.split(' ', 1)[1]} {quote(name.value)}")
    )
