"""Hostile input: whatever the size and shape, work is linear, what is kept is bounded, and nothing is raised.

Work is counted in calls, not in seconds: a text four times as long may take about four times as many.
"""

from __future__ import annotations

import sys

import pytest

from cbsim.errors import Problems
from cbsim.formats import mdf, rndf
from cbsim.formats.reader import Source
from cbsim.formats.rndf import blocks, lexical
from tests.formats.rndf_texts import HEAD, found, lane_text, read_mission, read_network

HOSTILE = {
    "one long line": lambda n: "RNDF_name r\n" + "1.1.1 38.0 -77.0 " * n,
    "one long word": lambda n: lane_text("x" * 20 * n + "\n"),
    "a long point": lambda n: lane_text(points="1.1.1 38.0 -77.0" + " 5.0" * 4 * n + "\n"),
    "openings of comments": lambda n: lane_text("/*" * 8 * n + "\n"),
    "openings on their own lines": lambda n: lane_text("/*\n" * n),
    "comments that overlap": lambda n: lane_text("/*/" * 6 * n + "\n"),
    "stars and slashes": lambda n: lane_text("*/*" * 6 * n + "\n"),
    "trailing blanks": lambda n: lane_text(" " * 20 * n + "\n"),
    "blank lines": lambda n: lane_text("\n" * 4 * n),
    "carriage returns": lambda n: lane_text("\r" * 4 * n),
    "ids of many digits": lambda n: lane_text(f"stop {'9' * 20 * n}\n"),
    "numbers of many digits": lambda n: lane_text(f"lane_width {'9' * 20 * n}\n"),
    "coordinates of many digits": lambda n: lane_text(points=f"1.1.1 38.0 {'7' * 20 * n}\n"),
    "dots": lambda n: lane_text("stop " + "." * 20 * n + "\n"),
    "commas": lambda n: lane_text(points="1.1.1" + "," * 20 * n + "\n"),
    "unknown keywords": lambda n: lane_text("".join(f"word{i} 1\n" for i in range(n))),
    "one unknown keyword": lambda n: lane_text("landmarks\n" * n),
    "unknown blocks": lambda n: lane_text("a 1\n" * n + "end_a\n"),
    "unclosed lanes": lambda n: HEAD + "segment 1\n" + "lane 1.1\n" * n,
    "lanes without ids": lambda n: HEAD + "segment 1\n" + "lane\n" * n,
    "lanes outside": lambda n: HEAD + "lane 1.1\nend_lane\n" * n,
    "ends of nothing": lambda n: HEAD + "end_lane\n" * n,
    "perimeters of one zone": lambda n: HEAD + "zone 2\n" + "perimeter 2.0\nend_perimeter\nspot 2.1\nend_spot\n" * n,
    "the same point": lambda n: lane_text(points="1.1.1 38.000000 -77.000000\n" * n),
    "points with gaps": lambda n: lane_text(points="".join(f"1.1.{3 * i} 38.0 -77.0\n\n" for i in range(n))),
    "points of nowhere": lambda n: HEAD + "".join(f"{i}.1.1 38.0 -77.0\n" for i in range(n)),
    "options of nowhere": lambda n: HEAD + "".join(f"exit {i}.1.1 1.1.1\n" for i in range(n)),
    "options of other lanes": lambda n: lane_text("exit 1.2.1 1.1.1\n" * n),
    "crosswalks astray": lambda n: HEAD + "crosswalk 9.1\nend_crosswalk\n" * n,
    "text behind the end": lambda n: lane_text() + "crosswalk 9.1\nend_crosswalk\n" * n,
    "lights without intersections": lambda n: HEAD + "".join(f"trafficlight {i}.1\n" for i in range(n)),
    "two names": lambda n: HEAD * n,
    "zeros": lambda n: "RNDF_name r\n" + "\0" * 20 * n,
    "letters that are not ASCII": lambda n: lane_text("segment_name " + "é\u00a0" * 10 * n + "\n"),
    "long names": lambda n: lane_text().replace("site", "* \\" * 6 * n),
}


MISSIONS = ["1\n", "9" * 1000 + "\n", "checkpoints\n", "num_checkpoints 1\n", "x y\n", "1 2 3 4 5\n", "1 0 20\n"]


def read_hostile(module, text):
    problems = Problems()
    module.read(Source("hostile.rndf", text, b""), problems)
    assert len(problems) <= 5_000
    return problems


def calls(module, text):
    """Count the calls of Python and C functions that reading a text takes."""
    read_hostile(module, lane_text("warm\n"))  # so that nothing is imported or remembered while calls are counted
    count = 0

    def see(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        read_hostile(module, text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("shape", HOSTILE)
def test_work_is_linear_in_the_size_of_hostile_networks(shape):
    assert calls(rndf, HOSTILE[shape](1_200)) < 5 * calls(rndf, HOSTILE[shape](300)) + 1_000


@pytest.mark.parametrize("row", MISSIONS)
def test_work_is_linear_in_the_size_of_hostile_missions(row):
    head = "MDF_name m\nRNDF r\ncheckpoints\n"
    assert calls(mdf, head + row * 1_200) < 5 * calls(mdf, head + row * 300) + 1_000


@pytest.mark.slow
@pytest.mark.parametrize("shape", HOSTILE)
def test_megabytes_of_any_shape_are_read_to_the_end(shape):
    size = 2_000_000 * 1_000 // len(HOSTILE[shape](1_000))
    read_hostile(rndf, HOSTILE[shape](size))  # work that grows with the square would not end


def test_an_id_of_a_million_digits_is_no_number():
    _, problems = read_network(lane_text(f"stop {'9' * 1_000_000}.1.1\nlane_width {'1' * 1_000_000}\n"))
    assert found(problems) == [(8, "E007"), (9, "E007")]


def test_a_mission_of_a_million_digits_is_no_number():
    _, problems = read_mission(
        f"MDF_name m\nRNDF r\ncheckpoints\nnum_checkpoints 1\n{'9' * 1_000_000}\nend_checkpoints\nend_file\n"
    )
    assert found(problems) == [(5, "E007")]


@pytest.mark.parametrize("module", [rndf, mdf])
def test_more_lines_than_any_file_has_are_refused(module, monkeypatch):
    monkeypatch.setattr(lexical, "LINE_LIMIT", 50)
    problems = Problems()
    assert module.read(Source("long.txt", "\n" * 60, b""), problems) is None
    assert found(problems) == [(50, "E013")]


def test_more_blocks_than_any_network_has_are_not_read(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_LIMIT", 3)
    network, problems = read_network(HEAD + "".join(f"segment {n}\nend_segment\n" for n in range(1, 9)) + "end_file\n")
    assert (10, "E013") in found(problems)
    assert len(network.segments) == 3
