"""Gradients of a step, and of a whole trajectory, by the parameters of a mechanism.

They belong to the same solution as `cbsim.multibody.gradients`, contacts relaxed by kappa, and go through its
factorisation: `cbsim.dynamics.kernels.gradients.parameters`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.arrays import Floats, Ints
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.gradients.parameters import IN_CONTACT, IN_JOINT, IN_ROW, parameter_columns
from cbsim.dynamics.least_mass import least_masses
from cbsim.dynamics.model import Model, Varying, Work, varying, workspace
from cbsim.dynamics.options import SolverOptions
from cbsim.dynamics.workspaces import Found
from cbsim.multibody.collider_parameters import Neighbours, neighbours, slopes_of_contacts
from cbsim.multibody.coordinates import rows_of
from cbsim.multibody.failure import check_state, explain
from cbsim.multibody.gradients import dimension, linearize_step, slopes_of, tight_settings
from cbsim.multibody.mechanism import Mechanism
from cbsim.multibody.parameters import Choice, Parameter, chosen, floats
from cbsim.multibody.stepping import input_rows, one_input
from cbsim.spec.mechanism.bodies import Body
from cbsim.spec.mechanism.colliders import Collider
from cbsim.spec.mechanism.collisions import SphereBoxCollision
from cbsim.spec.mechanism.contacts import ContactConstraint
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.values import whole

__all__ = ["get_parameter_gradients", "rollout_parameter_gradients"]

Place = tuple[int, int, int, float]  # table, row, column, weight
LINEAR = frozenset(
    {"mass", "inertia", "spring", "damper", "friction_coefficient", "friction_force", "max_force"}
)  # fmt: skip
SHARE = 0.1  # of a value that enters linearly: the step of its differences, the larger the less rounding
SHORT = 1e-3  # the same where strong dampers depend on it, which must not turn weak on the way
NEAR = 1e-3  # of the smallest distance between the centres of two spheres: the step of differences of geometry
KEPT = 8  # plans that a mechanism keeps
# where a collision's numbers stand: column, and weight
FIELDS: dict[str, tuple[tuple[int, float], ...]] = {
    "contact_origin": ((c.ORIGIN, 1.0),),
    "contact_radius": ((c.RADIUS, 1.0),),
    "contact_offset": ((c.PLANE, 1.0),),
    "origin_parent": ((c.ORIGIN, 1.0),),
    "origin_sphere": ((c.ORIGIN, 1.0),),
    "origin_child": ((c.PLANE, 1.0),),
    "radius_parent": ((c.RADIUS, 1.0),),
    "radius_sphere": ((c.RADIUS, 1.0),),
    "radius_child": ((c.OTHER_RADIUS, 1.0),),
    "radius_capsule": ((c.OTHER_RADIUS, 1.0),),
    "length": ((c.OTHER_RADIUS, 1.0),),
    "origin_capsule_a": ((c.PLANE, 0.5), (c.EXTENT, -0.5)),
    "origin_capsule_b": ((c.PLANE, 0.5), (c.EXTENT, 0.5)),
    "origin_box_a": ((c.PLANE, 0.5), (c.EXTENT, -0.5)),
    "origin_box_b": ((c.PLANE, 0.5), (c.EXTENT, 0.5)),
}


class _Plan(NamedTuple):
    """What kernels need to differentiate one mechanism by some parameters."""

    varied: Model
    probe: Work
    scratch: Varying
    place: Ints
    weight: Floats
    first: Ints
    size: Floats
    points: int
    neighbours: Neighbours


def _places_of_body(mechanism: Mechanism, body: Body, quantity: str, k: int) -> Iterator[Place]:
    model = mechanism.compiled.model
    number = mechanism.place_of[body]
    if quantity != "center_of_mass":
        column = c.MASS if quantity == "mass" else c.INERTIA + (0, 3, 4, 1, 5, 2)[k]
        yield from ((IN_JOINT, b, column, 1.0) for b in range(model.links) if model.link[b, c.BODY] == number)
        return
    for j, joint in enumerate(mechanism.joints):
        for end, column in ((joint.parent, c.PARENT_VERTEX), (joint.child, c.CHILD_VERTEX)):
            if end is body and not floats(mechanism, joint):
                yield IN_JOINT, mechanism.row_of[j], column + k, -1.0
    for i, contact in enumerate(mechanism.contacts):
        if contact.parent is body:
            yield IN_CONTACT, i, c.ORIGIN + k, -1.0
        if contact.child is body:
            yield IN_CONTACT, i, c.PLANE + k, -1.0


def _places_of_joint(mechanism: Mechanism, joint: JointConstraint, quantity: str, k: int) -> Iterator[Place]:
    model = mechanism.compiled.model
    row = mechanism.row_of[mechanism.place_of[joint]]
    own = [i for i in range(len(model.row_link)) if model.row_link[i, c.ROW_LINK] == row]
    drives = [i for i in own if model.row_link[i, c.KIND] == c.DRIVE]
    if quantity == "damper" and row >= model.links:
        dampers = drives[: len(drives) - len(joint.drives)]
        yield from ((IN_ROW, i, c.ROW_CFM, -(model.row[i, c.ROW_CFM] ** 2)) for i in dampers)
    elif quantity == "max_force":
        yield IN_ROW, drives[len(drives) - len(joint.drives) + k], c.LIMIT, 1.0
    elif quantity == "spring_offset":
        slides = joint.translational.free
        yield IN_JOINT, row, c.SPRING_OFFSET + (k if k < slides else 3 + k - slides), 1.0
    else:
        column = {"spring": c.SPRING, "damper": c.DAMPER, "parent_vertex": c.PARENT_VERTEX}
        yield IN_JOINT, row, column.get(quantity, c.CHILD_VERTEX) + k, 1.0
        if quantity == "spring" and joint.implicit_spring:
            yield IN_JOINT, row, c.IMPLICIT, 1.0


def _places_of_contact(mechanism: Mechanism, contact: ContactConstraint, quantity: str, k: int) -> Iterator[Place]:
    i, collision = mechanism.place_of[contact], contact.model.collision
    if quantity == "friction_coefficient":
        yield IN_CONTACT, i, c.MU, 1.0
        return
    for column, weight in FIELDS[quantity]:
        turned = 1.0
        if isinstance(collision, SphereBoxCollision) and column == c.EXTENT:
            turned = float(np.sign(collision.origin_box_b[k] - collision.origin_box_a[k]))
        yield IN_CONTACT, i, column + k, turned * weight


def _places(mechanism: Mechanism, parameter: Parameter, k: int) -> Iterator[Place]:
    part = mechanism.by_name[parameter.part]
    if isinstance(part, Collider):
        return iter(())  # what it tells contacts is looked at in every step
    if isinstance(part, Body):
        return _places_of_body(mechanism, part, parameter.quantity, k)
    if isinstance(part, JointConstraint):
        return _places_of_joint(mechanism, part, parameter.quantity, k)
    assert isinstance(part, ContactConstraint)
    return _places_of_contact(mechanism, part, parameter.quantity, k)


def _size(parameter: Parameter, near: float, share: float) -> float:
    """Step of differences: a share of the value where equations are linear in it, else a short way."""
    if parameter.quantity in LINEAR:
        return share * (max(map(abs, parameter.values)) or 1.0)
    return SHARE if parameter.quantity == "spring_offset" else NEAR * near


def _strong(mechanism: Mechanism) -> NDArray[np.bool_]:
    """Say which joints of the tree (links,) have dampers whose share after a step is bounded by the mass they move."""
    joint = mechanism.compiled.model.joint[: mechanism.compiled.model.links]
    return np.asarray((joint[:, c.DAMPER] * mechanism.timestep > joint[:, c.LEAST_MASS]) & (joint[:, c.LEAST_MASS] > 0))


def _places_of_masses(model: Model, strong: NDArray[np.bool_], places: list[Place], size: float) -> Iterator[Place]:
    """How the least masses that strong dampers move follow a parameter, by differences of fourth order."""
    if not strong.any() or not any(table == IN_JOINT for table, *_ in places):
        return

    def at(amount: float) -> Floats:
        joint = model.joint.copy()
        for table, row, column, weight in places:
            if table == IN_JOINT and column != c.DAMPER:
                joint[row, column] += amount * weight
        return least_masses(model.links, model.link, joint)

    slopes = (at(-2.0 * size) - 8.0 * at(-size) + 8.0 * at(size) - at(2.0 * size)) / (12.0 * size)
    yield from ((IN_JOINT, int(b), c.LEAST_MASS, float(slopes[b])) for b in np.flatnonzero(strong & (slopes != 0.0)))


def _plan(mechanism: Mechanism, parameters: tuple[Parameter, ...]) -> _Plan:
    model = mechanism.compiled.model
    link = model.link.copy()
    place: list[tuple[int, int, int]] = []
    weight: list[float] = []
    first, size = [0], []
    pairs = model.contact[model.contact_link[:, c.OTHER] >= 0]
    distances = pairs[:, c.RADIUS] + pairs[:, c.OTHER_RADIUS]
    near = float(np.min(distances[distances > 0.0], initial=1.0))
    strong = _strong(mechanism)
    for parameter in parameters:
        for k in range(len(parameter.values)):
            size.append(_size(parameter, near, SHORT if strong.any() else SHARE))
            places = list(_places(mechanism, parameter, k))
            for table, row, column, speed in (*places, *_places_of_masses(model, strong, places, size[-1])):
                place.append((table, row, column))
                weight.append(speed)
                if table == IN_JOINT and column in {c.SPRING, c.DAMPER}:  # of 0 kernels do not look at it
                    link[row, c.FLAGS] |= c.SPRUNG if column == c.SPRING else c.DAMPED
            first.append(len(place))
    joint = model.joint.copy()
    joint[: model.links, c.LEAST_MASS][~strong & (joint[: model.links, c.LEAST_MASS] > 0.0)] = np.inf  # stay weak
    varied = model._replace(link=link, joint=joint, contact=model.contact.copy(), row=model.row.copy())
    return _Plan(
        varied, workspace(varied), varying(model, len(size)), np.array(place, np.int64).reshape(-1, 3),
        np.array(weight, float), np.array(first, np.int64), np.array(size, float),
        2 if len(pairs) or mechanism.colliders else 1, neighbours(mechanism, parameters),
    )  # fmt: skip


def _plan_of(mechanism: Mechanism, parameters: Choice | None) -> _Plan:
    """Return the plan for some parameters, made once."""
    try:
        key: Any = None if parameters is None else tuple(p[:2] for p in parameters)
        key = (mechanism.timestep, key)
        found: _Plan | None = mechanism.plans.get(key)
    except (TypeError, IndexError):  # no names
        key, found = None, _plan(mechanism, chosen(mechanism, parameters))
    if found is None:
        found = _plan(mechanism, chosen(mechanism, parameters))
        if len(mechanism.plans) >= KEPT:
            mechanism.plans.clear()
        mechanism.plans[key] = found
    return found


def _with_found(plan: _Plan, found: Found, z: Floats, settings: Floats) -> _Plan:
    """Return the plan with the contacts of a step and their derivatives by parameters."""
    told = slopes_of_contacts(plan.neighbours, found, z, settings)
    place: list[Ints] = []
    weight: list[Floats] = []
    first = [0]
    for column in range(len(plan.size)):
        mine = slice(plan.first[column], plan.first[column + 1])
        place.append(plan.place[mine])
        weight.append(plan.weight[mine])
        if column in told:
            rows, columns = np.nonzero(told[column])
            place.append(np.stack([np.full(len(rows), IN_CONTACT), rows, columns], axis=1))
            weight.append(told[column][rows, columns])
        first.append(sum(map(len, weight)))
    model = plan.varied
    varied = found.model._replace(
        link=model.link, joint=model.joint, row=model.row, contact=found.model.contact.copy()
    )  # fmt: skip
    return plan._replace(
        varied=varied, probe=workspace(varied), scratch=plan.scratch._replace(drift=found.drift, mover=found.mover),
        place=np.concatenate(place), weight=np.concatenate(weight), first=np.array(first, np.int64),
    )  # fmt: skip


class _Walk:
    """A mechanism stepped and differentiated, one step at a time."""

    def __init__(self, mechanism: Mechanism, parameters: Choice | None, *, minimal: bool) -> None:
        self.mechanism, self.minimal = mechanism, bool(minimal)  # of another type kernels would be compiled anew
        self.plan = _plan_of(mechanism, parameters)
        self.slopes = slopes_of(mechanism, self.minimal)
        n = dimension(mechanism, self.minimal)
        self.by_state = np.empty((1, n, n))
        self.by_input = np.empty((1, n, mechanism.compiled.inputs))

    def advance(self, z: Floats, inputs: Floats, settings: tuple[Floats, Ints], n: int, out: Floats) -> None:
        """Advance rows of a state in place by step number n, and write the gradients by the parameters."""
        own, plan, before = self.mechanism, self.plan, z.copy()
        if own.colliders:
            check_state(own, z)
        found = linearize_step(
            own,
            own.workspaces,
            self.slopes,
            z,
            inputs,
            settings,
            self.minimal,
            self.by_state[0],
            self.by_input[0],
            own.last,
        )
        if own.last[c.STATUS] != c.SOLVED:
            raise explain(own, before, own.work, own.last, n * own.timestep)
        if own.colliders:
            plan = _with_found(plan, found, before, settings[0])
        parameter_columns(
            found.model, found.work, plan.varied, plan.probe, plan.scratch, before, (inputs, own.none), settings[0],
            (plan.place, plan.weight, plan.first, plan.size), plan.points, self.minimal, out,
        )  # fmt: skip


def get_parameter_gradients(
    mechanism: Mechanism,
    z: ArrayLike,
    u: ArrayLike | None = None,
    parameters: Choice | None = None,
    *,
    minimal: bool = False,
    options: SolverOptions | None = None,
) -> Floats:
    """Differentiate one step by parameters of the mechanism. Pure, as `step`.

    Parameters
    ----------
    z : array_like, shape (13 · bodies,) or (bodies, 13)
        Where the step begins: a maximal state.
    u : array_like, shape (inputs,), optional
        Inputs; none are zeros.
    parameters : sequence of Parameter or (part, quantity), optional
        By which; all of `parameters_of`, if None.
    minimal : bool
        Of the minimal state after, that before held; else of the maximal one, that before held.
    options : SolverOptions, optional
        As `get_maximal_gradients` has them.

    Returns
    -------
    ndarray, shape (12 · bodies or minimal_dimension, numbers of the parameters)
        Rows as of `get_maximal_gradients` or `get_minimal_gradients`, columns as the parameters' numbers. A
        column is not a number where its parameter makes a loop impossible to close.

    Raises
    ------
    ModelError
        If there is no such parameter, or a step has no gradients here.
    StepError
        As `step`.
    """
    walk = _Walk(mechanism, parameters, minimal=minimal)
    out = np.empty((dimension(mechanism, minimal), len(walk.plan.size)))
    given = mechanism.idle[0] if u is None else one_input(mechanism, u)[0]
    walk.advance(rows_of(mechanism, z), given, tight_settings(mechanism, options), 0, out)
    return out


def rollout_parameter_gradients(
    mechanism: Mechanism,
    z: ArrayLike,
    n: int,
    inputs: ArrayLike | None = None,
    parameters: Choice | None = None,
    *,
    minimal: bool = True,
    options: SolverOptions | None = None,
) -> tuple[Floats, Floats]:
    """Advance a maximal state by n steps, and differentiate every state by parameters of the mechanism.

    Parameters
    ----------
    z : array_like, shape (13 · bodies,) or (bodies, 13)
        The first state.
    inputs : array_like, shape (inputs,) or (steps, inputs), optional
        One vector for all steps, or one per step; the last one holds to the end.
    parameters, minimal, options
        As `get_parameter_gradients` has them.

    Returns
    -------
    path : ndarray, shape (n + 1, 13 · bodies)
        All states, those that the gradients belong to.
    S : ndarray, shape (n + 1, d, numbers of the parameters)
        Sensitivity of every state: S₀ = 0, since the first one is held, and Sₖ₊₁ = Aₖ Sₖ + ∂zₖ₊₁/∂p.
    """
    count, rows = whole(n, "rollout_parameter_gradients", "n", least=1), input_rows(mechanism, inputs)
    walk = _Walk(mechanism, parameters, minimal=minimal)
    now = rows_of(mechanism, z)
    path = np.empty((count + 1, now.size))
    slopes = np.zeros((count + 1, dimension(mechanism, minimal), len(walk.plan.size)))
    path[0] = now.ravel()
    own = np.empty(slopes.shape[1:])
    for k in range(count):
        settings = tight_settings(mechanism, options, goes_on=k > 0)
        walk.advance(now, rows[min(k, len(rows) - 1)], settings, k, own)
        np.matmul(walk.by_state[0], slopes[k], out=slopes[k + 1])
        slopes[k + 1] += own
        path[k + 1] = now.ravel()
    return path, slopes
