"""Reader of lines: from records to blocks under construction.

A record is recognised by its first word in a table that belongs to the open block; runs of points, which are most of
any file, are taken in columns. What is wrong is reported and the pass continues: blocks left open are closed by what
follows, records outside a block are taken where their id belongs, unknown records are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cbsim.errors import Problems
from cbsim.formats.rndf.blocks import close_block, end_file, finish, open_block
from cbsim.formats.rndf.grammar import ENDS, FIELDS, KEYWORDS, KINDS, NETWORK, OPTIONS, WRAPPERS, Kind
from cbsim.formats.rndf.lexical import COLUMNS
from cbsim.formats.rndf.points import take_point, take_points
from cbsim.formats.rndf.records import keep_unknown, take_field, take_field_elsewhere, take_option, take_wrapper
from cbsim.formats.rndf.state import State

__all__ = ["read_records"]

Action = Callable[[State, list[str], int], None]

POINT_STARTS = "0123456789+-."


def read_records(path: str, lines: list[str], problems: Problems) -> State:
    """Read all records of a file.

    Parameters
    ----------
    path : str
        The file, as the user named it.
    lines : list of str
        Its lines without comments.
    problems : Problems
        Collects problems.
    """
    state = State(path, lines, problems)
    stack, top = state.stack, state.root
    table = ACTIONS[top.kind.name]
    for line, text in enumerate(lines, 1):
        if line <= state.read:
            continue
        if stack[-1] is not top:
            top = stack[-1]
            table = ACTIONS[top.kind.name]
        if text.startswith(top.prefix):
            take_points(state, top, line)
        elif words := text.split(None, COLUMNS):
            table.get(words[0], take_other)(state, words, line)
    finish(state)
    return state


def take_other(state: State, words: list[str], line: int) -> None:
    """Take a record without an entry in the open block's table."""
    word = words[0]
    known = KEYWORDS.get(word.lower(), word)
    if word[0] in POINT_STARTS:
        take_point(state, words, line)
    elif known != word:
        state.remark_spelling(word, known, line)
        table = ACTIONS[state.stack[-1].kind.name]
        table.get(known, take_other)(state, [known, *words[1:]], line)
    elif word in FIELDS:
        take_field_elsewhere(state, words, line)
    elif state.is_empty:
        state.stray.append(line)
    else:
        keep_unknown(state, words, line)


def actions(kind: Kind) -> Mapping[str, Action]:
    """Return the actions of keywords while a block of a kind is open."""
    table: dict[str, Action] = dict.fromkeys(OPTIONS, take_option)
    table |= dict.fromkeys(KINDS, open_block)
    table |= dict.fromkeys(ENDS, close_block)
    table |= dict.fromkeys(kind.opaque, keep_unknown)
    table |= dict.fromkeys(kind.fields, take_field)
    if kind.name == "lane":
        table |= dict.fromkeys(WRAPPERS, take_wrapper)
    return table | {"end_file": end_file}


ACTIONS: Mapping[str, Mapping[str, Action]] = {kind.name: actions(kind) for kind in (NETWORK, *KINDS.values())}
