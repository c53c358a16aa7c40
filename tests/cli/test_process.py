"""The process of a command: interrupted at any moment it says so in words, and no planner changes how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from cbsim.recording.recording import Recording

BOX = "add:\n  - name: Box\n    kind: static\n    position: [1, 2, 0]\nduration: 600\n"
PLANNER = """
import atexit, os, threading, time
from cbsim import Command


class Planner:
    def start(self, mission, network, vehicle):
        {start}

    def plan(self, observation):
        {plan}
        return Command(throttle=0.1)
"""


def program(*arguments: object, **options) -> subprocess.Popen:
    command = [sys.executable, "-m", "cbsim", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def wait_until(condition, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def box(tmp_path):
    path = tmp_path / "box.yaml"
    path.write_text(BOX)
    return path


def test_interrupted_run_says_what_it_keeps_and_keeps_it(tmp_path):
    record, result, suites = tmp_path / "run.mcap", tmp_path / "run.json", tmp_path / "run.xml"
    (tmp_path / "one.yaml").write_text("add:\n  - {name: Bot, kind: autonomous, position: [0, 0, 0]}\nduration: 600\n")
    (tmp_path / "telling.py").write_text(
        PLANNER.format(start="pass", plan="open('here', 'w') if observation.time else 0")
    )
    options = ("--realtime", "--record", record, "--json", result, "--junit", suites)
    running = program("run", "one.yaml", "--planner", "telling:Planner", *options, cwd=tmp_path)
    wait_until((tmp_path / "here").exists)
    time.sleep(0.2)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out) == (130, "")
    assert "Traceback" not in err
    told = json.loads(result.read_text())
    steps = told["steps"]
    assert f"({steps} of 12000 steps); '{record}' holds it up to there" in err
    assert (told["verdict"], told["checks"]) == ("error", [])
    assert told["message"].startswith("interrupted after")
    recording = Recording.open(record)
    assert recording.complete
    assert len(recording) == steps + 1 > 1
    assert "interrupted after" in suites.read_text()


def interrupted_after(delay: float, *arguments: object) -> tuple[int, str]:
    """Interrupt a command a while after its start; its exit code and what it said."""
    running = program(*arguments)
    time.sleep(delay)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    return running.returncode, err


def came_early(code: int, err: str) -> bool:
    """Tell whether the interrupt came before a line of cbsim could run.

    Python then either had no handler of signals yet and died of the signal without a word, or shows a traceback of
    its own start-up.
    """
    if code == -signal.SIGINT and not err:
        return True
    return "cbsim/cli" not in err and any(place in err for place in ("<frozen site>", "runpy", "init_"))


@pytest.mark.parametrize("delay", [0.15, 0.3, 0.6, 0.9])
def test_interrupt_in_start_up_gives_no_traceback(box, delay):
    code, err = interrupted_after(delay, "run", box, "--realtime")
    if not came_early(code, err):
        assert code == 130
        assert "interrupted" in err
        assert "Traceback" not in err


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.05 * k for k in range(2, 42)])
def test_interrupt_at_any_moment_gives_no_traceback(delay):
    code, err = interrupted_after(delay, "run", "four_way_stop", "--duration", 10_000)
    if not came_early(code, err):
        assert code == 130
        assert "Traceback" not in err


def test_interrupt_before_the_first_step_still_writes_the_result(tmp_path, box):
    result = tmp_path / "run.json"
    (tmp_path / "sleepy.py").write_text(PLANNER.format(start="open('here', 'w'); time.sleep(60)", plan="pass"))
    running = program(
        "run", "four_way_stop", "--planner", "sleepy:Planner", "--json", result, "--deadline", 60, cwd=tmp_path
    )
    wait_until((tmp_path / "here").exists)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "Traceback" not in err
    told = json.loads(result.read_text())
    assert (told["verdict"], told["steps"]) == ("error", 0)


@pytest.mark.parametrize(
    ("plan", "code"),
    [
        ("threading.Thread(target=time.sleep, args=(600,)).start()", 0),
        ("atexit.register(os._exit, 0); raise RuntimeError('lost')", 1),
        ("os._exit(0)", 1),
        ("raise KeyboardInterrupt", 1),
    ],
)
def test_planner_neither_keeps_the_process_alive_nor_chooses_its_exit_code(tmp_path, plan, code):
    (tmp_path / "clinging.py").write_text(PLANNER.format(start="pass", plan=plan))
    (tmp_path / "one.yaml").write_text("add:\n  - {name: Bot, kind: autonomous, position: [0, 0, 0]}\nduration: 0.2\n")
    result = tmp_path / "run.json"
    arguments = ("one.yaml", "--planner", "clinging:Planner", "--json", result)
    running = program("run", *arguments, cwd=tmp_path)
    _, err = running.communicate(timeout=120)
    assert running.returncode == code, err
    assert json.loads(result.read_text())["verdict"] == ("fail" if code else "pass")


def test_recording_to_what_is_no_regular_file_is_refused_at_once(cli, tmp_path, box):
    os.mkfifo(tmp_path / "pipe.mcap")
    for target in (tmp_path / "pipe.mcap", "/dev/null"):
        said = cli("run", box, "--record", target, "--duration", 1)
        assert said.code == 2
        assert "a pipe or a device, expected a regular file or a new one" in said.err
    assert "a folder" in cli("run", box, "--record", tmp_path, "--duration", 1).err


@pytest.mark.parametrize(
    ("command", "instead"),
    [
        (("view", "loop"), "--screenshot"),
        (("edit", "new.xml", "--rndf", "loop.rndf"), "--screenshot"),
        (("run", "loop", "--view"), "a run without --view needs none"),
    ],
)
def test_window_without_a_display_is_refused_with_what_needs_none(tmp_path, command, instead):
    gone = {"DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER", "SDL_VIDEO_DRIVER"}
    environment = {name: value for name, value in os.environ.items() if name not in gone}
    running = program(*command, cwd=tmp_path, env=environment)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 2
    assert f"no window can be opened: there is no display; {instead}" in err
