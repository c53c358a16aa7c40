"""What a user does with keys and a mouse: events posted to a session without a window."""

from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pygame
import pytest

import cbsim
from cbsim.evaluation.outcome import execute
from cbsim.evaluation.rules import Check
from cbsim.palette import PAINT
from cbsim.recording.batch import header_of
from cbsim.recording.drawings import PERIOD
from cbsim.simulation.annotations import PlannerAnnotations
from cbsim.simulation.loop import Run, step
from cbsim.spec.drawing import Line, Text
from cbsim.viewer.actions import chords_of, find_action, markdown
from cbsim.viewer.drawing.camera import ABOVE, Camera
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.hud import state_of
from cbsim.viewer.keys import ACTIONS
from cbsim.viewer.layers import LAYERS
from cbsim.viewer.layers import events as events_layer
from cbsim.viewer.live_view import LiveView
from cbsim.viewer.loading import open_source
from cbsim.viewer.scene.source import LiveSource, NetworkSource, RecordingSource, TimelineRecorder
from cbsim.viewer.scene.stage import stage_of
from cbsim.viewer.scene.timeline import SceneState, Timeline, TimelineEvent
from cbsim.viewer.screenshot import pixels_of, render
from cbsim.viewer.session import Session
from cbsim.viewer.static_layers import StaticLayerCache
from cbsim.viewer.window import Window
from tests import worlds
from tests.common import ROOT
from tests.viewer.ssim import ssim
from tests.viewer.views import PENDULUM

NAMED = {",": pygame.K_COMMA, ".": pygame.K_PERIOD, "?": pygame.K_SLASH, "+": pygame.K_PLUS, "-": pygame.K_MINUS}
SIZE = (800, 600)


@pytest.fixture(autouse=True, scope="module")
def no_screen():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDL_VIDEODRIVER", "dummy")
        pygame.display.init()  # names of keys need it
        yield
        pygame.display.quit()


@pytest.fixture(scope="module")
def recording():
    return cbsim.run(cbsim.load("crash"), duration=6.0)


@pytest.fixture
def session(recording):
    made = Session(RecordingSource(recording))
    draw(made)
    made.escape()
    made.fit()
    return made


def draw(session):
    surface = pygame.Surface(SIZE, depth=32)
    session.draw(surface)
    return surface


def press(session, key, mod=0):
    code = NAMED[key] if key in NAMED else pygame.key.key_code(key)
    typed = key if len(key) == 1 else ""
    session.handle(pygame.event.Event(pygame.KEYDOWN, key=code, mod=mod, unicode=typed))


def mouse(session, kind, pos, button=1):
    session.handle(pygame.event.Event(kind, pos=pos, button=button, rel=(0, 0), buttons=(1, 0, 0)))


def click(session, pos, button=1):
    mouse(session, pygame.MOUSEBUTTONDOWN, pos, button)
    mouse(session, pygame.MOUSEBUTTONUP, pos, button)


def test_time_passes_as_fast_as_is_asked_for(session):
    session.tick(0.2)
    assert session.time == pytest.approx(0.2)
    press(session, "]")
    session.tick(0.2)
    assert session.time == pytest.approx(0.6)
    press(session, "space")
    session.tick(0.2)
    assert session.time == pytest.approx(0.6)


def test_a_recording_stops_at_its_end_and_begins_again(session):
    session.speed = 100.0
    session.tick(0.2)
    assert session.time == session.end == pytest.approx(6.0)
    assert not session.playing
    press(session, "space")
    assert (session.time, session.playing) == (0.0, True)


def test_steps_go_ahead_and_back_from_step_to_step(session):
    session.seek(1.02)
    press(session, ".")
    assert session.time == pytest.approx(1.05)
    press(session, ".")
    assert session.time == pytest.approx(1.10)
    press(session, ",")
    assert session.time == pytest.approx(1.05)
    press(session, "home")
    press(session, ",")
    assert session.time == 0.0
    press(session, "end")
    press(session, ".")
    assert session.time == pytest.approx(6.0)
    assert not session.playing


