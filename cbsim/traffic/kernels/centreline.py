"""Points of centrelines of lanelets, beside them, and feet of perpendiculars to them."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined
from cbsim.world.traffic.tables import DENSITY, LAST_PIECE, LENGTH, PIECE

__all__ = ["beside_lanelet", "foot_on", "on_lanelet", "piece_at"]

FOOT = 6  # steps to the foot of a perpendicular


@inlined
def piece_at(road, lanelet, station):
    """Row of the piece at a station of a lanelet, and the share of it that lies before."""
    scaled, first = station * road.lanelets[lanelet, DENSITY], road.links[lanelet, PIECE]
    number = min(max(int(scaled), 0), road.links[lanelet, LAST_PIECE] - first)  # NaN becomes the least integer
    return first + number, scaled - number


@inlined
def on_lanelet(road, lanelet, station):
    """Point of the centreline at a station [m]; beyond its end the last piece continues."""
    k, u = piece_at(road, lanelet, station)
    piece = road.pieces[k]
    # a parabola: a + u (b + u c), with the columns of a, b and c in turn
    return piece[0] + u * (piece[2] + u * piece[4]), piece[1] + u * (piece[3] + u * piece[5])


@inlined
def beside_lanelet(road, lanelet, station, offset):
    """Point at an offset to the left of the centreline at a station [m]."""
    k, u = piece_at(road, lanelet, station)
    piece = road.pieces[k]
    x, y = piece[0] + u * (piece[2] + u * piece[4]), piece[1] + u * (piece[3] + u * piece[5])
    tx, ty = piece[2] + 2.0 * u * piece[4], piece[3] + 2.0 * u * piece[5]
    scale = offset / max(math.sqrt(tx * tx + ty * ty), 1e-9)
    return x - scale * ty, y + scale * tx


@inlined
def foot_on(road, lanelet, station, x, y):
    """Station of the point of a centreline that is nearest to a place, from a guess; and the offset of the place [m].

    Lengths along the tangent are added to the station till they vanish, which they soon do on roads.
    """
    offset, length = 0.0, road.lanelets[lanelet, LENGTH]
    for _ in range(FOOT):
        k, u = piece_at(road, lanelet, station)
        piece = road.pieces[k]
        dx = x - piece[0] - u * (piece[2] + u * piece[4])
        dy = y - piece[1] - u * (piece[3] + u * piece[5])
        tx, ty = piece[2] + 2.0 * u * piece[4], piece[3] + 2.0 * u * piece[5]
        size = max(math.sqrt(tx * tx + ty * ty), 1e-9)
        # along the tangent to the foot, and across it to the place
        more, offset = (dx * tx + dy * ty) / size, (tx * dy - ty * dx) / size
        station = min(max(station + more, 0.0), length)
    return station, offset
