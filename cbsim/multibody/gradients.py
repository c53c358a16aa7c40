"""Exact gradients of a step, by the implicit function theorem on its equations, and of state maps.

Derivations are in docs/theory/gradients.md.

A gradient belongs to a solution, so the step's equations are solved to 1e-10 first. At contacts and joint limits they
are those of the relaxed problem, slack · impulse = kappa, with `SolverOptions.kappa`, or `SolverOptions.btol` where
that is None: so they do not depend on how the solver came there, and ``step`` with the same ``kappa`` is the very map
that is differentiated.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats, Ints
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.gradients.maps import map_slopes
from cbsim.dynamics.kernels.gradients.steps import linearize
from cbsim.dynamics.kernels.step import BLOWS
from cbsim.dynamics.model import Slopes, slopes
from cbsim.dynamics.options import SolverOptions, chosen_options
from cbsim.dynamics.workspaces import Found, SolverWorkspaces
from cbsim.errors import ModelError
from cbsim.multibody.coordinates import minimal_to_maximal, rows_of
from cbsim.multibody.failure import check_state, explain
from cbsim.multibody.lookup import minimal_dimension
from cbsim.multibody.mechanism import Mechanism
from cbsim.multibody.stepping import input_rows, one_input
from cbsim.spec.mechanism.values import whole

__all__ = [
    "dimension",
    "get_maximal_gradients",
    "get_minimal_gradients",
    "linearize_step",
    "maximal_to_minimal_jacobian",
    "minimal_to_maximal_jacobian",
    "rollout_gradients",
    "slopes_of",
    "tight_settings",
]

Gradients = tuple[Floats, Floats]


@lru_cache(maxsize=256)
def _tight(options: SolverOptions, touching: bool, rounding: float) -> SolverOptions:
    """Options for gradients: residuals to 1e-10, or as far as rounding lets them, on the relaxed problem."""
    if options.order != 2 or options.nodal_start:
        raise ModelError("gradients are those of a plain step: order 2, without nodal_start", subject="SolverOptions")
    kappa = options.btol if touching and options.kappa is None else options.kappa
    return replace(options, rtol=min(options.rtol, max(1e-10, rounding)), kappa=kappa)


def tight_settings(
    mechanism: Mechanism, options: SolverOptions | None, *, goes_on: bool = False
) -> tuple[Floats, Ints]:
    """Return options as kernels of gradients read them; ``goes_on`` continues from the step solved before."""
    model = mechanism.compiled.model
    _check_kinematic(mechanism)
    # a position is known to 1e-16 of some metres, and its momentum is mass / h times that
    rounding = 4e-14 * float(model.joint[: model.links, c.MASS].sum()) / mechanism.timestep
    chosen = chosen_options(options)
    return mechanism.settings(_tight(chosen, mechanism.touching, rounding), goes_on=goes_on)


def _check_kinematic(mechanism: Mechanism) -> None:
    """Refuse kinematic bodies: the kernels of gradients take every coordinate for an unknown of the step."""
    for body in mechanism.bodies:
        if body.kinematic:
            raise ModelError(
                "is kinematic: gradients are those of bodies that move freely", subject=f"body '{body.name}'"
            )


def dimension(mechanism: Mechanism, minimal: bool) -> int:
    """Count the numbers of a state as gradients have it."""
    return minimal_dimension(mechanism) if minimal else 12 * len(mechanism.bodies)


def slopes_of(mechanism: Mechanism, minimal: bool) -> Slopes:
    """Return the workspace for gradients of a mechanism, cached."""
    if minimal not in mechanism.slopes:
        mechanism.slopes[minimal] = slopes(mechanism.compiled.model, mechanism.compiled.inputs, minimal=minimal)
    return mechanism.slopes[minimal]


def linearize_step(  # noqa: PLR0913, PLR0917 (what the kernel is given)
    mechanism: Mechanism, workspaces: SolverWorkspaces, workspace: Slopes, z: Floats, inputs: Floats,
    settings: tuple[Floats, Ints], minimal: bool, by_state: Floats, by_input: Floats, report: Floats,
) -> Found:  # fmt: skip
    """Advance a state (bodies, 13) in place by one step and differentiate it, whatever it collides with."""
    before, approach_speed = z.copy(), None
    for blows in range(BLOWS + 1):
        found = workspaces.find(z, settings[0], approach_speed=approach_speed)
        linearize(
            found.model, found.work, mechanism.touching, workspace._replace(drift=found.drift, mover=found.mover),
            z[None], inputs[None], mechanism.none, *settings, minimal, False,
            (mechanism.untold, by_state[None], by_input[None], report[None]),
        )  # fmt: skip
        approach_speed = (
            workspaces.exceeded_margin(z, settings[0]) if report[c.STATUS] == c.SOLVED and blows < BLOWS else None
        )
        if approach_speed is None:
            break
        z[:] = before
    return found


def _linearize(
    mechanism: Mechanism, z: ArrayLike, inputs: Floats, steps: int, options: SolverOptions | None, *, minimal: bool
) -> tuple[Floats, Floats, Floats]:
    """Step and differentiate; all states, and the gradients of every step."""
    n = dimension(mechanism, minimal)
    by_state, by_input = np.empty((steps, n, n)), np.empty((steps, n, mechanism.compiled.inputs))
    path = np.empty((steps + 1, *mechanism.pose.shape))
    path[0] = now = rows_of(mechanism, z)
    workspace, done = slopes_of(mechanism, minimal), 0
    if mechanism.colliders:
        check_state(mechanism, now)
        while done < steps:
            settings, row = tight_settings(mechanism, options, goes_on=done > 0), inputs[min(done, len(inputs) - 1)]
            linearize_step(
                mechanism, mechanism.workspaces, workspace, now, row, settings, minimal, by_state[done], by_input[done],
                mechanism.last,
            )  # fmt: skip
            if mechanism.last[c.STATUS] != c.SOLVED:
                break
            done += 1
            path[done] = now
    else:
        settings = tight_settings(mechanism, options)
        linearize(
            mechanism.compiled.model, mechanism.work, mechanism.touching, workspace, now[None],
            inputs, mechanism.none, *settings, minimal, False, (path, by_state, by_input, mechanism.last[None]),
        )  # fmt: skip
        done = int(mechanism.last[c.STEP_REACHED])
    if steps and mechanism.last[c.STATUS] != c.SOLVED:
        raise explain(mechanism, path[done], mechanism.work, mechanism.last, done * mechanism.timestep)
    return path, by_state, by_input


def _inputs(mechanism: Mechanism, u: ArrayLike | None) -> Floats:
    return mechanism.idle if u is None else one_input(mechanism, u)


def get_maximal_gradients(
    mechanism: Mechanism, z: ArrayLike, u: ArrayLike | None = None, *, options: SolverOptions | None = None
) -> Gradients:
    """Differentiate one step by the maximal state before it and by the inputs. Pure, as `step`.

    Parameters
    ----------
    z : array_like, shape (13 · bodies,) or (bodies, 13)
        Where the step begins.
    u : array_like, shape (inputs,), optional
        Inputs; none are zeros.
    options : SolverOptions, optional
        `kappa` is how soft contacts and limits are, `btol` where it is None.

    Returns
    -------
    A : ndarray, shape (12 · bodies, 12 · bodies)
        Per body x(3) [m], v(3) [m/s], phi(3), w(3) [rad/s], of the state after by the state before. phi is half the
        small rotation vector in the body's frame: q turns into q ∘ (1, phi).
    B : ndarray, shape (12 · bodies, inputs)

    Raises
    ------
    ModelError, StepError
        As `step`.
    """
    _, by_state, by_input = _linearize(mechanism, z, _inputs(mechanism, u), 1, options, minimal=False)
    return by_state[0], by_input[0]


def get_minimal_gradients(
    mechanism: Mechanism, x: ArrayLike, u: ArrayLike | None = None, *, options: SolverOptions | None = None
) -> Gradients:
    """Differentiate one step by the minimal state before it and by the inputs; otherwise as `get_maximal_gradients`.

    Parameters
    ----------
    x : array_like, shape (minimal_dimension,)
        Per joint of the tree, from the origin outwards: coordinates [m, rad], then velocities.

    Returns
    -------
    A : ndarray, shape (minimal_dimension, minimal_dimension)
        Of the minimal state after by the one before. A loop is not closed by it: its joints' coordinates count as if
        each could move by itself.
    B : ndarray, shape (minimal_dimension, inputs)
    """
    z = minimal_to_maximal(mechanism, x)
    _, by_state, by_input = _linearize(mechanism, z, _inputs(mechanism, u), 1, options, minimal=True)
    return by_state[0], by_input[0]


def rollout_gradients(
    mechanism: Mechanism,
    z: ArrayLike,
    n: int,
    inputs: ArrayLike | None = None,
    *,
    minimal: bool = True,
    options: SolverOptions | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Advance a maximal state by n steps and differentiate each of them, in one kernel.

    Parameters
    ----------
    z : array_like, shape (13 · bodies,) or (bodies, 13)
        The first state.
    inputs : array_like, shape (inputs,) or (steps, inputs), optional
        One vector for all steps, or one per step; the last one holds to the end.
    minimal : bool
        Gradients in minimal coordinates, else in maximal ones.

    Returns
    -------
    path : ndarray, shape (n + 1, 13 · bodies)
        All states, those that the gradients belong to.
    A : ndarray, shape (n, d, d)
    B : ndarray, shape (n, d, inputs)
    """
    count, rows = whole(n, "rollout_gradients", "n", least=1), input_rows(mechanism, inputs)
    path, by_state, by_input = _linearize(mechanism, z, rows, count, options, minimal=bool(minimal))
    return path.reshape(len(path), -1), by_state, by_input