def test_what_is_shown_at_a_step_is_what_was_recorded(session, recording):
    name = "Pickup"
    row = recording.names.index(name)
    for number in (0, 17, 120):
        shown = session.source.timeline.at(number * 0.05)
        assert shown.position[row] == pytest.approx(recording.positions(name)[number], abs=1e-4)
        assert shown.orientation[row] == pytest.approx(recording.orientations(name)[number], abs=1e-6)


def test_between_two_steps_bodies_are_between_their_places(session, recording):
    row = recording.names.index("Pickup")
    places = recording.positions("Pickup")
    shown = session.source.timeline.at(2.5125).position[row]
    assert shown == pytest.approx(places[50] + 0.25 * (places[51] - places[50]), abs=1e-4)
    assert np.linalg.norm(session.source.timeline.at(2.5125).orientation[row]) == pytest.approx(1.0)


def test_a_click_selects_the_body_below_it_and_tells_its_state(session):
    row = session.source.stage.moving[0]
    session.playing = False
    draw(session)
    click(session, tuple(np.round(session.view().places[row]).astype(int).tolist()))
    assert session.options.selected == row
    told = "\n".join(state_of(session.view(), row))
    assert session.source.stage.bodies[row].name in told
    assert "m/s" in told
    click(session, (5, 300))
    assert session.options.selected is None


def test_a_double_click_follows_and_the_body_stays_in_the_middle(session):
    row = session.source.stage.moving[0]
    at = tuple(np.round(session.view().places[row]).astype(int).tolist())
    click(session, at)
    click(session, at)
    assert session.following
    session.seek(3.0)
    draw(session)
    assert session.view().places[row] == pytest.approx((400.0, 300.0), abs=1e-6)
    press(session, "h")
    draw(session)
    assert session.camera.angle == pytest.approx(float(session.view().headings[row]))


def test_dragging_moves_and_the_wheel_zooms_at_the_cursor(session):
    place = session.camera.to_world((200.0, 200.0))
    mouse(session, pygame.MOUSEBUTTONDOWN, (200, 200))
    mouse(session, pygame.MOUSEMOTION, (230, 220))
    mouse(session, pygame.MOUSEMOTION, (260, 240))
    mouse(session, pygame.MOUSEBUTTONUP, (260, 240))
    assert session.camera.to_screen(place) == pytest.approx((260.0, 240.0))
    before = session.camera.scale
    session.handle(pygame.event.Event(pygame.MOUSEWHEEL, y=2, x=0))
    assert session.camera.scale > before
    assert session.camera.to_screen(place) == pytest.approx((260.0, 240.0))


def test_the_right_button_turns_the_picture_about_its_middle(session):
    middle = session.camera.to_world((400.0, 300.0))
    mouse(session, pygame.MOUSEBUTTONDOWN, (600, 300), 3)
    mouse(session, pygame.MOUSEMOTION, (400, 500), 3)
    mouse(session, pygame.MOUSEBUTTONUP, (400, 500), 3)
    assert session.camera.angle == pytest.approx(math.pi / 2)
    assert session.camera.to_world((400.0, 300.0)) == pytest.approx(middle)
    press(session, "0")
    assert session.camera.angle == 0.0


def test_measuring_tells_metres(session):
    press(session, "m")
    for place in ((0.0, 0.0), (3.0, 4.0)):
        click(session, tuple(np.round(session.camera.to_screen(place)).astype(int).tolist()))
    assert math.dist(*session.options.measure) == pytest.approx(5.0, abs=2.0 / session.camera.scale)
    draw(session)
    press(session, "escape")
    assert (session.measuring, session.options.measure) == (False, [])


def test_the_slider_scrubs_and_its_buttons_work(session):
    bar = session.panels._time.box
    mouse(session, pygame.MOUSEBUTTONDOWN, bar.midleft)
    assert session.time == 0.0
    mouse(session, pygame.MOUSEMOTION, bar.center)
    assert 2.0 < session.time < 5.0
    mouse(session, pygame.MOUSEMOTION, (bar.right, 0))
    assert session.time == pytest.approx(6.0)
    mouse(session, pygame.MOUSEBUTTONUP, (bar.right, 0))
    click(session, session.panels._play.box.center)
    assert session.time == 0.0
    click(session, session.panels._rate.box.center)
    assert session.speed == 2.0


