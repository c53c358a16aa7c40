"""Lint rules: a function and a line in a table of rules each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from cbsim.errors import Location, Problem, Problems, Severity, did_you_mean
from cbsim.formats.values import quote

__all__ = ["Finding", "Rule", "apply_rules", "unknown"]

Context = TypeVar("Context")

SEVERITIES = {"E": Severity.ERROR, "W": Severity.WARNING, "I": Severity.INFO}


class Finding(NamedTuple):
    """Finding of a rule: the fields of a `Problem` except code and severity, which the rule has."""

    message: str
    location: Location
    hint: str = ""
    also: Location | None = None


@dataclass(frozen=True, slots=True)
class Rule(Generic[Context]):
    """A line in a table of rules.

    Attributes
    ----------
    code : str
        Code of the findings; its first letter is their severity.
    find : callable
        Function that yields the findings in a context, which holds the spec and what is derived from it. Its docstring
        begins with the code.
    requires : str
        Attribute of the context without which (None) the rule is skipped.
    """

    code: str
    find: Callable[[Context], Iterator[Finding]]
    requires: str = ""


def apply_rules(rules: Iterable[Rule[Context]], context: Context, problems: Problems) -> None:
    """Add the findings of rules to problems.

    Parameters
    ----------
    rules : iterable of Rule
    context : object
        Argument of the rules.
    problems : Problems
        Collects the findings.
    """
    for rule in rules:
        if rule.requires and getattr(context, rule.requires) is None:
            continue
        for found in rule.find(context):
            severity = SEVERITIES[rule.code[0]]
            problems.add(Problem(severity, rule.code, found.message, found.location, found.hint, found.also))


def unknown(
    name: str, known: Sequence[str], noun: str, place: Location, others: Sequence[str] = ()
) -> Iterator[Finding]:
    """Yield a finding for a name that is not known, with the nearest one.

    `others` describes names that are not listed one by one, such as those of the cars of a pool.
    """
    if name not in known:
        listed = f"there is {', '.join([*known[:10], *others])}{', …' if len(known) > 10 else ''}"
        listed = listed if known or others else ""
        yield Finding(f"no {noun} {quote(name)}", place, did_you_mean(name, known) or listed)
