"""Which parts hang together: sets that grow into one another, for joints that tie bodies."""

from __future__ import annotations

__all__ = ["Unions"]


class Unions:
    """Disjoint sets of numbers, each alone until it is joined (union–find with halved paths).

    Examples
    --------
    >>> sets = Unions()
    >>> sets.join(1, 2), sets.join(2, 3), sets.join(3, 1)
    (True, True, False)
    >>> sets.together(1, 3), sets.together(1, 4)
    (True, False)
    """

    def __init__(self) -> None:
        self._above: dict[int, int] = {}

    def top(self, one: int) -> int:
        """Give the one that stands for the set of a number."""
        above = self._above
        while (up := above.setdefault(one, one)) != one:
            above[one] = one = above.setdefault(up, up)
        return one

    def together(self, one: int, other: int) -> bool:
        """Whether two are in the same set."""
        return self.top(one) == self.top(other)

    def join(self, one: int, other: int) -> bool:
        """Make one set of those of two; whether they were apart."""
        one, other = self.top(one), self.top(other)
        self._above[one] = other
        return one != other
