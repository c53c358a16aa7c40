"""What a thousand waiting events cost in a quiet step; the goal is 20 µs.

Run it:  python -m benchmarks.bench_events
"""

from __future__ import annotations

import time

from cbsim.simulation.advance import advance
from cbsim.spec.events import Condition, Event, Outline, Place
from cbsim.spec.objects import Controller, Kind, ScriptEntry, TrafficObject, Triple
from cbsim.world.compile import compile_world
from cbsim.world.scene import Actor, Scene, Settings
from cbsim.world.world import World

COUNT, STEPS, ROUNDS = 1000, 2560, 5
FAR = Outline((Place(None, 900.0, 0.0), Place(None, 910.0, 0.0), Place(None, 910.0, 9.0), Place(None, 905.0, 12.0)))
KINDS: dict[str, tuple[tuple[str, object], ...]] = {
    "come true": (("at", 0.0),),
    "time": (("at", 1e6),),
    "distance": (("object", "Car 1"), ("to", "Car 2"), ("above", 1e6)),
    "distance, free space": (("object", "Car 1"), ("to", "Car 2"), ("above", 1e6), ("freespace", True)),
    "time_to_collision": (("object", "Car 1"), ("to", "Car 2"), ("below", 1e-9)),
    "speed": (("object", "Car 1"), ("above", 1e3)),
    "standstill": (("object", "Car 1"), ("for", 1e6)),
    "region": (("object", "Car 1"), ("polygon", FAR)),
}


def condition(kind: str) -> Condition:
    return Condition("time" if kind == "come true" else kind.partition(",")[0], KINDS[kind])  # type: ignore[arg-type]


def combined(kind: str) -> Condition:
    """Two conditions of a kind, and a delay."""
    return Condition("after", (("delay", 2.0),), (Condition("all", (), (condition(kind), condition("time"))),))


def world(conditions: list[Condition]) -> World:
    cars = [
        TrafficObject(
            Kind.DYNAMIC,
            f"Car {k}",
            controller=Controller.SCRIPT,
            script=(ScriptEntry(10.0, 0.0, 1e6, 0.0),),
            position_offset=Triple(5.0 * k, 0.0, 0.0),
        )
        for k in (1, 2)
    ]
    events = tuple(Event(f"e{k}", one) for k, one in enumerate(conditions))
    return compile_world(Scene("bench", tuple(Actor(car) for car in cars), settings=Settings(), events=events))


def step_time(made: World) -> float:
    """Shortest mean time of a quiet step [µs]."""
    best = float("inf")
    for _ in range(ROUNDS):
        snapshot = made.start
        advance(made, snapshot, 256)
        began = time.process_time()
        for _ in range(STEPS // 256):
            advance(made, snapshot, 256)
        best = min(best, (time.process_time() - began) / STEPS)
    return 1e6 * best


def main() -> None:
    empty = step_time(world([]))
    print(f"two cars, no events: {empty:.2f} µs a step; a quiet step with {COUNT} events that wait costs more by")
    for kind in KINDS:
        print(f"  {kind:22s} {step_time(world([condition(kind)] * COUNT)) - empty:6.2f} µs")
    mixed = [condition(kind) for k, kind in enumerate(KINDS) for _ in range(COUNT // len(KINDS) + 1)][:COUNT]
    print(f"  {'of all kinds':22s} {step_time(world(mixed)) - empty:6.2f} µs")
    pairs = [combined(kind) for kind in KINDS for _ in range(COUNT // len(KINDS) + 1)][:COUNT]
    print(f"  {'after(all(two))':22s} {step_time(world(pairs)) - empty:6.2f} µs")


if __name__ == "__main__":
    main()
