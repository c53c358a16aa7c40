"""What tests of mechanisms share: all joints, axes, options that leave nothing but rounding, ways to look at states."""

from __future__ import annotations

import numpy as np

from cbsim.multibody import SolverOptions, maximal_to_minimal
from cbsim.spec.mechanism.joints import PROTOTYPES

KINDS = tuple(PROTOTYPES)
EXACT = SolverOptions(rtol=1e-13, btol=1e-12)
X, Y, Z = np.eye(3)


def angles_of(mechanism, states):
    """Coordinates of chains of joints with one freedom along a trajectory."""
    return np.array([maximal_to_minimal(mechanism, z)[::2] for z in states])
