"""Undecided checks are shown as undecided, not as failed: in the report, the viewer and Foxglove's log."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest

import cbsim
from cbsim.evaluation.rules import Check
from cbsim.foxglove.display import ERROR, INFO, WARNING, Display
from cbsim.palette import PAINT, WORDS
from cbsim.report import page_of
from cbsim.report.data import run_of
from cbsim.report.pack import pack
from cbsim.viewer.event_colours import symbol_colour, word_colour
from cbsim.viewer.loading import open_source

TEXT = """\
network: four_way_stop
mission: {file: four_way_stop, delay: 20}
duration: 1
add:
  - {name: Bot, kind: autonomous, size: [1.7, 3.68, 2.16], at: 3.2.1}
expect:
  - rest: {object: Bot}
  - preparation: {object: Bot}
  - travel: {object: Bot, at_least: 1}
"""
KINDS = ["failed", "undecided", "passed"]


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "held.yaml"
    path.write_text(TEXT)
    return path


def test_report_lists_undecided_checks_after_failed_ones_and_says_so(scenario):
    recording = cbsim.run(cbsim.load(scenario))
    run = run_of(recording)
    assert run.verdict == "fail"
    assert [event.passed for event in run.events] == [False, None, True]
    page = page_of([run])
    assert "1 of 3 checks passed, 1 undecided" in page
    assert page.count('<span class="open">? undecided</span>') == 1
    assert page.count('<span class="bad">✗ failed</span>') == 1
    marks = [mark["passed"] for mark in pack([run]).data["runs"][0]["marks"]]
    assert marks.count(None) == 1


def test_scripts_of_the_report_ask_for_failed_checks_by_name():
    """An undecided check, whose `passed` is null, is no failure: it opens no page and flags no plot."""
    page = page_of([run_of(cbsim.run(cbsim.load("crash"), duration=0.1))])
    assert "!mark.passed" not in page
    assert 'shown("check undecided here", "check", null)' in page


def test_viewer_shows_undecided_checks_as_such(scenario):
    with ExitStack() as exits:
        live = open_source(str(scenario), exits)
        live.advance_to(2.0)
        told = {mark.name: mark.kind for mark in live.timeline.events}
        assert told == {"preparation Bot": "undecided", "travel Bot": "failed", "rest Bot": "passed"}
        assert [mark.kind for mark in live.timeline.events] == KINDS[::-1]  # failed ones last
    assert len({symbol_colour(kind) for kind in KINDS}) == len({word_colour(kind) for kind in KINDS}) == 3
    assert (symbol_colour("undecided"), word_colour("undecided")) == (PAINT.warning, WORDS.warning)


def test_foxglove_logs_undecided_checks_as_warnings(scenario):
    recording = cbsim.run(cbsim.load(scenario))
    display = Display(recording.header, None)
    for batch in recording.batches():
        list(display.take(batch))
    checks = [Check("a", passed, 1.0, "") for passed in (True, None, False)]
    logged = [json.loads(one.data) for one in display.end(checks) if one.topic == "/foxglove/log"]
    assert [one["level"] for one in logged] == [INFO, WARNING, ERROR]
