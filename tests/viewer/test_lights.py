"""The viewer draws traffic lights where lanes end, in the state of the time shown."""

from __future__ import annotations

import pygame
import pytest

import cbsim
from cbsim.palette import PAINT
from cbsim.recording.recording import Recording
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.layers import lights
from cbsim.viewer.scene.source import LiveSource, RecordingSource
from cbsim.viewer.session_state import SessionState
from tests.common import shared
from tests.traffic.test_lights import STREET

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


@pytest.fixture(scope="module", params=["recorded", "from a file", "live"])
def held(request, tmp_path_factory):
    """A light that its program has green, and an event red from 2 s to 4 s."""
    folder = tmp_path_factory.mktemp("held")
    (folder / "street.rndf").write_text(STREET)
    (folder / "street.yaml").write_text(
        'network: street.rndf\nduration: 6\nlights: {"2.1": [[green, 1000]]}\n'
        "traffic: [{name: p, count: 1}]\n"
        "events:\n"
        "  - {name: stop it, when: {time: 2}, do: [{light: {light: '2.1', state: red}}]}\n"
        "  - {name: let it go, when: {time: 4}, do: [{light: {light: '2.1', state: program}}]}\n"
    )
    world = cbsim.load(folder / "street.yaml")
    if request.param == "live":
        source = LiveSource(world)
        source.advance_to(6.0)
        return SessionState(source)
    recording = cbsim.run(world)
    if request.param == "from a file":
        recording.save(folder / "run.mcap")
        recording = Recording.open(folder / "run.mcap")
    return SessionState(RecordingSource(recording))


@pytest.mark.parametrize(("time", "shown"), [(1.9, 0), (2.0, 2), (3.9, 2), (4.0, 0), (6.0, 0)])
def test_light_that_an_event_holds_is_drawn_as_traffic_obeys_it(held, time, shown):
    held.camera = held.camera.zoomed(10.0) if held.camera.scale < 1.0 else held.camera
    found = counts(held, time)
    assert found[shown] > 0
    assert sum(found) == found[shown]


def test_events_that_came_true_are_on_the_timeline(held):
    held.time = 6.0
    told = [(one.time, one.name, one.kind) for one in held.view().state.events if one.kind == "event"]
    assert told == [(2.0, "stop it", "event"), (4.0, "let it go", "event")]
    held.time = 3.0
    assert [one.name for one in held.view().state.events if one.kind == "event"] == ["stop it"]


def test_lights_show_their_states(session):
    session.camera = session.camera.zoomed(1.0)
    early, later, last = (counts(session, time) for time in (5.0, 11.0, 15.0))
    assert early[0] > 0  # 12.2 by its program
    assert early[2] > 0
    assert later[1] > 0
    assert last[2] > later[2]
    assert last[1] == 0
