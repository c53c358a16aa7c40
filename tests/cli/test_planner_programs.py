"""Programs as planners, on the command line."""

from __future__ import annotations

import pytest

pytest.importorskip("zmq")
pytest.importorskip("msgpack")
SCENARIO = "add: [{name: Bot, kind: autonomous}]\nplanner:\n  Bot: "


def test_reading_and_checking_start_nothing(tmp_path, cli):
    path, mark = tmp_path / "scenario.yaml", tmp_path / "mark"
    path.write_text(SCENARIO + f"{{cmd: 'touch {mark}'}}\n")
    for command in ("check", "info"):
        assert cli(command, path).code == 0
    assert not mark.exists()
    assert cli("run", path, "--duration", "0.1").code == 1
    assert mark.exists()
