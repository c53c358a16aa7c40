"""Contact margin of an island's step: which steps are repeated with contacts detected farther away.

Before a step, the core detects contacts within the distance that bodies cover at their initial speeds. A body that is
hit during the step may go faster, beyond that range. The core repeats the step if the body *ends inside* another
(`cbsim.dynamics.detection.kernels.detect.exceeded_margin`). It checks only the end pose and misses tunnelling: a fast
body may end beyond an obstacle, or behind a surface of triangles, which has no inside. Islands therefore repeat every
step that a body ends faster than its contacts were detected for, with a larger ``margin`` of detection.
"""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.dynamics.compile import Compiled
from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.detection.kernels.detect import NEAR
from cbsim.dynamics.kernels import columns as c
from cbsim.geometry.linear import norm

__all__ = ["arms_of", "exceeding_speed"]


def arms_of(compiled: Compiled, bodies: int) -> Floats:
    """Distance (bodies,) of the farthest point of a body's colliders from its centre of mass; -1 without colliders."""
    arms, colliders = np.full(bodies, -1.0), compiled.colliders
    if colliders is not None:
        links = colliders.collider_link[:, d.LINK]
        rows = np.flatnonzero(links >= 0)
        own = colliders.collider[rows]
        reach = norm(own[:, d.AT : d.AT + 3], axis=1) + own[:, d.BOUND]
        np.maximum.at(arms, compiled.model.link[links[rows], c.BODY], reach)
    return arms


def exceeding_speed(arms: Floats, before: Floats, after: Floats, step: float, margin: float) -> float:
    """Return the largest speed of a body after a step if one got farther than its contacts were detected, else 0.

    Parameters
    ----------
    arms : ndarray, shape (bodies,)
        As `arms_of`.
    before, after : ndarray, shape (bodies, 13)
        States.
    step : float
        Length of the step [s].
    margin : float
        Of detection: how much farther bodies could get than their speeds before the step say.
    """
    slow, fast = _speeds(arms, before), _speeds(arms, after)
    if (step * fast <= 0.5 * NEAR + 2.0 * step * slow + margin).all():
        return 0.0
    return float(fast.max())


def _speeds(arms: Floats, z: Floats) -> Floats:
    """Upper bound (bodies,) of the speed of any point; 0 for bodies without colliders."""
    return np.where(arms >= 0.0, norm(z[:, 3:6], axis=1) + arms * norm(z[:, 10:], axis=1), 0.0)
