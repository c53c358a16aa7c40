"""Models of a recording in space: where they were recorded, with the lights of their files."""

from __future__ import annotations

import json

import numpy as np
import pytest

import cbsim
from cbsim.errors import RecordingError
from cbsim.geometry.pose import rotate
from cbsim.view3d import Visualizer, set_lamp, visualize_recording
from cbsim.view3d.export import page_data
from cbsim.view3d.scene import Light
from tests.models.shift.test_switches import FIRST, body

FLIP = [[1, 0, 0], [0, -1, 0], [0, 0, -1]]  # z of the frame up, in a file whose z is down


def light(kind, parent, **keys):
    return {"name": kind, "type": kind, "parent": parent} | keys


def swinging(lights, frames=(), gravity=(0, 0, 9.81)):
    """A Shift model of a pendulum, z down, with lights."""
    part = {"name": "a", "bodies": [body("b", center_of_mass=[0.1, 0, 0])], "joints": [FIRST]}
    fixed = {"frames": list(frames), "lights": lights}
    return json.dumps({"model_parameters": {"gravity": gravity}, "fixed": fixed, "assemblies": [part]})


def shown(text, tmp_path, **options):
    (tmp_path / "swing.json").write_text(text)
    if options:
        entry = {"file": "swing.json", "name": "Swing", **options}
        (tmp_path / "scene.yaml").write_text(json.dumps({"models": [entry]}))
    recording = cbsim.run(cbsim.load(tmp_path / ("scene.yaml" if options else "swing.json")), duration=0.5)
    return recording, visualize_recording(recording, html=tmp_path / "page.html").scene


def test_bodies_are_where_they_were_recorded(tmp_path):
    recording, scene = shown(swinging([]), tmp_path)
    (name,) = recording.bodies
    x, q = scene.poses()
    assert np.array_equal(x[:, 0], recording.positions(name))
    assert np.array_equal(q[:, 0], recording.orientations(name))
    assert np.ptp(x, axis=0).max() > 0.1
    assert scene.light == Light()  # as without lights
    assert not scene.lamps


def test_lights_of_a_file_stand_where_it_says_and_shine_along_minus_z_of_their_frames(tmp_path):
    frames = [{"name": "high", "T": [1, 2, -24], "R": FLIP}]
    lights = [
        light("spot", ["fixed", "high"], Kd=[1, 0.5, 0], Ka=[0.3, 0.3, 0.3]),
        light("point", ["b", "f"], Ka=[0.1, 0.1, 0.1]),
        light("directional", ["fixed", "high"], active=False),
        light("directional", ["fixed", "nowhere"]),
    ]
    _, scene = shown(swinging(lights, frames), tmp_path)
    spot, point = scene.lamps.values()
    assert (spot.kind, spot.frame, spot.position, spot.color) == ("spot", "", (2.0, 1.0, 24.0), (1.0, 0.5, 0.0))
    np.testing.assert_allclose(spot.direction, (0, 0, -1), atol=1e-15)
    assert (point.kind, point.frame, point.color) == ("point", scene.frames[0], (0.8, 0.8, 0.8))
    np.testing.assert_allclose(point.position, (0.4, 0.0, 0.0), atol=1e-15)  # from the centre of mass
    assert scene.light == Light(ambient=0.4, fill=0.0, lamp=0.0, shadow=False)
    kinds = [(lamp["kind"], lamp["frame"]) for lamp in page_data(scene)["lamps"]]
    assert kinds == [(1, -1), (0, 0)]


def test_lights_of_a_placed_model_move_with_its_place_and_scale(tmp_path):
    frames = [{"name": "high", "T": [0, 0, -4]}, {"name": "ahead", "T": [3, 0, 0], "R": FLIP}]
    lights = [light("point", ["fixed", "high"]), light("spot", ["fixed", "ahead"]), light("point", ["b", "f"])]
    lights[2]["name"] = "carried"
    _, scene = shown(swinging(lights, frames), tmp_path, position=[10, 20, 0], heading=90, scale=0.5)
    high, ahead, carried = scene.lamps.values()
    np.testing.assert_allclose(high.position, (10, 20, 2), atol=1e-12)
    np.testing.assert_allclose(ahead.position, (8.5, 20, 0), atol=1e-12)  # x of the file is forward, here west
    np.testing.assert_allclose(carried.position, (0.2, 0, 0), atol=1e-12)
    joint = rotate(scene.robots["Swing"].q[0], np.array([0.2, 0.0, 0.0])) + scene.robots["Swing"].x[0]
    np.testing.assert_allclose(joint, (10, 20, 0), atol=1e-9)


@pytest.mark.parametrize("color", ["red", [1, 2], [1, "x", 0], {}, None])
def test_colors_that_are_none_are_the_usual_ones(color, tmp_path):
    _, scene = shown(swinging([light("point", ["fixed", "origin"], Kd=color, Ka=color)]), tmp_path)
    (lamp,) = scene.lamps.values()
    assert lamp.color == (0.8, 0.8, 0.8)
    assert scene.light.ambient == pytest.approx(0.2)


def test_more_lights_than_a_page_has_room_for_are_left_out(tmp_path):
    lights = [light("point", ["fixed", "origin"], name=f"{k}") for k in range(12)]
    assert len(shown(swinging(lights), tmp_path)[1].lamps) == 8


def test_a_robot_takes_its_lamps_along_when_it_is_removed(tmp_path):
    recording, _ = shown(swinging([light("point", ["b", "f"])]), tmp_path)
    vis = Visualizer()
    set_lamp(vis, "directional", name="sun")
    visualize_recording(recording, vis=vis, html=tmp_path / "page.html")
    assert len(vis.scene.lamps) == 2
    vis.remove(next(iter(vis.scene.robots)))
    assert list(vis.scene.lamps) == ["sun"]
    vis.remove("sun")
    assert not vis.scene.lamps


def test_a_recording_without_models_is_refused(tmp_path):
    recording = cbsim.run(cbsim.load("crash"), duration=0.1)
    with pytest.raises(RecordingError, match="has no models"):
        visualize_recording(recording, html=tmp_path / "page.html")
