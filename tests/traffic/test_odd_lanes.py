"""Changes of lanes where the lanes side by side are cut at different places."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.road.lanelets import build_lanelets
from cbsim.road.roadmap import build
from cbsim.spec.traffic import Pool
from cbsim.world.traffic.tables import ACCELERATION, MOVED, OFFSET, RUN
from tests.road.site import Site
from tests.traffic.sites import put_on, run, world

WIDE = 3.66  # [m]


@pytest.mark.parametrize("moved", [5.0, 20.0, 30.0])
@pytest.mark.parametrize("left", [40.0, 44.0, 48.0, 51.0])
def test_who_changes_beside_a_lanelet_that_began_long_before_does_not_brake_for_itself(left, moved):
    """Its own lane is cut where an exit enters it, and the one from which it comes is not."""
    site, stations = Site(metric=True), np.arange(0.0, 601.0, 100.0)
    site.lane("1.1", [(0.0, y) for y in stations], right="broken_white")
    site.lane("1.2", [(WIDE, y) for y in stations], left="broken_white")
    site.lane("2.1", [(120.0, 285.0), (20.0, 285.0)], exits=[("2.1.2", "1.2.4")])
    made = world(site.network(), Pool("p", count=1, lanes=((1, 2),)))
    lanelets, snapshot = build_lanelets(build(site.network())), made.start
    put_on(made, snapshot, 0, lanelets.names.index("1.2.1-1.2.4"), 300.0 - left, 13.0)
    travel = snapshot.state.travel[0]
    travel[[OFFSET, RUN, MOVED]] = WIDE, 47.0, moved
    snapshots = run(made, snapshot, 5.0, made.step)
    assert min(float(each.columns.travel[0, ACCELERATION]) for each in snapshots) > -2.5
    assert snapshots[-1].columns.travel[0, RUN] == 0.0
