"""The local plane against its own inverse and against pyproj."""

from __future__ import annotations

import numpy as np
import pyproj
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbsim.geometry.geodesy import LocalPlane

ORIGINS = [(34.587, -117.366), (38.875, -77.202), (0.0, 0.0), (-33.9, 151.2), (89.9, 10.0), (52.0, 179.999)]
latitudes = st.floats(-89.9, 89.9)
longitudes = st.floats(-180.0, 180.0)
metres = st.floats(-20_000.0, 20_000.0)


@given(latitudes, longitudes, metres, metres)
def test_inverse_returns_to_the_point_within_a_millimetre(lat: float, lon: float, x: float, y: float) -> None:
    plane = LocalPlane(lat, lon)
    assert np.abs(plane.to_local(*plane.to_geodetic([x, y])) - [x, y]).max() < 1e-6


@given(latitudes, longitudes)
def test_origin_maps_to_zero_and_back(lat: float, lon: float) -> None:
    plane = LocalPlane(lat, lon)
    assert np.abs(plane.to_local(lat, lon)).max() < 1e-8
    assert np.allclose(plane.to_geodetic([0.0, 0.0]), (lat, lon), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("lat", "lon"), ORIGINS)
def test_local_coordinates_agree_with_the_topocentric_conversion_of_pyproj(lat: float, lon: float) -> None:
    chain = (
        f"+proj=pipeline +step +proj=cart +ellps=WGS84 +step +proj=topocentric +ellps=WGS84 +lat_0={lat} +lon_0={lon}"
    )
    rng = np.random.default_rng(1)
    lats, lons = np.clip(lat + rng.uniform(-0.05, 0.05, 200), -90, 90), lon + rng.uniform(-0.05, 0.05, 200)
    east, north, _ = pyproj.Transformer.from_pipeline(chain).transform(lons, lats, np.zeros(200))
    assert np.abs(LocalPlane(lat, lon).to_local(lats, lons) - np.stack([east, north], -1)).max() < 1e-6


@pytest.mark.parametrize(("lat", "lon"), ORIGINS[:4])
def test_distances_and_directions_agree_with_the_geodesic_to_a_millimetre_within_3_km(lat: float, lon: float) -> None:
    geodesic = pyproj.Transformer.from_crs("EPSG:4326", f"+proj=aeqd +ellps=WGS84 +lat_0={lat} +lon_0={lon}")
    rng = np.random.default_rng(2)
    lats, lons = lat + rng.uniform(-0.02, 0.02, 200), lon + rng.uniform(-0.02, 0.02, 200)
    local = LocalPlane(lat, lon).to_local(lats, lons)
    near = np.hypot(*local.T) < 3000.0
    assert near.sum() > 100
    assert np.abs(local - np.stack(geodesic.transform(lats, lons), -1))[near].max() < 1e-3


def test_axes_are_east_and_north() -> None:
    x, y = LocalPlane(34.0, -117.0).to_local([34.001, 34.0], [-117.0, -116.999]).T
    assert y[0] > 100.0
    assert abs(x[0]) < 1e-9
    assert x[1] > 80.0
    assert abs(y[1]) < 1e-2


def test_a_metric_plane_changes_nothing() -> None:
    plane = LocalPlane(metric=True)
    points = np.array([[3.0, -4.0], [1e6, 2.0]])
    assert np.array_equal(plane.to_local(*points.T), points)
    assert np.array_equal(np.stack(plane.to_geodetic(points), -1), points)


def test_shapes_broadcast() -> None:
    plane = LocalPlane(10.0, 20.0)
    assert plane.to_local(10.0, 20.0).shape == (2,)
    assert plane.to_local(np.full((3, 1), 10.0), np.full(4, 20.0)).shape == (3, 4, 2)
    assert plane.to_geodetic(np.zeros((3, 4, 2)))[0].shape == (3, 4)


def test_a_point_beyond_the_earth_has_no_latitude() -> None:
    assert np.isnan(LocalPlane(10.0, 20.0).to_geodetic([7e6, 0.0])[0])
