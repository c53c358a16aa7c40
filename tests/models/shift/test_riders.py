"""Bodies without mass that vanish in one joint of the core ride along: their joints hold in every state."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.errors import Problems
from cbsim.formats.shift import write
from cbsim.models.shift.assembly import assemble
from cbsim.models.shift.behaviour import matrices
from cbsim.models.shift.network import Place
from cbsim.models.shift.upright import upright
from tests.common import shared
from tests.models.shift.models import Run, file_of
from tests.models.shift.test_massless import ANGLES, RATES, chain


def poses_of(run, spec, state):
    """Where all bodies of the file are, by number: bodies of the mechanism and riders; the ground is the last."""
    assembled = assemble(spec, Problems())
    rows = run.instance.with_massless_links(state[None])[0]
    names = {body.name: row for row, body in enumerate(run.description.bodies)}
    found = []
    for link in assembled.network.links:
        row = rows[names[link.path[-1]]]
        rotation = matrices(row[None, 6:10])[0]
        found.append(Place(rotation, row[:3] - rotation @ np.array(link.body.center_of_mass)))
    return assembled, [*found, Place(upright(spec.gravity), np.zeros(3))]


def misfit(run, spec, state):
    """How far any joint with one coordinate is from where its other body has it [m, rad]."""
    assembled, poses = poses_of(run, spec, state)
    worst = 0.0
    for tie in assembled.tree.ties:
        one, other = poses[tie.parent] @ tie.at_parent, poses[tie.child] @ tie.at_child
        apart, axis = one.inverse @ other, np.array(tie.joint.axis)
        across = np.eye(3) - np.outer(axis, axis)
        if tie.joint.kind == "revolute":
            worst = max(worst, np.abs(apart.origin).max(), np.abs(apart.rotation @ axis - axis).max())
        elif tie.joint.kind == "prismatic":
            worst = max(worst, np.abs(across @ apart.origin).max(), np.abs(apart.rotation - np.eye(3)).max())
    return worst


@pytest.mark.parametrize(
    "types",
    [
        ("Rx", "Ry", "Rz"),
        ("Rz", "Rx", "Rz"),
        ("Tx", "Ty", "Tz"),
        ("Tx", "Ty", "Tz", "Rx", "Ry", "Rz"),
        ("Rz", "Ry", "Rx", "Tz", "Ty", "Tx"),
    ],
)
def test_joints_of_a_chain_hold_in_every_state(types):
    many = len(types)
    start = (0.3, -1.9, 0.5, 0.2, 2.4, -0.1)[:many]
    spec = chain(types, start, (RATES * 2)[:many])
    run = Run(spec, 0.01)
    assert len(run.description.spec.bodies) == 1
    assert [body.name for body in run.description.bodies] == ["b", *(f"m{k}" for k in range(many - 1))]
    for state in run.until(0.4)[::4]:
        assert misfit(run, spec, state) < 1e-9
    first = run.instance.with_massless_links(run.instance.start[None])[0]
    assert Run(spec, 0.01).instance.with_massless_links(run.instance.start[None])[0].tolist() == first.tolist()
    one = next(link for link in assemble(spec, Problems()).network.links if link.path[-1] == "m0")
    assert one.body.is_massless


def test_what_rides_goes_where_it_would_go_with_a_little_mass():
    spec = chain(("Rx", "Ry", "Rz"), ANGLES, RATES)
    run = Run(spec, 0.002)
    states = run.instance.with_massless_links(run.until(0.4))
    apart = Run(chain(("Rx", "Ry", "Rz"), ANGLES, RATES, damping=[0.0, 1e-12]), 0.002)
    light = apart.until(0.4)
    names = [body.name for body in apart.description.spec.bodies]
    for row, body in enumerate(run.description.bodies):
        other = light[:, names.index(body.name)]
        q = states[:, row, 6:10] * np.sign((states[:, row, 6:10] * other[:, 6:10]).sum(axis=1))[:, None]
        assert np.abs(q - other[:, 6:10]).max() < 1e-5, body.name
        assert np.abs(states[1:, row, 10:] - other[1:, 10:]).max() < 1e-2, body.name


def test_velocities_of_what_rides_are_those_of_its_places():
    run = Run(chain(("Tx", "Ty", "Tz", "Rx", "Ry", "Rz"), ANGLES * 2, RATES * 2), 0.01)
    states = run.instance.with_massless_links(run.until(0.3))
    assert np.diff(states[:, :, :3], axis=0) / 0.01 == pytest.approx(states[1:, :, 3:6], abs=1e-6)


def test_every_body_of_a_vehicle_is_recorded_and_its_joints_hold(tmp_path):
    path = shared("shift", "head_dac9a79", "vehicle", "vehicle_control_5mps.json")
    spec = file_of(path)
    run = Run(spec, 0.01, path)
    assert len(run.description.bodies) == 45
    for state in run.until(1.0)[::20]:
        assert misfit(run, spec, state) < 1e-6
    world = cbsim.load(path, step=0.01)
    recording = cbsim.run(world, duration=0.1)
    assert len(recording.names) == 45
    snapshot = world.start
    for _ in range(10):
        snapshot = cbsim.step(world, snapshot)
    for name in recording.names:
        assert recording.positions(name)[-1].tolist() == world[name].pose(snapshot).position.tolist()


def test_riders_stand_in_a_scenario_where_it_puts_their_model(tmp_path):
    (tmp_path / "m.json").write_text(write(chain(("Rx", "Ry", "Rz"), ANGLES, RATES)))
    place = "file: m.json, name: M, position: [3.0, 4.0, 0.5], heading: 0.5, scale: 2.0"
    (tmp_path / "s.yaml").write_text(f"network: four_way_stop\nduration: 1.0\nmodels: [{{{place}}}]\n")
    world, alone = cbsim.load(tmp_path / "s.yaml"), cbsim.load(tmp_path / "m.json")
    for name in ("b", "m0", "m1"):
        here, there = world[f"M/{name}"].pose(world.start).position, alone[name].pose(alone.start).position
        apart = np.linalg.norm(here - world["M/b"].pose(world.start).position)
        away = np.linalg.norm(there - alone["b"].pose(alone.start).position)
        assert apart == pytest.approx(2.0 * away, abs=1e-12)
    assert {"M/b", "M/m0", "M/m1"} <= set(cbsim.run(world, duration=0.2).names)


def test_what_touches_a_model_is_noted_of_its_own_bodies_where_others_have_riders(tmp_path):
    """Riders stand between the bodies of models: neither place nor speed of a cart may be taken for another's."""
    (tmp_path / "m.json").write_text(write(chain(("Rx", "Ry", "Rz"), ANGLES, RATES)))
    wall = "{name: Wall, size: [2, 2, 2], position: [8, 6.5, 0]}"
    bus = "{name: Bus, kind: dynamic, size: [2.5, 8, 3], position: [8, -4.0, 0], "
    bus += "script: [{speed: 8, distance: 40, angle: 0}]}"
    chained = "{file: m.json, name: M, position: [3, 40, 5]}"
    cart = "{file: models/cart.jm, name: Cart, position: [8, 4.4, 0], mass: 200, settings: {joystick1.y: -1}}"
    found = []
    for models in (cart, f"{chained}, {cart}"):
        (tmp_path / "s.yaml").write_text(f"duration: 1.5\nadd: [{wall}, {bus}]\nmodels: [{models}]\n")
        recording = cbsim.run(cbsim.load(tmp_path / "s.yaml"))
        found.append([(*one.bodies, one.time, one.closing_speed) for one in recording.contacts()])
    without, beside = found
    assert {"Wall", "Bus"} <= {name for row in without for name in row[:2]}
    assert [row[:2] for row in beside] == [row[:2] for row in without]
    assert np.array([row[2:] for row in beside]) == pytest.approx(np.array([row[2:] for row in without]), abs=1e-9)
