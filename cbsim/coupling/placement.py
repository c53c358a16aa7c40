"""Check of initial placement: models that start inside something else, which only a large impulse could separate."""

from __future__ import annotations

from cbsim.coupling.candidates import InteractionCandidates, candidates_of
from cbsim.coupling.coupled_step import CoupledStep
from cbsim.coupling.penetration import DEEP, EntityKey
from cbsim.errors import Location, Problems
from cbsim.formats.values import quote
from cbsim.world.world import World

__all__ = ["check_places"]


def check_places(world: World) -> None:
    """Check that no model penetrates another object by more than `DEEP` at the start.

    Raises
    ------
    FileError
        With a problem for each pair that does.
    """
    start = world.start
    candidates, deepest = candidates_of(world, start), dict[tuple[EntityKey, EntityKey], float]()
    coupled = CoupledStep(world, start, candidates)
    for group in candidates.groups(world, start):
        for k in group.kinematic_models:
            coupled.advance_alone(k)
        for found in coupled.overlaps(coupled.plan(group)):
            pair = found.one, found.other
            if found.depth > DEEP and found.one[0] == "model":
                deepest[pair] = max(deepest.get(pair, 0.0), found.depth)
    problems = Problems()
    for (one, other), depth in sorted(deepest.items()):
        (name, place), (what, there) = _described(world, candidates, one), _described(world, candidates, other)
        message = f"model {quote(name)} starts {depth:.2f} m deep in {quote(what)}, expected at most {DEEP:g} m"
        problems.error("E894", message, place, "models must not overlap anything at the start", also=there)
    problems.raise_if_any()


def _described(world: World, candidates: InteractionCandidates, who: EntityKey) -> tuple[str, Location]:
    """Name of a model or an object, and the location that places it."""
    kind, number = who
    if kind == "model":
        model = world.scene.models[number]
        return model.name, model.location
    item = world.scene.actors[
        candidates.actors[number].row if kind == "actor" else candidates.obstacles[number].row
    ].item
    return item.name, item.location