@pytest.fixture(params=["recording", "two recordings", "network", "live scenario", "live model"])
def any_session(request, recording, tmp_path):
    """A session on each kind of source, at its start."""
    with ExitStack() as exits:
        other = None
        if request.param.endswith("recordings"):
            source, other = RecordingSource(recording), RecordingSource(recording)
        elif request.param == "recording":
            source = RecordingSource(recording)
        elif request.param == "network":
            source = open_source(str(ROOT / "rndf" / "parking.rndf"), exits)
        elif request.param == "live scenario":
            source = exits.enter_context(LiveSource(cbsim.load("crash", duration=3.0)))
        else:
            path = tmp_path / "pendulum.urdf"
            path.write_text(PENDULUM)
            source = exits.enter_context(LiveSource(cbsim.load(path, duration=3.0)))
        yield Session(source, other)


@pytest.mark.parametrize("begin", [0.0, 1.0])
def test_every_key_does_what_it_says_on_every_source_and_time_stays_within_it(any_session, begin):
    session = any_session
    session.playing = False
    session.source.advance_to(begin)
    for action in ACTIONS:
        session.seek(begin)
        action.callback(session)
        session.tick(0.01)
        draw(session)
        assert session.source.timeline.first <= session.time <= session.known
        assert "inf" not in " ".join(session.panels._lines(session.view()))
    assert not session.running


def test_home_and_a_second_back_end_at_the_start(any_session):
    session = any_session
    session.source.advance_to(0.5)
    for key in ("home", "page up"):
        session.seek(0.5)
        press(session, key)
        assert session.time == session.source.timeline.first


def test_the_slider_of_a_live_run_cannot_be_put_beyond_what_has_been_simulated():
    with LiveSource(cbsim.load("crash", duration=3.0)) as live:
        session = Session(live)
        live.advance_to(1.0)
        draw(session)
        slider = session.panels._time
        mouse(session, pygame.MOUSEBUTTONDOWN, slider.box.center)
        mouse(session, pygame.MOUSEMOTION, slider.box.midright)
        assert session.time == pytest.approx(1.0)
        assert slider.limit() == pytest.approx(1.0)
        assert live.run.snapshot.time == pytest.approx(1.0)


def test_the_first_look_follows_the_ego_and_show_all_has_the_whole_network():
    with LiveSource(cbsim.load("mission", duration=12.0)) as live:
        session = Session(live)
        assert live.stage.bodies[session.options.selected].kind == "autonomous"
        live.advance_to(12.0)
        session.seek(12.0)
        draw(session)
        row = session.options.selected
        assert session.view().places[row] == pytest.approx((400.0, 300.0), abs=1e-6)
        press(session, "a")
        places = np.concatenate([lane.left for lane in live.stage.road.lanes])
        seen = session.camera.to_screen(places)
        assert (seen >= 0.0).all()
        assert (seen <= SIZE).all()


def test_show_all_has_the_bodies_of_both_recordings():
    ends = []
    for east in (0.0, 500.0):
        world = worlds.world(worlds.mover("A", (1.0, 0.0, 5.0, 0.0), at=worlds.Triple(east, 0.0, 0.0)))
        ends.append(cbsim.run(world, duration=1.0))
    session = Session(RecordingSource(ends[0]), RecordingSource(ends[1]))
    session.camera = session.camera.resized(SIZE)
    session.fit()
    for source in (session.source, session.other):
        seen = session.camera.to_screen(source.timeline.at(0.0).position[0, :2])
        assert (seen >= 0.0).all()
        assert (seen <= SIZE).all()


