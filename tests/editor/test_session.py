"""What an editor shows and says: problems with their lines, fields, sensors, runs, and hands that slip."""

from __future__ import annotations

import re
import threading

import numpy as np
import pygame
import pytest

from cbsim.editor.keys import ACTIONS
from cbsim.editor.loading import open_session
from cbsim.editor.objects.fields import fields_of, goal_fields, number_of
from cbsim.editor.session import RunSettings
from cbsim.editor.window import render
from cbsim.errors import UsageError
from cbsim.formats.objects import values as rules
from cbsim.palette import KINDS
from cbsim.spec.objects import Kind
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.progress_window import run_with_progress
from cbsim.viewer.screenshot import pixels_of
from cbsim.world.places import start_poses, trajectories_of
from cbsim.world.scene import Scene
from tests.common import ROOT
from tests.editor import scripts
from tests.editor.common import RECORDS
from tests.editor.hands import Posted, rounded
from tests.editor.scripts import SITE


@pytest.fixture
def hand(tmp_path, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    path = tmp_path / "site.xml"
    path.write_bytes(SITE.encode())
    one = Posted(path)
    yield one
    one.window.close()


def looked_at(hand) -> np.ndarray:
    hand.turn()
    return pixels_of(hand.window.surface).astype(int)


def test_problems_follow_every_step_and_lead_to_their_lines(hand):
    session = hand.session
    assert not [problem for problem in session.problems if problem.severity != "info"]
    hand.key("tab", "tab", "tab")
    field = next(box for box, label in session.panels.fields if label == "start")
    hand.click(field.center)
    hand.write("9.9.9")
    hand.key("enter")
    (problem,) = [problem for problem in session.problems if problem.severity == "error"]
    assert (problem.code, problem.location.line) == ("E654", 31)
    assert session.preview().lost == {2}
    hand.key("esc", "esc")
    shown = min(len(session.problems), 4)
    worst = session.camera.size[1] - (20 * (shown + 1) + 8) + 34
    assert session.selected == []
    hand.click((200, worst))
    assert session.selected == [2]
    assert 'segment="9" lane="9" waypoint="9"' in session.message
    hand.key("ctrl+z")
    assert not [problem for problem in session.problems if problem.severity == "error"]


def test_what_is_dragged_is_told_while_it_goes_and_esc_gives_it_up(hand):
    session = hand.session
    row = scripts.near(hand, session, "static")
    start = scripts.of(session, row)
    before = looked_at(hand)
    hand.point(*rounded(start))
    hand.button_down(1)
    hand.point(*rounded(start + np.array([60, 40])))
    assert session.draft
    assert (looked_at(hand) != before).any()
    hand.key("esc")
    hand.button_up(1)
    assert not session.draft
    assert not session.document.undoable


def test_fields_of_view_are_those_of_the_confs(hand):
    session = hand.session
    fields = session.preview().fields(0)
    assert [field.conf for field in fields] == ["onboard/scan_gp_driver_0.conf", "onboard/scan_gp_driver_2.conf"]
    pose = session.preview().pose(0)
    for field, (_, conf) in zip(fields, session.preview().actors[0].confs, strict=True):
        reach = np.hypot(*(field.corners[1:] - field.corners[0]).T)
        assert reach.max() <= conf.max_range + 1e-9
        sideways = (field.corners[1] - pose.position[:2]) @ (np.cos(pose.heading), np.sin(pose.heading))
        assert sideways > 0.0, "the first beam options right"


def test_a_run_from_the_editor_is_that_of_the_unsaved_text(hand):
    session = hand.session
    scripts.near(hand, session, "dynamic")
    hand.key("up", "up", "f5")
    stage = session.trial_run.viewer.source.stage
    np.testing.assert_allclose(stage.position[1], session.preview().state.position[1], atol=1e-9)
    assert session.document.path.read_bytes() == SITE.encode()
    hand.key("f5")
    assert session.trial_run is None
    assert session.running


def test_a_window_closed_while_a_run_loads_asks_for_unsaved_work(hand):
    session, go_on = hand.session, threading.Event()
    scripts.near(hand, session, "dynamic")
    hand.key("up")

    def work(_progress):
        pygame.event.post(pygame.event.Event(pygame.QUIT))
        go_on.wait(60.0)

    session.run_with_progress = lambda _, name: run_with_progress(work, name)
    hand.key("f5")
    go_on.set()
    assert session.trial_run is None
    assert session.running
    assert "unsaved work" in session.question.text
    assert pygame.display.get_surface() is not None


def test_what_keeps_a_run_from_starting_is_told(hand):
    hand.key("tab", "tab")
    item = hand.session.document.objects[1]
    start = next(field for field in fields_of(item, 2) if field.label == "start")
    hand.session.change("start", {1: start.put("9.9.9")})
    hand.key("f5")
    assert hand.session.trial_run is None
    assert "cannot be run" in hand.session.message


def test_help_covers_the_picture_and_leaves_it(hand):
    hand.key("?")
    middle = looked_at(hand)[250:550, 200:1080].reshape(-1, 3)
    assert (middle.min(axis=1) > 240).mean() > 0.6
    hand.key("esc")
    assert not hand.session.helping


def test_clicks_select_and_shift_selects_besides(hand):
    session = hand.session
    hand.key("a")
    hand.click(scripts.of(session, 1))
    hand.click(scripts.of(session, 2), holding="shift")
    assert session.selected == [1, 2]
    hand.click(scripts.of(session, 1), holding="shift")
    assert session.selected == [2]
    hand.click((300, 600))
    assert session.selected == []
    hand.key("ctrl+a")
    assert session.selected == [0, 1, 2]


def test_several_objects_keep_their_distances_when_they_are_dragged(hand):
    session = hand.session
    hand.key("a", "ctrl+a")
    before = session.preview().state.position[:, :2].copy()
    start = scripts.of(session, 2)
    hand.drag(start, start + np.array([40, 3]))
    after = session.preview().state.position[:, :2]
    assert np.abs((after - before) - (after - before)[2]).max() < 0.02
    assert session.document.undoable == "move"


def test_the_wheel_comes_nearer_at_the_cursor(hand):
    session = hand.session
    hand.point(400, 300)
    place, scale = session.camera.to_world((400, 300)), session.camera.scale
    pygame.event.post(pygame.event.Event(pygame.MOUSEWHEEL, x=0, y=2, precise_y=2.0))
    hand.turn()
    assert session.camera.scale > scale
    np.testing.assert_allclose(session.camera.to_world((400, 300)), place, atol=1e-9)


@pytest.mark.parametrize("version", [1, 2])
def test_every_field_takes_its_own_text_and_refuses_nonsense(tmp_path, version):
    path = tmp_path / ("a.obj" if version == 1 else "a.xml")
    path.write_bytes(RECORDS.encode() if version == 1 else SITE.encode())
    session = open_session(str(path), RunSettings())
    for row, item in enumerate(session.document.objects):
        fields = fields_of(item, version) + [
            field for k in range(len(item.goals)) for field in goal_fields(item, k, version)
        ]
        for field in fields:
            if field.label != "add sensor":
                assert field.put(field.text) == item, field.label
            if field.label not in {"name"} and not field.label.endswith("sensor") and "sensor" not in field.label:
                with pytest.raises(UsageError):
                    field.put("one; two")
        assert row < 3


def test_a_goal_on_the_rest_of_a_lane_is_typed_where_the_version_has_such_goals(tmp_path):
    path = tmp_path / "a.obj"
    path.write_bytes(RECORDS.encode())
    session = open_session(str(path), RunSettings())
    item = next(item for item in session.document.objects if item.goals)
    for version in (1, 2):
        field = next(field for field in goal_fields(item, 0, version) if field.label == "goal 1 is at")
        if version == 1:
            with pytest.raises(UsageError, match="version 1 has no goals without waypoint"):
                field.put("1.2")
        else:
            assert (field.put("1.2").goals[0].lane, field.put("1.2").goals[0].waypoint) == (2, None)
        assert field.put("1.2.3").goals[0].waypoint == 3


@pytest.mark.parametrize(
    ("quantity", "text", "said"),
    [
        (rules.DISTANCE, "1e308", "at most 1e+09 m"), (rules.DISTANCE, "-3", "at least 0 m"),
        (rules.DISTANCE, "-1e308", "at least 0 m"), (rules.ANGLE, "-1e10", "at least -1e+09 deg"),
        (rules.ANGLE, "1e10", "at most 1e+09 deg"), (rules.SIZE, "1e10", "at least 0.0001 and at most 1e+06 m"),
        (rules.PARAMETERS["max_steer"], "1e10", "at least 0.001 and at most 89 deg"),
    ],
)  # fmt: skip
def test_a_number_out_of_range_is_told_the_bound_that_it_broke(quantity, text, said):
    with pytest.raises(UsageError, match=f"must be {re.escape(said)}, not '{text}'$"):
        number_of(text, quantity)


def test_an_emptied_sensor_goes(hand):
    item = hand.session.document.objects[0]
    first = next(field for field in fields_of(item, 2) if field.label == "sensor 1")
    assert [sensor.conf for sensor in first.put(" ").sensors] == ["onboard/scan_gp_driver_2.conf"]


def test_any_keys_and_clicks_leave_a_document_that_can_be_undone_to_the_byte(hand):
    rng = np.random.default_rng(5)
    keys = [key for action in ACTIONS for key in action.keys]
    keys = [key for key in keys if key not in {"f5", "ctrl+q", "ctrl+w", "ctrl+s", "ctrl+shift+s", "keypad enter"}]
    for _ in range(200):
        if rng.random() < 0.5:
            hand.key(str(rng.choice(keys)))
        else:
            start, end = rng.uniform((0, 0), (1280, 800), (2, 2))
            at = end if rng.random() < 0.5 else start
            hand.drag(start, at, holding=str(rng.choice(["", "", "shift", "alt"])))
        if rng.random() < 0.2:
            hand.key("esc")
    hand.key("esc", "esc")
    while hand.session.document.undo():
        pass
    assert hand.session.document.data == SITE.encode()


def test_pictures_need_no_screen(tmp_path):
    path = tmp_path / "site.xml"
    path.write_bytes(SITE.encode())
    session = open_session(str(path), RunSettings("four_way_stop"))
    assert render(session, (640, 400)).get_size() == (640, 400)
    assert session.objects[0].kind is Kind.AUTONOMOUS


def test_what_is_said_of_a_dragged_object_is_never_under_a_panel(hand, monkeypatch):
    session, said = hand.session, []
    write = Canvas.text

    def spied(canvas, at, text, *words, **more):
        box = write(canvas, at, text, *words, **more)
        if text.endswith("2 x 4 m"):
            said.append((box, session.panels.covers(box)))
        return box

    monkeypatch.setattr(Canvas, "text", spied)
    row = scripts.near(hand, session, "dynamic")
    for goal in [(150, 130), (300, 110), (880, 60), (900, 700), (60, 400), (640, 790)]:
        session.camera = session.camera.panned(*(np.array([640, 400]) - scripts.of(session, row)))
        hand.point(640, 400)
        hand.button_down(1)
        hand.point(*goal)
        hand.turn()
        assert session.draft
        box, covered = said[-1]
        assert not covered, goal
        assert pygame.Rect(0, 0, 1280, 800).contains(box), goal
        hand.key("esc")
        hand.button_up(1)


def test_what_is_fitted_is_beside_the_panels(hand):
    session = hand.session
    hand.key("a", "ctrl+a", "f")
    hand.turn()
    for row in range(3):
        x, y = scripts.of(session, row)
        assert not session.panels.covers(pygame.Rect(round(x) - 5, round(y) - 5, 10, 10))


def test_scripts_are_not_for_what_cannot_have_them(hand):
    session = hand.session
    scripts.near(hand, session, "static")
    hand.key("s")
    hand.click((300, 400))
    assert "select an object that moves" in session.message
    assert session.document.data == SITE.encode()


def test_ends_of_a_script_are_where_a_run_ends(hand):
    session = hand.session
    scripts.script_by_clicking(hand, session)
    row = session.selected[-1]
    preview = session.preview()
    actor = preview.actors[row]
    scene = Scene("", (actor,), session.roadmap)
    segments = trajectories_of([0], start_poses((actor,), scene), scene)
    np.testing.assert_allclose(segments.origins[-1, :2], preview.ends[row][-1], atol=1e-9)
    assert segments.starts[-1] == pytest.approx(sum(entry.distance / entry.speed for entry in actor.item.script))


def test_meshes_that_stand_are_seen(monkeypatch, tmp_path):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    session = open_session(str(ROOT / "scenarios" / "objects" / "loop.xml"), RunSettings("loop"))
    row = scripts.row_of(session, "mesh")
    session.fit([row])
    surface = pygame.Surface(session.camera.size, depth=32)
    session.draw(surface)
    x, y = np.round(session.camera.to_screen(session.preview().state.position[row, :2])).astype(int).tolist()
    around = pixels_of(surface)[y - 20 : y + 20, x - 20 : x + 20].astype(float).reshape(-1, 3)
    colours, fill = around / np.linalg.norm(around, axis=1)[:, None], np.array(KINDS["mesh"].fill, float)
    assert (colours @ fill > 0.999 * np.linalg.norm(fill)).mean() > 0.3, "shades of one colour"
