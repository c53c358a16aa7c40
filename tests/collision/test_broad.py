"""Pairs that may meet: the grid finds what a look at all bodies finds, and those that meet are among them."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.collision.kernels.body_paths import trajectory_of
from cbsim.collision.kernels.broad import find_pairs, has_left, order_pairs, set_bounds
from cbsim.collision.kernels.stage import near_pairs, pairs_on
from cbsim.collision.kernels.workspace import workspace_of
from cbsim.collision.workspace import make_workspace
from cbsim.simulation.advance import advance
from cbsim.spec.objects import ShapeKind, Triple
from cbsim.spec.traffic import Pool
from cbsim.traffic.kernels.driving.vehicles import read_vehicles
from tests.collision.bodies import make_workspaces
from tests.traffic.sites import put, straight
from tests.traffic.sites import world as traffic
from tests.worlds import bot, mesh, mover, prop, world


def scene(rng, movers, props, spread):
    def place():
        return Triple(*rng.uniform(-spread, spread, 2), 0.0)

    def script():
        return [(rng.uniform(1, 30), rng.choice([0.0, 0.1]), rng.uniform(1, 9), rng.uniform(-3, 3)) for _ in range(5)]

    long = mesh("long", [(-500, 0, 0), (500, 3, 0), (500, 3, 4)], [(0, 1, 2)])
    ramp = mesh("ramp", [(-50, 0, 0), (50, 3, 0), (50, 3, 4)], [(0, 1, 2)], drivable=True)
    sizes = np.exp(rng.uniform(-2, 4, (props, 3)))
    return world(
        *(mover(f"m{k}", *script(), at=place()) for k in range(movers)),
        *(bot(f"b{k}", position_offset=place()) for k in range(4)),
        *(prop(f"p{k}", place(), ShapeKind(k % 4), Triple(*sizes[k])) for k in range(props)),
        long,
        ramp,
    )


def pairs_of(made, since, steps):
    state = made.start.state
    planar = np.empty((4, 6))
    read_vehicles(made.constants, state, planar)
    planar[:, 3] = 7.0
    c, blocks = made.constants, make_workspace(made, made.static_caches.of(made.start))
    workspace = workspace_of(len(made), 4, blocks.floats, blocks.ints)
    segments = trajectory_of(c, state, np.empty((0, 2, 4)))
    set_bounds(segments, made.shapes.radius, c.mover_body, c.vehicle_body, planar, since, c.step, steps, workspace)
    empty = np.empty((0, 2), np.int64)
    literal, first, driven, second = find_pairs(c.moving, workspace, empty, empty)
    return workspace, literal[:first], driven[:second]


@pytest.mark.parametrize(("movers", "props", "spread"), [(30, 20, 20.0), (150, 60, 60.0), (200, 100, 400.0)])
def test_grid_finds_every_pair_of_bounds_that_overlap(movers, props, spread):
    made = scene(np.random.default_rng(movers), movers, props, spread)
    (roles, bounds, *_), literal, driven = pairs_of(made, 0.3, 8)
    low, high = bounds[:, :2], bounds[:, 2:]
    overlap = (low[:, None] <= high[None]).all(axis=2) & (low[None] <= high[:, None]).all(axis=2)
    moving, solid = roles[:, 0] >= 0, roles[:, 0] != -2
    wanted = {
        (a, b)
        for a, b in zip(*np.nonzero(np.triu(overlap, 1)), strict=True)
        if (moving[a] or moving[b]) and solid[a] and solid[b]
    }
    found = [tuple(sorted(pair)) for pair in (*literal.tolist(), *driven.tolist())]
    assert set(found) == wanted
    assert len(found) == len(wanted)
    cars = set(range(movers, movers + 4))
    assert all(pair[0] in cars for pair in driven.tolist())
    assert not any(set(pair) & cars for pair in literal.tolist())
    assert literal.tolist() == sorted(literal.tolist())


def test_pairs_are_in_order_whatever_is_in_the_memory_that_they_are_written_to():
    order = getattr(order_pairs, "py_func", order_pairs)
    rng = np.random.default_rng(3)
    wanted = np.array(sorted({tuple(sorted(pair)) for pair in rng.integers(0, 12, (60, 2)).tolist()}))
    out = np.column_stack([wanted[:, 0] + 1, np.full(len(wanted), 99)])  # as if of the run that comes next
    order(rng.permutation(wanted), len(wanted), np.full(12, 7), out)
    assert np.array_equal(out, wanted)


def test_pairs_are_those_of_a_new_search_when_a_car_is_elsewhere_at_the_same_time():
    made = traffic(straight(), Pool("p", count=2), step=0.05)
    snapshot, other = made.start, made.start
    put(snapshot, 0, 20.0)
    put(snapshot, 1, 400.0)
    advance(made, snapshot, 1)  # its pairs hold for some more steps, and none of them is of these two
    put(other, 0, 20.0)
    put(other, 1, 21.0)
    other.state.clock[0] = 1
    _, _, contacts = advance(made, other, 1)
    assert len(contacts) == 1


def test_bounds_hold_the_way_of_every_mover():
    made = scene(np.random.default_rng(1), 40, 0, 30.0)
    workspace, *_ = pairs_of(made, 0.0, 8)
    snapshot = made.start
    for _ in range(8):
        advance(made, snapshot, 1)
        place, radius = snapshot.state.position[:40, :2], made.shapes.radius[:40, None]
        assert (place - radius >= workspace[1][:40, :2]).all()
        assert (place + radius <= workspace[1][:40, 2:]).all()


def test_vehicle_that_leaves_its_margin_asks_for_new_pairs():
    made = scene(np.random.default_rng(1), 1, 1, 30.0)
    state, planar = made.start.state, np.empty((4, 6))
    read_vehicles(made.constants, state, planar)
    blocks = make_workspace(made, made.static_caches.of(made.start))
    segments, workspace, _ = make_workspaces(made, state, blocks)
    near_pairs(made.constants, made.shapes.radius, 0, segments, planar, workspace, pairs_on(workspace))
    anchors = workspace[3]
    assert not has_left(planar, anchors)
    planar[2, 0] += 0.49
    assert not has_left(planar, anchors)
    planar[2, 1] += 0.2
    assert has_left(planar, anchors)