def test_no_two_actions_share_a_key_and_every_layer_can_be_switched_or_is_the_ground():
    keys = [key for action in ACTIONS for key in action.keys]
    assert len(keys) == len(set(keys))
    assert {"ground", "road", "bodies"} <= {layer.key for layer in LAYERS}


def test_a_sign_is_found_whatever_key_types_it():
    german = pygame.event.Event(pygame.KEYDOWN, key=pygame.K_MINUS, mod=pygame.KMOD_SHIFT, unicode="?")
    assert find_action(ACTIONS, german).description == "this help"
    assert chords_of(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_q, mod=pygame.KMOD_LCTRL, unicode="\x11")) == [
        "ctrl+q"
    ]


def test_the_page_of_the_viewer_has_the_table_of_keys():
    assert markdown(ACTIONS) in (ROOT / "docs" / "viewer.md").read_text()


def test_looking_from_the_side_and_back(session):
    press(session, "v")
    assert session.projection is not ABOVE
    draw(session)
    press(session, "v")
    draw(session)
    press(session, "v")
    assert session.projection is ABOVE


def test_two_recordings_are_laid_over_each_other(recording):
    alone, both = (Session(RecordingSource(recording), other) for other in (None, RecordingSource(recording)))
    pictures = []
    for one in (alone, both):
        one.seek(2.0)
        one.playing = False
        pictures.append(pygame.surfarray.array3d(draw(one)).astype(int))
    assert (np.abs(pictures[0] - pictures[1]).sum(axis=2) > 30).any()


@pytest.mark.parametrize("name", ["four_way_stop", "town"])
def test_a_run_has_the_same_hashes_whoever_looks(name):
    world = cbsim.load(name, duration=4.0)
    alone = cbsim.run(world, seed=world.settings.seed).hashes
    with LiveSource(world) as live:
        hashes = [live.run.snapshot.hash]
        session = Session(live)
        while live.run.snapshot.step < 80:
            before = live.run.snapshot.step
            session.tick(0.05)
            draw(session)
            session.step(-3)
            session.play()
            session.seek(live.timeline.last)
            assert live.run.snapshot.step - before in {0, 1}
            if live.run.snapshot.step > before:
                hashes.append(live.run.snapshot.hash)
    assert hashes == alone.tolist()


def test_what_planners_show_changes_no_bit_and_one_that_fails_still_drives():
    class Shows(Quiet):
        def draw(self):
            return [Line([(0.0, 0.0), (10.0, 5.0)]), Text((1.0, 2.0), text="there")]

    class Fails(Quiet):
        def draw(self):
            raise ValueError("no pencil")

    ends = []
    for planner in (Quiet(), Shows(), Fails()):
        with LiveSource(cbsim.load("four_way_stop", duration=1.0), planner) as live:
            live.advance_to(1.0)
            ends.append(live.run.snapshot.hash)
            shown, warnings = live.timeline.at(1.0).drawings, live.annotations.warnings
        if isinstance(planner, Shows):
            assert [type(one).__name__ for one in shown] == ["Line", "Text"]
        if isinstance(planner, Fails):
            assert not shown
            assert warnings == ["CajunBot: draw() failed: ValueError: no pencil"]
            assert warnings[0] in Session(live).panels._lines(Session(live).view())
    assert len(set(ends)) == 1


class Quiet:
    def start(self, mission, network, vehicle):
        pass

    def plan(self, observation):
        return cbsim.Command(throttle=0.3)


def test_a_planner_that_fails_stops_the_run_and_the_picture_tells_why():
    class Breaks(Quiet):
        def plan(self, observation):
            if observation.time > 0.5:
                raise RuntimeError("lost")
            return super().plan(observation)

    with LiveSource(cbsim.load("four_way_stop"), Breaks()) as live:
        session = Session(live)
        for _ in range(20):
            session.tick(0.1)
        assert "lost" in live.error
        assert not session.playing
        assert 0.5 <= session.time < 0.7
        draw(session)


