"""Options of the solver."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.dynamics.kernels import columns as c
from cbsim.errors import ModelError

__all__ = ["DEFAULTS", "SolverOptions", "chosen_options"]

MOST = 2.0**53  # largest count
PATIENCE = 4  # times `max_iter` for each relaxed problem: piles that jam need them


@dataclass(frozen=True)
class SolverOptions:
    """Options and tolerances of the primal-dual interior-point solver.

    Attributes
    ----------
    rtol : float
        Largest residual of equations: impulses [N s, N m s], gaps of loops and contacts [m].
    btol : float
        Largest product of slack and impulse [N s m and the like]; its distance from ``kappa`` if that is given.
    ls_scale : float
        Factor of the step length in the line search.
    max_iter, max_ls : int
        Largest number of iterations of a step, and of halvings of a line search.
    undercut : float
        The solver aims at ``btol / undercut``: inf at zero, 1 to 3 at soft contacts.
    no_progress_max : int
        Iterations without progress before `undercut` is increased.
    no_progress_undercut : float
        By this factor.
    verbose : bool
        Print the progress of every solve.
    kappa : float or None
        Solve the relaxed problem: gap × impulse = kappa at every contact, to `rtol`.
    order : int
        2, or 4: five steps in one, the third backwards (Suzuki), for smooth motion. The velocities of a state are then
        those of the last of the five, as `minimal_to_maximal` with the same options makes them.
    warm_start : bool
        Start steps of a run from the impulses of the step before. A single `step` never does, so it is pure.
    screen : bool
        Omit contacts that cannot touch in this step; they are checked after it.
    max_depenetration_speed : float
        Largest speed at which contacts separate bodies that overlap at the beginning of a step [m/s]; inf separates
        them in one step.
    nodal_start : bool
        The first velocities of a run are those at the first node itself, not of the half step before:
        `minimal_to_maximal` with the same options makes such a state.
    """

    rtol: float = 1e-6
    btol: float = 1e-4
    ls_scale: float = 0.5
    max_iter: int = 50
    max_ls: int = 10
    undercut: float = np.inf
    no_progress_max: int = 3
    no_progress_undercut: float = 10.0
    verbose: bool = False
    kappa: float | None = None
    order: int = 2
    warm_start: bool = True
    screen: bool = True
    nodal_start: bool = False
    max_depenetration_speed: float = 3.0

    def __post_init__(self) -> None:
        for name in ("rtol", "btol", "undercut", "no_progress_undercut", "max_depenetration_speed"):
            self._check(name, _real(getattr(self, name)) > 0.0, "more than 0")
        for name in ("max_iter", "max_ls", "no_progress_max"):
            given = _real(getattr(self, name))
            self._check(name, given >= 0.0 and given.is_integer() and given < MOST, "a whole number")
        self._check("ls_scale", 0.0 < _real(self.ls_scale) < 1.0, "between 0 and 1")
        self._check("order", _real(self.order) in {2.0, 4.0}, "2 or 4")
        self._check("kappa", self.kappa is None or 0.0 <= _real(self.kappa) < np.inf, "at least 0, or None")

    def _check(self, name: str, is_right: bool, expected: str) -> None:
        if not is_right:
            raise ModelError(f"{name} is {getattr(self, name)!r}, expected {expected}", subject="SolverOptions")

    def encode(self, timestep: float, gravity: Floats, scaling: float | None, goes_on: bool) -> tuple[Floats, Ints]:
        """Encode the options for kernels, with other constants of all steps."""
        settings = np.zeros(c.SETTINGS)
        settings[c.STEP_LENGTH] = timestep
        settings[c.GRAVITY : c.GRAVITY + 3] = gravity
        settings[c.SCALING] = 0.0 if scaling is None else scaling
        settings[[c.RTOL, c.BTOL, c.LS_SCALE]] = self.rtol, self.btol, self.ls_scale
        settings[c.UNDERCUT], settings[c.NO_PROGRESS_UNDERCUT] = self.undercut, self.no_progress_undercut
        settings[c.KAPPA] = -1.0 if self.kappa is None else self.kappa
        settings[c.PARTING] = self.max_depenetration_speed
        counts = np.zeros(c.COUNTS, np.int64)
        begun = c.NODAL if self.nodal_start else c.WARMED if self.warm_start else c.COLD
        settings[c.WARM] = begun if not goes_on else c.CONTINUED if self.warm_start else c.COLD
        counts[[c.MAX_ITER, c.MAX_LS, c.NO_PROGRESS_MAX]] = self.max_iter, self.max_ls, self.no_progress_max
        counts[[c.SCREEN, c.ORDER, c.MAX_RELAXED_ITER]] = self.screen, self.order, min(PATIENCE * self.max_iter, MOST)
        return settings, counts


def _real(value: object) -> float:
    """Return a number unchanged, NaN for anything else."""
    try:
        return float(value) if isinstance(value, Real) else np.nan
    except OverflowError:
        return np.nan


DEFAULTS = SolverOptions()


def chosen_options(options: object) -> SolverOptions:
    """Return options, the default ones for None.

    Raises
    ------
    ModelError
        If they have another type.
    """
    if options is None:
        return DEFAULTS
    if not isinstance(options, SolverOptions):
        raise ModelError(f"options are {options!r}, expected SolverOptions", subject="mechanism")
    return options
