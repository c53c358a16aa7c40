"""Checks of the structure of a file: counts, ids, order, missing parts.

One function per rule, listed in `RULES`; each looks at one block. Rules about what points mean — dangling exits,
unreachable checkpoints — are not here: they need the whole network, and belong to the linter.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, pairwise
from operator import itemgetter

from cbsim.errors import Problem, Problems, Severity
from cbsim.formats.rndf.draft import Draft
from cbsim.formats.rndf.lexical import WHOLE_MOST, name_faults
from cbsim.formats.rndf.state import State
from cbsim.formats.values import quote

__all__ = ["RULES", "check_structure"]

NUMBERED: Mapping[str, Sequence[Sequence[str]]] = {  # kinds of children that share a sequence of ids, by block
    "network": (("segment", "zone", "intersection"),),
    "segment": (("lane",), ("crosswalk",)),
    "zone": (("spot",),),
    "intersection": (("trafficlight",),),
}
DECIMALS = 6  # of a coordinate in degrees
DECIMAL_POINT = itemgetter(-DECIMALS - 1)


class Report:
    """Collector of the findings of rules, with the path filled in."""

    def __init__(self, path: str, problems: Problems) -> None:
        self.path = path
        self.problems = problems

    def add(
        self, code: str, message: str, draft: Draft, line: int = 0, also: Draft | None = None, hint: str = ""
    ) -> None:
        """Add a problem at a line, or where the block starts; the code's first letter is its severity."""
        severity = {"E": Severity.ERROR, "W": Severity.WARNING, "I": Severity.INFO}[code[0]]
        place = draft.location(self.path)
        if line:
            place = type(place)(self.path, line, None, draft.label)
        second = also.location(self.path) if also else None
        self.problems.add(Problem(severity, code, message, place, hint, second))


def check_structure(state: State) -> None:
    """Apply the rules to every block, and check the decimals of the whole file."""
    report = Report(state.path, state.problems)
    for draft in (state.root, *state.drafts):
        for rule in RULES[draft.kind.name]:
            rule(draft, report)
    _check_decimals(state)


def _check_decimals(state: State) -> None:
    """W008, once per file: numbers of another precision than the format's."""
    runs = [run for draft in state.drafts for run in draft.runs]
    texts = list(chain.from_iterable(chain.from_iterable(run.texts for run in runs)))
    with contextlib.suppress(IndexError):  # numbers with too few characters for the decimals
        if "".join(map(DECIMAL_POINT, texts)).count(".") == len(texts):
            return
    pairs = (pair for run in runs for pair in zip(run.lines, run.texts, strict=True))
    lines = [line for line, pair in pairs if any(text[-DECIMALS - 1 : -DECIMALS] != "." for text in pair)]
    message = f"points not written with {DECIMALS} decimals: {len(lines)}; here is the first"
    state.problems.warning("W008", message, state.at(min(lines)))


def counts(draft: Draft, report: Report) -> None:
    """W102: a count differs from the records, which hold, or a required one is missing."""
    for keyword, row in draft.kind.fields.items():
        if not row.counts:
            continue
        points = row.counts == "points"
        found = draft.count + len(draft.broken) if points else len(draft.of_kind(row.counts))
        if keyword not in draft.values and row.required:
            report.add("W102", f"'{keyword}' of {draft} is missing; there are {found}", draft)
        elif (said := draft.values.get(keyword, found)) not in (None, found):
            report.add("W102", f"'{keyword}' of {draft} is {said}, but there are {found}", draft, draft.places[keyword])


def headers(draft: Draft, report: Report) -> None:
    """W115: the name that DARPA's format demands is missing."""
    for keyword, row in draft.kind.fields.items():
        if row.required and not row.columns and keyword not in draft.values:
            report.add("W115", f"'{keyword}' is missing", draft)


def strings(draft: Draft, report: Report) -> None:
    """W009: a name that other programs cannot read. Versions and dates are free text."""
    for keyword, text in draft.values.items():
        if not keyword.endswith("_name"):
            continue
        faults = name_faults(text) if text or not draft.kind.fields[keyword].required else "nothing"
        if faults:
            message = f"'{keyword}' {quote(text)} holds {faults}"
            report.add("W009", message, draft, draft.places[keyword], hint="expected one word")


def choices(draft: Draft, report: Report) -> None:
    """W114: a value that is not one of the known ones."""
    for keyword, value in draft.values.items():
        known = draft.kind.fields[keyword].choices
        if known and value not in known and value is not None:
            hint = f"known are {', '.join(known)}"
            report.add("W114", f"'{keyword}' of {draft} is {quote(value)}", draft, draft.places[keyword], hint=hint)


def children(draft: Draft, report: Report) -> None:
    """E103, W104, W105, W111: ids of the blocks inside; segments, zones and intersections share one sequence."""
    for names in NUMBERED[draft.kind.name]:
        family = [child for child in draft.children if child.kind.name in names]
        if family:
            _check_duplicates(family, report)
            _check_sequence(family, names, report)


def _check_duplicates(family: Sequence[Draft], report: Report) -> None:
    first: dict[int, Draft] = {}
    for child in family:
        also = first.setdefault(child.ids[-1], child)
        if also is not child:
            shared = "" if also.kind is child.kind else f" and {also}"
            message = f"id of {child}{shared} is used twice, on lines {also.line} and {child.line}"
            report.add("E103", message, child, also=also)


