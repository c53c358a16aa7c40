"""An ordered table of named members, used by every family: formats, sensors, drives, controllers, commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from cbsim.errors import UsageError, did_you_mean

__all__ = ["Registry"]

Member = TypeVar("Member")


class Registry(Mapping[str, Member], Generic[Member]):
    """Name → member in the order given; refuses duplicates, and a failed look-up lists what there is.

    Parameters
    ----------
    family : str
        What the members are, for messages: ``sensor``.
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

    # `Mapping` has these two by a KeyError of `__getitem__`, whose error here is another one.
    def __contains__(self, name: object) -> bool:
        return name in self._members

    def get(self, name: str, default: Any = None) -> Any:
        """Return a member, or ``default`` where there is none of the name."""
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
