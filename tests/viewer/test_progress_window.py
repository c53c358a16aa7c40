"""The window that is open while something is loaded, with SDL's dummy driver."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pygame
import pytest
from numba.core import config

import cbsim
from cbsim.errors import UsageError
from cbsim.jit import inner, kernel
from cbsim.palette import CHROME
from cbsim.simulation.rehearsal import counting, rehearse
from cbsim.viewer import progress_window
from cbsim.viewer.progress_window import (
    Progress,
    WindowClosedError,
    draw_progress,
    run_in_progress_window,
    run_with_progress,
)
from cbsim.viewer.scene.source import NetworkSource
from cbsim.viewer.screen import open_screen
from cbsim.viewer.screenshot import pixels_of
from cbsim.viewer.session import Session
from cbsim.viewer.window import Window

SHOW_DELAY = 30.0  # [s]
NAMES = ("plan.yaml", "x" * 200, "路网.rndf", "a\x1b[31m\n.rndf")


@pytest.fixture(autouse=True)
def no_screen(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame.display.quit()
    yield
    pygame.display.quit()


@pytest.fixture
def shown(monkeypatch):
    """What is drawn, as (name, stage, done, total) of each picture."""
    drawn, draw = [], draw_progress

    def note(surface, name, progress, elapsed):
        drawn.append((name, progress.stage, progress.done, progress.total))
        draw(surface, name, progress, elapsed)

    monkeypatch.setattr(progress_window, "draw_progress", note)
    return drawn


def until(condition):
    """Wait for something in the thread of the work; events are posted from there, as SDL allows."""
    ended = threading.Event()
    for _ in range(round(SHOW_DELAY / 0.01)):
        if condition():
            return
        ended.wait(0.01)
    raise AssertionError("nothing happened")


def key(key, mod=0, kind=pygame.KEYDOWN):
    return pygame.event.Event(kind, key=key, mod=mod, unicode="", scancode=0)


def looked_at(event):
    """Post an event and wait until the main thread has taken it."""
    pygame.event.post(event)
    until(lambda: not pygame.event.peek(event.type))


def test_window_is_open_with_a_title_while_another_thread_works():
    main = threading.get_ident()

    def work(_progress):
        assert threading.get_ident() != main
        return pygame.display.get_surface().get_size(), pygame.display.get_caption()[0]

    assert run_in_progress_window(work, "plan.yaml", (640, 400)) == ((640, 400), "loading plan.yaml - cbsim")
    assert pygame.display.get_surface() is not None, "it stays for what was loaded"


def test_progress_is_shown_as_it_is_told(shown):
    def work(progress):
        for done in (0, 3, 7):
            progress.enter("stepping")
            progress.count(done, 9)
            until(lambda done=done: ("plan.yaml", "stepping", done, 9) in shown)
        progress.count(0, 0)
        until(lambda: shown[-1] == ("plan.yaml", "stepping", 0, 0))

    run_in_progress_window(work, "plan.yaml")
    assert [one[2:] for one in shown if one[1] == "stepping"] == [(0, 9), (3, 9), (7, 9), (0, 0)]


def test_work_that_is_done_at_once_shows_no_progress(shown, monkeypatch):
    monkeypatch.setattr(progress_window, "SHOW_DELAY", SHOW_DELAY)
    ended = threading.Event()
    assert run_in_progress_window(lambda _: ended.wait(0.2), "plan.yaml") is False
    assert not shown


@pytest.mark.parametrize("size", [(64, 64), (320, 200), (1280, 800), (3840, 2160)])
@pytest.mark.parametrize("name", NAMES)
def test_everything_stands_within_the_panel_and_nothing_over_another(monkeypatch, size, name):
    boxes = []
    text = progress_window.Canvas.text

    def note(*arguments, **options):
        boxes.append(text(*arguments, **options))
        return boxes[-1]

    monkeypatch.setattr(progress_window.Canvas, "text", note)
    surface = pygame.Surface(size)
    draw_progress(surface, name, Progress("encounters", 100, 250, True), 12345.6)
    assert len(boxes) == 4
    if size[0] > 64:  # where letters are 6 pixels high at least, there is no room
        edges = np.flatnonzero((pixels_of(surface)[size[1] // 2] == CHROME.edge).all(axis=1))
        for number, box in enumerate(boxes):
            assert edges.min() < box.left
            assert box.right < edges.max()
            assert box.collidelist(boxes[:number]) == -1


@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
def test_bar_is_as_long_as_the_share_that_is_compiled(share):
    surface = pygame.Surface((1280, 800))
    draw_progress(surface, "plan.yaml", Progress("stepping", round(100 * share), 100, True), 1.0)
    pixels = pixels_of(surface)
    lengths = {
        colour: int((pixels == colour).all(axis=2).sum(axis=1).max()) for colour in (CHROME.accent, CHROME.track)
    }
    assert lengths[CHROME.accent] / sum(lengths.values()) == pytest.approx(share, abs=0.01)


def test_keys_and_the_mouse_act_afterwards_in_their_order():
    sent = [
        key(pygame.K_i),
        key(pygame.K_i, kind=pygame.KEYUP),
        pygame.event.Event(pygame.MOUSEMOTION, pos=(10, 10), rel=(1, 1), buttons=(0, 0, 0)),
        pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=(10, 10), button=1),
        pygame.event.Event(pygame.MOUSEMOTION, pos=(20, 20), rel=(9, 9), buttons=(1, 0, 0)),
        pygame.event.Event(pygame.MOUSEBUTTONUP, pos=(20, 20), button=1),
        pygame.event.Event(pygame.MOUSEWHEEL, x=0, y=1, flipped=False),
        key(pygame.K_t),
    ]

    def work(_progress):
        for event in sent:
            looked_at(event)
        pygame.event.post(last)  # not taken yet when the work ends

    last = key(pygame.K_u)
    run_in_progress_window(work, "plan.yaml")
    kept = [event for event in pygame.event.get() if event.type in progress_window.DEFERRED]
    assert [(event.type, event.dict) for event in kept] == [(event.type, event.dict) for event in [*sent, last]]


def test_of_a_long_way_of_the_mouse_only_its_end_is_kept():
    def work(_progress):
        for x in range(500):
            pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=(x, 0), rel=(1, 0), buttons=(0, 0, 0)))

    run_in_progress_window(work, "plan.yaml")
    kept = [event for event in pygame.event.get() if event.type == pygame.MOUSEMOTION]
    assert [event.pos for event in kept] == [(499, 0)]


def test_keys_typed_meanwhile_work_in_the_session_that_was_loaded():
    def work(_progress):
        looked_at(key(pygame.K_i))
        return cbsim.load("loop").scene.roadmap

    roadmap = run_in_progress_window(work, "loop", (640, 400))
    session = Session(NetworkSource(roadmap))
    before = session.options.shown.get("ids")
    window = Window(session, "plan - cbsim", (640, 400))
    assert window.turn()
    assert session.options.shown["ids"] != before


@pytest.mark.parametrize(
    "event", [pygame.event.Event(pygame.QUIT), key(pygame.K_q, pygame.KMOD_CTRL), key(pygame.K_w, pygame.KMOD_CTRL)]
)
def test_closed_window_lets_the_work_go_on(event):
    go_on = threading.Event()

    def work(_progress):
        pygame.event.post(event)
        assert go_on.wait(SHOW_DELAY)
        return "done"

    with pytest.raises(WindowClosedError) as closed:
        run_in_progress_window(work, "plan.yaml")
    assert pygame.display.get_surface() is None
    assert progress_window.has_background_work()
    go_on.set()
    assert closed.value.future.result(SHOW_DELAY) == "done"
    until(lambda: not progress_window.has_background_work())


@pytest.mark.parametrize("error", [UsageError("wrong"), KeyError("what"), SystemExit(3)])
def test_errors_of_the_work_are_raised_and_close_the_window(error):
    def work(_progress):
        raise error

    with pytest.raises(type(error)) as raised:
        run_in_progress_window(work, "plan.yaml")
    assert raised.value is error
    assert pygame.display.get_surface() is None


def test_window_that_was_open_before_stays_open_when_the_work_fails():
    open_screen((640, 400))
    with pytest.raises(UsageError):
        run_with_progress(lambda _: (_ for _ in ()).throw(UsageError("wrong")), "plan.yaml")
    assert pygame.display.get_surface() is not None


def test_interrupt_ends_the_wait_at_once():
    go_on = threading.Event()

    def work(_progress):
        signal.raise_signal(signal.SIGINT)
        go_on.wait(SHOW_DELAY)

    with pytest.raises(KeyboardInterrupt):
        run_in_progress_window(work, "plan.yaml")
    assert progress_window.has_background_work()
    assert pygame.display.get_surface() is None
    go_on.set()


def test_window_of_one_size_is_kept_and_one_of_another_is_opened_anew():
    surface = open_screen((640, 400))
    surface.set_at((1, 1), (1, 2, 3))
    assert open_screen((640, 400)).get_at((1, 1))[:3] == (1, 2, 3)
    assert open_screen((320, 200)).get_size() == (320, 200)
    pygame.display.quit()
    assert open_screen((320, 200)).get_size() == (320, 200)


def test_rehearsal_changes_no_bit_of_a_run_and_asks_no_planner():
    world = cbsim.load("mission", duration=1.0)
    alone = cbsim.run(cbsim.load("mission", duration=1.0))
    stages = []
    rehearse(world, stages.append)
    assert stages == ["sensing", "stepping", "planning"]
    assert cbsim.run(world).hashes.tolist() == alone.hashes.tolist()


@inner
def one_more(value):
    return value + 1.0


@inner
def two_more(value):
    return one_more(one_more(value))


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_functions_of_a_kernel_are_counted_while_it_is_compiled(tmp_path, monkeypatch):
    def three_more(value):
        return one_more(two_more(value))

    def first_with(told):
        with counting(lambda done, total: told.append((done, total))):
            assert made(1.0) == 4.0
        return told

    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    made = kernel(three_more)
    assert first_with([]) == [(0, 3), (1, 3), (2, 3), (0, 0)]
    assert first_with([]) == [], "there is nothing left to compile"
