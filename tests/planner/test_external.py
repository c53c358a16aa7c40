"""Planners in other programs: the same bits as in process, every fault a verdict, and no process left."""

from __future__ import annotations

import ctypes.util
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cbsim
from cbsim.errors import FileError, UsageError
from cbsim.evaluation.outcome import execute
from cbsim.evaluation.replay import replay
from cbsim.recording.recording import Recording
from cbsim.spec.planner import Seat, named_planner
from tests.common import ROOT
from tests.planner.test_isolated import children, needs_proc
from tests.worlds import bot, level, world

zmq = pytest.importorskip("zmq")
pytest.importorskip("msgpack")
PYTHON = f"cmd:{sys.executable} {ROOT}/examples/external/planner.py"
CLIENT = f"cmd:{sys.executable} {ROOT}/tests/planner/client.py"


def ran(planner, *confs, deadline=1.0, record=None, **seat):
    seats = (Seat("CajunBot", **seat),) if seat else ()
    made = world(bot("CajunBot", *confs), step=0.05, duration=0.6, deadline=deadline, seats=seats)
    return execute(made, planner=planner, record=record)


class Same:
    def start(self, *_):
        pass

    def plan(self, observation):
        return cbsim.Command(0.5, 0.05 * observation.speed)


@pytest.mark.parametrize("confs", [(), (level(rate=10.0),)], ids=["plain", "laser"])
@pytest.mark.parametrize("seat", [{}, {"rate": 10.0}], ids=["each step", "10 Hz"])
def test_program_gives_the_bits_of_the_same_planner_in_process(confs, seat, capfd):
    one, other = ran(f"{CLIENT} good", *confs, **seat), ran(Same(), *confs, **seat)
    assert one.verdict == other.verdict == "pass"
    assert one.digest == other.digest
    assert "told of the end" in capfd.readouterr().err


def test_recording_of_a_program_is_replayed_without_it(tmp_path):
    outcome = ran(f"{CLIENT} good", record=tmp_path / "run.mcap")
    assert replay(Recording.open(tmp_path / "run.mcap"), outcome.world) is None


FAULTS = {
    "dies": "it ended during plan() (exit code 0)",
    "twice": "it answered step 6 again when step 7 was due",
    "again": "it answered step 4 again when step 6 was due",
    "ahead": "it answered step 8 when step 6 was due",
    "slow": "plan() took longer than its deadline of 0.5 s",
    "long": "it sent a message of 1048",
    "huge": "it hung up during plan()",
    "hangs up": "it hung up during plan()",
    "garbage": "it sent a message that is no MessagePack",
    "number": "it sent a message that is no map with a 'type'",
    "stranger": "a second planner has connected",
    "nan": "plan() returned a command: throttle is nan, expected a number from -1 to 1",
    "range": "plan() returned a command: steering is 1.5, expected a number from -1 to 1",
    "text": "plan() returned a command: throttle is 'full', expected a number from -1 to 1",
    "levers": "plan() returned a command with levers [1.0], expected nil or two numbers",
    "reverse": "plan() returned a command with reverse 1, expected true or false",
    "key": "plan() returned a command with the key 'brake'; known are throttle, steering, levers, reverse, handbrake",
    "error": "no way ahead",
    "kind": "it sent a message of type 'question', expected 'command'",
}


@pytest.mark.parametrize("mode", FAULTS)
def test_program_that_fails_fails_its_scenario(mode):
    began = time.perf_counter()
    outcome = ran(f"{CLIENT} '{mode}'", deadline=0.5)
    assert time.perf_counter() - began < 8.0
    (fault,) = outcome.checks
    assert outcome.verdict == "fail"
    assert fault.time == pytest.approx(0.35 if mode == "twice" else 0.3)
    assert FAULTS[mode] in fault.message.splitlines()[-1]
    assert "started" in fault.message
    if mode in ("dies", "slow"):
        assert {"dies": "last words", "slow": "thinking"}[mode] in fault.message


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("silent", "no planner said hello in 0.3 s"),
        ("gone", "it ended during hello (exit code 1)"),
        ("version", "it speaks version 2 of the planner protocol, expected 1"),
        ("rude", "it sent a message of type 'command', expected 'hello'"),
    ],
)
def test_program_that_does_not_begin_fails_its_scenario(mode, reason, monkeypatch):
    monkeypatch.setattr("cbsim.planner.driver.START_FACTOR", 0.3 if mode == "silent" else 5.0)
    (fault,) = ran(f"{CLIENT} {mode}").checks
    assert reason in fault.message.splitlines()[-1]
    assert fault.time == 0.0
    assert "no licence" in fault.message or mode != "gone"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.mark.parametrize("mode", ["good", "dies", "hangs up"])
