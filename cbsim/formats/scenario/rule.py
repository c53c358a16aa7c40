"""`RuleModel`: base of the models of the rules of `expect`, and what their arguments may contradict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from cbsim.formats.scenario.fields import Contradiction, Model, Name, about

__all__ = ["ObjectRuleModel", "RuleModel", "one_of", "ordered"]


def one_of(data: Mapping[str, Any], first: str, second: str, *, needed: bool = True) -> Iterator[Contradiction]:
    """Report two keys that exclude each other, or both missing."""
    given = [key for key in (first, second) if data.get(key) is not None]
    if len(given) == 2:
        yield (second,), f"'{first}' and '{second}' exclude each other"
    elif needed and not given:
        yield (), f"one of '{first}' and '{second}' is needed"


def ordered(data: Mapping[str, Any], low: str, high: str) -> Iterator[Contradiction]:
    """Report a range that is empty."""
    lower, upper = data.get(low), data.get(high)
    if isinstance(lower, int | float) and isinstance(upper, int | float) and lower > upper:
        yield (high,), f"'{high}' is less than '{low}'"


class RuleModel(Model):
    """Arguments of a rule, and what else of the scenario it needs: ``network``, ``mission``."""

    needs: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def needed(cls, arguments: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG003 - some depend on them
        """Return what a rule with these arguments needs."""
        return cls.needs


class ObjectRuleModel(RuleModel):
    """Arguments of a rule about an object."""

    object: Name = about("name of the object")
