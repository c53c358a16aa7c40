"""`check_places`: refuses a World in which a model starts in something else, which nothing but a blow could part."""

from __future__ import annotations

from cbsim.coupling.candidates import Fleet, fleet_of
from cbsim.coupling.penetration import DEEP, Who
from cbsim.coupling.step_islands import Begun
from cbsim.errors import Location, Problems
from cbsim.formats.values import quote
from cbsim.world.world import World

__all__ = ["check_places"]


def check_places(world: World) -> None:
    """Look whether models stand clear of one another and of all else, to `DEEP`.

    Raises
    ------
    FileError
        With a problem for each pair that does not.
    """
    start = world.start
    fleet, deepest = fleet_of(world, start), dict[tuple[Who, Who], float]()
    begun = Begun(world, start, fleet)
    for group in fleet.groups(world, start):
        for k in group.carried:
            begun.alone(k)
        for found in begun.overlaps(start, begun.plan(group)):
            pair = found.one, found.other
            if found.depth > DEEP and found.one[0] == "model":
                deepest[pair] = max(deepest.get(pair, 0.0), found.depth)
    problems = Problems()
    for (one, other), depth in sorted(deepest.items()):
        (name, place), (what, there) = _described(world, fleet, one), _described(world, fleet, other)
        message = f"model {quote(name)} starts {depth:.2f} m deep in {quote(what)}, expected at most {DEEP:g} m"
        problems.error("E894", message, place, "models and what stands start beside one another", also=there)
    problems.raise_if_any()


def _described(world: World, fleet: Fleet, who: Who) -> tuple[str, Location]:
    """Name of a model or an object, and where it is placed."""
    kind, number = who
    if kind == "model":
        model = world.scene.models[number]
        return model.name, model.location
    item = world.scene.actors[fleet.guests[number].row if kind == "guest" else fleet.things[number].row].item
    return item.name, item.location