def test_program_that_runs_already_connects_to_an_address(mode):
    address = f"tcp://127.0.0.1:{free_port()}"
    command = [sys.executable, ROOT / "tests/planner/client.py", mode, address]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        outcome = ran(address, deadline=2.0)
        if mode == "good":
            assert (outcome.verdict, outcome.digest) == ("pass", ran(Same()).digest)
            assert program.wait(5.0) == 0
        else:
            assert outcome.checks[0].message == "it hung up during plan()"
        program.kill()


def test_address_in_use_or_nonsense_is_misuse():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        port = one.getsockname()[1]
        with pytest.raises(UsageError, match=rf"cannot listen for a planner at 'tcp://127\.0\.0\.1:{port}': .*in use"):
            ran(f"tcp://127.0.0.1:{port}")
    with pytest.raises(UsageError, match="cannot listen for a planner at 'tcp://nowhere'"):
        ran("tcp://nowhere")


@pytest.mark.parametrize(
    ("text", "told"),
    [("cmd:./no_such_program", "there is no program './no_such_program'"), ("cmd:'", "No closing quotation")],
)
def test_program_that_is_not_there_is_misuse(text, told):
    with pytest.raises(UsageError, match=told):
        ran(text)


@needs_proc
def test_no_process_is_left(capfd):
    before = children()
    for mode in ("good", "slow", "hangs up"):
        ran(f"{CLIENT} '{mode}'", deadline=0.3)
    assert children() == before
    pids = [int(line.split()[1]) for line in capfd.readouterr().err.splitlines() if line.startswith("started")]
    assert len(pids) == 3
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("my:Planner", ("", "my:Planner")),
        ("Bot=my:Planner", ("Bot", "my:Planner")),
        ("cmd:./drive --speed=3", ("", "cmd:./drive --speed=3")),
        ("Bot=cmd:./drive --speed=3", ("Bot", "cmd:./drive --speed=3")),
        ("Bot = tcp://127.0.0.1:5555", ("Bot", "tcp://127.0.0.1:5555")),
    ],
)
def test_planner_of_a_command_line_is_split(text, parts):
    assert named_planner(text) == parts


SCENARIO = "add: [{name: Bot, kind: autonomous}]\nplanner:\n  Bot: "


@pytest.mark.parametrize(
    ("text", "planner"),
    [
        ("{cmd: ./drive --speed=3}", "cmd:./drive --speed=3"),
        ("'cmd:./drive'", "cmd:./drive"),
        ("tcp://127.0.0.1:5555", "tcp://127.0.0.1:5555"),
        ("{class: 'ipc:///run/planner', rate: 10}", "ipc:///run/planner"),
    ],
)
def test_scenario_names_programs(tmp_path, text, planner):
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO + text + "\n")
    spec = cbsim.read(path)
    assert spec.planner == (("Bot", planner),)
    cbsim.write(spec, tmp_path / "copy.yaml")
    assert cbsim.read(tmp_path / "copy.yaml") == spec


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{rate: 10}", "one of 'class' and 'cmd' is needed"),
        ("{class: 'a:B', cmd: ./drive}", "'class' and 'cmd' exclude each other"),
        ("{cmd: ./drive, isolated: true}", "'isolated' is for classes"),
        ("{class: 'tcp://a:1', isolated: true}", "'isolated' is for classes"),
        ("{cmd: ' '}", "E805"),
        ("drive", "expected text such as 'module:Class'"),
    ],
)
def test_mistake_in_a_scenario_is_told(tmp_path, text, told):
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO + text + "\n")
    with pytest.raises(FileError) as error:
        cbsim.load(path)
    assert told in str(error.value)
    assert "scenario.yaml:3" in str(error.value)


def driven(planner):
    """Drive for 20 s; return where the bot is then."""
    world = cbsim.load("four_way_stop", duration=20.0)
    outcome = execute(world, planner=planner)
    assert all(not check.name.startswith("planner") for check in outcome.checks)
    start, end = (world["CajunBot"].pose(one).position for one in (world.start, outcome.snapshot))
    assert abs(end - start).max() > 20.0
    return end


def test_example_in_python_drives():
    driven(PYTHON)


def linked_library():
    """Find libzmq: the system's, else that of pyzmq."""
    if ctypes.util.find_library("zmq"):
        return ["-lzmq"]
    for library in sorted((Path(zmq.__file__).parent.parent / "pyzmq.libs").glob("libzmq*.so*")):
        return [str(library), f"-Wl,-rpath,{library.parent}", "-Wl,--allow-shlib-undefined"]
    pytest.skip("no libzmq to link with")


def test_example_in_cpp_is_compiled_and_drives_as_that_in_python(tmp_path):
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    source, program = ROOT / "examples/external/planner.cpp", tmp_path / "planner"
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *flags, source, "-o", program, *linked_library()], check=True)
    assert driven(f"cmd:{program}") == pytest.approx(driven(PYTHON))