def test_a_network_stands_still():
    with ExitStack() as exits:
        source = open_source(str(ROOT / "rndf" / "parking.rndf"), exits)
        assert isinstance(source, NetworkSource)
        session = Session(source)
        before = pygame.surfarray.array3d(draw(session))
        session.tick(0.1)
        assert np.array_equal(before, pygame.surfarray.array3d(draw(session)))


def test_words_of_the_second_of_two_recordings_say_so_and_no_line_crosses_those_of_the_first(recording, monkeypatch):
    session = Session(RecordingSource(recording), RecordingSource(recording), playing=False, transport=False)
    draw(session)
    session.fit()
    session.seek(5.0)
    done = list[str]()
    own_text, own_line = Canvas.text, Canvas.line

    def text(canvas, at, said, *rest, **how):
        done.append(said)
        return own_text(canvas, at, said, *rest, **how)

    def line(canvas, places, colour, *rest, **how):
        if colour == PAINT.danger and canvas.size == SIZE:
            done.append("line")
        own_line(canvas, places, colour, *rest, **how)

    monkeypatch.setattr(Canvas, "text", text)
    monkeypatch.setattr(Canvas, "line", line)
    draw(session)
    for said in ("touches", "0.6 s", "Ball and ATV touch", "Sedan"):
        assert said in done
        assert f"{said} (B)" in done
    assert "line" not in done[done.index("0.6 s") :]


@pytest.mark.parametrize("time", [2.0, 3.0, 4.0, 5.0, 5.9])
def test_words_of_contacts_dangers_and_names_stand_beside_bodies_where_there_is_room(session, monkeypatch, time):
    session.seek(time)
    session.transport = False
    written = list[tuple[str, pygame.Rect]]()
    own = Canvas.text

    def text(canvas, at, said, *rest, **how):
        box = own(canvas, at, said, *rest, **how)
        if how.get("halo") is not None:
            written.append((said, box))
        return box

    monkeypatch.setattr(Canvas, "text", text)
    draw(session)
    view = session.view()
    assert len(written) > 5
    for row in view.visible.tolist():
        middle, turn = view.state.position[row, :2], view.headings[row]
        cos, sin = math.cos(turn), math.sin(turn)
        corners = view.camera.to_screen(view.stage.bodies[row].outline @ np.array([(cos, sin), (-sin, cos)]) + middle)
        low, size = corners.min(axis=0), np.ptp(corners, axis=0)
        body = pygame.Rect(*np.ceil(low).astype(int).tolist(), *np.floor(size).astype(int).tolist())
        over = [said for said, box in written if box.inflate(-4, -2).colliderect(body)]
        assert not over, view.stage.bodies[row].name


def test_a_picture_of_what_stands_still_is_kept_while_the_camera_moves_and_is_the_same_as_a_new_one(session):
    session.playing = False
    draw(session)
    session.camera = session.camera.panned(37.0, -21.0)
    kept = pixels_of(draw(session))
    session.static_layers = StaticLayerCache()
    assert ssim(kept, pixels_of(draw(session))) > 0.999


def test_a_picture_of_four_times_as_many_pixels_shows_the_same_as_large(session):
    session.playing = False
    small = render(session, (640, 400), 1.0)
    large = render(session, (1280, 800), 2.0)
    assert ssim(pixels_of(small), pixels_of(pygame.transform.smoothscale(large, (640, 400)))) > 0.97


def test_a_step_of_the_world_is_not_taken_by_looking(recording):
    world = cbsim.load("crash")
    with LiveSource(world) as live:
        session = Session(live)
        session.seek(3.0)
        draw(session)
        assert live.run.snapshot.step == 0
        session.step(1)
        assert live.run.snapshot.hash == step(world, world.start).hash


@pytest.mark.parametrize("step", [0.01, 0.05])
def test_a_run_keeps_pace_with_a_window_whose_frames_are_shorter_than_steps(step):
    with LiveSource(cbsim.load("four_way_stop", step=step, duration=1.03)) as live:
        session = Session(live)
        session.playing = True
        for _ in range(45):
            session.tick(1.0 / 60.0)
        assert session.time == pytest.approx(0.75, abs=1e-9)
        for _ in range(40):
            session.tick(1.0 / 60.0)
        assert session.time == pytest.approx(live.end)
        assert not session.playing


