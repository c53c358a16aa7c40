"""Collision filters of Juice models: bodies that may touch one another, and flat cylinders on the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cbsim.errors import Problems
from cbsim.formats.values import quote
from cbsim.models.juice.build import Built, Choices
from cbsim.models.juice.overlap import overlap, reach_of
from cbsim.models.juice.poses import orientation_of
from cbsim.models.juice.solids import is_flat
from cbsim.spec.juice import JuiceModel
from cbsim.spec.mechanism.colliders import Collider, ground
from cbsim.spec.mechanism.description import MechanismSpec

__all__ = ["colliders_of"]

GROUND, SILENT, PLAIN = 1, 2, 4  # groups: the ground; bodies that touch nothing else; bodies that meet all others
GENTLY = 0.02  # largest share of an overlap of two bodies that a step corrects; 1 throws thin parts far apart
YIELDS = 0.1  # least CFM of overlapping bodies, in units of step over mass
FIRST, LAST = 3, 62  # bits for groups of single bodies
SHOWN = 3


def colliders_of(
    model: JuiceModel, built: Built, choices: Choices, problems: Problems, *, bodies: bool, push: bool
) -> MechanismSpec:
    """Return the mechanism with its colliders.

    Parameters
    ----------
    model, built, choices
        Mechanism without colliders, and settings.
    problems : Problems
        Collects a warning for bodies that overlap at the start.
    bodies : bool
        Let bodies touch one another.
    push : bool
        Separate bodies that overlap at the start; otherwise they never collide.
    """
    flat = {body.id for body in model.bodies if is_flat(body)}
    tied = {frozenset((joint.body1, joint.body2)) for joint in model.sound_joints()}
    count = len(built.bodies)
    meet = count * (count - 1) // 2 > len(tied)
    apart: list[tuple[int, int]] = []
    pushed: set[int] = set()
    if bodies:
        found = [pair for pair in _overlapping(model, built) if frozenset(pair) not in tied]
        welded = [(one, other) for one, other in found if built.welds[one] == built.welds[other]]
        found = [pair for pair in found if pair not in set(welded)]
        _tell(model, found, problems, push=push)
        apart = welded if push else [*welded, *found]
        pushed = {body for pair in found for body in pair} if push else set()
    if not (bodies and meet) and not flat:
        return built.spec
    masks = _masks(list(built.bodies), apart)
    erp, cfm = float(model.erp), float(model.cfm)
    laws: dict[str, Any] = {"restitution": float(model.bounce)}
    coulomb = choices.friction_law == "coulomb"
    laws["friction_coefficient" if coulomb else "friction_force"] = float(model.friction)
    made = []
    for number, body in built.bodies.items():
        group, meets = masks[number] if bodies else (SILENT, GROUND)
        if bodies or number in flat:
            meets = meets & ~GROUND if number not in flat else meets
            least = YIELDS * built.spec.timestep / body.mass if number in pushed else 0.0
            softness = (min(erp, GENTLY), max(cfm, least))
            name = f"solid of {body.name}"
            made.append(Collider(body, body.shape, group=group, meets=meets, name=name, softness=softness, **laws))
    if flat:
        shape = ground(built.spec.origin).shape
        softness = (erp, cfm)
        made.append(Collider(built.spec.origin, shape, group=GROUND, name="the ground", softness=softness, **laws))
    return replace(built.spec, colliders=made)


def _overlapping(model: JuiceModel, built: Built) -> list[tuple[int, int]]:
    """Find pairs that overlap at the start: of those whose balls do, looked for along x."""
    ids, shapes = list(built.bodies), [body.shape for body in built.bodies.values()]
    places = np.array([body.position for body in model.bodies], float)
    turns = [orientation_of(body.attitude) for body in model.bodies]
    reach = np.array([reach_of(shape) for shape in shapes])
    begins = places[:, 0] - reach
    order = np.argsort(begins, kind="stable")
    ends = np.searchsorted(begins[order], (places[:, 0] + reach)[order], side="right")
    near: list[tuple[int, int]] = []
    for k, (one, end) in enumerate(zip(order.tolist(), ends.tolist(), strict=True)):
        others = order[k + 1 : end]
        close = (np.abs(places[others] - places[one]) <= (reach[others] + reach[one])[:, None]).all(axis=1)
        near += [(min(one, other), max(one, other)) for other in others[close].tolist()]
    return [
        (ids[one], ids[other])
        for one, other in sorted(near)
        if overlap(shapes[one], places[one], turns[one], shapes[other], places[other], turns[other])
    ]


def _tell(model: JuiceModel, apart: Sequence[tuple[int, int]], problems: Problems, *, push: bool) -> None:
    if not apart:
        return
    given = {body.id: body for body in model.bodies}
    names = ", ".join(f"{quote(given[a].name)} and {quote(given[b].name)}" for a, b in apart[:SHOWN])
    more = f" and {len(apart) - SHOWN} pairs more" if len(apart) > SHOWN else ""
    do = "push each other apart" if push else "never touch each other"
    hint = "--set overlaps=ignore lets them pass through each other" if push else "--set overlaps=push lets them touch"
    text = f"bodies overlap at the start, and {do}: {names}{more}"
    problems.warning("W939", text, given[apart[0][0]].location, hint)


def _masks(bodies: list[int], apart: list[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """Choose groups, and groups to meet, for bodies some pairs of which are to leave each other alone.

    Of each pair one has a group of its own, which the other does not meet: a cover of the pairs, found greedily. Where
    there are more than a whole number tells apart, those that are left touch nothing but the ground.
    """
    ties: dict[int, set[int]] = {body: set() for body in bodies}
    for one, other in apart:
        ties[one].add(other)
        ties[other].add(one)
    left = {body: set(others) for body, others in ties.items() if others}
    own: dict[int, int] = {}
    while left and FIRST + len(own) < LAST:
        most = max(left, key=lambda body: (len(left[body]), -body))
        own[most] = 1 << (FIRST + len(own))
        for other in left.pop(most):
            left[other].discard(most)
            if not left[other]:
                del left[other]
    masks = {}
    for body in bodies:
        meets = ~SILENT
        for other in ties[body]:
            meets &= ~own.get(other, 0)
        masks[body] = (SILENT, GROUND) if body in left else (own.get(body, PLAIN), meets)
    return masks
