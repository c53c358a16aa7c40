"""Points of B-splines against Cox and de Boor's recursion, written down as it stands in textbooks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.formats.irit.freeform import HIGHEST
from cbsim.formats.irit.splines import directions, evaluate, grid, spans
from cbsim.spec.irit.objects import Freeform, Knots


def basis(knots, order, i, at, high):
    """Value of basis function i; of the spans between knots, the last one of the domain is closed."""
    if order == 1:
        return float(knots[i] < high == knots[i + 1] if at == high else knots[i] <= at < knots[i + 1])
    value = 0.0
    if knots[i + order - 1] > knots[i]:
        value += (at - knots[i]) / (knots[i + order - 1] - knots[i]) * basis(knots, order - 1, i, at, high)
    if knots[i + order] > knots[i + 1]:
        value += (knots[i + order] - at) / (knots[i + order] - knots[i + 1]) * basis(knots, order - 1, i + 1, at, high)
    return value


def weights(length, order, knots, periodic, at):
    """Weights (m, length) of the control points at parameters (m,)."""
    out = np.zeros((len(at), length))
    for i in range(len(knots) - order):
        out[:, i % length] += [basis(knots, order, i, value, knots[len(knots) - order]) for value in at]
    assert periodic or len(knots) == length + order
    return out


def points_of(lengths, size=3):
    return np.random.default_rng(sum(lengths)).normal(size=(int(np.prod(lengths)), size))


def freeform(kind, lengths, orders, knots, points):
    rows = tuple(map(tuple, points.tolist()))
    return Freeform(kind, "BSPLINE", tuple(lengths), tuple(orders), f"E{points.shape[1]}", tuple(knots), rows)


@st.composite
def lines(draw):
    """Length, order, knots (many of them equal) and whether they are periodic."""
    order = draw(st.integers(1, 6))
    length, periodic = draw(st.integers(order, order + 5)), draw(st.booleans())
    count = length + (2 * order - 1 if periodic else order)
    values = st.integers(0, 5).map(float) if draw(st.booleans()) else st.floats(-3.0, 3.0).map(lambda v: round(v, 3))
    knots = sorted(draw(st.lists(values, min_size=count, max_size=count)))
    if not knots[order - 1] < knots[count - order]:
        knots = list(range(count))
    return length, order, np.array(knots, float), periodic


@settings(deadline=None)
@given(lines(), st.lists(st.floats(0.0, 1.0), max_size=5))
def test_points_of_a_curve_are_those_of_the_recursion(line, shares):
    length, order, knots, periodic = line
    points = points_of([length])
    curve = freeform("CURVE", [length], [order], [Knots(tuple(knots.tolist()), periodic)], points)
    (direction,) = directions(curve)
    low, high = direction.domain
    # both ends, all knots between them, spans in parts, and any parameters in any order
    at = np.concatenate([spans(direction, 3)[::-1], [low + share * (high - low) for share in shares]]).clip(low, high)
    want = weights(length, order, knots, periodic, at) @ points
    assert evaluate(curve, at) == pytest.approx(want, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(lines(), lines())
def test_points_of_a_surface_are_those_of_the_product_of_both_directions(one, other):
    lengths, orders = [one[0], other[0]], [one[1], other[1]]
    points = points_of(lengths)
    knots = [Knots(tuple(line[2].tolist()), line[3]) for line in (one, other)]
    surface = freeform("SURFACE", lengths, orders, knots, points)
    (us, vs), found = grid(surface, 2)
    table = points.reshape(lengths[1], lengths[0], 3)
    want = np.einsum("vj,ui,jik->vuk", weights(*other, vs), weights(*one, us), table)
    assert found == pytest.approx(want, abs=1e-9)


def test_a_closed_curve_ends_where_it_begins():
    curve = freeform("CURVE", [5], [4], [Knots(tuple(map(float, range(12))), True)], points_of([5]))
    (at,), points = grid(curve, 4)
    assert (at[0], at[-1]) == (3.0, 8.0)
    assert points[0] == pytest.approx(points[-1], abs=1e-12)


def test_a_curve_of_the_highest_order_is_bernsteins():
    points = points_of([HIGHEST])
    curve = Freeform("CURVE", "BEZIER", (HIGHEST,), (HIGHEST,), "E3", (), tuple(map(tuple, points.tolist())))
    at, left = np.linspace(0.0, 1.0, 7), points[None].repeat(7, axis=0)
    while left.shape[1] > 1:  # de Casteljau
        left = (1.0 - at)[:, None, None] * left[:, :-1] + at[:, None, None] * left[:, 1:]
    assert evaluate(curve, at) == pytest.approx(left[:, 0], abs=1e-12)
