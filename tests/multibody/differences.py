"""Central differences of the step itself, what gradients are held against.

A maximal state has 12 coordinates per body here: x, v, half a rotation vector in the body's frame, w.
"""

from __future__ import annotations

import numpy as np

from cbsim.geometry.pose import multiply
from cbsim.multibody import (
    SolverOptions,
    get_maximal_gradients,
    get_minimal_gradients,
    get_parameter_gradients,
    maximal_to_minimal,
    minimal_to_maximal,
    parameters_of,
    step,
    step_minimal_coordinates,
    with_parameters,
)


def rotation(v):
    """Quaternion of a rotation vector."""
    angle = np.linalg.norm(v)
    return np.r_[np.cos(0.5 * angle), 0.5 * np.sinc(0.5 * angle / np.pi) * np.asarray(v)]


def moved(z, k, e):
    """Maximal state (bodies, 13) moved along coordinate k of 12 per body."""
    z, b, k = z.copy(), k // 12, k % 12
    if 6 <= k < 9:
        v = np.zeros(3)
        v[k - 6] = 2.0 * e
        z[b, 6:10] = multiply(z[b, 6:10], rotation(v))
    else:
        z[b, k + (k > 8)] += e
    return z


def gap(z, base):
    """Difference of maximal states in 12 coordinates per body."""
    z, base = z.reshape(-1, 13), base.reshape(-1, 13)
    turn = multiply(base[:, 6:10] * (1.0, -1.0, -1.0, -1.0), z[:, 6:10])
    return np.c_[z[:, :6] - base[:, :6], turn[:, 1:] * np.sign(turn[:, :1]), z[:, 10:] - base[:, 10:]].ravel()


def slope(f, n, e):
    """Central differences of f, a function of n numbers, with the next term of the series taken off."""

    def once(e):
        return np.array([(f(d) - f(-d)) / (2.0 * e) for d in e * np.eye(n)]).reshape(n, -1).T

    return (4.0 * once(e) - once(2.0 * e)) / 3.0


def check(mechanism, x, u, kappa=None, e=2e-5, tolerance=1e-6):
    """Compare all four matrices with differences of the step."""
    options = SolverOptions(rtol=1e-12, kappa=kappa)
    z = minimal_to_maximal(mechanism, x)
    np.testing.assert_allclose(maximal_to_minimal(mechanism, z), x, atol=1e-12)
    rows = z.reshape(-1, 13)
    after = step(mechanism, z, u, options=options)

    def by_bodies(d):
        for k in np.flatnonzero(d):
            return gap(step(mechanism, moved(rows, k, d[k]).ravel(), u, options=options), after)
        return None

    pairs = [
        (
            get_maximal_gradients(mechanism, z, u, options=options),
            slope(by_bodies, 12 * len(rows), e),
            slope(lambda d: gap(step(mechanism, z, u + d, options=options), after), len(u), e),
        ),
        (
            get_minimal_gradients(mechanism, x, u, options=options),
            slope(lambda d: step_minimal_coordinates(mechanism, x + d, u, options=options), len(x), e),
            slope(lambda d: step_minimal_coordinates(mechanism, x, u + d, options=options), len(u), e),
        ),
    ]
    for (by_state, by_input), state, given in pairs:
        np.testing.assert_allclose(by_state, state, rtol=0.0, atol=tolerance * max(1.0, np.abs(state).max()))
        np.testing.assert_allclose(by_input, given, rtol=0.0, atol=tolerance * max(1.0, np.abs(given).max()))


def check_parameters(mechanism, z, u, kappa=None, e=1e-3, only=None, tolerance=1e-6):
    """Compare gradients by parameters, in both kinds of coordinates, with differences of the steps of other mechanisms.

    A step is known to 1e-12 or so, which differences divide by their own step; so much is allowed in any column. A
    quantity that cannot be negative and is 0 has one-sided differences of third order.
    """
    options = SolverOptions(rtol=1e-12, kappa=kappa)
    x, after = maximal_to_minimal(mechanism, z), step(mechanism, z, u, options=options)
    chosen = [p for p in parameters_of(mechanism) if only is None or only(p)]
    one, other = (
        get_parameter_gradients(mechanism, z, u, chosen, minimal=minimal, options=options) for minimal in (False, True)
    )
    column = 0
    for p in chosen:
        values = np.array(p.values)
        size = e * max(0.1, np.abs(values).max())
        if p.quantity == "inertia":  # what is left of the triangle's inequality
            low, middle, high = np.linalg.eigvalsh(values[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]])
            size = min(e * high, 0.2 * (low + middle - high))
        for k in range(len(values)):

            def at(d, p=p, values=values, k=k):
                made = with_parameters(mechanism, {(p.part, p.quantity): values + d * np.eye(len(values))[k]})
                lifted = minimal_to_maximal(made, x)
                by_joints = maximal_to_minimal(made, step(made, lifted, u, options=options))
                return gap(step(made, z, u, options=options), after), by_joints

            for slopes, which in ((one, 0), (other, 1)):
                if values[k] == 0.0 and p.quantity in {"spring", "damper", "max_force", "contact_radius"}:
                    f = [at(n * size)[which] for n in range(4)]
                    expected = (-11.0 * f[0] + 18.0 * f[1] - 9.0 * f[2] + 2.0 * f[3]) / (6.0 * size)
                else:
                    f = [at(n * size)[which] for n in (-2, -1, 1, 2)]
                    expected = (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * size)
                allowed = tolerance * np.abs(expected).max() + 3e-12 / size
                np.testing.assert_allclose(
                    slopes[:, column], expected, rtol=0.0, atol=allowed, err_msg=f"{p.part} {p.quantity} {k} {which}"
                )
            column += 1
    assert one.shape[1] == other.shape[1] == column
