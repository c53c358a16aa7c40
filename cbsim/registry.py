"""`Registry`: an ordered table of named members, such as formats, sensors, drives, controllers or commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from cbsim.errors import UsageError, did_you_mean

__all__ = ["Registry"]

Member = TypeVar("Member")


class Registry(Mapping[str, Member], Generic[Member]):
    """Name → member in the order given; rejects duplicates, and a failed look-up lists the known names.

    Parameters
    ----------
    family : str
        Kind of the members, for messages: ``sensor``.
    members : iterable of (name, member)
        The table.
    """

    def __init__(self, family: str, members: Iterable[tuple[str, Member]]) -> None:
        self.family = family
        self._members: dict[str, Member] = {}
        for name, member in members:
            if name in self._members:
                raise ValueError(f"{family} '{name}' is in the table twice")
            self._members[name] = member

    # `Mapping` implements these two by a KeyError of `__getitem__`, which raises another error here.
    def __contains__(self, name: object) -> bool:
        return name in self._members

    def get(self, name: str, default: Any = None) -> Any:
        """Return the member of a name, or ``default``."""
        return self._members.get(name, default)

    def __getitem__(self, name: str) -> Member:
        try:
            return self._members[name]
        except KeyError:
            hint = did_you_mean(name, self._members)
            known = ", ".join(self._members)
            raise UsageError(f"no {self.family} '{name}'; there is {known}" + (f" ({hint})" if hint else "")) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)
