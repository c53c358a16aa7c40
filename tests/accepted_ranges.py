"""Ranges of numbers that files may hold, found by bisection, and values at, near and between their ends."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cbsim
from cbsim.errors import CbsimError, FileError
from cbsim.formats import read_file
from tests.extremes import NUMBER, Base, Case, changed

__all__ = ["Range", "accepted_range", "cases_in_range"]

LARGEST, SMALLEST = 1.7976931348623157e308, 5e-324
ROUND = sorted(
    {
        *(float(f"{digits}e{power}") for power in range(-12, 13) for digits in (1, 2, 5, 9)),
        *(60.0, 89.0, 95.0, 120.0, 180.0, 360.0, 0.05, 0.95, 3.0, 6.0, 30.0),
        *(float(f"1e{power}") for power in (-308, -300, -160, -100, -60, -30, -20, 15, 20, 30, 60, 100, 160, 300)),
        *(SMALLEST, LARGEST),
    }
)
"""Magnitudes of which bounds are mostly one."""

REFINEMENTS = 14  # halvings of the logarithm between two round numbers


@dataclass(frozen=True)
class Range:
    """What is accepted of a number: intervals of magnitudes with either sign, zero, and whether it is whole."""

    positive: tuple[float, float] | None
    negative: tuple[float, float] | None
    has_zero: bool
    is_whole: bool

    def draw(self, dice: random.Random) -> float:
        """Draw a value: at an end, near one, or log-uniform between them."""
        sides = [(1.0, one) for one in (self.positive,) if one] + [(-1.0, one) for one in (self.negative,) if one]
        if not sides or (self.has_zero and dice.random() < 0.06):
            return dice.choice((0.0, -0.0)) if self.has_zero else math.nan
        sign, (least, most) = dice.choice(sides)
        way = dice.randrange(3)
        if way == 0:
            value = dice.choice((least, most))
        elif way == 1:
            share = 1.0 - 10.0 ** -dice.uniform(0.5, 16.0)
            value = dice.choice((least / share, most * share))
        else:
            value = 10.0 ** dice.uniform(math.log10(least), math.log10(most))
        value = min(max(value, least), most)
        return sign * (float(round(value)) if self.is_whole else value)


def accepted_range(number: float, accepts: Callable[[float], bool]) -> Range:
    """Find the range of a number that is accepted as it is.

    On either side of zero the accepted magnitudes are taken for one interval.
    """
    is_whole = number == int(number) and not accepts(number + 0.5) and not accepts(number - 0.5)
    sides = []
    for sign in (1.0, -1.0):

        def inside(magnitude: float, sign: float = sign) -> bool:
            if is_whole:
                return round(magnitude) > 0 and accepts(sign * float(round(magnitude)))
            return accepts(sign * magnitude)

        known = [abs(number)] if sign * number > 0.0 else [one for one in (1.0, 10.0, 0.1, 1e-3, 1e-6) if inside(one)]
        ends = [_end(known[0], inside, up=up) for up in (False, True)] if known else []
        ends = [float(round(end)) for end in ends] if is_whole else ends
        sides.append((ends[0], ends[1]) if ends else None)
    return Range(sides[0], sides[1], accepts(0.0), is_whole)


def _end(known: float, inside: Callable[[float], bool], *, up: bool) -> float:
    """Find the last magnitude that is accepted, upwards or downwards of a known one."""
    steps = [one for one in ROUND if one > known] if up else [one for one in reversed(ROUND) if one < known]
    last, first = -1, len(steps)  # accepted, refused
    while first - last > 1:
        middle = (last + first) // 2
        last, first = (middle, first) if inside(steps[middle]) else (last, middle)
    good = known if last < 0 else steps[last]
    if first == len(steps) or not inside(math.nextafter(good, math.inf if up else 0.0)):
        return good
    bad = steps[first]
    for _ in range(REFINEMENTS):
        middle = math.sqrt(good) * math.sqrt(bad)
        good, bad = (middle, bad) if inside(middle) else (good, middle)
    return good


def written(value: float, like: str) -> str:
    """Write a number, without a point where the one that it replaces has none and it is whole."""
    if value == int(value) and abs(value) < 2.0**63 and not re.search("[.eE]", like):
        return str(int(value))
    return repr(value)


def loads(path: Path) -> bool:
    """Whether a scenario is accepted."""
    try:
        cbsim.load(path)
    except CbsimError:
        return False
    return True


def cases_in_range(bases: list[Base], seed: int, folder: Path) -> Iterator[Case]:
    """Give cases without end, each base in turn: one to three of its numbers within what is accepted of each alone.

    Ranges are those of the text that holds the number, for speed: what is built of it may refuse more.
    """
    dice = random.Random(seed)
    spots = {base.name: [(f, m) for f in base.mutable for m in NUMBER.finditer(base.files[f])] for base in bases}

    @cache
    def found(which: int, spot: int) -> Range:
        base = bases[which]
        file, match = spots[base.name][spot]

        def accepts(value: float) -> bool:
            case = changed(base, [(file, match, written(value, match[0]))])
            for name, text in case.files.items():
                (folder / name).write_text(text)
            try:
                return not read_file(folder / file).problems.errors
            except FileError:  # a table of a mesh: no format by itself
                return loads(folder / base.main)

        return accepted_range(float(match[0]), accepts)

    while True:
        for which, base in enumerate(bases):
            chosen = dice.sample(range(len(spots[base.name])), dice.choice((1, 1, 2, 3)))
            values = [(spot, found(which, spot).draw(dice)) for spot in chosen]
            usable = [(*spots[base.name][spot], value) for spot, value in values if not math.isnan(value)]
            if usable:
                yield changed(base, [(file, match, written(value, match[0])) for file, match, value in usable])
