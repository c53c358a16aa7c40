"""The viewer draws traffic lights where lanes end, in the state of the time shown."""

from __future__ import annotations

import pygame
import pytest

import cbsim
from cbsim.palette import PAINT
from cbsim.viewer.canvas import Canvas
from cbsim.viewer.layers import lights
from cbsim.viewer.session_state import SessionState
from cbsim.viewer.source import RecordingSource
from tests.common import shared

PROGRAM = '{"12.2": [[green, 10], [yellow, 3], [red, 17]]}'


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lights")
    (folder / "demo.rndf").write_bytes(shared("rndf", "stanford", "demo_rndf.txt").read_bytes())
    (folder / "demo.yaml").write_text(
        f"network: demo.rndf\nduration: 20\nlights: {PROGRAM}\ntraffic: [{{name: p, count: 1}}]\n"
    )
    return SessionState(RecordingSource(cbsim.run(cbsim.load(folder / "demo.yaml"))))


def counts(session, time: float) -> list[int]:
    """Pixels of green, yellow and red lights."""
    session.time = time
    surface = pygame.Surface((900, 600))
    lights.draw(Canvas(surface), session.view())
    pixels = pygame.surfarray.array3d(surface).reshape(-1, 3)
    return [int((pixels == colour).all(axis=1).sum()) for colour in (PAINT.plan, PAINT.selected, PAINT.danger)]


def test_lights_show_their_states(session):
    session.camera = session.camera.zoomed(1.0)
    early, later, last = (counts(session, time) for time in (5.0, 11.0, 15.0))
    assert early[0] > 0  # 12.2 by its program
    assert early[2] > 0
    assert later[1] > 0
    assert last[2] > later[2]
    assert last[1] == 0
