"""Points of centrelines of lanelets, beside them, and feet of perpendiculars to them."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined
from cbsim.world.traffic.tables import DENSITY, LAST_PIECE, LENGTH, PIECE

__all__ = ["beside_lanelet", "foot_on", "on_lanelet", "piece_at"]

PIECE_X, PIECE_Y, SLOPE_X, SLOPE_Y, BEND_X, BEND_Y = range(6)  # of a piece, the parabola P + u (S + u B)
FOOT = 6  # steps to the foot of a perpendicular
FARTHER = 1.0 + 1e-9  # of squares of distances, so that rounding counts for nothing


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
    x, y = piece[SLOPE_X] + u * piece[BEND_X], piece[SLOPE_Y] + u * piece[BEND_Y]
    return piece[PIECE_X] + u * x, piece[PIECE_Y] + u * y


@inlined
def beside_lanelet(road, lanelet, station, offset):
    """Point at an offset to the left of the centreline at a station [m]."""
    k, u = piece_at(road, lanelet, station)
    piece = road.pieces[k]
    x = piece[PIECE_X] + u * (piece[SLOPE_X] + u * piece[BEND_X])
    y = piece[PIECE_Y] + u * (piece[SLOPE_Y] + u * piece[BEND_Y])
    tx, ty = piece[SLOPE_X] + 2.0 * u * piece[BEND_X], piece[SLOPE_Y] + 2.0 * u * piece[BEND_Y]
    scale = offset / max(math.sqrt(tx * tx + ty * ty), 1e-9)
    return x - scale * ty, y + scale * tx


@inlined
def foot_on(road, lanelet, station, x, y):
    """Station of the point of a centreline that is nearest to a place, from a guess; and the offset of the place [m].

    Lengths along the tangent are added to the station till they vanish, which they soon do on roads. Outside a bend, at
    more than its radius from it, that leads back and forth: a step that leads no nearer is halved.
    """
    offset, length, nearest, kept, step = 0.0, road.lanelets[lanelet, LENGTH], math.inf, station, 0.0
    for _ in range(FOOT):
        k, u = piece_at(road, lanelet, station)
        piece = road.pieces[k]
        dx = x - piece[PIECE_X] - u * (piece[SLOPE_X] + u * piece[BEND_X])
        dy = y - piece[PIECE_Y] - u * (piece[SLOPE_Y] + u * piece[BEND_Y])
        away = dx * dx + dy * dy
        if away > nearest * FARTHER:
            step *= 0.5
        else:
            tx, ty = piece[SLOPE_X] + 2.0 * u * piece[BEND_X], piece[SLOPE_Y] + 2.0 * u * piece[BEND_Y]
            size = max(math.sqrt(tx * tx + ty * ty), 1e-9)
            # along the tangent to the foot, and across it to the place
            step, offset, nearest, kept = (dx * tx + dy * ty) / size, (tx * dy - ty * dx) / size, away, station
        station = min(max(kept + step, 0.0), length)
    return station, offset
