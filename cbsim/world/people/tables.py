"""`People`: who walks, where they wait, and which lanelets crosswalks lie on."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints

__all__ = ["NO_PEOPLE", "People"]

BEGIN_STATION, END_STATION, BEGIN_X, BEGIN_Y, END_X, END_Y = range(6)  # columns of `places`
AREA_X, AREA_Y, AREA_EAST, AREA_NORTH, HALF_ALONG, HALF_ACROSS = range(6)  # columns of `areas`


class People(NamedTuple):
    """People and crosswalks.

    Attributes
    ----------
    walkers : (people, 2) int64
        Row among the guided bodies; 1 for who crosses at once.
    crossings : (k,) int64
        Row of `walkers`, of who crosses; in the order of people and stations.
    places : (k, 6) [m]
        Stations on the path at which the crosswalk begins and ends; these points.
    areas : (crosswalks, 6) [m], [1], [m]
        Centre; direction across the road; half length and half width.
    spans, span_begins, span_ends : (s, 2) int64, (s,), (s,) [m]
        Lanelet and crosswalk; stations at which the crosswalk begins and ends on the lanelet.
    """

    walkers: Annotated[Ints, (2,)]
    crossings: Ints
    places: Annotated[Floats, (6,)]
    areas: Annotated[Floats, (6,)]
    spans: Annotated[Ints, (2,)]
    span_begins: Floats
    span_ends: Floats


NO_PEOPLE = People(
    np.zeros((0, 2), np.int64), np.zeros(0, np.int64), np.zeros((0, 6)), np.zeros((0, 6)), np.zeros((0, 2), np.int64),
    np.zeros(0), np.zeros(0),
)  # fmt: skip
