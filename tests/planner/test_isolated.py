"""Planners in a child process: the same bits, every fault a verdict, and no process left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

import pytest

from cbsim.errors import UsageError
from cbsim.evaluation.outcome import execute
from cbsim.planner.remote.process import ChildProcess
from cbsim.recording.recording import Recording
from cbsim.spec.objects import Triple
from cbsim.spec.planner import Seat
from tests.common import ROOT
from tests.planner.faulty import Good
from tests.worlds import bot, level, world

FAULTY = "tests.planner.faulty"


@pytest.fixture(autouse=True)
def in_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def ran(name, *confs, isolated=True, deadline=1.0, **options):
    made = world(
        bot("CajunBot", *confs),
        step=0.05,
        duration=0.6,
        deadline=deadline,
        seats=(Seat("CajunBot", isolated=isolated),),
    )
    return execute(made, planner=f"{FAULTY}:{name}", **options)


def children():
    """Processes that this one has started and that still run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            found.append(int(path.parent.name))
    return found


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")


@pytest.mark.parametrize("confs", [(), (level(rate=10.0),)], ids=["plain", "laser"])
def test_planner_in_a_child_process_gives_the_same_bits(confs):
    one, other = ran("Good", *confs), ran("Good", *confs, isolated=False)
    assert one.verdict == other.verdict == "pass"
    assert one.digest == other.digest


def test_drawings_of_an_isolated_planner_are_recorded(tmp_path):
    for isolated in (True, False):
        outcome = ran("Draws", isolated=isolated, record=tmp_path / f"{isolated}.mcap")
        assert outcome.complaints == ()
    one, other = (Recording.open(tmp_path / f"{isolated}.mcap") for isolated in (True, False))
    drawn = [[row.to_bytes() for batch in recording.batches() for row in batch.drawings] for recording in (one, other)]
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) > 2


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Exits", "the planner's process ended in plan(): exit code 0"),
        ("Crashes", "the planner's process ended in plan(): signal SIGSEGV"),
        ("Killed", "the planner's process ended in plan(): signal SIGKILL"),
        ("ClosesEverything", "the planner's process ended in plan(): "),
        ("Stops", "plan() took longer than its deadline of 0.5 s"),
        ("HangsInC", "plan() took longer than its deadline of 0.5 s"),
        ("Hangs", "plan() took longer than its deadline of 0.5 s"),
        ("Raises", "RuntimeError: lost"),
    ],
)
def test_planner_that_fails_fails_its_scenario(name, reason):
    began = time.perf_counter()
    outcome = ran(name, deadline=0.5)
    assert time.perf_counter() - began < 12.0
    (fault,) = outcome.checks
    assert outcome.verdict == "fail"
    assert fault.name == f"planner {name}"
    assert fault.time == pytest.approx(0.3)
    assert reason in fault.message.splitlines()[-1]
    if name not in ("Hangs", "Raises"):
        assert "last words" in fault.message
    else:
        assert "in fail" in fault.message


def test_what_is_no_command_is_told_without_its_class_in_this_process():
    (fault,) = ran("Strange").checks
    assert fault.message == "plan() returned Strange, expected a Command"


@needs_proc
def test_no_process_is_left(capfd):
    before = children()
    ran("LeavesAChild")
    ran("Stops", deadline=0.2)
    assert children() == before
    pids = [int(line.split()[1]) for line in capfd.readouterr().err.splitlines() if line.startswith("started")]
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.killpg(pid, 0)


@needs_proc
def test_planner_ends_when_its_run_is_killed(tmp_path):
    text = f"""
import cbsim, sys
from cbsim.spec.planner import Seat
from tests.worlds import bot, world
made = world(bot("CajunBot"), step=0.05, duration=1e4, deadline=60.0, seats=(Seat("CajunBot", isolated=True),))
cbsim.run(made, planner="{FAULTY}:Stops")
"""
    run = subprocess.Popen([sys.executable, "-c", text], stderr=subprocess.PIPE, text=True)
    try:
        assert run.stderr is not None
        pid = next(int(line.split()[1]) for line in run.stderr if line.startswith("started"))
        os.kill(pid, 0)
    finally:
        run.kill()
        run.wait()
        run.stderr.close()
    for _ in range(100):
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the planner still runs")


def test_command_line_fails_where_the_planner_ends_its_process(tmp_path):
    path = tmp_path / "scenario.yaml"
    path.write_text(
        "add: [{name: Bot, kind: autonomous}]\nduration: 1\n"
        f"planner:\n  Bot: {{class: '{FAULTY}:Exits', isolated: true}}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "cbsim", "run", path, "--json", "-"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"] == "fail"
    assert "exit code 0" in found["checks"][0]["message"]


def test_process_that_is_deaf_to_sigterm_is_killed():
    text = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True); time.sleep(60)"
    child = ChildProcess([sys.executable, "-c", text])
    while "on" not in child.last_lines():
        time.sleep(0.01)
    began = time.monotonic()
    child.close(0.0)
    assert time.monotonic() - began < 3.0
    assert child.ending == "signal SIGKILL"


def test_object_cannot_be_isolated():
    made = world(bot("CajunBot"), seats=(Seat("CajunBot", isolated=True),))
    with pytest.raises(UsageError, match="given as 'module:Class', not as an object"):
        execute(made, planner=Good())


def test_one_object_for_two_bots_is_refused():
    made, planner = world(bot("One"), bot("Two", position_offset=Triple(9.0, 0.0, 0.0)), duration=0.1), Good()
    with pytest.raises(UsageError, match="'One' and 'Two' have one planner object between them"):
        execute(made, planner={"One": planner, "Two": planner})
    assert execute(made, planner={"One": planner, "Two": Good()}).verdict == "pass"


class Counted(Good):
    """Notes which instance drives which bot."""

    drivers: ClassVar[dict[str, object]] = {}

    def start(self, mission, network, vehicle):
        assert vehicle.name not in self.drivers
        self.drivers[vehicle.name] = self


def test_one_class_for_two_bots_is_an_instance_each():
    made = world(bot("One"), bot("Two", position_offset=Triple(9.0, 0.0, 0.0)), duration=0.1)
    Counted.drivers.clear()
    name = f"{__name__}:Counted"
    assert execute(made, planner={"One": name, "Two": name}).verdict == "pass"
    assert set(Counted.drivers) == {"One", "Two"}
    assert Counted.drivers["One"] is not Counted.drivers["Two"]


@pytest.mark.parametrize(
    ("name", "told"),
    [("nowhere:Planner", "no module named 'nowhere'"), (f"{FAULTY}:Goood", r"did you mean 'Good'\?")],
)
def test_name_that_is_not_there_is_misuse(name, told):
    made = world(bot("CajunBot"), seats=(Seat("CajunBot", isolated=True),))
    with pytest.raises(UsageError, match=told):
        execute(made, planner=name)
