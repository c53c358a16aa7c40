"""Impulses between two bounds ± F: starting points and responses of their pairs.

Such an impulse f has distances f + F and F − f from its bounds, and its measure is a − b with a slack for each. Drives
of joints and boxed friction share this form. Slacks and distances of both bounds are adjacent columns.
"""

from __future__ import annotations

import math

from cbsim.jit import inlined

__all__ = ["answer_box", "box_in", "box_out"]


@inlined
def box_out(table, i, slack, room, measure, most, kappa):
    """Start the pairs on the central path at their measure w: κ / (F + f) − κ / (F − f) = w. Return f.

    ``slack`` and ``room`` are the first of their two columns.
    """
    # smaller root a of w a² − 2 (κ + w F) a + 2 κ F = 0, w = |measure|, written so that nothing cancels
    reach = abs(measure) * most
    root = math.sqrt(kappa * kappa + reach * reach)
    near = most * (kappa + kappa * (kappa / (root + reach))) / (kappa + root)
    k = 0 if measure >= 0.0 else 1  # the nearer bound
    far = 2.0 * most - near
    table[i, room + k], table[i, room + 1 - k] = near, far
    table[i, slack + k], table[i, slack + 1 - k] = kappa / near, kappa / far
    return near - most if k == 0 else most - near


@inlined
def box_in(table, i, slack, room, force, most, least):
    """Move an impulse of the step before a hundredth of the way off its bounds, slacks to ``least``. Return it."""
    force = min(0.99 * most, max(-0.99 * most, force))
    table[i, room], table[i, room + 1] = most + force, most - force
    table[i, slack], table[i, slack + 1] = max(table[i, slack], least), max(table[i, slack + 1], least)
    return force


@inlined
def answer_box(table, i, slack, room, dslack, droom, low, high, change, least):
    """Solve the linearised pairs, with residuals (low, high), for a change of their measure by ``change``.

    Their compliance scales as 1 / F² and is bounded below by ``least``: stiffer pairs would swamp the system by
    rounding errors. The next iteration corrects the difference.
    """
    p, q, a, b = table[i, room], table[i, room + 1], table[i, slack], table[i, slack + 1]
    # each pair (slack a, distance p) answers with a / p; their sum is the compliance of the impulse between both bounds
    df = -(change + low / p - high / q) / max(a / p + b / q, least)
    table[i, droom], table[i, droom + 1] = df, -df  # the distances are f + F and F − f
    table[i, dslack], table[i, dslack + 1] = -(low + a * df) / p, -(high - b * df) / q