def _map(mechanism: Mechanism, z: ArrayLike, minimal: bool) -> Floats:
    rows = rows_of(mechanism, z)
    check_state(mechanism, rows)
    n, m = dimension(mechanism, minimal=True), dimension(mechanism, minimal=False)
    out = np.empty((m, n) if minimal else (n, m))
    settings, _ = mechanism.settings()
    map_slopes(
        mechanism.compiled.model, mechanism.work, slopes_of(mechanism, minimal), rows, mechanism.idle[0],
        mechanism.none, settings, minimal, out,
    )  # fmt: skip
    return out


def minimal_to_maximal_jacobian(mechanism: Mechanism, x: ArrayLike) -> Floats:
    """Return the Jacobian (12 · bodies, minimal_dimension) of `minimal_to_maximal`.

    Rows are per body x, v, phi, w, with phi half a rotation vector in the body's frame.
    """
    return _map(mechanism, minimal_to_maximal(mechanism, x), minimal=True)


def maximal_to_minimal_jacobian(mechanism: Mechanism, z: ArrayLike) -> Floats:
    """Return the Jacobian (minimal_dimension, 12 · bodies) of `maximal_to_minimal`.

    On a state whose joints hold, it times `minimal_to_maximal_jacobian` is the identity.
    """
    return _map(mechanism, z, minimal=False)
