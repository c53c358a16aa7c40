"""All parameters of a mechanism as one vector, in the order in which gradients by parameters have their columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.multibody.coordinates import get_minimal_state, set_minimal_state
from cbsim.multibody.failure import numbers
from cbsim.multibody.mechanism import Mechanism
from cbsim.multibody.parameters import Choice, changed, chosen

__all__ = ["get_data", "set_data"]


def get_data(mechanism: Mechanism, parameters: Choice | None = None) -> Floats:
    """Return the values of parameters one after another.

    Parameters
    ----------
    parameters : sequence of Parameter or (part, quantity), optional
        Which; all of `parameters_of` without.

    Returns
    -------
    ndarray, shape (numbers,)
        Entry k is what column k of `get_parameter_gradients` with the same parameters differentiates by. A
        ``center_of_mass`` counts from where it is, so it is 0.
    """
    values = [parameter.values for parameter in chosen(mechanism, parameters)]
    return np.array([number for several in values for number in several])


def set_data(mechanism: Mechanism, data: ArrayLike, parameters: Choice | None = None) -> None:
    """Set parameters from their values one after another, in place; the minimal state and the inputs stay.

    `with_parameters` makes another mechanism instead.

    Parameters
    ----------
    data : array_like, shape (numbers,)
        As `get_data` returns it. ``center_of_mass`` says how far it moves.

    Raises
    ------
    ModelError
        If there are not that many numbers, or one cannot be; the mechanism then stays as it was.

    Examples
    --------
    >>> from cbsim.multibody import gallery, get_data, set_data
    >>> pendulum = gallery.pendulum(mass=1.0)
    >>> set_data(pendulum, 2.0 * get_data(pendulum, [("rod", "mass")]), [("rod", "mass")])
    >>> pendulum.bodies[0].mass
    2.0
    """
    found = chosen(mechanism, parameters)
    places = [(parameter.part, parameter.quantity) for parameter in found]
    if len(set(places)) < len(places):
        twice = next(place for place in places if places.count(place) > 1)
        raise ModelError(f"name {twice} twice", subject="parameters")
    given = numbers(data, sum(len(parameter.values) for parameter in found), "the data")
    parts = np.split(given, np.cumsum([len(parameter.values) for parameter in found])[:-1])
    wanted = {
        place: part
        for place, parameter, part in zip(places, found, parts, strict=True)
        if tuple(part.tolist()) != parameter.values
    }
    if not wanted:
        return
    spec = changed(mechanism, wanted, lambda part: part.bond)  # the same parts with other numbers
    x = get_minimal_state(mechanism)
    before = mechanism.spec
    try:
        mechanism.become(spec)
        set_minimal_state(mechanism, x)
    except ModelError:
        mechanism.become(before)
        raise
