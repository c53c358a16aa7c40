"""Columns of the core's tables: each begins where the one before ends, by the widths that their comments give."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from tests.common import ROOT

CORE, DETECTION = Path("dynamics/kernels"), Path("dynamics/detection/kernels")
TABLES = [  # file, first column, name of the table's width
    (CORE / "columns.py", "MASS", "JOINT_COLUMNS"),
    (CORE / "columns.py", "X2", "LINK_WORK_COLUMNS"),
    (CORE / "columns.py", "MU", "CONTACT_COLUMNS"),
    (CORE / "columns.py", "GAP", "CONTACT_WORK_COLUMNS"),
    (CORE / "gradients" / "tables.py", "BODY2", "PATCH_COLUMNS"),
    (DETECTION / "columns.py", "AT", "COLLIDER_COLUMNS"),
    (DETECTION / "columns.py", "PLACE", "PLACED_COLUMNS"),
    (DETECTION / "columns.py", "FACET_CORNERS", "FACET_COLUMNS"),
]
LINE = re.compile(
    r"(?P<names>[A-Z][A-Z0-9_]*(?:, [A-Z][A-Z0-9_]*)*) = \(?(?P<begins>\d+(?:, \d+)*)?(?:\s*# (?P<rest>.*))?"
)
SIZE = re.compile(r"(?:up to )?(\d+)(?: x (\d+)| rows of (\d+))?(?=[ :,;]|$)")


def widths_of(comment, count):
    """Widths of the columns of a line, one number or product each; 1 where the comment begins with none."""
    found, at = [], 0
    while len(found) < count and (size := SIZE.match(comment, at)):
        found.append(int(size[1]) * int(size[2] or size[3] or 1))
        at = size.end() + (2 if comment.startswith(", ", size.end()) else 0)
    return found + [1] * (count - len(found))


def columns_of(path, first, total):
    """Names, begins and widths from a first column to a table's width."""
    lines = iter((ROOT / "cbsim" / path).read_text().splitlines())
    line = next(line for line in lines if line.startswith(f"{first} = "))
    while not line.startswith(f"{total} ="):
        if match := LINE.match(line):
            begins = match["begins"] or re.match(r"\s*(\d+)", next(lines))[1]
            names = match["names"].split(", ")
            widths = widths_of(match["rest"] or "", len(names))
            yield from zip(names, map(int, begins.split(", ")), widths, strict=True)
        line = next(lines)
    yield total, int(re.match(r"\w+ = (\d+)", line)[1]), 0


@pytest.mark.parametrize(("path", "first", "total"), TABLES, ids=[table[2] for table in TABLES])
def test_columns_of_a_table_neither_overlap_nor_exceed_it(path, first, total):
    columns = list(columns_of(path, first, total))
    assert columns[0][:2] == (first, 0)
    for (name, begin, width), (following, start, _) in itertools.pairwise(columns):
        assert begin + width <= start, f"{name} is {width} wide, and reaches beyond {following}"
    used = sum(width for _, _, width in columns)
    assert used >= 0.97 * columns[-1][1], "columns that nobody uses"


def test_widths_are_read_as_they_are_written():
    assert widths_of("6 x 12: scratch", 1) == [72]
    assert widths_of("up to 6 rows of 6: motions", 1) == [36]
    assert widths_of("3, 4: a point, a rotation", 2) == [3, 4]
    assert widths_of("[m] around a hull", 1) == [1]
