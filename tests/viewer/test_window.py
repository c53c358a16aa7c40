"""The window itself, with real keys and a real mouse."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pygame
import pytest

import cbsim
from cbsim.palette import CHROME
from cbsim.recording.recording import Recording
from cbsim.viewer.screenshot import pixels_of
from tests.common import ROOT
from tests.viewer.screen import SHOW_DELAY, Program, seen_in, x_server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def screen(tmp_path_factory):
    return tmp_path_factory.mktemp("screen")


@pytest.fixture(scope="module")
def display(screen):
    with x_server(folder=screen) as name:
        yield name


@pytest.fixture
def program(display, tmp_path):
    started = []

    def start(*arguments, at_once=False):
        started.append(Program(display, tmp_path, *arguments, at_once=at_once))
        return started[-1]

    yield start
    for one in started:
        one.kill()


@pytest.fixture
def compiling(program, screen, tmp_path, monkeypatch):
    """Start a command with nothing compiled; returns once its window shows how many functions have been."""
    monkeypatch.setenv("CBSIM_CACHE", str(tmp_path / "cache"))

    def start(*arguments):
        window = program(*arguments, at_once=True)
        window.wait_for(lambda: bar_in(seen_in(screen)) > 20 or None)
        assert not is_compiled(tmp_path)
        return window

    return start


def bar_in(pixels):
    """Length of the longest level line in the colour of a progress bar [pixels]."""
    return (pixels == CHROME.accent).all(axis=2).sum(axis=1).max()


def is_compiled(folder):
    """Tell whether the kernel of steps is in the cache, which is the last of the large ones."""
    return any((folder / "cache").rglob("*advance_into*.nbc"))


def look(path):
    return pixels_of(pygame.image.load(path)).astype(int)


def differ(one, other):
    return float((np.abs(one - other).sum(axis=2) > 30).mean())


def test_keys_pause_tell_help_and_show_ids(program):
    window = program("view", "four_way_stop")
    window.keys("space")
    still = look(window.picture())
    assert still.shape == (800, 1280, 3)
    again = look(window.picture())
    assert differ(still[130:700], again[130:700]) < 1e-3  # only the line that tells of the saved picture
    window.keys("question")
    helped = look(window.picture())
    centre = helped[150:650, 200:1080].reshape(-1, 3)
    assert (centre.min(axis=1) > 245).mean() > 0.6, "help covers the middle"
    window.keys("Escape", "i")
    with_ids = look(window.picture())
    assert 0.0 < differ(again[100:700], with_ids[100:700]) < 0.1
    code, said = window.close()
    assert (code, said) == (0, "")


def test_a_mouse_drags_zooms_selects_and_scrubs(program):
    window = program("view", "loop")
    window.keys("space", "home", "a")
    start = look(window.picture())
    x, y = window.corner
    window.do("mousemove", x + 640, y + 400, "mousedown", 1)
    window.do("mousemove", x + 700, y + 440, "sleep", 0.1, "mousemove", x + 760, y + 480, "sleep", 0.1, "mouseup", 1)
    dragged = look(window.picture())
    middle = start[150:500, 250:900]
    assert differ(dragged[230:580, 370:1020], middle) < 0.02, "the picture went along with the mouse"
    window.do("mousemove", x + 640, y + 400, "click", 4, "click", 4, "click", 4)
    nearer = look(window.picture())
    assert differ(nearer, dragged) > 0.02
    window.do("mousemove", x + 600, y + 781, "click", 1)
    bar = look(window.picture())[781, 60:1080]
    blue = (np.abs(bar - CHROME.accent).sum(axis=1) < 30).sum()
    assert blue < 30, "a run that has not come so far is shown as far as it has"
    assert window.close() == (0, "")


def test_a_run_in_a_window_gives_the_same_digest_as_one_without(program, tmp_path):
    digests = []
    for name, options in (("alone", ["-q"]), ("seen", ["-q", "--view", "--realtime", "50"])):
        arguments = ["run", "four_way_stop", "--duration", "3", "--json", f"{name}.json", *options]
        if name == "seen":
            process = program(*arguments).process
        else:
            process = subprocess.Popen(
                [sys.executable, "-m", "cbsim", *arguments],
                cwd=tmp_path,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
            )
        process.communicate(timeout=120)
        digests.append(json.loads((tmp_path / f"{name}.json").read_text())["digest"])
    assert digests[0] == digests[1]


def test_a_window_that_is_closed_lets_the_run_go_on(program, tmp_path):
    window = program("run", "four_way_stop", "--duration", "20", "--json", "seen.json", "-q", "--view")
    window.keys("ctrl+q")
    window.process.communicate(timeout=60)
    assert json.loads((tmp_path / "seen.json").read_text())["steps"] == 400


def test_keys_a_joystick_of_keys_and_a_slider_steer_a_model_in_its_window(program, tmp_path):
    cart = ROOT / "scenarios" / "models" / "cart.jm"
    cbsim.run(cbsim.load(cart), duration=0.1)  # compiles what the window would wait for
    window = program("run", cart, "--duration", "600", "--record", "cart.mcap", "-q", "--view")
    x, y = window.corner
    window.do("keydown", "alt", "keydown", "Up", "sleep", 0.5, "keyup", "Up", "keyup", "alt", "sleep", 0.3)
    window.do("keydown", "Left", "sleep", 0.5, "keyup", "Left", "sleep", 0.3)
    window.do("mousemove", x + 100, y + 110, "mousedown", 1, "sleep", 0.2, "mousemove", x + 14, y + 110, "sleep", 0.3)
    window.do("mouseup", 1, "sleep", 0.3)
    shown = look(window.picture())
    window.process.terminate()
    window.process.communicate(timeout=SHOW_DELAY)
    told = Recording.open(tmp_path / "cart.mcap").controls()
    forward = [value for _, name, value in told if name == "joystick1.y"]
    assert forward == [-1.0, 0.0], "pushed forward, and let go"
    assert [value for _, name, value in told if name == "key.left"] == [1.0, 0.0]
    assert [value for _, name, value in told if name == "speed_factor"][-1] == -2.0
    bar = shown[100:120, 20:150].reshape(-1, 3)
    assert (np.abs(bar - CHROME.accent).sum(axis=1) < 30).sum() > 50, "the knob is seen"


def test_a_window_is_open_while_kernels_are_compiled_and_keys_act_afterwards(compiling, tmp_path):
    window = compiling("view", "four_way_stop")
    window.keys("space", "i", "s")
    assert window.title == "loading four_way_stop.yaml - cbsim"
    assert not is_compiled(tmp_path)
    window.wait_until_loaded()
    assert is_compiled(tmp_path)
    window.wait_for(lambda: (tmp_path / "cbsim-1.png").exists() or None)
    assert window.do("search", "--onlyvisible", "--class", ".") == window.window, "it is the same from first to last"
    assert window.corner >= (0, 0)
    with_ids = look(window.picture())
    window.keys("i")
    assert 0.0 < differ(look(window.picture())[100:700], with_ids[100:700]) < 0.1
    code, said = window.close()
    assert (code, said.count("\n")) == (0, 1), said
    assert said.startswith("compiling kernels")


def test_a_window_that_is_closed_while_kernels_are_compiled_ends_the_command(compiling, tmp_path):
    code, said = compiling("view", "four_way_stop").close()
    assert code == 0, said
    assert not is_compiled(tmp_path), "nobody waited for it"


@pytest.mark.parametrize("command", [("view", "four_way_stop"), ("run", "four_way_stop", "--view")])
def test_an_interrupt_while_kernels_are_compiled_ends_the_command(compiling, tmp_path, command):
    window = compiling(*command)
    window.process.send_signal(signal.SIGINT)
    said = window.process.communicate(timeout=60)[0]
    assert window.process.returncode == 130
    assert said.splitlines()[-1].startswith("interrupted")
    assert "Traceback" not in said
    assert not is_compiled(tmp_path)
