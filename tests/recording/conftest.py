"""One run for all tests of recordings: a bot with a planner, a skid-steered bot, traffic and a box."""

from __future__ import annotations

import pytest

import cbsim
from tests.simulation.test_loop import Turner, lively


@pytest.fixture(scope="module")
def made():
    return lively()


@pytest.fixture(scope="module")
def recording(made):
    """A recording whose batches are single steps, so that each can be changed or lost."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cbsim.simulation.loop.BATCH_NUMBERS", 1)
        return cbsim.run(made, duration=5.0, planner=Turner())


@pytest.fixture(scope="module")
def joined(made):
    """The same run as `recording`, its batches put together as any run does."""
    return cbsim.run(made, duration=5.0, planner=Turner())


@pytest.fixture(scope="module")
def sourced(tmp_path_factory):
    scenario = tmp_path_factory.mktemp("sourced") / "two.yaml"
    scenario.write_text("add:\n  - name: Box\n    kind: static\n    position: [1, 2, 0]\nduration: 1\n")
    return cbsim.run(cbsim.load(scenario))


@pytest.fixture
def in_chunks(recording, tmp_path, monkeypatch):
    """The bytes of a file of many chunks."""
    monkeypatch.setattr("cbsim.recording.recorder.CHUNK", 4096)
    recording.save(tmp_path / "whole.mcap")
    data = (tmp_path / "whole.mcap").read_bytes()
    assert data.count(b"lz4") > 10
    return data
