"""Rules about coordinates as written: places on earth, units, signs, swapped columns (301 to 303)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cbsim.arrays import Floats
from cbsim.lint.network.context import NetworkContext
from cbsim.lint.rule import Finding, Rule
from cbsim.road.address import point_sets
from cbsim.road.roadmap import METRIC_LIMIT, usable
from cbsim.spec.road import PointId

__all__ = ["RULES"]

EXTENT = 1.0  # [deg] of a network that one drives in a day
SOUTH, NORTH, EAST, WEST = 24.0, 50.0, 66.0, 125.0  # [deg] of the United States without Alaska, west taken positive


def _columns(context: NetworkContext) -> tuple[list[PointId], Floats, Floats]:
    sets = list(point_sets(context.network))
    ids = [PointId(*key, number) for key, points, _ in sets for number in points.numbers]
    latitude = np.concatenate([np.empty(0), *(points.latitude for _, points, _ in sets)])
    return ids, latitude, np.concatenate([np.empty(0), *(points.longitude for _, points, _ in sets)])


def _range(context: NetworkContext) -> Iterator[Finding]:
    """E301: a latitude or longitude out of range."""
    ids, latitude, longitude = _columns(context)
    metric = context.network.metric
    wanted = f"within {METRIC_LIMIT / 1000:.0f} km" if metric else "latitude within ±90 and longitude within ±180"
    for row in np.flatnonzero(~usable(latitude, longitude, metric)):
        message = f"'{ids[row]}' at '{latitude[row]:g} {longitude[row]:g}' is out of range"
        yield Finding(message, context.at(ids[row]), f"expected {wanted}")


def _extent(context: NetworkContext) -> Iterator[Finding]:
    """W302: the network spans more than a degree, or is metric altogether."""
    ids, latitude, longitude = _columns(context)
    sound = usable(latitude, longitude, context.network.metric)
    if not sound.any():
        return
    if context.network.metric:
        row = int(np.argmax(sound))
        message = "the coordinates are not degrees: they are taken as metres east and north"
        yield Finding(message, context.at(ids[row]))
        return
    for name, column in (("latitude", latitude), ("longitude", longitude)):
        extent = float(np.ptp(column[sound]))
        if extent > EXTENT:
            away = np.where(sound, np.abs(column - np.median(column[sound])), -1.0)
            row = int(np.argmax(away))
            message = f"the network spans {extent:.3g}° of {name}; '{ids[row]}' lies farthest out"
            yield Finding(message, context.at(ids[row]), "a slip of one digit, or metres?")


def _sign(context: NetworkContext) -> Iterator[Finding]:
    """W303: a sign is lost, or the columns are swapped; only on evidence, for roads run in every part of the world."""
    ids, latitude, longitude = _columns(context)
    finite = np.isfinite(latitude) & np.isfinite(longitude)
    if context.network.metric or not finite.any():
        return
    middle, across = float(np.median(latitude[finite])), float(np.median(longitude[finite]))
    first = context.at(ids[int(np.argmax(finite))])
    if _swapped(middle, across):
        yield Finding("latitude and longitude seem to be swapped", first, "expected latitude first")
        return
    if SOUTH <= middle <= NORTH and EAST <= across <= WEST and (longitude[finite] > 0.0).all():
        yield Finding(
            "every longitude is east of Greenwich", first, "in the United States west is negative; in Asia all is well"
        )
    for name, column, centre in (("latitude", latitude, middle), ("longitude", longitude, across)):
        mirrored = finite & (np.abs(column + centre) < EXTENT) & (np.abs(column - centre) > EXTENT)
        for row in np.flatnonzero(mirrored):
            yield Finding(f"the {name} of '{ids[row]}' has the other sign than the rest", context.at(ids[row]))


def _swapped(latitude: float, longitude: float) -> bool:
    """Return whether columns make sense only the other way round.

    Either no latitude is that large, or the place is in the Antarctic and its mirror image in the United States. Mere
    likeness is not enough: Murmansk lies at 69° 33°.
    """
    impossible = 90.0 < abs(latitude) <= 180.0 and abs(longitude) <= 90.0
    return impossible or (-WEST <= latitude <= -EAST and SOUTH <= longitude <= NORTH)


RULES: tuple[Rule[NetworkContext], ...] = (
    Rule("E301", _range),
    Rule("W302", _extent),
    Rule("W303", _sign),
)
