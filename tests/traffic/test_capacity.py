"""Capacities: headways at an all-way stop, and critical gaps at a minor road, beside the Highway Capacity Manual."""

from __future__ import annotations

import math

import pytest

from cbsim.simulation.advance import advance
from cbsim.spec.road import PointId
from cbsim.spec.traffic import Driver, Pool, Spread
from tests.traffic.sites import cross, world


def departures(stops: tuple[int, ...], *flows: tuple[int, int, float], share: float = 1.0, duration: float = 900.0):
    """Count the cars of the first flow (from road, to road, vehicles per hour) that arrive after five minutes."""
    own = (("d", 1.0),)
    pools = [
        Pool(f"{a} {b}", flow=rate, origin=PointId(a, 1, 1), destinations=((PointId(b, 2, 2), 1.0),), drivers=own)
        for a, b, rate in flows
    ]
    made = world(cross(stops), *pools, drivers=(Driver("d", critical_gap=Spread(share)),), step=0.1)
    snapshot = made.start
    _, _, contacts = advance(made, snapshot, 3000)
    before = int(snapshot.columns.pool_counts[0, 2])
    _, _, more = advance(made, snapshot, round(duration / 0.1))
    assert not len(contacts)
    assert not len(more)
    return int(snapshot.columns.pool_counts[0, 2]) - before


def test_headway_of_a_queue_at_a_stop_line_is_that_of_the_manual():
    assert 900.0 / departures((1, 2, 3, 4), (1, 3, 3600.0)) == pytest.approx(3.9, rel=0.15)
    assert 900.0 / departures((1, 2, 3, 4), (1, 3, 3600.0), (3, 1, 3600.0)) == pytest.approx(4.7, rel=0.15)


@pytest.mark.parametrize(("arms", "theirs"), [((1, 2), 5.8), ((1, 2, 4), 7.0), ((1, 2, 3, 4), 9.6)])
def test_headway_where_approaches_conflict_is_that_of_the_manual(arms, theirs):
    flows = [(arm, (arm + 1) % 4 + 1, 3600.0) for arm in arms]
    assert 900.0 / departures((1, 2, 3, 4), *flows) == pytest.approx(theirs, rel=0.15)


def test_capacity_of_a_minor_road_follows_the_critical_gap():
    major = [(2, 4, 200.0), (4, 2, 200.0)]
    counts = [departures((1, 3), (1, 3, 3600.0), *major, share=share) for share in (0.6, 1.0, 1.6)]
    assert counts[0] > 1.05 * counts[1]  # less than 3.85 s would make others brake hard, whatever the driver
    assert counts[1] > 1.1 * counts[2]
    rate = 400.0 / 3600.0
    theirs = 900.0 * rate * math.exp(-6.5 * rate) / (1.0 - math.exp(-4.0 * rate))
    assert counts[1] == pytest.approx(theirs, rel=0.15)
