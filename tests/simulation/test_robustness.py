"""What must hold outside one quiet process: kills, workers, long runs."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import cbsim
from cbsim.evaluation.outcome import execute
from cbsim.evaluation.replay import replay
from cbsim.recording.recording import Recording

pytestmark = pytest.mark.slow


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_killed_run_leaves_a_recording_that_replays(tmp_path):
    path = tmp_path / "killed.mcap"
    command = [sys.executable, "-m", "cbsim", "run", "city", "--duration", "100000", "--record", str(path), "-q"]
    with subprocess.Popen(command) as process:
        deadline = time.monotonic() + 60.0
        while (not path.exists() or path.stat().st_size < 3_000_000) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    recording = Recording.open(path)
    assert len(recording) > 100
    assert not recording.complete
    assert replay(recording) is None


def digest(seed: int) -> str:
    return execute(cbsim.load("city", seed=seed, duration=5.0)).digest


def test_digests_do_not_depend_on_the_number_of_workers():
    seeds = [1, 2, 3, 1]
    alone = [digest(seed) for seed in seeds]
    for workers in (1, 2):
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            assert list(pool.map(digest, seeds)) == alone
    assert alone[0] == alone[3]


def test_memory_stays_flat_over_a_long_run():
    resource = pytest.importorskip("resource")
    world = cbsim.load("four_way_stop")
    execute(world, steps=2_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    execute(world, steps=400_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8 * 1024  # [KiB]
