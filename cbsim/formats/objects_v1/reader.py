"""CajunBot object files, version 1: one record per line (docs/formats/objects.md, D1 to D11).

The grammars of an object's type are tried in turn, greedily and without backtracking over objects, so that time is
linear in the length of the file. After an object that fits none, reading continues at the next place where one fits.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cbsim.errors import Location, Problems
from cbsim.formats.objects import count
from cbsim.formats.objects.values import IMPLIED_FILE_NAME, implied_name, whole
from cbsim.formats.objects_v1.grammar import DIALECTS
from cbsim.formats.objects_v1.records import Cursor, Misfit, Record, read_records
from cbsim.formats.objects_v1.writer import write
from cbsim.formats.reader import Source
from cbsim.formats.values import quote
from cbsim.spec.objects import Kind, ObjectFile, TrafficObject

__all__ = ["count", "read", "write"]

TYPES = "0 dyn_sim, 1 dyn_no_sim, 2 static, 3 mesh"
WORK = 6  # records that may be examined, per record of the file, to find the start of an object
PROOF = 3  # numbers after the anchor that prove the start of an object, even if it is malformed later


def read(source: Source, problems: Problems) -> ObjectFile | None:
    """Read a v1 object file.

    Parameters
    ----------
    source : Source
        The text.
    problems : Problems
        Collects all problems, with their lines.

    Returns
    -------
    ObjectFile or None
        What could be read; None if the file has no record at all.
    """
    records = read_records(source, problems)
    if not records:
        problems.error("E621", "the file is empty: the number of objects should be its first line", source.at(1))
        return None
    return _Reading(source, records, problems).file()


@dataclass
class Attempt:
    """Result of reading an object at an index: the object, or the misfit; and the index where reading stopped."""

    cursor: Cursor
    item: TrafficObject | None = None
    misfit: Misfit | None = None

    @property
    def seen(self) -> int:
        """Index of the record where reading stopped; for a misfit, that of the unexpected record."""
        return self.cursor.index if self.misfit is None else self.misfit.index

    @property
    def convincing(self) -> bool:
        """Whether an object seems to begin there: it fits completely, or in its characteristic part."""
        if self.misfit is not None:
            return self.cursor.anchored > PROOF
        return not any(problem.code == "E604" for problem in self.cursor.problems)


@dataclass
class _Reading:
    """State of reading one file."""

    source: Source
    records: list[Record]
    problems: Problems
    objects: list[TrafficObject] = field(default_factory=list)
    meshes: int = 0
    work: int = 0
    lost: bool = False
    broken: bool = False

    def file(self) -> ObjectFile:
        claimed, start = self._claimed_count()
        found, previous = 0, start
        while start < len(self.records):
            if found == claimed:
                self._say_more(claimed, start)
            attempt = self._attempt(start)
            if claimed is not None and found >= claimed and not attempt.convincing:
                break  # what follows the last object is not an object, and W609 has been said
            following = attempt.seen if attempt.item is not None else self._go_on(attempt, start, previous)
            if attempt.item is not None:
                self._keep(attempt.item, attempt.cursor.problems)
            found += following > start  # otherwise an error in the object before has been undone
            previous, start = start, following
        if claimed is not None and found < claimed and not self.lost:
            self._say_fewer(claimed, found)
        return ObjectFile(IMPLIED_FILE_NAME, tuple(self.objects), 1, location=self._place(0), broken=self.broken)

    def _place(self, index: int) -> Location:
        return self.source.at(self.records[min(index, len(self.records) - 1)].line)

    def _say_more(self, claimed: int, start: int) -> None:
        message = f"the file says it has {claimed} objects, but records follow the last one; they are read on"
        self.problems.warning("W609", message, self._place(start), also=self._place(0))

    def _say_fewer(self, claimed: int, found: int) -> None:
        self.broken = True
        message = f"the file says it has {claimed} objects, but holds {found}"
        self.problems.error("E608", message, self._place(len(self.records)), also=self._place(0))

    def _claimed_count(self) -> tuple[int | None, int]:
        """Read the first record, the number of objects, which may be missing."""
        cursor = Cursor(self.source, self.records, 0)
        first = self._place(0)
        if not self._attempt(1).convincing and self._attempt(0).convincing:
            message = f"the first record {quote(self.records[0].text)} should be the number of objects"
            self.problems.error("E621", message, first, "an object seems to begin here")
            return None, 0
        try:
            (text,), _ = cursor.values("the number of objects", 1)
        except Misfit as misfit:
            self.problems.error(misfit.code, misfit.message, first)
            return None, 1
        before = len(cursor.problems)
        claimed = whole(text, "the number of objects", first, cursor.problems)
        self.problems.extend(cursor.problems)
        return (claimed if len(cursor.problems) == before else None), 1

    def _attempt(self, index: int) -> Attempt:
        """Read the object at an index by the first of its grammars that fits, else by the one that got furthest."""
        code = self._type_code(index)
        if code is None:
            return self._no_object(index)
        attempts = []
        for parse in DIALECTS[code]:
            cursor = Cursor(self.source, self.records, index)
            try:
                _, place = cursor.values("the object type", 1)
                return Attempt(cursor, parse(cursor, place))
            except Misfit as misfit:
                # its traceback would tie this frame into a cycle, and the collector is at rest
                attempts.append(Attempt(cursor, misfit=misfit.with_traceback(None)))
            finally:
                self.work += cursor.index - index
        # a later grammar explains the records better only if it got past its first waypoint
        return next((a for a in attempts[1:] if a.seen > max(attempts[0].seen, index + 4)), attempts[0])

    def _type_code(self, index: int) -> int | None:
        if index >= len(self.records):
            return None
        values = self.records[index].values
        return TYPE_CODES.get(values[0]) if len(values) == 1 else None

    def _no_object(self, index: int) -> Attempt:
        self.work += 1
        if index >= len(self.records):
            misfit = Misfit(index, "E603", "the file ends where an object should follow")
        else:
            text = self.records[index].text
            misfit = Misfit(index, "E605", f"expected an object type, not {quote(text)}", TYPES)
        return Attempt(Cursor(self.source, self.records, index), misfit=misfit)

    def _keep(self, item: TrafficObject, problems: Problems) -> None:
        if item.kind is Kind.MESH:
            self.meshes += 1
            item = replace(item, name=implied_name(Kind.MESH, self.meshes))
        self.objects.append(item)
        self.problems.extend(problems)

    def _go_on(self, attempt: Attempt, start: int, previous: int) -> int:
        """Report a misfit and find where to continue; it may come from a missing record in the object before."""
        misfit = attempt.misfit
        assert misfit is not None
        self.broken = True
        begin = start if attempt.convincing else previous  # records may be missing before
        following = self._next_object(begin)
        self.lost = following == len(self.records) and misfit.index < len(self.records)
        on = "no object is recognised after this" if self.lost else ""
        if following < len(self.records):
            on = f"reading goes on with the object at line {self.records[following].line}"
        hint = "; ".join(part for part in (misfit.hint, on) if part)
        also = self._place(begin) if misfit.index > begin else None
        if following > start:  # otherwise these records are read again
            self.problems.extend(attempt.cursor.problems)
        self.problems.error(misfit.code, misfit.message, self._place(misfit.index), hint, also)
        return following

    def _next_object(self, after: int) -> int:
        """Find the next start of an object after an index; the end if there is none, or the work limit is reached."""
        for index in range(after + 1, len(self.records)):
            if self.work > WORK * len(self.records) + 1000:
                break
            if self._type_code(index) is None:
                self.work += 1
            elif self._begins_object(self._attempt(index)):
                return index
        return len(self.records)

    def _begins_object(self, attempt: Attempt) -> bool:
        if not attempt.convincing:
            return False
        ends = attempt.misfit is not None or attempt.seen == len(self.records)
        return ends or self._type_code(attempt.seen) is not None


TYPE_CODES = {str(code): code for code in DIALECTS}
