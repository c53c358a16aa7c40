"""Compilation of the rigid-body core in advance, through its public functions."""

from __future__ import annotations

from cbsim.multibody.batch import minimal_gradients_batch, step_batch
from cbsim.multibody.coordinates import get_maximal_state, get_minimal_state
from cbsim.multibody.gallery import block, pendulum
from cbsim.multibody.gradients import (
    get_maximal_gradients,
    get_minimal_gradients,
    maximal_to_minimal_jacobian,
    minimal_to_maximal_jacobian,
    rollout_gradients,
)
from cbsim.multibody.mechanism import Mechanism
from cbsim.multibody.parameter_gradients import get_parameter_gradients
from cbsim.multibody.stepping import get_next_state, mehrotra, rollout, simulate, step, step_minimal_coordinates
from cbsim.multibody.system_matrix import full_matrix
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.colliders import Collider, ground
from cbsim.spec.mechanism.prototypes import Floating
from cbsim.spec.mechanism.shapes import Sphere

__all__ = ["every_mechanism"]


def every_mechanism() -> None:
    """Step mechanisms without contacts, with them and with colliders, then differentiate each.

    Steps come first: models in traffic need them, and may be waiting.
    """
    free, touching, solid = pendulum(), block(), _ball()
    for mechanism in (free, touching):
        _steps(mechanism)
    rollout(solid, get_maximal_state(solid), 1)
    for mechanism in (free, touching):
        _slopes(mechanism)
    get_maximal_gradients(solid, get_maximal_state(solid))


def _ball() -> Mechanism:
    """Make a mechanism with colliders."""
    origin, ball = Origin(), Sphere(0.1, mass=1.0).body()
    return Mechanism(origin, [ball], [Floating(origin, ball)], colliders=[ground(origin), Collider(ball, Sphere(0.1))])


def _steps(mechanism: Mechanism) -> None:
    z, x = get_maximal_state(mechanism), get_minimal_state(mechanism)
    step(mechanism, z)
    step_minimal_coordinates(mechanism, x)
    rollout(mechanism, z, 2)
    simulate(mechanism, 2)
    mehrotra(mechanism)
    full_matrix(mechanism)
    get_next_state(mechanism)


def _slopes(mechanism: Mechanism) -> None:
    z, x = get_maximal_state(mechanism), get_minimal_state(mechanism)
    get_maximal_gradients(mechanism, z)
    get_minimal_gradients(mechanism, x)
    rollout_gradients(mechanism, z, 2)
    get_parameter_gradients(mechanism, z)
    maximal_to_minimal_jacobian(mechanism, z)
    minimal_to_maximal_jacobian(mechanism, x)
    step_batch(mechanism, [z, z])
    minimal_gradients_batch(mechanism, [x, x])
