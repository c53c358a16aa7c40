"""Where options belong: to the block of the point they name, wherever they are listed (W107)."""

from __future__ import annotations

import bisect

from cbsim.formats.rndf.draft import Draft
from cbsim.formats.rndf.grammar import OPTIONS
from cbsim.formats.rndf.state import State, Waiting
from cbsim.formats.values import quote
from cbsim.spec.road import Extension

__all__ = ["place_options"]


def place_options(state: State) -> None:
    """Give every waiting option to its block.

    An option of a block that does not exist stays where it is listed, for the linter to say that its point is missing;
    listed outside any block, it goes to the one before it. What names a block that cannot have such an option is kept
    as an extension.
    """
    before = {
        keyword: [draft for draft in state.drafts if keyword in draft.kind.options]
        for keyword in {waiting.keyword for waiting in state.waiting}
    }
    for waiting in state.waiting:
        holders = state.holders(waiting.point) or _nearest(before[waiting.keyword], waiting)
        holder = next((draft for draft in holders if waiting.keyword in draft.kind.options), None)
        if holder is None:
            _keep(state, waiting)
            continue
        holder.options.setdefault(OPTIONS[waiting.keyword].holder, []).append(waiting.option)
        if holder is not waiting.listed:
            _remark(state, waiting, holder)


def _nearest(fitting: list[Draft], waiting: Waiting) -> list[Draft]:
    """Give the listing block if it may hold the option, else the last such block that starts before it."""
    if waiting.keyword in waiting.listed.kind.options:
        return [waiting.listed]
    count = bisect.bisect_right(fitting, waiting.line, key=lambda draft: draft.line)
    return fitting[max(count - 1, 0) : count]


def _remark(state: State, waiting: Waiting, holder: Draft) -> None:
    listed = waiting.listed if waiting.listed is not state.root else "no block"
    message = f"'{waiting.keyword} {waiting.point}' is listed in {listed}; it is taken into {holder}"
    state.problems.warning("W107", message, state.at(waiting.line, str(waiting.point)))


def _keep(state: State, waiting: Waiting) -> None:
    text = state.text(waiting.line)
    place = state.at(waiting.line, str(waiting.point))
    state.problems.warning("W001", f"{quote(text)} has no meaning in {waiting.listed}; it is kept as it is", place)
    waiting.listed.extensions.append(Extension(text, place))
