"""Lists of records; inactive ones with errors are kept unread, as nothing depends on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from cbsim.errors import Problems
from cbsim.formats.shift.records import Part, is_off, json_text
from cbsim.formats.shift.units import Units
from cbsim.formats.yaml_tree import Item, child_of, plain
from cbsim.spec.shift.model import Dormant

__all__ = ["Waking"]

Made = TypeVar("Made")


class Waking:
    """Reader of the lists of one record.

    Parameters
    ----------
    part : Part
        The record.
    units : Units
        Of its file.

    Attributes
    ----------
    dormant : tuple of Dormant
        Inactive entries with errors, of all lists read so far.
    """

    def __init__(self, part: Part, units: Units) -> None:
        self.part, self.units = part, units
        self.dormant: tuple[Dormant, ...] = ()

    def all(self, key: str, read: Callable[[Item, Problems], Made | None], *, single: bool = False) -> tuple[Made, ...]:
        """Read all entries of a list, without unreadable ones; ``single`` as in `Part.children`."""
        made = (self._one(key, item, read) for item in self.part.children(key, single=single))
        return tuple(one for one in made if one is not None)

    def _one(self, key: str, item: Item, read: Callable[[Item, Problems], Made | None]) -> Made | None:
        found = Problems()
        one = read(item, found)
        if not found.errors or not is_off(item):
            self.part.problems.extend(found)
            return one
        name = child_of(item, "name")
        text = "" if name is None or not isinstance(name.value, str) else name.value
        first = found.errors[0]
        why = f"{first.message}; it is not active, and kept as it stands"
        if self.units != Units():  # units of its numbers are unknown where it has errors
            why += ", in the file's units: what is written is in SI, and its numbers are not"
        self.part.problems.warning("W982", why, first.location, first.hint)
        self.dormant += (Dormant("restraints" if key == "restraint" else key, text, json_text(plain(item))),)
        return None
