"""``cbsim judge`` of a recording that breaks off within a manoeuvre: undecided is told so, and never passes."""

from __future__ import annotations

import json

import pytest

import cbsim
from cbsim.recording.recording import Recording


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A run with an E-stop, in chunks of a few steps."""
    path = tmp_path_factory.mktemp("clock") / "clock.mcap"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cbsim.simulation.loop.BATCH_NUMBERS", 1)
        patch.setattr("cbsim.recording.recorder.CHUNK", 4096)
        cbsim.run(cbsim.load("mission_clock"), duration=40.0).save(path)
    return path


def test_what_is_undecided_where_a_file_breaks_off_is_an_error_and_no_pass(cli, recording, tmp_path):
    whole = Recording.open(recording)
    speeds = whole.speeds("CajunBot")
    moved = float(whole.times[(speeds > 0.1).argmax()])
    raw, cut = recording.read_bytes(), tmp_path / "cut.mcap"
    seen = set()
    for part in range(10, 100, 6):
        cut.write_bytes(raw[: part * len(raw) // 100])
        said = cli("judge", cut, "--json")
        result = json.loads(said.out)
        checks = {check["name"]: check for check in result["checks"]}
        end = float(Recording.open(cut).times[-1])
        if end < 10.0:  # RUN comes at 5 s, the alarm ends 5 s later
            assert checks["preparation CajunBot"]["passed"] is None
        if end < moved:
            assert checks["start CajunBot"]["passed"] is None
        undecided = [check for check in checks.values() if check["passed"] is None]
        for check in undecided:
            assert check["message"].startswith("undecided: the run ends at")
            seen.add(check["name"])
        failed = [check for check in checks.values() if check["passed"] is False]
        assert (result["verdict"], said.code) == (("fail", 1) if failed else ("error", 2))
        assert failed or undecided
        assert "[W031]" in said.err
    assert {"preparation CajunBot", "start CajunBot"} <= seen
