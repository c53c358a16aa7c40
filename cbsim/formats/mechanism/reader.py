"""Reader of mechanisms: from the tree of a JSON file to a spec, collecting all problems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import Location, ModelError, Problems, did_you_mean
from cbsim.formats.mechanism.grammar import EXACT, FAMILIES, KEYS, MARK, TEXTS, VERSION, keys_of
from cbsim.formats.values import quote
from cbsim.formats.yaml_tree import Item, shown
from cbsim.geometry.linear import norm
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.colliders import Collider
from cbsim.spec.mechanism.contacts import ContactConstraint
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import JointConstraint, Rotational, Translational
from cbsim.spec.mechanism.shapes import CombinedShapes
from cbsim.spec.mechanism.stored import StoredMechanism

__all__ = ["read_mechanism"]

HALVES: dict[str, type] = {"translational": Translational, "rotational": Rotational}
PARTS: dict[str, type] = {
    "bodies": Body, "joints": JointConstraint, "contacts": ContactConstraint, "colliders": Collider,
}  # fmt: skip
NUMBERS = ("timestep", "gravity", "input_scaling")
ENDLESS = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}  # numbers that JSON does not have
UNIT = 1e-6  # tolerance of the length of unit quaternions
LONGEST = 1000  # characters of a message
WRONG = object()  # placeholder of a value whose error has been reported


def read_mechanism(root: Item, problems: Problems) -> StoredMechanism | None:
    """Build a mechanism from the tree of its file; None if there is an error."""
    return _Reader(problems).mechanism(root)


class _Reader:
    """Reader of a tree; invalid parts are reported and left out, with the parts that need them."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.before = len(problems.errors)
        self.ends: dict[str, Body | Origin | None] = {}  # None: a body that is wrong
        self.locations: dict[str, Location] = {}

    def mechanism(self, root: Item) -> StoredMechanism | None:
        top = self.mapping(root, KEYS, "the mechanism")
        if top is None or not self.is_known(root, top):
            return None
        self.ends["origin"] = origin = self.origin(top.get("origin"))
        found: dict[str, Any] = {key: self.parts(key, kind, top.get(key)) for key, kind in PARTS.items()}
        numbers: dict[str, Any] = {key: self.plain(top[key]) for key in NUMBERS if key in top}
        if len(self.problems.errors) > self.before or origin is None:
            return None
        try:
            spec = MechanismSpec(origin, **found, **numbers)
        except ModelError as wrong:
            self.error("E944", str(wrong), self.place(wrong, root))
            return None
        bodies = {body.name: (13,) for body in spec.bodies}
        joints = {joint.name: (joint.dof,) for joint in spec.joints}
        tables = {
            "state": self.table(top.get("state"), bodies, "a body", is_state=True),
            "next_state": self.table(top.get("next_state"), bodies, "a body", is_state=True),
            "inputs": self.table(top.get("inputs"), joints, "a joint"),
            "external": self.table(top.get("external"), dict.fromkeys(bodies, (6,)), "a body"),
        }
        if len(self.problems.errors) > self.before:
            return None
        now, after = (
            np.array([tables[key][name] for name in bodies]) if tables[key] else None for key in ("state", "next_state")
        )
        return StoredMechanism(spec, now, after, tables["inputs"], tables["external"], self.locations)

    def error(self, code: str, message: str, place: Location, hint: str = "") -> None:
        shown = message if len(message) <= LONGEST else f"{message[: LONGEST - 1]}…"
        self.problems.error(code, shown, place, hint)

    def place(self, wrong: ModelError, item: Item) -> Location:
        """Find the part that a problem names."""
        return next((at for name, at in self.locations.items() if f"'{name}'" in wrong.subject), item.location)

    def mapping(self, item: Item, keys: Any, what: str) -> dict[str, Item] | None:
        """Return the contents of a mapping; unknown keys are reported."""
        if not isinstance(item.value, dict):
            self.error("E941", f"{what} is {shown(item.value)}, expected a mapping", item.location)
            return None
        for key in item.value:
            if key not in keys:
                hint = did_you_mean(key, keys) or f"there is {', '.join(keys)}"
                self.error("E942", f"{what} has no key {quote(key)}", item.keys.get(key, item.location), hint)
        return item.value

    def is_known(self, root: Item, top: Mapping[str, Item]) -> bool:
        if MARK not in top:
            self.error("E943", f"the mechanism has no '{MARK}', the version of its file", root.location)
            return False
        version = top[MARK]
        if type(version.value) is not int or version.value != VERSION:
            text = f"the file is of version {shown(version.value)}, expected {VERSION}"
            self.error("E940", text, version.location, "a newer cbsim wrote it" if _is_newer(version.value) else "")
            return False
        return True

    def origin(self, item: Item | None) -> Origin | None:
        held = {} if item is None else self.mapping(item, ("shape",), "the origin")
        if not held or "shape" not in held:
            return Origin()
        shape = self.family(held["shape"], "shape", "the origin")
        return None if shape is WRONG else Origin(shape)

    def parts(self, key: str, kind: type, item: Item | None) -> list[Any]:
        if item is None:
            return []
        if not isinstance(item.value, list):
            self.error("E941", f"'{key}' is {shown(item.value)}, expected a list", item.location)
            return []
        made = []
        for k, child in enumerate(item.value):
            name = child.value.get("name") if isinstance(child.value, dict) else None
            called = name.value if name is not None and isinstance(name.value, str) else ""
            what = f"{kind.__name__} {quote(called) if called else k}"
            if called in self.locations:
                first = self.locations[called]
                self.problems.error("E945", f"two parts have the name {quote(called)}", child.location, also=first)
            self.locations.setdefault(called, child.location)
            part = self.record(child, kind, what)
            if kind is Body:
                self.ends.setdefault(called, None if part is WRONG else part)
            made.append(part)
        return [part for part in made if part is not WRONG]

    def record(self, item: Item, kind: type, what: str, *extra: str) -> Any:
        """Build a part from a mapping; `WRONG` if that fails."""
        keys = keys_of(kind)
        held = self.mapping(item, (*extra, *keys), what)
        if held is None:
            return WRONG
        for key in [key for key, is_needed in keys.items() if is_needed and key not in held]:
            self.error("E943", f"{what} has no '{key}'", item.location)
        values = {
            key: None if held[key].value is None else self.value(key, kind, held[key], what)
            for key in keys
            if key in held
        }
        is_whole = all(key in held for key, is_needed in keys.items() if is_needed)
        if not is_whole or any(value is WRONG for value in values.values()):
            return WRONG
        try:
            made = kind(**values)
        except ModelError as wrong:
            self.error("E944", f"{what}: {wrong}", item.location)
            return WRONG
        for key in EXACT:
            if key in values and values[key] is not None:
                object.__setattr__(made, key, _exactly(values[key], getattr(made, key)))
        return made

    def value(self, key: str, kind: type, item: Item, what: str) -> Any:
        if key in HALVES:
            return self.record(item, HALVES[key], f"'{key}' of {what}")
        if key == "drives" or (key == "shape" and kind is CombinedShapes):
            if not isinstance(item.value, list):
                self.error("E941", f"'{key}' of {what} is {shown(item.value)}, expected a list", item.location)
                return WRONG
            members = [self.family(child, key, what) for child in item.value]
            return WRONG if any(member is WRONG for member in members) else members
        if key in FAMILIES:
            return self.family(item, key, what)
        if key in {"parent", "child", "owner"}:
            return self.end(item, key, what)
        return _texts(item) if key in TEXTS else self.plain(item)

    def family(self, item: Item, key: str, what: str) -> Any:
        """Build a member of a family, of the type in the mapping."""
        known = FAMILIES[key]
        name = item.value.get("type") if isinstance(item.value, dict) else None
        if name is None or not isinstance(name.value, str) or name.value not in known:
            found = "no type" if name is None else f"the type {shown(name.value)}"
            word = name.value if name is not None and isinstance(name.value, str) else ""
            hint = did_you_mean(word, known) or f"there is {', '.join(known)}"
            self.error("E946", f"'{key}' of {what} has {found}", item.location if name is None else name.location, hint)
            return WRONG
        return self.record(item, known[name.value], f"{name.value} of {what}", "type")

    def end(self, item: Item, key: str, what: str) -> Any:
        name = item.value
        if not isinstance(name, str) or name not in self.ends:
            hint = did_you_mean(name, self.ends) if isinstance(name, str) else ""
            self.error("E947", f"the {key} of {what} is {shown(name)}, which is no body", item.location, hint)
            return WRONG
        end = self.ends[name]
        return WRONG if end is None else end

    def plain(self, item: Item) -> Any:
        """Return numbers, or lists of them; other values unchanged, for parts to report."""
        if isinstance(item.value, list):
            return [self.plain(child) for child in item.value]
        if isinstance(item.value, dict):
            return "a mapping"
        return ENDLESS.get(item.value, item.value) if isinstance(item.value, str) else item.value

    def table(
        self, item: Item | None, shapes: Mapping[str, tuple[int, ...]], what: str, *, is_state: bool = False
    ) -> dict[str, Floats]:
        """Read arrays by names of parts, of all parts if they are a state; inputs of motors may be NaN."""
        held = None if item is None else self.mapping(item, shapes, f"the table of {what.split()[1]} names")
        if item is None or held is None:
            return {}
        out = {}
        for name, shape in shapes.items():
            if name not in held:
                if is_state:
                    self.error("E943", f"there is nothing of {quote(name)}", item.location)
                continue
            try:
                numbers = np.array(self.plain(held[name]), float)
            except (TypeError, ValueError, OverflowError):
                numbers = np.zeros(0)
            if numbers.shape != shape:
                text = f"{quote(name)} has {shown(held[name].value)}, expected {shape[0]} numbers"
                self.error("E941", text, held[name].location)
            elif what != "a joint" and not np.isfinite(numbers).all():
                self.error("E944", f"{quote(name)} has a number that is not finite", held[name].location)
            elif is_state and abs(float(norm(numbers[6:10])) - 1.0) > UNIT:
                text = f"{quote(name)} has an orientation of length {float(norm(numbers[6:10])):.6g}, expected 1"
                self.error("E944", text, held[name].location, "a state is x(3) v(3) q(4) w(3)")
            out[name] = numbers
        return out


def _is_newer(version: object) -> bool:
    return type(version) is int and version > VERSION


def _texts(item: Item) -> Any:
    return [child.value for child in item.value] if isinstance(item.value, list) else item.value


def _exactly(given: Any, made: Floats) -> Floats:
    """Return numbers as given if the normalised ones are equal up to rounding."""
    numbers = np.array(given, float)
    if numbers.shape != made.shape or np.abs(numbers - made).max() > 1e-14:
        return made
    numbers.flags.writeable = False
    return numbers