def _check_sequence(family: Sequence[Draft], names: Sequence[str], report: Report) -> None:
    following = 1
    for name in names:
        members = [child for child in family if child.kind.name == name]
        numbers = [child.ids[-1] for child in members]
        if numbers == list(range(following, following + len(numbers))):
            following += len(numbers)
            continue
        _check_order(members, name, report)
        low = next((child for child in members if child.ids[-1] < following), None)
        if low and name != names[0]:
            report.add("W111", f"id of {low} is not above those of the blocks that come before {name}s", low)
        _check_gaps(members, name, following, report)
        following = max(following, max(numbers) + 1)


def _check_order(members: Sequence[Draft], name: str, report: Report) -> None:
    late = next((child for before, child in pairwise(members) if child.ids[-1] < before.ids[-1]), None)
    if late:
        report.add("W105", f"{late} stands behind a {name} with a higher id; ids decide, not the order", late)


def _check_gaps(members: Sequence[Draft], name: str, wanted: int, report: Report) -> None:
    ordered = sorted(members, key=lambda child: child.ids[-1])
    if ordered[-1].ids[-1] > WHOLE_MOST:
        report.add("W007", f"id of {ordered[-1]} is larger than {WHOLE_MOST}", ordered[-1])
    for child in ordered:
        if child.ids[-1] > wanted or child.ids[-1] < 1:
            report.add("W104", f"ids are not consecutive: expected {name} {wanted} before {child}", child)
            return
        wanted = max(wanted, child.ids[-1] + 1)


def points(draft: Draft, report: Report) -> None:
    """E103, W104, E105, W105: numbers of points. File order is the order of travel, whatever the numbers are."""
    if not draft.broken and all(isinstance(run.numbers, range) for run in draft.runs):
        return  # ranges continue after the run before
    numbers, lines = draft.points.numbers, draft.points.lines
    first: dict[int, int] = {}
    for number, line in zip(numbers, lines, strict=True):
        if first.setdefault(number, line) != line:
            also = Draft(draft.kind, draft.ids, first[number])
            message = f"point '{draft.label}.{number}' is defined twice, on lines {first[number]} and {line}"
            report.add("E103", message, draft, line, also)
    known = sorted({*numbers, *draft.broken})
    gap = next((number for wanted, number in enumerate(known, 1) if number != wanted), None)
    if gap is not None:
        wanted = known.index(gap) + 1
        message = f"ids are not consecutive: expected '{draft.label}.{wanted}' before '{draft.label}.{gap}'"
        report.add("W104", message, draft, first.get(gap, 0))
    if known and known[-1] > WHOLE_MOST:
        report.add("W007", f"'{draft.label}.{known[-1]}' is larger than {WHOLE_MOST}", draft, first.get(known[-1], 0))
    _check_point_order(draft, report)


def _check_point_order(draft: Draft, report: Report) -> None:
    numbers = draft.points.numbers
    falls = [row for row in range(1, len(numbers)) if numbers[row] < numbers[row - 1]]
    repeated = len(set(numbers)) < len(numbers)
    if not falls or repeated:
        return
    line = draft.points.lines[falls[0]]
    if len(falls) == len(numbers) - 1:
        message = f"ids of the points of {draft} descend; file order is taken as the order of travel"
        report.add("E105", message, draft, line, hint="number the points in the direction of travel")
    else:
        message = f"points of {draft} are not in the order of their ids; file order is taken as the order of travel"
        report.add("W105", message, draft, line)


def checkpoints(draft: Draft, report: Report) -> None:
    """W007: a checkpoint number that the format does not allow."""
    for checkpoint in draft.options.get("checkpoints", ()):
        if not 1 <= checkpoint.number <= WHOLE_MOST:
            message = f"checkpoint id '{checkpoint.number}' is not between 1 and {WHOLE_MOST}"
            report.add("W007", message, draft, checkpoint.location.line or 0)


def zones(draft: Draft, report: Report) -> None:
    """E108: a zone has a perimeter."""
    if not draft.of_kind("perimeter"):
        report.add("E108", f"{draft} has no perimeter", draft)


def spots(draft: Draft, report: Report) -> None:
    """E109, I117: a spot has two points; without a width it is still a spot."""
    found = draft.count + len(draft.broken)
    if found != 2:
        report.add("E109", f"{draft} has {found} points; expected 2", draft)
    if "spot_width" not in draft.values:
        report.add("I117", f"{draft} has no spot_width", draft)


def crosswalks(draft: Draft, report: Report) -> None:
    """E109: a crosswalk goes from one point to another."""
    missing = [keyword for keyword in ("crosswalk_p1", "crosswalk_p2") if keyword not in draft.values]
    if missing:
        report.add("E109", f"{draft} has no {' and no '.join(missing)}", draft)


def contents(draft: Draft, report: Report) -> None:
    """E116: a block without drivable contents."""
    if draft.kind.points:
        found, wanted = draft.count + len(draft.broken), "points"
    else:
        names = CONTENTS[draft.kind.name]
        found, wanted = sum(child.kind.name in names for child in draft.children), " or a ".join(names)
    if not found:
        report.add("E116", f"{draft} is empty: expected {'' if draft.kind.points else 'a '}{wanted}", draft)


CONTENTS = {"network": ("segment", "zone"), "segment": ("lane",)}

RULES: Mapping[str, tuple[Callable[[Draft, Report], None], ...]] = {
    "network": (headers, counts, strings, children, contents),
    "segment": (counts, strings, children, contents),
    "lane": (counts, choices, points, checkpoints, contents),
    "crosswalk": (crosswalks,),
    "zone": (counts, strings, children, zones),
    "perimeter": (counts, points, contents),
    "spot": (points, checkpoints, spots),
    "intersection": (counts, children),
    "trafficlight": (),
}
