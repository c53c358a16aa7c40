"""`Outlook`: sees to it that a step of a gathering has looked for contacts as far as its bodies then go.

The core detects contacts before a step, as far as bodies move at their initial speeds. A body that is hit during the
step moves faster than that, and was not tested against what lies in its new path. If it ends inside an obstacle, the
core repeats the step (`cbsim.dynamics.detection.kernels.detect.exceeded_margin`). The core checks only the end pose and
misses tunnelling: a body that moves farther in a step than the thickness of both bodies ends beyond the obstacle, and
a surface of triangles has no inside. This pass catches that case and repeats the step with a larger margin.
"""

from __future__ import annotations

import numpy as np

from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.detection.kernels.detect import NEAR
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.geometry.linear import norm
from cbsim.world.tables import Floats

__all__ = ["Outlook"]

CREEP = 1e-9  # [rad/s] at which what does not turn is let turn: by its spin a collider is taken to be larger


class Outlook:
    """How far contacts of a gathering are looked for.

    Parameters
    ----------
    workspaces : SolverWorkspaces
        Where steps are made.
    bodies : int
    table : ndarray, optional
        Table in place of the mechanism's, until `restore`.
    """

    def __init__(self, workspaces: SolverWorkspaces, bodies: int, table: Floats | None = None) -> None:
        self._rooms, self._arms = workspaces, np.full(bodies, -1.0)
        colliders = workspaces.other_colliders
        self._own = None if colliders is None else colliders.collider  # of these rooms alone: kernels write to it
        self._plain = self._own if table is None else table
        self.narrow()
        if colliders is not None:
            links = colliders.collider_link[:, d.LINK]
            self._rows = np.flatnonzero(links >= 0)
            self._owners = workspaces.compiled.model.link[links[self._rows], c.BODY]
            own = colliders.collider[self._rows]
            arms = norm(own[:, d.AT : d.AT + 3], axis=1) + own[:, d.BOUND]
            np.maximum.at(self._arms, self._owners, arms)
        self._solid = self._arms >= 0.0

    def short_of(self, was: Floats, z: Floats, step: float, farther: float) -> float:
        """Give the largest speed [m/s] of a body that went on from where contacts were looked for; 0 for none.

        Parameters
        ----------
        was, z : ndarray, shape (bodies, 13)
            Before and after a step.
        step : float
            Its length [s].
        farther : float
            Speed [m/s] by which all were taken to be faster than they were.
        """
        before, after = self._speeds(was), self._speeds(z)
        if (step * after <= 0.5 * NEAR + 2.0 * step * (before + farther)).all():
            return 0.0
        return float(after.max())

    def _speeds(self, z: Floats) -> Floats:
        """Speeds (bodies,) [m/s] of the fastest points at most; 0 of what meets nothing."""
        speeds = norm(z[:, 3:6], axis=1) + self._arms * norm(z[:, 10:], axis=1)
        return np.where(self._solid, speeds, 0.0)

    def widen(self, z: Floats, speed: float) -> None:
        """Let the next step look as far as if all were faster by a speed [m/s]; states (bodies, 13) have to turn."""
        plain = self._plain
        if plain is None:
            return
        z[self._solid & (norm(z[:, 10:], axis=1) < CREEP), 12] = CREEP
        collider = plain.copy()
        collider[self._rows, d.BOUND] += speed / norm(z[self._owners, 10:], axis=1)
        self._use(collider)

    def narrow(self) -> None:
        """Let steps look as far as they do by themselves."""
        self._use(self._plain)

    def restore(self) -> None:
        """Leave the rooms as they were found."""
        self._plain = self._own
        self.narrow()

    def _use(self, collider: Floats | None) -> None:
        colliders = self._rooms.other_colliders
        if colliders is not None and collider is not None:
            self._rooms.other_colliders = colliders._replace(collider=collider)
