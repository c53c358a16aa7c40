"""Failures of the simulator itself, as a user meets them."""

from __future__ import annotations

import json

from cbsim.planner.driver import drivers_of
from tests.run.test_finite import Turn, broken


def test_a_run_that_fails_ends_with_3_a_located_line_and_the_verdict_error(cli, tmp_path, monkeypatch):
    made, path = broken(), tmp_path / "run.mcap"
    monkeypatch.setattr("cbsim.run.load.load", lambda *_, **__: made)
    monkeypatch.setattr("cbsim.run.simulation.drivers_of", lambda world, _, guard: drivers_of(world, Turn(), guard))
    said = cli("run", "bot", "--json", tmp_path / "result.json", "--record", path)
    assert said.code == 3
    assert said.err.splitlines()[-1].startswith("bot.xml:7: error: the simulation failed: t=")
    told = json.loads((tmp_path / "result.json").read_text())
    assert told["verdict"] == "error"
    assert "'Bot' is not finite" in told["message"]
