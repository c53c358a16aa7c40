"""`DisjointSets`: union-find over numbers."""

from __future__ import annotations

__all__ = ["DisjointSets"]


class DisjointSets:
    """Sets of numbers 0 … size − 1, each in a set of its own at first."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def root(self, number: int) -> int:
        """Smallest member of the set that contains a number."""
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

    def join(self, one: int, other: int) -> None:
        """Join the sets of two numbers."""
        one, other = self.root(one), self.root(other)
        self._parent[max(one, other)] = min(one, other)

    def groups(self) -> list[list[int]]:
        """List the sets in the order of their smallest number."""
        found: dict[int, list[int]] = {}
        for number in range(len(self._parent)):
            found.setdefault(self.root(number), []).append(number)
        return list(found.values())
