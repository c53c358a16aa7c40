"""Models in the viewer: their solids, their joints, and their inputs by sliders, keys and joysticks."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pygame
import pytest

import cbsim
from cbsim.geometry.pose import rotate
from cbsim.palette import SCENE
from cbsim.viewer.drawing.camera import PROJECTIONS
from cbsim.viewer.loading import open_source
from cbsim.viewer.scene.model_controls import ModelControls, range_of
from cbsim.viewer.scene.source import LiveSource
from cbsim.viewer.session import Session
from cbsim.world.snapshot import Snapshot
from tests.common import ROOT
from tests.models.juice.texts import body_text, hinge_text, model_text
from tests.viewer.views import PENDULUM

WALKER = ROOT / "scenarios" / "models" / "hexapod.irt"


def fake_world():
    """Make a World with controls, as far as `ModelControls` asks."""
    names = ("speed_factor", "joystick1.x", "joystick1.y", "key.up", "walker/key.up")
    columns = SimpleNamespace(controller_state=np.array([1.0, 0.0, 0.0, 0.0, 0.0]))
    return SimpleNamespace(controls={name: k for k, name in enumerate(names)}, first=SimpleNamespace(columns=columns))


class Run:
    def __init__(self):
        self.given = []

    def steer(self, controls):
        self.given.append(dict(controls))


@pytest.fixture(autouse=True, scope="module")
def no_screen():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDL_VIDEODRIVER", "dummy")
        pygame.display.init()
        yield
        pygame.display.quit()


def key(kind, name, mod=0):
    return pygame.event.Event(kind, key=pygame.key.key_code(name), mod=mod, unicode="")


def test_keys_work_the_controls_of_their_name_in_all_models_until_they_are_let_go():
    controls, run = ModelControls(fake_world()), Run()
    assert controls.handle_key(key(pygame.KEYDOWN, "up"))
    controls.apply(run)
    assert controls.handle_key(key(pygame.KEYUP, "up"))
    controls.apply(run)
    controls.apply(run)
    assert run.given == [{"key.up": 1.0, "walker/key.up": 1.0}, {"key.up": 0.0, "walker/key.up": 0.0}]
    assert not controls.handle_key(key(pygame.KEYDOWN, "left")), "no model listens to it, so it is the viewer's"


def test_alt_and_arrows_are_the_first_joystick_and_forward_is_minus_one():
    controls = ModelControls(fake_world())
    assert controls.handle_key(key(pygame.KEYDOWN, "up", pygame.KMOD_LALT))
    assert controls.values["joystick1.y"] == -1.0
    controls.handle_key(key(pygame.KEYUP, "up", pygame.KMOD_LALT))
    assert controls.values["joystick1.y"] == 0.0


def test_a_joystick_that_trembles_counts_as_let_go():
    controls = ModelControls(fake_world())
    for value, wanted in ((0.5, 0.5), (0.03, 0.0), (-1.0, -1.0)):
        controls.handle_joystick(pygame.event.Event(pygame.JOYAXISMOTION, joy=0, instance_id=0, axis=0, value=value))
        assert controls.values["joystick1.x"] == wanted


def test_the_speed_goes_from_minus_to_plus_two_hundred_percent():
    span = range_of("walker/speed_factor", 1.0)
    assert (span.low, span.high, span.format(-2.0), span.format(2.0)) == (-2.0, 2.0, "-200%", "+200%")
    assert range_of("steps", 1e15).format(1e15) == "no limit"
    assert range_of("flag.x", float("nan")).format(float("nan")) == "unset"


def test_a_slider_steers_a_walker_and_the_run_notes_it():
    with ExitStack() as exits:
        source = open_source(str(WALKER), exits)
        assert isinstance(source, LiveSource)
        session = Session(source)
        session.draw(pygame.Surface((1280, 800), depth=32))
        slider = session.panels._inputs[0]
        session.handle(
            pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=(slider.box.right - 2, slider.box.centery), button=1)
        )
        wanted = source.controls.values["flag.x"]
        assert wanted == 20.0
        session.tick(0.1)
        place = source.world.controls["flag.x"]
        assert source.run.snapshot.columns.controller_state[place] == wanted
        assert isinstance(source.run.snapshot, Snapshot)


def test_joints_stand_where_the_mechanism_has_them(tmp_path):
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM)
    with ExitStack() as exits:
        stage = open_source(str(path), exits).stage
    shoulder, wrist = stage.joints
    assert (shoulder.row, shoulder.kind) == (-1, "Revolute")
    assert shoulder.place == pytest.approx((0.0, 0.0, 2.0))
    assert np.abs(shoulder.axis) == pytest.approx((1.0, 0.0, 0.0))
    world = cbsim.load(str(path))
    arm = world.bodies[wrist.row].pose(world.start)
    assert arm.apply(wrist.place) == pytest.approx((0.0, 0.0, 1.0), abs=1e-9)
    assert set(stage.solids) == {0, 1}


def test_joints_of_juice_are_marked_at_their_sizes_those_too_that_give_way_every_way(tmp_path):
    size = "<Length>0.6</Length><Diameter>0.2</Diameter>"
    ball = hinge_text(11, 2, 3, "<Diameter>0.3</Diameter>").replace("Revolute", "Spherical")
    slider = hinge_text(12, 3, 4, size).replace("Revolute", "Prismatic")
    path = tmp_path / "three.jm"
    bodies = "".join(body_text(k, z=3 + k) for k in range(1, 5))
    path.write_text(model_text(bodies, hinge_text(10, 1, 2, size), sliders=slider, balls=ball))
    with ExitStack() as exits:
        marks = open_source(str(path), exits).stage.joints
    hinge, turns, slides = sorted(marks, key=lambda mark: (mark.slides, mark.diameter))
    assert (hinge.length, hinge.diameter, slides.length, slides.diameter) == (0.6, 0.2, 0.6, 0.2)
    assert np.abs(hinge.axis) == pytest.approx((0.0, 0.0, 1.0))
    assert np.abs(slides.axis) == pytest.approx((0.0, 0.0, 1.0))
    assert (hinge.slides, slides.slides) == (False, True)
    assert (turns.length, turns.diameter, *turns.axis) == (0.3, 0.3, 0.0, 0.0, 0.0)


def test_a_model_is_seen_whole_from_every_side_and_right_of_its_inputs():
    with ExitStack() as exits:
        session = Session(open_source(str(WALKER), exits))
        for _ in range(3):
            session.draw(pygame.Surface((1280, 800), depth=32))
            view = session.view()
            points = np.concatenate(
                [
                    rotate(view.state.orientation[row], triangles.reshape(-1, 3)) + view.state.position[row]
                    for row, triangles in view.stage.solids.items()
                    if len(triangles)
                ]
            )
            pixels = view.to_screen(points)
            assert (pixels[:, 0].min(), pixels[:, 1].min()) > (290.0, 0.0)
            assert pixels[:, 0].max() < 1280.0
            assert pixels[:, 1].max() < 762.0
            session.next_projection()


@pytest.mark.parametrize(("height", "earth"), [(1.0, True), (-1.0, False)])
def test_below_the_ground_is_earth_unless_something_hangs_there(tmp_path, height, earth):
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM.replace('xyz="0 0 2"', f'xyz="0 0 {2.0 + height if height > 0 else height}"'))
    with ExitStack() as exits:
        session = Session(open_source(str(path), exits), transport=False, projection=PROJECTIONS[1])
        session.camera = replace(session.camera.looking_at((0.0, 0.0)), size=(400, 300))
        surface = pygame.Surface((400, 300), depth=32)
        session.draw(surface)
    assert (surface.get_at((20, 280))[:3] == SCENE.zone) is earth


def test_a_placed_model_is_drawn_as_large_as_it_is_and_its_joints_where_they_are(tmp_path):
    """Shapes as the table of bodies has them; a joint to the ground where the body that hangs on it has it."""
    (tmp_path / "pendulum.urdf").write_text(PENDULUM)
    (tmp_path / "placed.yaml").write_text(
        "models:\n  - {file: pendulum.urdf, name: P, position: [5, -2, 1], heading: 1.2, scale: 0.3}\n"
    )
    with ExitStack() as exits:
        stage = open_source(str(tmp_path / "placed.yaml"), exits).stage
    world = cbsim.load(tmp_path / "placed.yaml")
    for body in world.bodies:
        corners = stage.solids[body.row].reshape(-1, 3)
        assert 2.0 * np.abs(corners).max(axis=0) == pytest.approx(body.size, abs=1e-9)
    (instance,) = world.instances
    alone = {joint.name: joint for joint in instance.spec.joints}
    grounded = [mark for mark in stage.joints if mark.row == -1]
    assert grounded, "else nothing is asked here"
    for mark in grounded:
        joint = alone[mark.name]
        pose = world.bodies[[body.name for body in instance.spec.bodies].index(joint.child.name)].pose(world.start)
        held = rotate(pose.orientation, 0.3 * joint.translational.vertices[1]) + pose.position
        assert mark.place == pytest.approx(held, abs=1e-9)
