"""Feasible speed profile along a path."""

from __future__ import annotations

import math

from cbsim.jit import kernel

__all__ = ["plan_speeds"]


@kernel
def plan_speeds(station, halts, push, brake, begin, speed):
    """Reduce speed limits to a feasible profile: zero at each halt, accelerations within bounds.

    Parameters
    ----------
    station : (n,) [m]
    halts : (h,) [m]
        In order.
    push, brake : float
        [m/s²]
    begin : float
        Largest speed in the first row [m/s].
    speed : (n,) [m/s], out
        Speed limits on input.
    """
    last, row = speed.shape[0] - 1, 0
    for h in range(halts.shape[0]):
        while row < last and station[row] < halts[h]:
            row += 1
        speed[row] = 0.0
        # a halt between two rows: the row before it leaves room to brake to the halt itself
        if row > 0:
            speed[row - 1] = min(speed[row - 1], math.sqrt(2.0 * brake * max(0.0, halts[h] - station[row - 1])))
    speed[0] = min(speed[0], begin)
    # backward pass: v² = v₀² + 2 a s limits the speed before slower places; the forward pass limits acceleration
    for k in range(last - 1, -1, -1):
        reached = speed[k + 1] * speed[k + 1] + 2.0 * brake * (station[k + 1] - station[k])
        if speed[k] * speed[k] > reached:
            speed[k] = math.sqrt(reached)
    for k in range(1, last + 1):
        reached = speed[k - 1] * speed[k - 1] + 2.0 * push * (station[k] - station[k - 1])
        if speed[k] * speed[k] > reached:
            speed[k] = math.sqrt(reached)
