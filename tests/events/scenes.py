"""Small Worlds with events, and runs that are restored before, at and after them."""

from __future__ import annotations

from typing import Any

import numpy as np

from cbsim.road.roadmap import build
from cbsim.simulation.advance import advance
from cbsim.spec.events import Action, Condition, Event
from cbsim.spec.road import RoadNetwork
from cbsim.spec.traffic import Pool
from cbsim.world.compile import compile_world
from cbsim.world.scene import Actor, Scene, Settings
from cbsim.world.world import World


def when(kind: str, *parts: Condition, **arguments: Any) -> Condition:
    """A condition; `for_` and `with_` stand for keywords of Python."""
    return Condition(kind, _plain(arguments), parts)


def do(kind: str, **arguments: Any) -> Action:
    return Action(kind, _plain(arguments))


def _plain(arguments: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple((name.rstrip("_"), value) for name, value in arguments.items())


def world(*actors: Actor, events: tuple[Event, ...] = (), network: RoadNetwork | None = None, **others: Any) -> World:
    pools: tuple[Pool, ...] = others.pop("pools", ())
    models, lights, drivers = others.pop("models", ()), others.pop("lights", ()), others.pop("drivers", ())
    roadmap = None if network is None else build(network)
    return compile_world(
        Scene(
            "test",
            actors,
            roadmap,
            settings=Settings(**others),
            events=events,
            pools=pools,
            models=models,
            lights=lights,
            drivers=drivers,
        )
    )


def came_true(made: World, duration: float) -> dict[str, float]:
    """Times at which events come true in a run [s]."""
    snapshot = made.start
    advance(made, snapshot, round(duration / made.step))
    steps = zip(made.events.names, snapshot.columns.event.tolist(), strict=True)
    return {name: step * made.step for name, step in steps if step >= 0}


def check_restores(made: World, duration: float, spread: int = 1) -> None:
    """Whether a run from a restored Snapshot goes on with the same bits: before, at and after every event."""
    steps, snapshot = round(duration / made.step), made.start
    whole, _, _ = advance(made, snapshot, steps)
    events = [step for step in snapshot.columns.event.tolist() if step >= 0]
    assert events
    wanted = {max(step + k, 0) for step in events for k in range(-spread, spread + 2)}
    single = made.start
    for step in range(steps):
        if step in wanted:
            again = made.restore(single.to_bytes())
            assert again.hash == single.hash
            hashes, _, _ = advance(made, again, steps - step)
            assert np.array_equal(hashes, whole[step:]), step
        hashes, _, _ = advance(made, single, 1)
        assert hashes[0] == whole[step]