def test_what_only_the_end_of_a_run_decides_is_told_there(tmp_path):
    scenario = tmp_path / "wait.yaml"
    scenario.write_text(
        "duration: 0.12\n"
        "add:\n"
        "  - {name: Car, kind: dynamic, position: [0, 0, 0], script: [{speed: 8, distance: 40, angle: 0}]}\n"
        "expect:\n"
        "  - travel: {object: Car, at_least: 30}\n"
        "  - collision: {object: Car}\n"
    )
    with ExitStack() as exits:
        live = open_source(str(scenario), exits)
        assert live.end == pytest.approx(0.15), "a whole number of steps"
        live.advance_to(0.1)
        assert live.timeline.events == []
        live.advance_to(1.0)
        live.advance_to(1.0)
        assert [(mark.time, mark.kind, mark.name) for mark in live.timeline.events] == [
            (pytest.approx(0.15), "passed", "collision Car"),
            (pytest.approx(0.15), "failed", "travel Car"),
        ]


def test_an_onlooker_ends_when_the_run_does_and_hears_what_the_end_decides():
    world = cbsim.load("crash", duration=0.12)
    live_view = LiveView(world)
    assert live_view.end == pytest.approx(0.15)
    outcome = execute(world, observer=Listening(live_view))
    assert {mark.name for mark in live_view.timeline.events if mark.kind != "contact"} == {
        one.name for one in outcome.checks
    }


class Listening:
    """Goes along with the listeners of another, without its window."""

    def __init__(self, other):
        self.listeners = other.listeners

    def on_start(self, run):
        pass

    def on_step(self, run):
        pass


def test_a_model_is_found_by_its_name_as_its_bodies_are_by_theirs():
    world = cbsim.load("crash_dummy")
    stage = stage_of(header_of(world, 1), world.scene)
    dummy = stage.rows_of("Dummy")
    assert [stage.bodies[row].name.partition("/")[0] for row in dummy] == ["Dummy"] * len(dummy)
    assert len(dummy) > 1
    assert stage.rows_of(stage.bodies[dummy[1]].name) == dummy[1:2]
    assert stage.rows_of("nobody") == []


def test_a_lone_model_whose_links_have_slashes_in_their_names_is_found_whole(tmp_path):
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM.replace('"arm"', '"upper/arm"'))
    world = cbsim.load(path)
    stage = stage_of(header_of(world, 1), world.scene)
    names = [body.name for body in stage.bodies]
    assert "upper/arm" in names
    assert stage.models == {stage.name: list(range(len(names)))}
    assert stage.rows_of("upper/arm") == [names.index("upper/arm")]
    assert stage.rows_of("upper") == []


def test_what_a_judge_decided_is_told_once_and_looked_up_rather_than_searched_for(monkeypatch):
    world = cbsim.load("crash")
    feed = TimelineRecorder(Timeline(stage_of(header_of(world, 1), world.scene)), world)
    compared, equal = [], Check.__eq__
    monkeypatch.setattr(Check, "__eq__", lambda one, other: compared.append(one) or equal(one, other))
    for _ in range(2):
        feed._tell([Check(f"speed Car{k}", True, 1.0, "as fast as allowed") for k in range(300)])
    assert len(feed.timeline.events) == 300
    assert len(compared) <= 600


@pytest.fixture
def canvases(monkeypatch):
    """All canvases that sessions draw on, newest last."""
    made = []

    class Kept(Canvas):
        def __init__(self, *given):
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr("cbsim.viewer.session.Canvas", Kept)
    return made


@pytest.mark.parametrize("selected", [None, "Pickup"])
def test_no_label_stands_over_another_or_under_a_panel_even_of_two_runs(recording, canvases, selected):
    one = Session(RecordingSource(recording), RecordingSource(recording))
    draw(one)
    one.fit()
    one.seek(4.0)
    if selected is not None:
        one.options.selected = one.source.stage.rows_of(selected)[0]
    draw(one)
    boxes = canvases[-1].layout.taken
    assert len(boxes) > 15
    names = [body for body in one.source.stage.bodies if body.kind == "autonomous"]
    assert len(boxes) >= 2 * len(names)
    for place, box in enumerate(boxes):
        assert box.collidelist(boxes[place + 1 :]) < 0


