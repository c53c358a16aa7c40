"""Derivatives of contacts between colliders by their parameters, by finite differences of mechanisms.

A collider's radius moves a point of contact, its friction the friction of the pair; how is asked of detection itself,
in two mechanisms that differ in the one number, on the state at hand. A contact that has the same colliders and stands
nearby is the same one.
"""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.workspaces import Found
from cbsim.errors import ModelError
from cbsim.multibody.mechanism import Mechanism
from cbsim.multibody.parameters import Parameter, with_parameters
from cbsim.spec.mechanism.bodies import Body
from cbsim.spec.mechanism.colliders import Collider

__all__ = ["Neighbours", "neighbours", "slopes_of_contacts"]

Neighbours = dict[int, tuple[Mechanism, Mechanism, float]]
"""Column of a parameter → mechanisms with less and with more of it, and by how much they differ."""
STEP = 1e-5  # of a size, or of a coefficient, by which they are less or more
SAME = 0.01  # [m] a contact that is farther off is another one


def neighbours(mechanism: Mechanism, parameters: tuple[Parameter, ...]) -> Neighbours:
    """Build perturbed mechanisms, for derivatives of contacts by parameters of colliders.

    Raises
    ------
    ModelError
        If a friction is 0, which has no neighbour below.
    """
    found: Neighbours = {}
    column = 0
    for p in parameters:
        part = mechanism.by_name[p.part]
        moves = p.quantity == "center_of_mass" and any(k.owner is part for k in mechanism.colliders)
        for k in range(len(p.values)):
            if isinstance(part, Collider) or (isinstance(part, Body) and moves):
                by = _step(part, p, k)
                values = np.array(p.values) + np.outer((-by, by), np.eye(len(p.values))[k])
                less, more = (with_parameters(mechanism, {(p.part, p.quantity): v}) for v in values)
                found[column] = less, more, 2.0 * by
            column += 1
    return found


def _step(part: Body | Collider, p: Parameter, k: int) -> float:
    """By how much a number of a parameter is changed."""
    if p.quantity.startswith("friction"):
        if p.values[k] == 0.0:
            raise ModelError(f"{p.quantity} is 0: a geometric mean has no slope there", subject=f"'{part.name}'")
        return 1e-3 * p.values[k]
    return STEP * (abs(p.values[k]) if p.quantity in (*_lengths(part), "scale") else 1.0)


def _lengths(part: Body | Collider) -> tuple[str, ...]:
    return part.shape.LENGTHS if isinstance(part, Collider) else ()


def slopes_of_contacts(beside: Neighbours, found: Found, z: Floats, settings: Floats) -> dict[int, Floats]:
    """Differentiate the contacts of a step by finite differences.

    Parameters
    ----------
    beside : Neighbours
    found : Found
        The contacts of the step from state ``z``.

    Returns
    -------
    dict
        Column of a parameter → slopes (contacts, CONTACT_COLUMNS).
    """
    out = {}
    for column, (less, more, by) in beside.items():
        slopes = np.zeros(found.model.contact.shape)
        told = [
            _like(found, made.workspaces.find(z, settings, drifts=False, approach_speed=found.approach_speed))
            for made in (less, more)
        ]
        both = ~np.isnan(told[0][:, 0]) & ~np.isnan(told[1][:, 0])
        both[: len(less.contacts)] = False  # those of the description, which tables differentiate
        slopes[both] = (told[1][both] - told[0][both]) / by
        out[column] = slopes
    return out


def _like(found: Found, other: Found) -> Floats:
    """Numbers of the contacts of another step that are those of the one found, NaN where there is none."""
    mine, theirs = _signs(found), _signs(other)
    points = [_points(step.model.contact) for step in (found, other)]
    out = np.full(found.model.contact.shape, np.nan)
    if not len(points[1]):
        return out
    away = np.abs(points[0][:, None] - points[1]).max(axis=2)
    away[(mine[:, None] != theirs).any(axis=2)] = np.inf
    nearest = away.argmin(axis=1)
    near = away[np.arange(len(nearest)), nearest] < SAME
    out[near] = other.model.contact[nearest[near]]
    return out


def _signs(found: Found) -> Ints:
    return np.concatenate([found.key, found.model.contact_link[:, [c.ONE, c.OTHER, c.SHAPE]]], axis=1)


def _points(contact: Floats) -> Floats:
    columns = [*range(c.ORIGIN, c.ORIGIN + 3), *range(c.NORMAL, c.NORMAL + 3), *range(c.PLANE, c.PLANE + 3)]
    return contact[:, columns]
