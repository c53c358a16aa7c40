"""Contact margin of an island's step: repeats a step whose bodies left the range searched for contacts.

Before a step, the core detects contacts within the distance that bodies cover at their initial speeds. A body that is
hit during the step may go faster, beyond that range. The core repeats the step if the body *ends inside* another
(`cbsim.dynamics.detection.kernels.detect.exceeded_margin`). It checks only the end pose and misses tunnelling: a fast
body may end beyond an obstacle, or behind a surface of triangles, which has no inside. This pass catches that case, and
repeats the step with a larger margin.
"""

from __future__ import annotations

import numpy as np

from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.detection.kernels.detect import NEAR
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.geometry.linear import norm
from cbsim.world.tables import Floats

__all__ = ["ContactMargin"]

CREEP = 1e-9  # [rad/s] spin given to bodies without one: detection enlarges colliders in proportion to it


class ContactMargin:
    """Range within which an island's contacts are detected.

    Parameters
    ----------
    workspace : SolverWorkspaces
        Of the core's steps.
    bodies : int
    table : ndarray, optional
        Table of colliders used in place of the mechanism's, until `restore`.
    """

    def __init__(self, workspace: SolverWorkspaces, bodies: int, table: Floats | None = None) -> None:
        self._workspaces, self._arms = workspace, np.full(bodies, -1.0)
        colliders = workspace.other_colliders
        self._own = None if colliders is None else colliders.collider  # private to this workspace: kernels write to it
        self._plain = self._own if table is None else table
        self.narrow()
        if colliders is not None:
            links = colliders.collider_link[:, d.LINK]
            self._rows = np.flatnonzero(links >= 0)
            self._owners = workspace.compiled.model.link[links[self._rows], c.BODY]
            own = colliders.collider[self._rows]
            arms = norm(own[:, d.AT : d.AT + 3], axis=1) + own[:, d.BOUND]
            np.maximum.at(self._arms, self._owners, arms)
        self._solid = self._arms >= 0.0

    def exceeding_speed(self, was: Floats, z: Floats, step: float, farther: float) -> float:
        """Return the largest speed [m/s] if a body exceeded the margin, else 0.

        Parameters
        ----------
        was, z : ndarray, shape (bodies, 13)
            Before and after a step.
        step : float
            Its length [s].
        farther : float
            Speed [m/s] added to those of all bodies for detection.
        """
        before, after = self._speeds(was), self._speeds(z)
        if (step * after <= 0.5 * NEAR + 2.0 * step * (before + farther)).all():
            return 0.0
        return float(after.max())

    def _speeds(self, z: Floats) -> Floats:
        """Upper bound (bodies,) [m/s] of the speed of any point; 0 for bodies without colliders."""
        speeds = norm(z[:, 3:6], axis=1) + self._arms * norm(z[:, 10:], axis=1)
        return np.where(self._solid, speeds, 0.0)

    def widen(self, z: Floats, speed: float) -> None:
        """Detect contacts of the next step as if all bodies were faster by a speed [m/s]."""
        plain = self._plain
        if plain is None:
            return
        z[self._solid & (norm(z[:, 10:], axis=1) < CREEP), 12] = CREEP
        collider = plain.copy()
        collider[self._rows, d.BOUND] += speed / norm(z[self._owners, 10:], axis=1)
        self._use(collider)

    def narrow(self) -> None:
        """Detect contacts with the core's own margin."""
        self._use(self._plain)

    def restore(self) -> None:
        """Restore the workspace's own table of colliders."""
        self._plain = self._own
        self.narrow()

    def _use(self, collider: Floats | None) -> None:
        colliders = self._workspaces.other_colliders
        if colliders is not None and collider is not None:
            self._workspaces.other_colliders = colliders._replace(collider=collider)
