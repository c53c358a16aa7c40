"""Values that go by the same name in a model, its spec and its text: copied from one to the next.

Only what differs between the three is said where specs and texts are made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from cbsim.formats.scenario.fields import Model, ValueModel
from cbsim.spec.events import Place
from cbsim.spec.road import PointId
from cbsim.spec.traffic import Spread

__all__ = ["changed", "plain_of", "spec_of"]


Spec = TypeVar("Spec")


def spec_of(kind: type[Spec], model: Model, /, **others: Any) -> Spec:
    """Make a spec of the values that the model has under the names of its fields, and of others.

    What is None has the default of the spec.
    """
    names = kind.__match_args__  # type: ignore[attr-defined]
    values = {name: value for name, value in model if name in names} | others
    return kind(**{name: _value(value) for name, value in values.items() if value is not None})


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_value, value))
    return value.value() if isinstance(value, ValueModel) else value


def changed(default: object, spec: object, names: Iterable[str]) -> dict[str, Any]:
    """Plain values of fields that differ from the defaults."""
    pairs = ((name, getattr(spec, name), getattr(default, name)) for name in names)
    return {name: plain_of(value) for name, value, usual in pairs if value != usual}


def plain_of(value: Any) -> Any:
    """Return what a scenario has for a value of a spec."""
    if isinstance(value, PointId):
        return str(value)
    if isinstance(value, Spread):
        return {"normal": list(value)} if value.deviation else value.mean
    if isinstance(value, Place):
        return [value.x, value.y] if value.waypoint is None else str(value.waypoint)
    return [plain_of(one) for one in value] if isinstance(value, tuple) else value
