"""``cbsim view`` and ``cbsim run --realtime`` as users meet them."""

from __future__ import annotations

import json
import sys
import time

import pygame
import pytest

import cbsim
from cbsim.cli.main import with_default_values
from cbsim.evaluation.summary import times
from cbsim.loading import load as loading
from cbsim.viewer import loading as viewer_loading
from cbsim.viewer import progress_window
from tests.common import ROOT


def test_a_number_after_realtime_may_be_left_out():
    assert with_default_values(["run", "x", "--realtime", "2"]) == ["run", "x", "--realtime", "2"]
    assert with_default_values(["run", "--realtime", "x"]) == ["run", "--realtime", "1", "x"]
    assert with_default_values(["run", "x", "--realtime"]) == ["run", "x", "--realtime", "1"]


@pytest.mark.parametrize(("factor", "said"), [(2345.6, "2346"), (12.34, "12.3"), (0.01234, "0.0123"), (0.0, "0")])
def test_a_slow_run_is_told_with_digits_that_mean_something(factor, said):
    assert times(factor) == said


@pytest.mark.parametrize(
    ("arguments", "size"),
    [(["crash", "--at", "1", "--size", "320x200"], (320, 200)), ([ROOT / "rndf" / "loop.rndf"], (1280, 800))],
)
def test_a_screenshot_needs_no_screen(cli, tmp_path, monkeypatch, arguments, size):
    monkeypatch.delenv("DISPLAY", raising=False)
    done = cli("view", *arguments, "--screenshot", tmp_path / "a.png")
    said = [line for line in done.err.splitlines() if not line.startswith("compiling kernels")]  # on a new machine
    assert (done.code, said) == (0, [])
    assert pygame.image.load(tmp_path / "a.png").get_size() == size


def test_recordings_object_files_and_two_recordings_are_shown(cli, tmp_path):
    path = tmp_path / "a.mcap"
    cbsim.run(cbsim.load("crash"), duration=0.5).save(path)
    objects = ROOT / "scenarios" / "objects" / "four_way_stop.xml"
    for files in ([path], [path, path], [objects, "--rndf", ROOT / "rndf" / "four_way_stop.rndf"]):
        done = cli("view", *files, "--size", "200x150", "--screenshot", tmp_path / "a.png")
        assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["crash", "--size", "12"], "size '12' is not of the form 1280x800"),
        (["crash", "--follow", "Pick"], "no object 'Pick'; there is"),
        (["crash", "--show", "id"], "no layer 'id'; there is ground"),
        (["crash", "--look", "below"], "no direction to look from 'below'"),
        (["crash", "--speed", "0"], "--speed is 0, expected a number above 0"),
        (["crash", "--speed", "inf"], "--speed is inf, expected a number above 0"),
        (["crash", "--at", "nan"], "--at is nan, expected a time from 0 s on"),
        (["crash", "--at", "-1"], "--at is -1, expected a time from 0 s on"),
        (["crash", "--at", "inf"], "--at is inf, expected a time from 0 s on"),
        (["crash", "--zoom", "nan"], "--zoom is nan, expected pixels per metre above 0"),
        (["nowhere", "--video", "a.mp4", "--duration", "nan"], "--duration is nan, expected a time from 0 s on"),
        (["nowhere", "--video", "a.mp4", "--duration", "-1"], "--duration is -1, expected a time from 0 s on"),
        (["crash", "--screenshot", "a.txt"], "'a.txt' is no name of a picture"),
        (["crash", "--screenshot", "nowhere/a.png"], "cannot write 'nowhere/a.png'"),
        (["crsh"], "no such scenario"),
        ([ROOT / "rndf" / "loop.mdf"], "is a file of format 'mdf'"),
    ],
)
def test_what_cannot_be_shown_is_told_in_one_line(cli, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    if "--screenshot" not in arguments:
        arguments = [*arguments, "--screenshot", "a.png"]
    done = cli("view", *arguments)
    assert done.code == 2
    assert said in done.err


@pytest.fixture
def closing(monkeypatch):
    """Close the window before anything is loaded; returns what is loaded all the same."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(progress_window, "PERIOD", 0.01)
    loaded, load = [], loading.load

    def late(*arguments, **options):
        pygame.event.post(pygame.event.Event(pygame.QUIT))
        while pygame.display.get_init():
            time.sleep(0.01)
        loaded.append(load(*arguments, **options))
        return loaded[-1]

    monkeypatch.setattr(loading, "load", late)
    monkeypatch.setattr(viewer_loading, "load", late)
    yield loaded
    pygame.display.quit()


def test_a_window_that_is_closed_while_it_loads_is_the_end_of_view(cli, closing):
    assert cli("view", "crash", "-q") == (0, "", "")


def test_a_window_that_is_closed_while_it_loads_lets_a_run_go_on_alone(cli, closing, tmp_path):
    done = cli("run", "crash", "--view", "--duration", "0.5", "-q", "--json", tmp_path / "a.json")
    assert done.code in {0, 1}
    assert json.loads((tmp_path / "a.json").read_text())["steps"] == 10
    assert len(closing) == 1
    assert not pygame.display.get_init()


@pytest.mark.parametrize("command", [("view", "crsh"), ("run", "crsh", "--view")])
def test_a_file_that_is_not_there_opens_no_window(cli, monkeypatch, command):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(progress_window, "open_screen", None)
    done = cli(*command)
    assert done.code == 2
    assert "no such scenario" in done.err


def test_a_film_without_its_library_says_what_to_install(cli, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    done = cli("view", "crash", "--video", tmp_path / "a.mp4")
    assert done.code == 2
    assert "pip install 'cbsim[video]'" in done.err


def test_a_film_has_as_many_pictures_as_its_time_asks_for(cli, tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "a.mp4"
    done = cli("view", "crash", "--size", "160x120", "--duration", "1", "--speed", "2", "--video", path)
    assert (done.code, done.err) == (0, "")
    frames, seconds = ffmpeg.count_frames_and_secs(str(path))
    assert frames == 16
    assert seconds == pytest.approx(16 / 30, abs=0.05)


def test_realtime_keeps_a_run_to_the_clock_and_changes_no_bit(cli, tmp_path):
    digests = []
    for options in ([], ["--realtime", "4"]):
        began = time.perf_counter()
        assert cli("run", "crash", "--duration", "2", "-q", "--json", tmp_path / "a.json", *options).code in {0, 1}
        took = time.perf_counter() - began
        digests.append(json.loads((tmp_path / "a.json").read_text())["digest"])
    assert took >= 0.5
    assert digests[0] == digests[1]
    assert "realtime is 0.0" in cli("run", "crash", "--realtime", "0").err
