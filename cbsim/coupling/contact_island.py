"""Contact islands: models and everything near them, compiled into one mechanism of the rigid-body core.

All bodies of an island are simulated in the frame and units of its first model. A vehicle is a rigid body of its size,
mass and inertia; static obstacles are colliders of the world. Bodies of a model collide with others by their visual
shapes, and with their own model by its own colliders. Momentum is exchanged to the tolerance of the solver. Literal
movers and bodies of kinematic models are kinematic bodies of the core. A vehicle much heavier than the models is one
as well, and receives the contact impulses afterwards.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.coupling.actor_proxies import IslandBuilder, Member
from cbsim.coupling.candidates import ActorProxy, StaticObstacle
from cbsim.coupling.collision_filter import filter_groups_of
from cbsim.coupling.contact_margin import arms_of
from cbsim.dynamics.compile import Compiled, compile_mechanism
from cbsim.dynamics.detection.solids import pieces_of
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.world.frames import WORLD_FRAME, Frame
from cbsim.world.model_instances import ModelInstance, SolverFallbacks, solver_fallbacks_of

__all__ = ["ContactIsland", "Plan", "build_island", "steps_for"]

HEAVY = 1e2  # upper mass ratio in the solver, over the mass of all dynamic models: larger ratios converge poorly
# (bodies jointed to the world have the effective mass of what runs into them, which then keeps its own)
FINER = 4  # upper ratio of an island's steps to those of its finest model, for steps that end together
STEP = 0.01  # [s] largest step of islands without a dynamic model


class Plan(NamedTuple):
    """Contents of an island by number. Cache key: equal plans over the same static scene yield the same mechanism.

    Attributes
    ----------
    instances, kinematic_models, actors, obstacles : tuple of int
        As in `cbsim.coupling.candidates.Group`.
    ground_heights : tuple of (float or None)
        Height of each actor's centre on level ground [m], which it keeps; None on slopes.
    excluded : frozenset of (str, int, str, int)
        Kinds and numbers of pairs without contact, each with at least one kinematic member.
    substeps : int
        Subdivision of every step, for contacts that the solver cannot resolve otherwise. It also lowers the mass from
        which vehicles are treated as kinematic.
    """

    instances: tuple[int, ...]
    kinematic_models: tuple[int, ...]
    actors: tuple[int, ...]
    obstacles: tuple[int, ...]
    ground_heights: tuple[float | None, ...]
    excluded: frozenset[tuple[str, int, str, int]] = frozenset()
    substeps: int = 1


@dataclass(frozen=True, eq=False)
class ContactIsland:
    """Models and the actors near them, compiled together.

    Attributes
    ----------
    plan : Plan
    frame : Frame
        In which the island is solved.
    members, kinematic_models : tuple of Member
        Dynamic models, and kinematic ones.
    actors : tuple of ActorProxy
    spec, compiled : MechanismSpec, Compiled
        The combined mechanism.
    steps : int
        Per step of the World.
    solver_fallbacks : SolverFallbacks
    world_states : (n, 13)
        States of the bodies that represent the worlds of models; they come after the bodies of models.
    actor_rows : slice
        Bodies of actors.
    masses, inertias : (actors,)
        In island units; yaw inertias. Infinite for literal movers.
    on_ground : (actors,) bool
        Whether the actor is a vehicle that keeps to level ground.
    kinematic : (bodies,) bool
        Bodies with a prescribed motion: those of kinematic models, literal movers and heavy vehicles.
    arms : (bodies,)
        Extent of each body, as `cbsim.coupling.contact_margin.arms_of`.
    owner : (bodies,) int64
        Index in `names` of each body's owner.
    names : tuple of (str, int)
        Kind (``model``, ``actor`` or ``obstacle``) and number in the plan.
    obstacles : (colliders,) int64
        Index in `names` for colliders of static obstacles; -1 for others.
    """

    plan: Plan
    frame: Frame
    members: tuple[Member, ...]
    kinematic_models: tuple[Member, ...]
    actors: tuple[ActorProxy, ...]
    spec: MechanismSpec
    compiled: Compiled
    steps: int
    solver_fallbacks: SolverFallbacks
    world_states: Floats
    actor_rows: slice
    masses: Floats
    inertias: Floats
    on_ground: NDArray[np.bool_]
    kinematic: NDArray[np.bool_]
    arms: Floats
    owner: Ints
    names: tuple[tuple[str, int], ...]
    obstacles: Ints
    _workspaces: list[SolverWorkspaces] = field(default_factory=list, repr=False)

    def take_workspace(self) -> SolverWorkspaces:
        """Take an idle workspace, or make one."""
        try:
            return self._workspaces.pop()
        except IndexError:
            return SolverWorkspaces(self.compiled)

    def return_workspace(self, workspace: SolverWorkspaces) -> None:
        """Return a workspace for the next step, in this thread or another."""
        self._workspaces.append(workspace)


def steps_for(counts: Sequence[int]) -> int:
    """Choose the steps of an island per step of the World, given those of its models.

    The least common multiple, unless it exceeds `FINER` times the largest count. Then it is the largest count, and the
    other models begin their steps with the first island step after they are due.
    """
    common, most = math.lcm(*counts), max(counts)
    return common if common <= FINER * most else most


# --- making one -------------------------------------------------------------------------------------------------------
def build_island(
    plan: Plan,
    instances: Sequence[ModelInstance],
    actors: Sequence[ActorProxy],
    obstacles: Sequence[StaticObstacle],
    step: float,
) -> ContactIsland:
    """Compile models together with everything near them.

    Parameters
    ----------
    plan : Plan
        Numbers in the following sequences.
    instances, actors, obstacles
        All of the World.
    step : float
        Of the World [s].

    Raises
    ------
    ModelError
        If the shape of a body has no contact routine.
    """
    own = [instances[k] for k in plan.instances]
    frame, gravity = (own[0].frame, own[0].spec.gravity) if own else (WORLD_FRAME, np.zeros(3))
    steps = steps_for([instance.steps for instance in own]) if own else max(1, math.ceil(step / STEP - 1e-9))
    steps *= plan.substeps
    as_it_is = len(own) == 1 and own[0].steps == steps
    length = own[0].spec.timestep if as_it_is else step / steps
    proxies = tuple(actors[g] for g in plan.actors)
    weights = np.array([actor.mass / frame.weight for actor in proxies])
    pushed = math.fsum(
        body.mass * instance.frame.weight / frame.weight for instance in own for body in instance.spec.bodies
    )
    heavy = HEAVY / plan.substeps * (pushed or max([1.0, *weights[np.isfinite(weights)]]))
    is_driven = np.isfinite(weights)
    stops = any(_is_anchored(instance.spec) for instance in own)  # infinite effective mass along a contact
    is_moved = is_driven & (stops | (weights <= heavy))
    builder = IslandBuilder(frame, gravity, [filter_groups_of(k, instances[k]) for k in plan.instances])
    members = tuple(builder.add_model(k, instances[k], steps, length) for k in plan.instances)
    moved = len(builder.bodies)
    kinematic_members = tuple(builder.add_kinematic_model(k, instances[k]) for k in plan.kinematic_models)
    kinematic = np.arange(len(builder.bodies)) >= moved
    builder.add_world_bodies()
    first = len(builder.bodies)
    for g, actor, moves, level in zip(plan.actors, proxies, is_moved.tolist(), plan.ground_heights, strict=True):
        builder.add_actor(g, actor, level, kinematic=not moves)
    for t in plan.obstacles:
        builder.add_obstacle(t, obstacles[t])
    scaling = own[0].spec.input_scaling if as_it_is else None
    spec = _spec(builder, length, scaling)
    compiled = _with_exclusions(compile_mechanism(spec), builder, plan.excluded)
    world_states = [
        [*pose.position, 0.0, 0.0, 0.0, *pose.orientation, 0.0, 0.0, 0.0] for _, pose, _ in builder.world_bodies
    ]
    return ContactIsland(
        plan, frame, members, kinematic_members, proxies, spec, compiled, steps,
        _solver_fallbacks(own, spec, as_it_is=as_it_is),
        np.array(world_states).reshape(-1, 13), slice(first, len(builder.bodies)), weights,
        np.array([actor.yaw_inertia / frame.work for actor in proxies]),
        is_driven & np.array([level is not None for level in plan.ground_heights], np.bool_),
        np.concatenate([kinematic, np.zeros(len(world_states), np.bool_), ~is_moved]),
        arms_of(compiled, len(builder.bodies)),
        np.array(builder.owner, np.int64), tuple(builder.names), _obstacle_rows(compiled, builder),
    )  # fmt: skip


def _is_anchored(spec: MechanismSpec) -> bool:
    """Whether a joint connects a model to the world: effective masses are then infinite in some direction."""
    return any(isinstance(one, Origin) for joint in spec.joints if joint.dof < 6 for one in (joint.parent, joint.child))


def _spec(builder: IslandBuilder, step: float, scaling: float | None) -> MechanismSpec:
    """Describe the island as one mechanism, with the colliders of static obstacles last."""
    colliders = [*builder.colliders, *(solid for solid, _ in builder.obstacle_colliders)]
    return MechanismSpec(
        builder.origin, builder.bodies, builder.joints, builder.contacts, step, builder.gravity, scaling, colliders
    )


def _solver_fallbacks(own: Sequence[ModelInstance], spec: MechanismSpec, *, as_it_is: bool) -> SolverFallbacks:
    """Solver options: those of a model alone, else with the loosest tolerance of all models."""
    if as_it_is:
        return own[0].solver_fallbacks
    given = [instance.tolerance for instance in own if instance.tolerance is not None]
    return solver_fallbacks_of(spec, max(given) if given else None)


def _with_exclusions(
    compiled: Compiled, builder: IslandBuilder, apart: frozenset[tuple[str, int, str, int]]
) -> Compiled:
    """Exclude pairs of bodies from contact: those of the plan, and bodies of models that ignore each other."""
    colliders, model = compiled.colliders, compiled.model
    if colliders is None:
        return compiled
    links = {int(row[c.BODY]): k for k, row in enumerate(model.link[: model.links])}
    of: dict[tuple[str, int], list[int]] = {}
    for body, owner in enumerate(builder.owner):
        of.setdefault(builder.names[owner], []).append(links[body])
    keys = {
        min(a, b) * len(model.link) + max(a, b)
        for one, i, other, j in apart
        for a in of.get((one, i), [])
        for b in of.get((other, j), [])
    }
    for place, who in enumerate(builder.names):
        if who[0] == "model" and place < builder.models and builder.collision_filter.ignores_itself(place):
            keys |= {min(pair) * len(model.link) + max(pair) for pair in itertools.combinations(of[who], 2)}
    known = np.array(sorted({*colliders.apart.tolist(), *keys}), np.int64)
    return compiled._replace(colliders=colliders._replace(apart=known))


def _obstacle_rows(compiled: Compiled, builder: IslandBuilder) -> Ints:
    """Map each collider to its static obstacle; these colliders come last, in the order of the obstacles."""
    colliders = compiled.colliders
    if colliders is None:
        return np.zeros(0, np.int64)
    out = np.full(len(colliders.collider_link), -1, np.int64)
    at = colliders.colliders
    for collider, owner in reversed(builder.obstacle_colliders):
        count = sum(1 for _ in pieces_of(collider))
        out[at - count : at] = owner
        at -= count
    return out