def test_labels_keep_off_signs_of_the_road_where_there_is_another_place():
    canvas = Canvas(pygame.Surface((200, 100)))
    canvas.layout.fixed_labels = [pygame.Rect(60, 52, 80, 30)]
    assert canvas.label(canvas.around((100.0, 50.0), 10.0, 10.0), "name")
    assert canvas.layout.taken[-1].bottom <= 45, "above: the sign is below"
    assert canvas.label([((100.0, 67.0), "middle")], "name"), "no other place"
    assert not canvas.label([((100.0, 67.0), "middle")], "other")


def test_words_of_marks_keep_off_all_marks_and_are_left_out_where_they_cannot():
    """Contacts 30 pixels apart in a row: words right of one would cover the next."""
    marks = [
        TimelineEvent(1.0, "contact", "east and west touch", "", 0, (x, 0.0)) for x in (-9.0, -6.0, -3.0, 0.0, 3.0)
    ]
    signs = [pygame.Rect(round(200 + 10 * x) - 8, 92, 16, 16) for x in (-9, -6, -3, 0, 3)]
    nothing = np.zeros((0, 3))
    state = SceneState(1.0, nothing, np.zeros((0, 4)), nothing, nothing, events=marks)
    view = SimpleNamespace(state=state, is_flat=True, called=str, camera=Camera((0.0, 0.0), 10.0, size=(400, 200)))
    canvas = Canvas(pygame.Surface((400, 200)))
    events_layer.draw(canvas, view)
    words = [box for box in canvas.layout.taken if box not in signs]
    assert 1 <= len(words) <= 5
    assert all(box.collidelist(signs) < 0 for box in words)
    crowd = [
        TimelineEvent(1.0, "contact", "east and west touch", "", 0, (0.7 * x, 0.7 * y))
        for x in range(-3, 4)
        for y in (-3, 3)
    ]
    crowd += [TimelineEvent(1.0, "contact", "here", "", 0, (0.0, 0.0))]
    crowd += [
        TimelineEvent(-9.0, "contact", "old", "", 0, (1.4 * x, 1.4 * y)) for x in range(-9, 10) for y in range(-6, 7)
    ]
    canvas = Canvas(pygame.Surface((400, 200)))
    view.state = replace(state, events=crowd)
    events_layer.draw(canvas, view)
    assert all(box.width == box.height == 16 for box in canvas.layout.taken), "no room for words between so many"


def test_models_among_others_are_named_once(canvases, monkeypatch):
    written = []
    monkeypatch.setattr(Canvas, "label", lambda _self, _places, text, *_look: bool(written.append(text)))
    live = LiveSource(cbsim.load("crash_dummy"))
    with live:
        session = Session(live)
        draw(session)
        session.fit()
        written.clear()
        draw(session)
    assert {"Dummy", "Second", "Child", "Truck", "Sedan", "Watcher"} == set(written)
    assert len(written) == len(set(written))


def test_a_model_leaves_one_trail_as_a_vehicle_does(monkeypatch):
    """Every body of a model once left its own: a dummy drew a bundle of lines."""
    drawn = []
    line = Canvas.line

    def see(canvas, points, colour, *look, **more):
        drawn.extend([colour] * (colour == PAINT.trail))
        line(canvas, points, colour, *look, **more)

    monkeypatch.setattr(Canvas, "line", see)
    with LiveSource(cbsim.load("crash_dummy")) as live:
        session = Session(live)
        live.advance_to(1.0)
        session.seek(1.0)
        session.fit()
        drawn.clear()
        draw(session)
        stage = session.view().stage
    inside = {row for rows in stage.models.values() for row in rows if row in stage.moving}
    models = [rows for rows in stage.models.values() if set(rows) & inside]
    assert max(len(rows) for rows in models) > 1
    assert len(drawn) == len(models) + len(set(stage.moving) - inside)


