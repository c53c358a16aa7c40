"""What stands still while the camera moves: shown from an older picture, drawn anew beside, and exact in the end."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pygame
import pytest

from cbsim.palette import SCENE
from cbsim.viewer import layers, static_layers
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.loading import open_source
from cbsim.viewer.screenshot import pixels_of
from cbsim.viewer.session import Session
from tests.viewer.ssim import ssim

SIZE = (800, 500)
LONG = 200  # pictures, more than any takes


@pytest.fixture(scope="module")
def source():
    with ExitStack() as exits:
        yield open_source("city", exits)


@pytest.fixture
def window(source, monkeypatch):
    """A session as a window has it, on a machine that is so slow that it draws a single piece beside each picture."""
    monkeypatch.setattr(static_layers, "TIME_SLICE", 0.0)
    monkeypatch.setattr(static_layers, "IMMEDIATE", 0.0)
    session = Session(source, playing=False)
    draw(session)
    session.escape()
    session.fit()
    draw(session)
    session.draw_fully = False
    draw(session)
    session.static_layers._overview.render()  # as it is after a while
    return session


def draw(session):
    surface = pygame.Surface(SIZE, depth=32)
    session.draw(surface)
    return pixels_of(surface)


def drawn_in_full(session):
    other = Session(session.source, playing=False)
    other.escape()
    other.camera = session.camera
    return draw(other)


def rest(session):
    """Let the camera rest until what is shown is what the camera sees; how many pictures that takes."""
    for count in range(1, LONG):
        draw(session)
        if session.static_layers._tile.fits(session.camera):
            return count
    raise AssertionError("never")


@pytest.fixture
def draw_incrementally(monkeypatch):
    """Count the draw_incrementally that are drawn of the road."""
    drawn = []
    own = Canvas.areas

    def areas(self, polygons, *rest, **how):
        drawn.append(len(polygons))
        own(self, polygons, *rest, **how)

    monkeypatch.setattr(Canvas, "areas", areas)
    return drawn


MOVES = {
    "nearer": lambda camera: camera.zoomed(1.15, (300.0, 200.0)),
    "farther": lambda camera: camera.zoomed(0.6),
    "turned": lambda camera: camera.turned(0.1),
    "turned, nearer and aside": lambda camera: camera.turned(-0.3).zoomed(1.4).panned(30.0, 50.0),
}


@pytest.mark.parametrize("move", MOVES)
def test_a_picture_soon_is_like_the_exact_one_which_follows_it(window, move):
    window.camera = MOVES[move](window.camera)
    exact = drawn_in_full(window)
    assert ssim(draw(window), exact) > 0.8, "things stand where they are, though less sharp"
    assert rest(window) > 5, "drawn beside some pictures"
    assert ssim(draw(window), exact) > 0.9995, "but for half a pixel, by which a margin may be off"


def test_while_the_wheel_turns_no_picture_waits_for_more_than_a_piece(window, draw_incrementally):
    for _ in range(30):
        draw_incrementally.clear()
        window.camera = window.camera.zoomed(1.03)
        draw(window)
        assert sum(draw_incrementally) <= layers.road.PIECE
    assert rest(window) > 0


def test_what_a_farther_look_uncovers_is_shown_from_a_picture_of_all(window):
    window.camera = window.camera.zoomed(2.5)
    rest(window)
    window.camera = window.camera.zoomed(0.4)
    soon, exact = draw(window), drawn_in_full(window)
    inner = window.static_layers._tile.coverage(window.camera)
    assert inner < 0.4
    road = [(np.abs(picture.astype(int) - SCENE.asphalt).sum(axis=2) < 60) for picture in (soon, exact)]
    edge = np.ones(road[0].shape, bool)
    edge[120:-120, 200:-200] = False
    assert (road[0] & edge).sum() > 0.5 * (road[1] & edge).sum() > 100


def test_a_leap_is_drawn_at_once(window):
    window.camera = replace(window.camera, scale=20.0 * window.camera.scale)
    assert (draw(window) != drawn_in_full(window)).any(axis=2).mean() < 1e-4


def test_labels_keep_their_size_and_stay_at_their_places_while_the_picture_is_scaled(window):
    window.camera = window.camera.zoomed(1.5)
    rest(window)
    tile, nearer = window.static_layers._tile, window.camera.zoomed(1.3, (0.0, 0.0))
    before, after = (Canvas(pygame.Surface(SIZE, depth=32)) for _ in range(2))
    tile.show(before, window.camera)
    tile.show(after, nearer)
    assert [sign.size for sign in after.layout.fixed_labels] == [sign.size for sign in before.layout.fixed_labels]
    places = np.array([sign.center for sign in after.layout.fixed_labels])
    for badge in window.source.stage.road.checkpoints:
        at = nearer.to_screen(badge.place)
        if (at > 0.0).all() and (at < SIZE).all():
            assert np.abs(places - at).sum(axis=1).min() < 3.0


def test_a_patient_session_draws_every_picture_in_full(source):
    session = Session(source, playing=False)
    session.escape()
    draw(session)
    for move in MOVES.values():
        session.camera = move(session.camera)
        made, exact = draw(session), drawn_in_full(session)
        assert (made != exact).any(axis=2).mean() < 1e-4, "but for pixels that a last bit of a product decides"
