"""The window itself, with real keys and a real mouse."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pygame
import pytest

import cbsim
from cbsim.palette import CHROME
from cbsim.run.recording import Recording
from cbsim.viewer.picture import pixels_of
from tests.common import ROOT
from tests.viewer.screen import Program, x_server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def display():
    with x_server() as name:
        yield name


@pytest.fixture
def program(display, tmp_path):
    started = []

    def start(*arguments):
        started.append(Program(display, tmp_path, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.kill()


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
    window.process.communicate(timeout=60)
    told = Recording.open(tmp_path / "cart.mcap").controls()
    forward = [value for _, name, value in told if name == "joystick1.y"]
    assert forward == [-1.0, 0.0], "pushed forward, and let go"
    assert [value for _, name, value in told if name == "key.left"] == [1.0, 0.0]
    assert [value for _, name, value in told if name == "speed_factor"][-1] == -2.0
    bar = shown[100:120, 20:150].reshape(-1, 3)
    assert (np.abs(bar - CHROME.accent).sum(axis=1) < 30).sum() > 50, "the knob is seen"
