"""Opening and closing of blocks; blocks left open are closed by the next record, and reported."""

from __future__ import annotations

from cbsim.formats.rndf.draft import Draft
from cbsim.formats.rndf.grammar import ENDS, KINDS, Kind
from cbsim.formats.rndf.lexical import identifier
from cbsim.formats.rndf.state import State
from cbsim.formats.values import quote

__all__ = ["BLOCK_LIMIT", "close_block", "end_file", "finish", "new_parent", "open_block"]

BLOCK_LIMIT = 500_000  # the largest network known has 2 564 blocks; this bounds memory at about one gigabyte


def open_block(state: State, words: list[str], line: int) -> None:
    """Open a block, after closing those that cannot contain it."""
    kind = KINDS[words[0]]
    ids = identifier(words[1], kind.parts) if len(words) == 2 else None
    if ids is None:
        ids = _unusual_id(state, kind, words, line)
    if len(state.drafts) >= BLOCK_LIMIT:
        message = f"more than the {BLOCK_LIMIT} segments, lanes, zones and spots that are read"
        state.problems.error("E013", message, state.at(line))
        state.end, state.is_cut, state.read = line, True, len(state.lines)
        return
    draft = Draft(kind, ids, line)
    parent = state.stack[-1]
    if parent.kind.name != kind.parent:
        _close_others(state, draft)
        parent = state.stack[-1]
    is_inside = parent.kind.name == kind.parent
    if kind.loose and ids and not (is_inside and ids[:1] == parent.ids):
        state.loose.append((draft, parent))
    else:
        if not is_inside:
            parent = _missing_parent(state, draft)
        if kind.parts > 1 and ids[:1] != parent.ids:
            _check_container(state, draft, parent)
        if kind.name != "perimeter" or _is_only_perimeter(state, draft, parent):
            parent.children.append(draft)
            state.drafts.append(draft)
    if ids:
        state.register(draft, ids)
    state.stack.append(draft)


def _unusual_id(state: State, kind: Kind, words: list[str], line: int) -> tuple[int, ...]:
    """Parse an id followed by text; report a missing or malformed one."""
    ids = identifier(words[1], kind.parts) if len(words) > 1 else None
    if ids is None:
        shown = quote(words[1]) if len(words) > 1 else "nothing"
        form = ".".join("MNP"[: kind.parts])
        state.problems.error("E007", f"{kind.name} needs an id of the form '{form}', found {shown}", state.at(line))
    state.remark_rest(words, line, 2)
    return ids or ()


def _check_container(state: State, draft: Draft, parent: Draft) -> None:
    if draft.ids and parent.ids and draft.ids[0] != parent.ids[0]:
        place, also = draft.location(state.path), parent.location(state.path)
        expected = f"expected '{parent.ids[0]}.…'"
        state.problems.error("E106", f"{draft} stands in {parent}", place, expected, also)


def _is_only_perimeter(state: State, draft: Draft, parent: Draft) -> bool:
    """Give a perimeter its zone's id, whatever its own; report a second one, which is dropped."""
    if draft.ids:
        zone = (parent.ids or draft.ids)[0]
        if draft.ids[1]:
            message = f"{draft} should be 'perimeter {zone}.0'"
            state.problems.error("E106", message, draft.location(state.path))
        said = draft.prefix  # its points may have the same id
        draft.name((zone, 0))
        draft.prefix = said
    first = parent.places.setdefault(draft.kind.name, draft.line)
    if first != draft.line:
        message = f"{parent} has two perimeters, on lines {first} and {draft.line}; the first holds"
        state.problems.error("E103", message, draft.location(state.path), also=state.at(first))
    return first == draft.line


def _close_others(state: State, draft: Draft) -> None:
    """Close open blocks that cannot contain a block."""
    while state.stack[-1].kind.name != draft.kind.parent and len(state.stack) > 1:
        _unclosed(state, draft.line, f"before '{draft.kind.name}'")


def _missing_parent(state: State, draft: Draft) -> Draft:
    """Create the missing parent of a block."""
    kind = KINDS[draft.kind.parent]
    named = state.named[kind.name].get(draft.ids[:1])
    hint = f"it is taken into {named}" if named else f"expected '{kind.name}' before it"
    message = f"{draft} stands outside a {kind.name}"
    state.problems.error("E101", message, draft.location(state.path), hint)
    parent = named or new_parent(state, draft)
    state.stack.append(parent)
    state.implied.add(id(parent))
    return parent


def new_parent(state: State, draft: Draft) -> Draft:
    """Create the parent of a block."""
    parent = Draft(KINDS[draft.kind.parent], draft.ids[:1], draft.line)
    state.root.children.append(parent)
    state.drafts.append(parent)
    if parent.ids:
        state.named[parent.kind.name].setdefault(parent.ids, parent)
    return parent


def close_block(state: State, words: list[str], line: int) -> None:
    """Close a block, and open blocks inside."""
    kind, stack = ENDS[words[0]], state.stack
    if stack[-1].kind is not kind:
        if not any(draft.kind is kind for draft in stack):
            message = f"'{words[0]}' closes nothing: no {kind.name} is open"
            state.problems.error("E101", message, state.at(line))
            return
        while stack[-1].kind is not kind:
            _unclosed(state, line, f"before '{words[0]}'")
    stack.pop()
    if len(words) > 1:
        state.remark_rest(words, line, 1)


def _unclosed(state: State, line: int, where: str) -> None:
    draft = state.stack.pop()
    if id(draft) in state.implied:
        return  # implied blocks need no closing record
    message = f"{draft} is not closed: expected 'end_{draft.kind.name}' {where}"
    state.problems.error("E101", message, state.at(line, draft.label), also=draft.location(state.path))


def end_file(state: State, words: list[str], line: int) -> None:
    """End the file, with all open blocks."""
    state.end, state.read = line, len(state.lines)
    state.remark_rest(words, line, 1)
    while len(state.stack) > 1:
        _unclosed(state, line, "before 'end_file'")


def finish(state: State) -> None:
    """Report missing and extra records at the end of the file, and number blocks without ids."""
    for draft in (state.root, *state.drafts):
        _number_children(state, draft)
    if state.is_cut:
        return
    while len(state.stack) > 1:
        _unclosed(state, state.last_line, "before the end of the file")
    state.remark_ends()


def _number_children(state: State, draft: Draft) -> None:
    """Give the next number to blocks without a valid id, their own or by their contents."""
    nameless = [child for child in draft.children if not child.ids]
    last: dict[str, int] = {}
    for child in draft.children if nameless else ():
        if child.ids:
            last[child.kind.name] = max(last.get(child.kind.name, 0), child.ids[-1])
    for child in nameless:
        number = last.get(child.kind.name, -1 if child.kind.name == "perimeter" else 0) + 1
        last[child.kind.name] = number
        child.name((*draft.ids, number))
        state.named[child.kind.name].setdefault(child.ids, child)
