"""State of a pass over a file: lines, open blocks, and all blocks so far."""

from __future__ import annotations

from typing import Any, NamedTuple

from cbsim.errors import Problems
from cbsim.formats.rndf.cursor import Cursor
from cbsim.formats.rndf.draft import Draft
from cbsim.formats.rndf.grammar import KINDS, NETWORK
from cbsim.spec.road import Extension, PointId

__all__ = ["HOLDERS", "State", "Waiting"]

HOLDERS = tuple(name for name, kind in KINDS.items() if kind.points)


class Waiting(NamedTuple):
    """An option that does not belong to the block that lists it."""

    keyword: str
    option: Any
    point: PointId
    listed: Draft
    line: int


class State(Cursor):
    """State of a pass, besides its position.

    Attributes
    ----------
    root : Draft
        The network.
    stack : list of Draft
        The network and the blocks that are open, outermost first.
    drafts : list of Draft
        Every block in file order.
    named : dict of str to dict
        Kind → id → first block of that id.
    waiting : list of Waiting
        Options listed outside of the block of their point.
    loose : list of (Draft, Draft)
        Crosswalks and traffic lights outside the block that their id names, and the block that was open there.
    implied : set of int
        Identities of blocks on the stack without an opening record.
    is_cut : bool
        Whether reading stopped at a size limit.
    marks : tuple or None
        Lines that open or close known blocks, and by keyword those that close unknown ones; computed when first needed.
    """

    def __init__(self, path: str, lines: list[str], problems: Problems) -> None:
        super().__init__(path, lines, problems)
        self.root = Draft(NETWORK, (), 1)
        self.stack = [self.root]
        self.drafts: list[Draft] = []
        self.named: dict[str, dict[tuple[int, ...], Draft]] = {name: {} for name in KINDS}
        self.waiting: list[Waiting] = []
        self.loose: list[tuple[Draft, Draft]] = []
        self.implied: set[int] = set()
        self.is_cut = False
        self.marks: tuple[list[int], dict[str, list[int]]] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no record of the format has been read yet."""
        return not (self.drafts or self.root.values or self.root.extensions)

    def holders(self, point: PointId) -> list[Draft]:
        """List the blocks that a point id may belong to, lanes before perimeters before spots."""
        return [draft for kind in HOLDERS if (draft := self.named[kind].get(point[:2]))]

    def register(self, draft: Draft, ids: tuple[int, ...]) -> None:
        """Register a block by its id, and derive ids of open blocks without one."""
        self.named[draft.kind.name].setdefault(draft.ids, draft)
        for parent in self.stack[1:]:
            if not parent.ids:
                parent.name(ids[: parent.kind.parts])
                self.named[parent.kind.name].setdefault(parent.ids, parent)

    def keep(self, line: int) -> None:
        """Keep a line unchanged."""
        text = self.text(line)
        if text:
            self.stack[-1].extensions.append(Extension(text, self.at(line)))