def test_a_picture_has_no_widgets_of_time_but_a_window_has(session):
    assert session.panels._play in session.panels.widgets
    low = session.camera.to_world((400.0, 590.0))
    render(session, SIZE)
    assert session.panels._play not in session.panels.widgets
    assert session.panels.bar == 0.0
    assert session.camera.size == (1600, 1200)
    assert session.camera.to_screen(low)[1] == pytest.approx(1180.0)


@pytest.mark.parametrize("size", [(1280, 800), (500, 200), (320, 90)])
def test_nothing_that_is_told_covers_the_widgets_of_time(session, size):
    session.message, session.options.selected, session.helping = "\n".join("abc"), 0, True
    session.source.warnings = [f"warning {k}" for k in range(9)]
    sheet = pygame.Surface(size, depth=32)
    session.draw(sheet)
    foot = min(widget.box.top for widget in session.panels.widgets)
    assert all(table.box(Canvas(sheet, session.points)).bottom <= foot for table in session.panels._tables)
    bar = pygame.Rect(0, foot, size[0], size[1] - foot)
    helped = pygame.image.tobytes(sheet.subsurface(bar), "RGB")
    session.helping = False
    session.draw(sheet)
    assert helped == pygame.image.tobytes(sheet.subsurface(bar), "RGB")


@pytest.mark.parametrize("alone", [True, False])
def test_a_laser_that_hits_nothing_says_so(alone):
    others = () if alone else (worlds.prop("wall", (0.0, 9.0, 0.0), size=(20.0, 1.0, 4.0)),)
    with LiveSource(worlds.world(worlds.bot("bot", worlds.level()), *others, duration=2.0)) as live:
        session = Session(live)
        session.seek(1.0)
        draw(session)
        told = [text for text, _ in session.panels._tables[0].rows]
    assert ("scan_0: no returns" in told) is alone


def test_inputs_begin_below_the_clock_and_end_above_the_scale(tmp_path):
    with ExitStack() as exits:
        walker = Session(open_source(str(ROOT / "scenarios" / "models" / "cart.jm"), exits), points=1.0)
        for height in (800, 300):
            walker.draw(pygame.Surface((800, height), depth=32))
            inputs = [widget for widget in walker.panels.widgets if widget in walker.panels._inputs]
            clock = walker.panels._tables[0].box(Canvas(pygame.Surface((800, height))))
            assert all(slider.box.top > clock.bottom for slider in inputs)
            assert all(slider.box.bottom < height - 38 - 40 for slider in inputs)
            assert inputs


def test_what_stands_is_not_told_to_go_backwards():
    live = LiveSource(cbsim.load("crash_dummy"))
    with live:
        live.advance_to(0.5)
        told = "\n".join(state_of(Session(live).view(), 0))
    assert "-0.0" not in told


def test_a_window_that_is_closed_lets_planners_be_asked_as_seldom_as_for_a_recording():
    world = cbsim.load("crash", duration=0.2)
    live_view = LiveView(world)
    run = Run(world, world.start, [], list(live_view.listeners), annotations=PlannerAnnotations(0.0))
    run.begin()
    live_view.on_step(run)  # whose window never opened
    assert run.annotations.period == PERIOD


def test_a_key_that_is_pressed_before_the_first_picture_saves_what_it_would_have_shown(
    recording, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    session = Session(RecordingSource(recording))
    session.playing = False
    window = Window(session, "test", (640, 400))
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_s, mod=0, unicode="s"))
    assert window.turn()
    saved = pixels_of(pygame.image.load(tmp_path / "cbsim-1.png"))
    assert len(np.unique(saved[100:300].reshape(-1, 3), axis=0)) > 10, "roads and cars"
    shown = pixels_of(window.surface)
    assert (saved != shown).any(axis=2).mean() < 0.05, "only the line that tells of the saved picture"
