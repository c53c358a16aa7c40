"""Records inside a block: fields, options, and unknown records."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Any

from cbsim.errors import Location
from cbsim.formats.rndf.draft import Draft
from cbsim.formats.rndf.grammar import ENDS, KEYWORDS, KINDS, OPTIONS, Option
from cbsim.formats.rndf.state import State, Waiting
from cbsim.formats.values import Complaint, quote

__all__ = ["keep_unknown", "take_field", "take_field_elsewhere", "take_option", "take_wrapper"]


def take_field(state: State, words: list[str], line: int) -> None:
    """Take a property of the open block."""
    _set_field(state, state.stack[-1], words, line)


def take_field_elsewhere(state: State, words: list[str], line: int) -> None:
    """Take a field of a block around the open one; elsewhere it has no meaning, and is kept as an extension."""
    top = state.stack[-1]
    around = [state.root] if top.kind.loose else state.stack  # what is around a loose block depends on the writer
    owner = next((draft for draft in reversed(around) if words[0] in draft.kind.fields), None)
    if owner is None:
        message = f"'{words[0]}' has no meaning in {top}; it is kept as it is"
        state.problems.warning("W001", message, state.at(line, top.label))
        state.keep(line)
        return
    state.problems.warning("W105", f"'{words[0]}' of {owner} stands in {top}", state.at(line, owner.label))
    _set_field(state, owner, words, line)


def _set_field(state: State, draft: Draft, words: list[str], line: int) -> None:
    """Set a field; the first record of a kind is valid."""
    keyword = words[0]
    row = draft.kind.fields[keyword]
    if keyword in draft.values:
        message = f"{draft} has '{keyword}' twice; the first holds"
        state.problems.warning("W112", message, state.at(line, draft.label), also=state.at(draft.places[keyword]))
        return
    draft.places[keyword] = line
    if not row.columns:
        draft.values[keyword] = state.rest(words, line)
    elif len(words) == 2 == row.columns + 1 and not isinstance(value := row.parse(words[1]), Complaint):
        draft.values[keyword] = value
    else:
        draft.values[keyword] = _unusual_value(state, draft, words, line)


def _unusual_value(state: State, draft: Draft, words: list[str], line: int) -> Any:
    """Parse a field of several columns, or an irregular one."""
    keyword = words[0]
    row = draft.kind.fields[keyword]
    values = [row.parse(text) for text in words[1 : row.columns + 1]]
    if len(values) < row.columns:
        wanted = "a value" if row.columns == 1 else f"{row.columns} values"
        values.append(Complaint(f"expected {wanted}, found {len(values) or 'nothing'}"))
    complaints = [value for value in values if isinstance(value, Complaint)]
    for complaint in complaints:
        place = state.at(line, draft.label)
        state.problems.error("E007", f"{keyword}: {complaint.message}", place, complaint.hint)
    state.remark_rest(words, line, row.columns + 1)
    return None if complaints else values[0] if row.columns == 1 else tuple(values)


def take_option(state: State, words: list[str], line: int) -> None:
    """Take an option; if its point is not of this block, it waits until all blocks are known."""
    keyword = words[0]
    row = OPTIONS[keyword]
    columns = len(row.columns) + 1
    values = row.parse(words) if len(words) >= columns else (None,)
    if None in values:
        _complain_of_option(state, row, words, line)
        return
    last = words[columns : columns + 1] if len(words) > columns and words[columns] in row.last else []
    if len(words) > columns:
        state.remark_rest(words, line, columns + len(last))
    option = row.make(*values, Location(state.path, line), *last)
    point, top = values[0], state.stack[-1]
    if top.ids == point[:2] and keyword in top.kind.options:
        top.options.setdefault(row.holder, []).append(option)
        if top.runs:
            message = f"'{keyword} {point}' is listed behind the points of {top}"
            state.problems.warning("W107", message, state.at(line, str(point)))
    else:
        state.waiting.append(Waiting(keyword, option, point, top, line))


def _complain_of_option(state: State, row: Option, words: list[str], line: int) -> None:
    values = row.parse((*words, *("",) * len(row.columns)))
    for what, value, text in zip(row.columns, values, (*words[1:], *("",) * len(row.columns)), strict=False):
        if not value and value != 0:
            found = quote(text) if text else "nothing"
            state.problems.error("E007", f"{words[0]}: expected {what}, found {found}", state.at(line))


def take_wrapper(state: State, words: list[str], line: int) -> None:
    """Skip a line that only wraps the points of a lane."""
    state.remark_rest(words, line, 1)


def keep_unknown(state: State, words: list[str], line: int) -> None:
    """Keep an unknown record, with all lines up to its own ``end_…``."""
    word, top = words[0], state.stack[-1]
    if word not in top.kind.opaque:
        message = f"unknown keyword {quote(word)} in {top}; it is kept as it is"
        state.problems.warning("W001", message, state.at(line, top.label), state.hint(word, KEYWORDS.values()))
    last = _end_of_unknown(state, word, line)
    for number in range(line, last + 1):
        state.keep(number)
    state.read = last


def _end_of_unknown(state: State, word: str, line: int) -> int:
    """Line of the ``end_<word>`` that closes an unknown block; the line itself if it is not a block."""
    if state.marks is None:
        state.marks = _block_marks(state.lines)
    known, ends = state.marks
    found = ends.get(f"end_{word}", [])
    following = bisect.bisect_right(found, line)
    border = bisect.bisect_right(known, line)
    if following == len(found) or (border < len(known) and known[border] < found[following]):
        return line
    return found[following]


def _block_marks(lines: Sequence[str]) -> tuple[list[int], dict[str, list[int]]]:
    """List the lines that open or close known blocks, and by keyword those that close unknown ones."""
    known: list[int] = []
    ends: dict[str, list[int]] = {}
    for line, text in enumerate(lines, 1):
        word = text.split(None, 1)[0] if text and not text.isspace() else ""
        if word in KINDS or word in ENDS or word == "end_file":
            known.append(line)
        elif word.startswith("end_"):
            ends.setdefault(word, []).append(line)
    return known, ends
