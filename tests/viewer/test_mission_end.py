"""A mission whose vehicles are disabled ends before its time, in the viewer too."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from cbsim.viewer.loading import open_source
from cbsim.viewer.session import Session

TEXT = """\
network: four_way_stop
mission: {file: four_way_stop, delay: 0}
duration: 30
add:
  - {name: Bot, kind: autonomous, size: [1.7, 3.68, 2.16], at: 3.2.1}
events:
  - {when: {time: 1}, do: {run_state: {object: Bot, state: DISABLE}}}
expect:
  - rest: {object: Bot}
"""


def test_run_ends_when_the_mission_is_disabled(tmp_path):
    path = tmp_path / "disabled.yaml"
    path.write_text(TEXT)
    with ExitStack() as exits:
        session = Session(open_source(str(path), exits))
        assert session.end == pytest.approx(30.0)
        session.speed = 100.0
        for _ in range(3):
            session.tick(0.2)
        assert session.end == session.time == pytest.approx(1.05)
        assert not session.playing
        checks = [mark.kind for mark in session.source.timeline.events if mark.kind != "event"]
        assert checks == ["passed"]
