"""Points of lanes, perimeters and spots: regular runs parsed by columns, other lines one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cbsim.formats.rndf.draft import Draft, Run
from cbsim.formats.rndf.lexical import COLUMNS, NUMBERS, WHOLE_DIGITS, point_id
from cbsim.formats.rndf.state import State
from cbsim.formats.values import Complaint, Quantity, parse_number, quote
from cbsim.spec.road import PointId

__all__ = ["take_point", "take_points"]

ORDINARY = 80  # characters per line on average, up to which a run is taken in columns
NUMERALS = [*NUMBERS][1:]  # the points of nearly every lane are numbered like this
LATITUDE = Quantity("the first coordinate")
LONGITUDE = Quantity("the second coordinate")
NONE = (0.0, 0.0)


def take_points(state: State, block: Draft, line: int) -> None:
    """Take the next lines with the prefix of the open block."""
    lines, prefix, first = state.lines, block.prefix, line - 1
    last, count = line, len(lines)
    while last < count and lines[last].startswith(prefix):
        last += 1
    state.read = last
    run = point_run(block, lines[first:last], line)
    if run:
        block.add_run(run)
        return
    for index in range(first, last):
        take_point(state, lines[index].split(None, COLUMNS), index + 1)


def point_run(block: Draft, lines: Sequence[str], first: int) -> Run | None:
    """Parse a run of lines with the block's prefix by columns.

    Lines have three words, the last two of them numbers; as an id is never a number, each id then starts its line.
    `Columns` checks that the numbers are finite and plausible, all at once.

    Returns
    -------
    Run or None
        None if any line is irregular; lines are then read one by one by `take_point`.
    """
    count = len(lines)
    text = " ".join(lines)
    if len(text) > ORDINARY * count or not text.isascii() or "_" in text:
        return None  # Python accepts 1_000
    words = text.split()
    if len(words) != 3 * count:
        return None
    start = len(block.prefix)
    numbers = _numbers([word[start:] for word in words[::3]], block.count)
    columns = words[1::3], words[2::3]
    try:
        latitudes, longitudes = list(map(float, columns[0])), list(map(float, columns[1]))
    except ValueError:
        return None
    if numbers is None:
        return None
    return Run(numbers, latitudes, longitudes, tuple(zip(*columns, strict=True)), range(first, first + count))


def _numbers(numerals: list[str], known: int) -> Sequence[int] | None:
    """Parse the last parts of ids, which usually continue counting."""
    last = known + len(numerals)
    if numerals == NUMERALS[known:last]:
        return range(known + 1, last + 1)
    if all(map(str.isdigit, numerals)) and max(map(len, numerals)) <= WHOLE_DIGITS:
        return list(map(int, numerals))
    return None


class PointRecord(NamedTuple):
    """A point as far as its line is valid; `texts` is None if the coordinates are malformed."""

    id: PointId | None
    texts: tuple[str, str] | None
    coordinates: tuple[float, float]
    complaints: tuple[Complaint, ...]
    rest: bool


def take_point(state: State, words: list[str], line: int) -> None:
    """Take one point, wherever it is written."""
    parsed = point_record(words)
    for complaint in parsed.complaints:
        state.problems.error("E007", complaint.message, state.at(line), complaint.hint)
    if parsed.id is None:
        return
    if parsed.rest:
        state.remark_rest(words, line, 3)
    block = _block_of(state, parsed.id, line)
    if block is None:
        return
    if parsed.texts is None:
        block.broken.append(parsed.id.point)
        return
    block.add_point(parsed.id.point, parsed.coordinates, parsed.texts, line)


def _block_of(state: State, point: PointId, line: int) -> Draft | None:
    """Find the block of a point: the open one, else the one that its id names."""
    top, place = state.stack[-1], state.at(line, str(point))
    if top.kind.points:
        if not top.ids:
            _name_by_point(state, top, point)
        elif top.ids != point[:2] and top.prefix != f"{point.segment}.{point.lane}.":
            state.problems.error("E106", f"point '{point}' stands in {top}", place, f"expected '{top.prefix}…'")
        return top
    named = next(iter(state.holders(point)), None)
    where = f"outside {named}" if named else "outside any lane, perimeter or spot"
    hint = "it is added there" if named else "it is left out"
    state.problems.error("E106", f"point '{point}' stands {where}", place, hint)
    return named


def _name_by_point(state: State, block: Draft, point: PointId) -> None:
    """Give a block without an id that of its first point; a perimeter has its zone's."""
    if block.kind.name == "perimeter":
        block.name(((state.stack[-2].ids or point)[0], 0))
        block.prefix = f"{point.segment}.{point.lane}."
    else:
        block.name(point[:2])
    state.register(block, point[:2])


def point_record(words: Sequence[str]) -> PointRecord:
    """Parse one line that starts like a point."""
    complaints: tuple[Complaint, ...] = ()
    split = " ".join(words).replace(",", " ").split() if any("," in word for word in words[:3]) else []
    if len(split) == 3:
        shown = quote(" ".join(words[1:]) or words[0])
        complaints = (Complaint(f"{shown}: columns are separated by a comma", "separate them with tabs"),)
        words = split
    point = point_id(words[0])
    if point is None:
        wrong = Complaint(f"{quote(words[0])} is neither a keyword nor the id of a point, such as '1.2.3'")
        return PointRecord(None, None, NONE, (*complaints, wrong), rest=False)
    if len(words) < 3:
        wrong = Complaint(f"point '{point}' needs two coordinates, found {len(words) - 1}")
        return PointRecord(point, None, NONE, (*complaints, wrong), rest=False)
    values = parse_number(words[1], LATITUDE), parse_number(words[2], LONGITUDE)
    wrongs = tuple(value for value in values if isinstance(value, Complaint))
    if wrongs:
        return PointRecord(point, None, NONE, (*complaints, *wrongs), rest=len(words) > 3)
    coordinates = float(words[1]), float(words[2])
    return PointRecord(point, (words[1], words[2]), coordinates, complaints, rest=len(words) > 3)
