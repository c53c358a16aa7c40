"""`Gathering`: models together with what is near them, as one mechanism of the rigid-body core.

While they are near, all of them are bodies of one mechanism, in the frame and units of the first model. A vehicle is a
solid of its size, mass and inertia; what stands is solid in the world; bodies of models are solid to all others by
their looks, and to their own model by its own colliders. So what one gains in a blow the other loses, to the tolerance
of the solver. A literal mover does as it is told, and so do the bodies of a model that is moved without dynamics: they
are heavy, and held to their way by a force. A vehicle that is very much heavier than the models is held likewise, and
takes the impulses afterwards.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.coupling.actor_proxies import Member, Parts
from cbsim.coupling.candidates import Guest, Thing
from cbsim.coupling.collision_filter import marks_of
from cbsim.dynamics.compile import Compiled, compile_mechanism
from cbsim.dynamics.detection.solids import pieces_of
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.world.frames import HERE, Frame
from cbsim.world.model_instances import Manners, ModelInstance, manners_of
from cbsim.world.tables import Floats, Ints

__all__ = ["Gathering", "Plan", "gather", "steps_for"]

HEAVY = 1e2  # times the mass of what may be pushed, of bodies in the solver: more is harder to solve
# (what the world holds weighs, where it is held, as much as what runs into it: that keeps its mass)
FINER = 4  # times the steps of the finest model that a gathering takes at most for steps to end together
STEP = 0.01  # [s] of gatherings without a model of the solver, at most


class Plan(NamedTuple):
    """What a gathering is made of, by numbers: two with the same plan are the same where the same stands.

    Attributes
    ----------
    instances, carried, guests, things : tuple of int
        As `cbsim.coupling.candidates.Group` has them.
    levels : tuple of (float or None)
        Height of each guest's centre above level ground [m], to which it keeps; None where it stands on slopes.
    apart : frozenset of (str, int, str, int)
        Kinds and numbers of pairs that pass through one another, one of which does as it is told.
    parts : int
        Of every step, for blows that the solver cannot make out otherwise; vehicles are held to their way the sooner.
    """

    instances: tuple[int, ...]
    carried: tuple[int, ...]
    guests: tuple[int, ...]
    things: tuple[int, ...]
    levels: tuple[float | None, ...]
    apart: frozenset[tuple[str, int, str, int]] = frozenset()
    parts: int = 1


@dataclass(frozen=True, eq=False)
class Gathering:
    """Models with their guests.

    Attributes
    ----------
    plan : Plan
    frame : Frame
        In which it is solved.
    members, carried : tuple of Member
        Models that the solver moves, and those that are moved without dynamics.
    guests : tuple of Guest
    spec, compiled : MechanismSpec, Compiled
        Of all together.
    steps : int
        In one of the World.
    manners : Manners
    rest : (carriers, 13)
        States of the bodies that stand for the worlds of models, which are behind those of models.
    cars : slice
        Bodies that are guests.
    masses, inertias : (guests,)
        As the solver has them, in its units; inertias about the upright axis.
    lightness : (guests,)
        What is left of those over what guests have: less than 1 for those too heavy for the solver, 0 for movers.
    told : (bodies,) bool
        Which bodies the solver does not move.
    owner : (bodies,) int64
        Whose they are: the place in `names`.
    names : tuple of (str, int)
        Kind and number: ``model``, ``guest`` or ``thing``, as in the plan.
    things : Ints
        Of each row of colliders the place in `names`, of those of the world; -1 for others.
    """

    plan: Plan
    frame: Frame
    members: tuple[Member, ...]
    carried: tuple[Member, ...]
    guests: tuple[Guest, ...]
    spec: MechanismSpec
    compiled: Compiled
    steps: int
    manners: Manners
    rest: Floats
    cars: slice
    masses: Floats
    inertias: Floats
    lightness: Floats
    told: NDArray[np.bool_]
    owner: Ints
    names: tuple[tuple[str, int], ...]
    things: Ints
    _rooms: list[SolverWorkspaces] = field(default_factory=list, repr=False)

    def take_workspaces(self) -> SolverWorkspaces:
        """Take rooms that nobody works in, or make them."""
        try:
            return self._rooms.pop()
        except IndexError:
            return SolverWorkspaces(self.compiled)

    def give_workspaces(self, workspaces: SolverWorkspaces) -> None:
        """Let the next step have them, in this thread or another."""
        self._rooms.append(workspaces)


def steps_for(counts: Sequence[int]) -> int:
    """Choose the steps for models of so many: whole ones of each, unless that is more than `FINER` times the most.

    Then it is that of the finest, and the others begin theirs with the first step after they are due.
    """
    common, most = math.lcm(*counts), max(counts)
    return common if common <= FINER * most else most


# --- making one -------------------------------------------------------------------------------------------------------
def gather(
    plan: Plan, instances: Sequence[ModelInstance], guests: Sequence[Guest], things: Sequence[Thing], step: float
) -> Gathering:
    """Compile models together with what is near them.

    Parameters
    ----------
    plan : Plan
        Numbers in the lists that follow.
    instances, guests, things
        All of the World.
    step : float
        Of the World [s].

    Raises
    ------
    ModelError
        If there is no routine of contact for the shape of a body.
    """
    own = [instances[k] for k in plan.instances]
    frame, gravity = (own[0].frame, own[0].spec.gravity) if own else (HERE, np.zeros(3))
    steps = steps_for([instance.steps for instance in own]) if own else max(1, math.ceil(step / STEP - 1e-9))
    steps *= plan.parts
    as_it_is = len(own) == 1 and own[0].steps == steps
    length = own[0].spec.timestep if as_it_is else step / steps
    invited = tuple(guests[g] for g in plan.guests)
    weights = np.array([guest.mass / frame.weight for guest in invited])
    pushed = sum(body.mass * instance.frame.weight / frame.weight for instance in own for body in instance.spec.bodies)
    heavy = HEAVY / plan.parts * (pushed or max([1.0, *weights[np.isfinite(weights)]]))
    stops = any(_is_anchored(instance.spec) for instance in own)  # it weighs, along a contact, whatever runs into it
    masses = np.where(stops & np.isfinite(weights), weights, np.minimum(weights, heavy))
    parts = Parts(frame, gravity, [marks_of(k, instances[k]) for k in plan.instances])
    members = tuple(parts.join(k, instances[k], steps, length) for k in plan.instances)
    moved = len(parts.bodies)
    walkers = tuple(parts.carry(k, instances[k], heavy) for k in plan.carried)
    told = np.arange(len(parts.bodies)) >= moved
    parts.rest()
    first = len(parts.bodies)
    for g, guest, mass, level in zip(plan.guests, invited, masses.tolist(), plan.levels, strict=True):
        parts.invite(g, guest, mass, level)
    for t in plan.things:
        parts.stand(t, things[t])
    scaling = own[0].spec.input_scaling if as_it_is else None
    spec = _spec(parts, length, scaling)
    compiled = _parted(compile_mechanism(spec), parts, plan.apart)
    rest = [[*pose.position, 0.0, 0.0, 0.0, *pose.orientation, 0.0, 0.0, 0.0] for _, pose, _ in parts.rests]
    return Gathering(
        plan, frame, members, walkers, invited, spec, compiled, steps, _manners(own, spec, as_it_is=as_it_is),
        np.array(rest).reshape(-1, 13), slice(first, len(parts.bodies)), masses,
        np.array([body.inertia[2, 2] for body in parts.bodies[first:]]), masses / weights,
        np.concatenate([told, np.zeros(len(rest), np.bool_), masses < weights]),
        np.array(parts.owner, np.int64), tuple(parts.names), _standing_rows(compiled, parts),
    )  # fmt: skip


def _is_anchored(spec: MechanismSpec) -> bool:
    """Whether a joint holds a body of a model to the world: its effective mass is infinite in some direction."""
    return any(isinstance(one, Origin) for joint in spec.joints if joint.dof < 6 for one in (joint.parent, joint.child))


def _spec(parts: Parts, step: float, scaling: float | None) -> MechanismSpec:
    """Describe all parts as one mechanism, what stands behind all other colliders."""
    colliders = [*parts.colliders, *(solid for solid, _ in parts.static_cache)]
    return MechanismSpec(
        parts.origin, parts.bodies, parts.joints, parts.contacts, step, parts.gravity, scaling, colliders
    )


def _manners(own: Sequence[ModelInstance], spec: MechanismSpec, *, as_it_is: bool) -> Manners:
    """Options of the solver: those of a model alone, else as exact as the least exact one."""
    if as_it_is:
        return own[0].manners
    given = [instance.tolerance for instance in own if instance.tolerance is not None]
    return manners_of(spec, max(given) if given else None)


def _parted(compiled: Compiled, parts: Parts, apart: frozenset[tuple[str, int, str, int]]) -> Compiled:
    """Let pairs pass through one another, and bodies of models that leave each other alone."""
    colliders, model = compiled.colliders, compiled.model
    if colliders is None:
        return compiled
    links = {int(row[c.BODY]): k for k, row in enumerate(model.link[: model.links])}
    of: dict[tuple[str, int], list[int]] = {}
    for body, owner in enumerate(parts.owner):
        of.setdefault(parts.names[owner], []).append(links[body])
    keys = {
        min(a, b) * len(model.link) + max(a, b)
        for one, i, other, j in apart
        for a in of.get((one, i), [])
        for b in of.get((other, j), [])
    }
    for place, who in enumerate(parts.names):
        if who[0] == "model" and place < parts.models and parts.masks.leave_alone(place):
            keys |= {min(pair) * len(model.link) + max(pair) for pair in itertools.combinations(of[who], 2)}
    known = np.array(sorted({*colliders.apart.tolist(), *keys}), np.int64)
    return compiled._replace(colliders=colliders._replace(apart=known))


def _standing_rows(compiled: Compiled, parts: Parts) -> Ints:
    """Say of each row of colliders which thing it is: those stand behind all others, in their order."""
    colliders = compiled.colliders
    if colliders is None:
        return np.zeros(0, np.int64)
    out = np.full(len(colliders.collider_link), -1, np.int64)
    at = colliders.colliders
    for collider, owner in reversed(parts.static_cache):
        count = sum(1 for _ in pieces_of(collider))
        out[at - count : at] = owner
        at -= count
    return out
