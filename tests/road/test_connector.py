"""Curves of exits: straight, turns, U-turns, and never a jump in heading at either end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbsim.errors import ModelError
from cbsim.geometry.polyline import direction, wrap
from cbsim.road.connector import Connector, ConnectorKind, connector, connector_kinds, connectors, exit_spans
from cbsim.road.roadmap import build
from tests.road.site import Site, city, point, straight


def join(gap: tuple[float, float], turn: float, *, segment: int = 2) -> Connector:
    """Connect a lane that ends northwards at the origin with one that starts at `gap`, turned by `turn`."""
    along = direction(np.array(turn))
    beyond = [tuple(np.array(gap) + s * along) for s in (0.0, 20.0, 40.0)]
    other = f"{segment}.{2 if segment == 1 else 1}"
    site = Site(metric=True).lane("1.1", straight(40.0, y=-40.0), exits=[("1.1.5", f"{other}.1")], width=3.0)
    roadmap = build(site.lane(other, beyond, width=4.0).network())
    return connector(roadmap, point("1.1.5"), point(f"{other}.1"))


@given(st.floats(-40.0, 40.0), st.floats(3.0, 40.0), st.floats(-2.6, 2.6))
def test_connector_joins_both_lanes_in_place_and_heading(x: float, y: float, turn: float) -> None:
    found = join((x, y), turn)
    assert np.allclose(found.samples[0], 0.0, atol=1e-9)
    assert np.allclose(found.samples[-1], [x, y], atol=1e-9)
    assert np.hypot(*np.diff(found.samples, axis=0).T).max() <= 1.0 + 1e-9
    if found.kind is not ConnectorKind.STRAIGHT:
        assert abs(wrap(found.headings[0])) < 1e-6
        assert abs(wrap(found.headings[-1] - turn)) < 1e-6


def test_a_small_change_of_heading_is_a_straight_line() -> None:
    found = join((0.5, 20.0), np.radians(-9.0))
    assert found.kind is ConnectorKind.STRAIGHT
    assert found.length == pytest.approx(np.hypot(0.5, 20.0))
    assert found.radius == np.inf


def test_a_square_turn_is_a_quarter_circle() -> None:
    found = join((-8.0, 8.0), np.pi / 2)
    assert found.kind is ConnectorKind.TURN
    assert found.turn == pytest.approx(np.pi / 2)
    assert found.length == pytest.approx(4.0 * np.pi, rel=1e-3)
    assert found.radius == pytest.approx(8.0, rel=0.05)


def test_a_lopsided_turn_goes_straight_first_and_then_round() -> None:
    found = join((-5.0, 12.0), np.pi / 2)
    assert found.radius == pytest.approx(5.0, rel=0.05)
    assert np.abs(found.samples[found.stations < 7.0][:, 0]).max() < 1e-9


@pytest.mark.parametrize("ahead", [-15.0, 0.0, 15.0])
def test_a_u_turn_is_half_a_circle_and_a_straight_to_come_abeam(ahead: float) -> None:
    found = join((-4.0, ahead), np.pi, segment=1)
    assert found.kind is ConnectorKind.U_TURN
    assert found.length == pytest.approx(2.0 * np.pi + abs(ahead), rel=0.01)
    assert found.samples[:, 0].min() == pytest.approx(-4.0, abs=0.02)


def test_the_same_turn_between_segments_is_no_u_turn() -> None:
    assert join((-8.0, 2.0), np.pi * 0.9, segment=2).kind is ConnectorKind.TURN


def test_width_is_that_of_the_narrower_lane() -> None:
    assert join((0.0, 20.0), 0.0).width == 3.0


def test_exits_of_zones_take_the_heading_of_the_lane_alone() -> None:
    site = Site(metric=True).lane("1.1", straight(40.0, y=-40.0), exits=[("1.1.5", "2.0.1")], width=3.0)
    site.zone(2, [(3.0, 4.0), (30.0, 4.0), (30.0, -30.0), (3.0, -30.0)], exits=[("2.0.1", "1.1.1")])
    into, out = connectors(build(site.network()))
    assert abs(into.headings[0]) < 1e-9
    assert abs(wrap(out.headings[-1])) < 1e-9
    assert into.width == out.width == 3.0


def test_an_exit_that_goes_nowhere_has_one_sample() -> None:
    found = join((0.0, 0.0), 0.0)
    assert found.length == 0.0
    assert len(found.samples) == 1


def test_dangling_exits_have_no_connector() -> None:
    network = Site(metric=True).lane("1.1", straight(10.0), exits=[("1.1.5", "9.1.1")]).network()
    assert connectors(build(network)) == ()
    with pytest.raises(ModelError, match=r"no exit '1\.1\.5' to '9\.1\.1'"):
        connector(build(network), point("1.1.5"), point("9.1.1"))


def test_what_is_told_of_exits_without_drawing_them_is_what_the_drawing_shows() -> None:
    roadmap = build(city(3))
    drawn = connectors(roadmap)
    assert connector_kinds(roadmap, roadmap.exits) == [c.kind for c in drawn]
    spans = [float(np.hypot(*(c.samples[-1] - c.samples[0]))) for c in drawn]
    assert exit_spans(roadmap, roadmap.exits) == pytest.approx(spans)
    some = connectors(roadmap, roadmap.exits[3:9])
    assert [(c.source, c.target) for c in some] == [(c.source, c.target) for c in drawn[3:9]]
    assert [c.length for c in some] == pytest.approx([c.length for c in drawn[3:9]])
    assert connectors(roadmap, []) == ()
    assert (connector_kinds(roadmap, []), len(exit_spans(roadmap, []))) == ([], 0)
