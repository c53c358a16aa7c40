"""Scans among many standing bodies against brute force, bit for bit, however the Snapshot came to be."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import cbsim
from cbsim.sensing.kernels.windows import FIELDS, GROUP
from cbsim.sensing.laser_tables import laser_tables_of
from cbsim.sensing.scenery import static_scenery_of
from cbsim.spec.command import Command
from cbsim.spec.objects import Kind, ShapeKind, TrafficObject, Triple
from cbsim.world.scene import Actor
from tests.sensing.brute import cast_brute_into
from tests.worlds import bot, level, mesh, mover, prop, world

CONFS = {
    "flat": level(beams=181, start_angle=-math.pi / 2, end_angle=math.pi / 2),
    "all around": level(beams=360, start_angle=-math.pi, end_angle=math.pi, position=Triple(0.3, 1.0, 0.4)),
    "layers": level(beams=100, layer_pitches=(-0.2, -0.05, 0.0, 0.1)),
    "pitched": level(beams=181, pitch=-0.14),
    "short": level(beams=181, max_range=15.0),
}


def town(confs, seed=0, props=300, tilted=True, **settings):
    """Make a world of props of every kind about two bots, with a mesh and a mover."""
    rng = np.random.default_rng(seed)
    actors = []
    for k in range(props):
        at = Triple(*rng.uniform(-60.0, 60.0, 2), float(rng.choice([0.0, 0.0, 1.5])))
        kind = ShapeKind.BOX if rng.random() < 0.8 else ShapeKind(int(rng.integers(1, 4)))
        size = Triple(*np.exp(rng.uniform(-4.0, 2.0, 2)), float(rng.uniform(0.2, 4.0)))
        turn = Triple(*(rng.uniform(-0.5, 0.5, 2) if tilted and rng.random() < 0.1 else (0.0, 0.0)), rng.uniform(-3, 3))
        item = TrafficObject(Kind.STATIC, f"p{k}", shape=kind, position_offset=at, size=size, orientation_offset=turn)
        actors.append(Actor(item))
    corners = rng.uniform(-4.0, 4.0, (12, 3))
    actors.insert(40, mesh("mesh", corners, np.arange(12).reshape(4, 3), Triple(9.0, 4.0, 1.0)))
    walker = mover("mover", (2.0, 0.0, 30.0, 0.4), at=Triple(5.0, 0.0, 0.0))
    return world(bot("one", *confs), *actors, bot("two", position_offset=Triple(-6.0, 3.0, 0.0)), walker, **settings)


def brute(made, snapshot, sensor):
    """Ranges (layers, beams) of a scan taken at this very Snapshot, by testing every beam against every body."""
    state, pose = snapshot.columns, made.bodies[sensor.body].pose(snapshot) @ sensor.mount
    out = np.empty(sensor.directions.shape[:2])
    places = state.position, state.orientation
    cast_brute_into(pose.position, pose.orientation, sensor.directions, sensor.body, *places, made.shapes, out)
    return np.where(out <= sensor.conf.max_range, out, np.inf)


def agrees(made, snapshot):
    """Say whether all scans of this very Snapshot are those of brute force."""
    found = cbsim.sense(made, snapshot)
    return all(
        np.array_equal(np.where(found[s.key].returned, found[s.key].ranges, np.inf), brute(made, snapshot, s))
        for s in made.sensors
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", CONFS)
def test_scans_among_many_bodies_are_those_of_brute_force(name, seed):
    made = town([CONFS[name]], seed)
    assert agrees(made, made.start)


def test_scans_of_a_run_are_those_of_brute_force_at_every_step():
    made = town([replace(CONFS[name], rate=16.0) for name in ("flat", "layers")], 5, tilted=False, step=0.0625)
    snapshot = made.start
    for _ in range(40):
        snapshot = cbsim.step(made, snapshot, {"one": Command(throttle=0.5, steering=0.3)})
        assert agrees(made, snapshot)


@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
def test_bodies_that_were_moved_in_a_snapshot_are_seen_where_they_are(share):
    made = town([CONFS["flat"], CONFS["layers"], CONFS["pitched"]], 6)
    before = cbsim.sense(made, made.start)
    snapshot, rng = made.start, np.random.default_rng(1)
    rows = [row for row in made.static_caches.rows if rng.random() < share]
    snapshot.state.position[rows] += rng.uniform(-5.0, 5.0, (len(rows), 3))
    assert agrees(made, snapshot)
    after = cbsim.sense(made, snapshot)
    assert any(not np.array_equal(after[key].ranges, before[key].ranges) for key in before)
    snapshot.state.position[rows[0]] = made.start.state.position[0] + (0.0, 6.0, 0.0)
    snapshot.state.orientation[rows[0]] = math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0
    assert agrees(made, snapshot)
    assert agrees(made, made.start)


def test_a_standing_body_may_carry_a_laser():
    post = TrafficObject(Kind.STATIC, "post", size=Triple(0.3, 0.3, 2.0), position_offset=Triple(1.0, 1.0, 0.0))
    around = [prop(f"p{k}", Triple(4.0 * math.cos(k), 4.0 * math.sin(k), 0.0)) for k in range(50)]
    made = world(*around, Actor(post, confs=(("scan", CONFS["all around"]),)))
    assert agrees(made, made.start)
    snapshot = made.start
    snapshot.state.position[-1, :2] = 0.5, -0.5
    assert agrees(made, snapshot)


def test_every_standing_body_is_in_one_group_and_inside_its_box():
    made = town([CONFS["flat"]], 7)
    groups = laser_tables_of(made).groups
    rows = groups.rows[groups.rows >= 0]
    assert sorted(rows) == made.static_caches.rows.tolist()
    boxes = groups.boxes.reshape(-1, FIELDS, GROUP).transpose(0, 2, 1).reshape(-1, FIELDS)[: len(groups.plain)]
    state = made.start.columns
    for box, members in zip(boxes, groups.rows, strict=True):
        centres = state.position[members[members >= 0]]
        assert (np.abs(centres - box[:3]) <= box[5:8]).all()
    surroundings = static_scenery_of(made, made.static_caches.of(made.start), groups)
    assert surroundings is static_scenery_of(made, made.static_caches.of(made.start), groups)


def test_lasers_of_one_make_share_their_directions_and_others_do_not():
    around = [prop(f"p{k}", Triple(9.0 * math.cos(k), 9.0 * math.sin(k), 0.0)) for k in range(30)]
    confs = [CONFS["flat"], CONFS["layers"], replace(CONFS["layers"], layer_pitches=(-0.2, 0.0, -0.05, 0.1))]
    made = world(bot("one", *confs), bot("two", *confs, position_offset=Triple(-3.0, 2.0, 0.0)), *around)
    table = laser_tables_of(made).table
    assert table.at[:3].tolist() == table.at[3:].tolist() == [0, 184, 184 + 4 * 100]
    assert table.row[:3].tolist() == table.row[3:].tolist() == [0, 1, 5]
    assert len(table.east) == 184 + 2 * 4 * 100
    assert agrees(made, made.start)
