"""Assignment of misplaced records to the blocks that they name (W107).

The result does not depend on the order of blocks, because writing changes it.
"""

from __future__ import annotations

from cbsim.formats.rndf.blocks import new_parent
from cbsim.formats.rndf.draft import Draft
from cbsim.formats.rndf.grammar import OPTIONS
from cbsim.formats.rndf.state import State, Waiting
from cbsim.formats.values import quote
from cbsim.spec.road import Extension

__all__ = ["place_loose_blocks", "place_options"]


def place_loose_blocks(state: State) -> None:
    """Give crosswalks and traffic lights to the segment or intersection that their id names.

    Some editors write them at the end of the file, without intersections, which is valid.
    """
    for draft, listed in state.loose:
        named = state.named[draft.kind.parent].get(draft.ids[:1])
        if named is None and listed is state.root and draft.kind.name == "trafficlight":
            named = new_parent(state, draft)
        if named is None:
            _complain_of_block(state, draft, listed)
        elif listed is not state.root:
            message = f"{draft} is listed in {listed}; it is taken into {named}"
            state.problems.warning("W107", message, draft.location(state.path))
        parent = named or listed
        if parent is not state.root:
            parent.children.append(draft)
            state.drafts.append(draft)


def _complain_of_block(state: State, draft: Draft, listed: Draft) -> None:
    message = f"{draft} belongs to {draft.kind.parent} {draft.ids[0]}, which does not exist"
    hint = "it is left out" if listed is state.root else f"it is left in {listed}"
    state.problems.error("E106", message, draft.location(state.path), hint)


def place_options(state: State) -> None:
    """Assign all waiting options to their blocks.

    An option of a missing block stays where it is listed, so that the linter reports its point. An option that fits
    neither the block that it names nor the one where it is listed is kept as an extension.
    """
    # a block's own options precede those that are only listed there, as when the file is read again
    for waiting in sorted(state.waiting, key=lambda waiting: not state.holders(waiting.point)):
        named = state.holders(waiting.point)
        holders = named or [waiting.listed]
        holder = next((draft for draft in holders if waiting.keyword in draft.kind.options), None)
        if holder is None:
            _keep(state, waiting, named)
            continue
        holder.options.setdefault(OPTIONS[waiting.keyword].holder, []).append(waiting.option)
        if holder is not waiting.listed:
            message = f"'{waiting.keyword} {waiting.point}' is listed in {waiting.listed}; it is taken into {holder}"
            state.problems.warning("W107", message, state.at(waiting.line, str(waiting.point)))


def _keep(state: State, waiting: Waiting, named: list[Draft]) -> None:
    text = state.text(waiting.line)
    place = state.at(waiting.line, str(waiting.point))
    if named:
        message = f"{quote(text)} has no meaning in {named[0]}; it is kept as it is"
        state.problems.warning("W001", message, place)
    else:
        message = f"{quote(text)} stands in {waiting.listed}, and names a point of no lane, perimeter or spot"
        state.problems.error("E106", message, place, "it is kept as it is")
    waiting.listed.extensions.append(Extension(text, place))
