"""Feet of perpendiculars to centrelines, against the nearest of many samples.

On the inner side of corners that two lanes cannot turn beside each other, places have several feet.
"""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.jit import kernel
from cbsim.spec.traffic import Pool
from cbsim.traffic.kernels.ways.centreline import foot_on, on_lanelet
from cbsim.world.packed.kernels import road_of
from cbsim.world.traffic.tables import LENGTH
from tests.road.site import Site
from tests.traffic.sites import world

CORNERS = ((30.0, 2.0), (60.0, 2.0), (60.0, 4.0), (90.0, 4.0), (90.0, 8.0), (120.0, 8.0))  # [°], [m]
SHARP = ((75.0, 2.0), (90.0, 2.0), (120.0, 2.0), (120.0, 3.0), (120.0, 4.0))  # only from outside


@kernel
def find_feet(pack, lanelet, guesses, points, found):
    road = road_of(pack)
    for i in range(guesses.shape[0]):
        found[i, 0], found[i, 1] = foot_on(road, lanelet, guesses[i], points[i, 0], points[i, 1])


@kernel
def find_points(pack, lanelet, stations, points):
    road = road_of(pack)
    for i in range(stations.shape[0]):
        points[i, 0], points[i, 1] = on_lanelet(road, lanelet, stations[i])


@pytest.mark.parametrize(
    ("angle", "near", "side"),
    [
        *((*corner, side) for corner in CORNERS for side in (-3.6, -1.8, 1.8, 3.6)),
        *((*corner, -3.6) for corner in SHARP),
        (120.0, 3.0, -1.8),
    ],
)
def test_foot_is_the_nearest_point_beside_a_bend_outside_even_farther_away_than_its_radius(angle, near, side):
    ahead = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    places = [(0.0, 0.0), (60.0 - near, 0.0), *(np.array([60.0, 0.0]) + ahead * way for way in (near, 60.0))]
    site = Site(metric=True)
    site.lane("1.1", [(float(x), float(y)) for x, y in places])
    made = world(site.network(), Pool("p", count=1))
    lanelet, length = 0, float(made.traffic.road.lanelets[0, LENGTH])
    dense, centreline = np.linspace(0.0, length, 20001), np.empty((20001, 2))
    find_points(made.pack, lanelet, dense, centreline)
    stations = np.arange(45.0, 75.0, 0.05)
    middle, ahead = np.empty((len(stations), 2)), np.empty((len(stations), 2))
    find_points(made.pack, lanelet, stations, middle)
    find_points(made.pack, lanelet, stations + 0.001, ahead)
    along = (ahead - middle) / np.linalg.norm(ahead - middle, axis=1)[:, None]
    points = middle + side * np.stack([-along[:, 1], along[:, 0]], axis=1)
    away = np.array([np.linalg.norm(centreline - point, axis=1).min() for point in points])
    for wrong in (-1.5, -0.6, 0.0, 0.6, 1.5):
        found = np.empty((len(stations), 2))
        find_feet(made.pack, lanelet, stations + wrong, points, found)
        assert np.abs(np.abs(found[:, 1]) - away).max() < 0.25
