"""Impulses between two bounds ± F: how their pairs start, and how they answer.

Such an impulse f has room f + F to its low bound and F − f to its high one, and its measure is a − b with a slack for
each: what drives of joints and boxed friction have in common. Slack and room of both stand side by side.
"""

from __future__ import annotations

import math

from cbsim.jit import inlined

__all__ = ["answer_box", "box_in", "box_out"]


@inlined
def box_out(table, i, slack, room, measure, most, kappa):
    """Start the pairs on the central path where their measure w is: κ / (F + f) − κ / (F − f) = w. Return f.

    ``slack`` and ``room`` are the first of their two columns.
    """
    reach = abs(measure) * most
    root = math.sqrt(kappa * kappa + reach * reach)
    near = most * (kappa + kappa * (kappa / (root + reach))) / (kappa + root)
    k = 0 if measure >= 0.0 else 1  # the bound that it is near
    far = 2.0 * most - near
    table[i, room + k], table[i, room + 1 - k] = near, far
    table[i, slack + k], table[i, slack + 1 - k] = kappa / near, kappa / far
    return near - most if k == 0 else most - near


@inlined
def box_in(table, i, slack, room, force, most, least):
    """Move an impulse of the step before a hundredth of the way from its bounds, slacks to ``least``. Return it."""
    force = min(0.99 * most, max(-0.99 * most, force))
    table[i, room], table[i, room + 1] = most + force, most - force
    table[i, slack], table[i, slack + 1] = max(table[i, slack], least), max(table[i, slack + 1], least)
    return force


@inlined
def answer_box(table, i, slack, room, dslack, droom, low, high, change, least):
    """Solve the linearised pairs, of which (low, high) is missing, for a change of their measure by ``change``.

    Their compliance goes as 1 / F²: it is taken for ``least`` at least, for what is stiffer by many digits than what
    it holds drowns that in rounding. The next iteration takes what is missed by that.
    """
    p, q, a, b = table[i, room], table[i, room + 1], table[i, slack], table[i, slack + 1]
    df = -(change + low / p - high / q) / max(a / p + b / q, least)
    table[i, droom], table[i, droom + 1] = df, -df
    table[i, dslack], table[i, dslack + 1] = -(low + a * df) / p, -(high - b * df) / q
