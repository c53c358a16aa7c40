"""Points of freeform geometry: tensor products of B-splines, evaluated by SciPy, in rows of control points.

A Bézier direction is a B-spline with all knots at the ends. Control points of a periodic direction repeat.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry.linear import times
from cbsim.spec.irit.objects import Freeform, Knots

__all__ = ["Direction", "boundary", "directions", "evaluate", "grid", "projected", "spans", "triangular"]


class Direction(NamedTuple):
    """One parameter of freeform geometry.

    Attributes
    ----------
    length, order : int
        Number of control points, degree + 1.
    knots : ndarray
        Knots (length + order,), of a periodic direction (length + 2 order − 1,).
    periodic : bool
    """

    length: int
    order: int
    knots: Floats
    periodic: bool

    @property
    def domain(self) -> tuple[float, float]:
        """Least and largest parameter."""
        last = self.length + (self.order - 1 if self.periodic else 0)
        return float(self.knots[self.order - 1]), float(self.knots[last])


def directions(item: Freeform) -> tuple[Direction, ...]:
    """Return the parameters of a curve, a surface …, the fastest first."""
    made = []
    given: Sequence[Knots | None] = item.knots or (None,) * len(item.lengths)
    for length, order, knots in zip(item.lengths, item.orders, given, strict=True):
        values = (0.0,) * order + (1.0,) * order if knots is None else knots.values
        made.append(Direction(length, order, np.array(values), knots is not None and knots.periodic))
    return tuple(made)


def spans(direction: Direction, parts: int) -> Floats:
    """Parameters that divide every span between knots into parts; linear spans (order 2) are not divided."""
    low, high = direction.domain
    inner = direction.knots[(direction.knots > low) & (direction.knots < high)]
    corners = np.unique(np.concatenate([[low], inner, [high]]))
    if direction.order <= 2:
        return corners
    shares = np.arange(parts) / parts
    cut = corners[:-1, None] + np.diff(corners)[:, None] * shares
    return np.append(cut.ravel(), high)


def _combined(direction: Direction, at: Floats, points: Floats) -> Floats:
    """Combine rows of control points (length, n) to points (m, n) at parameters (m,) of one direction."""
    from scipy.interpolate import BSpline

    low, high = direction.domain
    # of a knot at the end that repeats too often, control points without influence are left out, so that the last span
    # has a length, as SciPy expects
    count = int(np.searchsorted(direction.knots, high))
    repeated = points[np.arange(count) % direction.length]
    # SciPy looks for the span of each parameter from that of the one before: in order, that takes linear time
    ordered, place = np.unique(np.clip(at, low, high), return_inverse=True)
    knots, degree = direction.knots[: count + direction.order], direction.order - 1
    matrix = BSpline.design_matrix(ordered, knots, degree)  # type: ignore[no-untyped-call]
    return np.asarray((matrix @ repeated)[place])  # sparse: added in the order of control points, without BLAS


def evaluate(item: Freeform, *parameters: Floats) -> Floats:
    """Points (…, m₂, m₁, 3) of tensor-product geometry at parameters (m₁,), (m₂,) …, the fastest first."""
    lengths = item.lengths
    points = np.array(item.points, float).reshape(*lengths[::-1], -1)
    for k, (direction, at) in enumerate(zip(directions(item), parameters, strict=True)):
        axis = len(lengths) - 1 - k
        moved = np.moveaxis(points, axis, 0)
        found = _combined(direction, at, moved.reshape(len(moved), -1))
        points = np.moveaxis(found.reshape(len(at), *moved.shape[1:]), 0, axis)
    return projected(points, item.space)


def projected(points: Floats, space: str) -> Floats:
    """Positions (…, 3) of control points: divided by the weight, missing coordinates 0, those after z dropped."""
    plain = points[..., 1:] / points[..., :1] if space[0] == "P" else points
    short = max(0, 3 - plain.shape[-1])
    return np.concatenate([plain[..., :3], np.zeros((*plain.shape[:-1], short))], axis=-1)


def grid(item: Freeform, parts: int) -> tuple[tuple[Floats, ...], Floats]:
    """Parameters that cut every span of a curve or surface into parts, and the points there."""
    at = tuple(spans(direction, parts) for direction in directions(item))
    return at, evaluate(item, *at)


def boundary(item: Freeform) -> list[Freeform]:
    """Return the six faces of a trivariate as surfaces."""
    points = np.array(item.points, float).reshape(*item.lengths[::-1], -1)
    faces = []
    for axis in range(3):
        kept = [k for k in range(3) if k != axis]
        for end in (0, -1):
            rows = np.take(points, end, axis=2 - axis).reshape(-1, points.shape[-1])
            chosen = rows.reshape(*(item.lengths[k] for k in reversed(kept)), -1)
            if (end == 0) == (axis == 1):  # so that all faces look the same way, in or out
                chosen = np.ascontiguousarray(chosen[::-1])
            flat = tuple(map(tuple, chosen.reshape(-1, points.shape[-1]).tolist()))
            knots = tuple(item.knots[k] for k in kept) if item.knots else ()
            lengths, orders = tuple(item.lengths[k] for k in kept), tuple(item.orders[k] for k in kept)
            faces.append(Freeform("SURFACE", item.basis, lengths, orders, item.space, knots, flat))
    return faces


def _powers(x: Floats, exponents: NDArray[np.int64]) -> Floats:
    """Power of each number of a column (n, 1) to each exponent (m,)."""
    rows = [np.ones_like(x)]
    for _ in range(int(exponents.max(initial=0))):
        rows.append(rows[-1] * x)
    return np.concatenate(rows, axis=1)[:, exponents]


def triangular(item: Freeform, parts: int) -> Floats:
    """Triangles (n, 3, 3) of a Bézier triangle: rows of n, n − 1 … 1 control points, and Bernstein's basis on them."""
    degree = item.lengths[0] - 1
    places = [(i, j) for j in range(degree + 1) for i in range(degree + 1 - j)]
    corners = [(a, b) for b in range(parts + 1) for a in range(parts + 1 - b)]
    i, j = np.array(places).T
    u, v = np.array(corners).T[:, :, None] / parts
    share = np.array([float(math.comb(degree, m) * math.comb(degree - m, n)) for m, n in places])
    weights = share * _powers(u, i) * _powers(v, j) * _powers(np.maximum(1.0 - u - v, 0.0), degree - i - j)
    found = dict(zip(corners, projected(times(weights, np.array(item.points)), item.space), strict=True))
    triangles = []
    for (a, b), corner in found.items():
        if a + b < parts:
            triangles.append((corner, found[a + 1, b], found[a, b + 1]))
        if a + b < parts - 1:
            triangles.append((found[a + 1, b], found[a + 1, b + 1], found[a, b + 1]))
    return np.array(triangles)
