"""Which bodies of a Juice model may touch one another, and flat cylinders the ground: as colliders."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cbsim.errors import Problems
from cbsim.formats.juice.build import Built, Choices
from cbsim.formats.juice.overlap import overlap
from cbsim.formats.juice.solids import is_flat
from cbsim.formats.values import quote
from cbsim.spec.juice import JuiceModel
from cbsim.spec.mechanism.colliders import Collider, ground
from cbsim.spec.mechanism.description import MechanismSpec

__all__ = ["colliders_of"]

BITS = 62  # groups of bodies that a whole number tells apart, beyond the first
GROUND = 1  # the group of the ground, and of bodies that meet all others
SHOWN = 3


def colliders_of(
    model: JuiceModel, built: Built, choices: Choices, problems: Problems, *, bodies: bool, push: bool
) -> MechanismSpec:
    """Return the mechanism with its colliders.

    Parameters
    ----------
    model, built, choices
        What is built so far.
    problems : Problems
        Gets a warning on bodies that overlap at the start.
    bodies : bool
        Let bodies touch one another.
    push : bool
        Push those apart that overlap at the start; else they never touch.
    """
    flat = {body.id for body in model.bodies if is_flat(body)}
    tied = {frozenset((joint.body1, joint.body2)) for joint in model.sound_joints()}
    pairs = [pair for pair in itertools.combinations(built.bodies, 2) if frozenset(pair) not in tied]
    apart: list[tuple[int, int]] = []
    if bodies and not push:
        apart = _overlapping(model, built, pairs)
        _tell(model, apart, problems)
    if not (bodies and pairs) and not flat:
        return built.spec
    masks = _masks(list(built.bodies), apart)
    friction = float(model.friction) if choices.friction_law == "coulomb" else None
    made = []
    for number, body in built.bodies.items():
        if not (bodies or number in flat):
            continue
        group, meets = masks[number]
        made.append(
            Collider(
                body, body.shape, 1.0 if friction is None else friction, float(model.bounce),
                group if bodies else 2, meets if bodies else GROUND, name=f"solid of {body.name}",
            )
        )  # fmt: skip
    if flat:
        floor = ground(built.spec.origin, friction_coefficient=1.0 if friction is None else friction)
        made.append(replace(floor, name="the ground", group=GROUND << BITS, meets=-1))
    return replace(built.spec, colliders=made)


def _overlapping(model: JuiceModel, built: Built, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Find pairs that overlap at the start."""
    from cbsim.formats.juice.poses import orientation_of

    poses = {body.id: (np.array(body.position, float), orientation_of(body.attitude)) for body in model.bodies}
    shapes = {number: body.shape for number, body in built.bodies.items()}
    return [(one, other) for one, other in pairs if overlap(shapes[one], *poses[one], shapes[other], *poses[other])]


def _tell(model: JuiceModel, apart: Sequence[tuple[int, int]], problems: Problems) -> None:
    if not apart:
        return
    given = {body.id: body for body in model.bodies}
    names = ", ".join(f"{quote(given[a].name)} and {quote(given[b].name)}" for a, b in apart[:SHOWN])
    more = f" and {len(apart) - SHOWN} pairs more" if len(apart) > SHOWN else ""
    text = f"bodies overlap at the start, and never touch each other: {names}{more}"
    problems.warning("W939", text, given[apart[0][0]].location, "--set overlaps=push lets them touch")


def _masks(bodies: list[int], apart: list[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """Choose groups, and groups to meet, for bodies some pairs of which are to leave each other alone.

    Of each pair one has a group of its own, which the other does not meet: a cover of the pairs, found greedily.
    """
    left = set(apart)
    own: dict[int, int] = {}
    while left and len(own) < BITS - 2:
        count = {body: sum(body in pair for pair in left) for pair in left for body in pair}
        most = max(count, key=lambda body: (count[body], -body))
        own[most] = GROUND << (len(own) + 1)
        left = {pair for pair in left if most not in pair}
    silent = {pair[0] for pair in left}  # more than can be told apart: these touch nothing but the ground
    masks = {}
    for body in bodies:
        meets = -1
        for one, other in apart:
            for here, there in ((one, other), (other, one)):
                if here == body and there in own:
                    meets &= ~own[there]
        masks[body] = (0, 0) if body in silent else (own.get(body, GROUND), meets)
    return masks
