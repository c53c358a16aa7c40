"""Seating: planners bound to vehicles, and controllers to models, each called where its seat says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cbsim.errors import UsageError
from cbsim.planner.driver import Driver, Isolation, default_driven_object, find_planner, start_limit
from cbsim.planner.isolation import PlannerIsolation
from cbsim.planner.operators import Operator, controllable_models
from cbsim.spec.planner import Seat, is_external, period_steps
from cbsim.world.world import World

__all__ = ["drivers_of"]


def drivers_of(
    world: World, planner: object = None, isolation: PlannerIsolation | None = None
) -> list[Driver | Operator]:
    """Bind planners to vehicles, and controllers to models: those given, else those that the scenario names.

    Parameters
    ----------
    world : World
    planner : object or mapping, optional
        One planner for the first autonomous object (or, without any, for the first model with controls), or a mapping
        from names of objects or models to planners; a string is ``module:Class``, ``cmd:./program``
        or ``tcp://127.0.0.1:5555``.
    isolation : PlannerIsolation, optional
        Isolation through which they are called; at its end, their processes end.

    Raises
    ------
    UsageError
        If there is no such object, or no object that a planner can drive.
    """
    if planner is None:
        planners: Mapping[str, object] = dict(world.settings.planners)
    else:
        planners = planner if isinstance(planner, Mapping) else {"": planner}
    isolation = isolation or PlannerIsolation()
    drivers: list[Driver | Operator] = []
    known: dict[int, str] = {}
    for name, who in planners.items():
        object_name = name or default_driven_object(world)
        if object_name is None:
            raise UsageError("there is no autonomous object for the planner to drive, and no model with controls")
        if not isinstance(who, str) and known.setdefault(id(who), object_name) != object_name:
            both = f"'{known[id(who)]}' and '{object_name}'"
            raise UsageError(f"{both} have one planner object between them; give each an instance of its own")
        seated = _operator if object_name in controllable_models(world) else _driver
        drivers.append(seated(world, object_name, who, isolation))
    return drivers


def _operator(world: World, name: str, who: Any, isolation: PlannerIsolation) -> Operator:
    """Bind a controller to a model."""
    deadline = world.settings.deadline
    made: Any = find_planner(who, isolation, start_limit(deadline), ("plan",)) if isinstance(who, str) else who
    return Operator(name, controllable_models(world)[name], made, deadline, start_limit(deadline), isolation)


def _driver(world: World, name: str, who: Any, isolation: PlannerIsolation) -> Driver:
    """Bind a planner to a vehicle."""
    vehicle, deadline = world.vehicle(name), world.settings.deadline
    seats = {seat.name or default_driven_object(world): seat for seat in world.settings.seats}
    seat = seats.get(name, Seat())
    planner, called = _planner(world, seat, name, who, isolation)
    is_late = any(queue.vehicle == vehicle for queue in world.queues)
    driver = Driver(name, vehicle, planner, deadline, called, period_steps(seat, world.step), is_late, seat)
    if seat.checkpoint is not None:
        missing = [method for method in ("save", "restore") if not callable(getattr(planner, method, None))]
        if missing:
            raise UsageError(f"the planner of '{name}' has checkpoints, but no method {' and no '.join(missing)}")
        driver.checkpoint = max(1, round(seat.checkpoint / world.step))
    if seat.drives != "both":
        from cbsim.planner.pilot import Pilot

        driver.partner = Pilot()
    return driver


def _planner(world: World, seat: Seat, name: str, who: Any, isolation: PlannerIsolation) -> tuple[Any, Isolation]:
    """Find a planner, and what it is called through."""
    limit = start_limit(world.settings.deadline)
    if isinstance(who, str) and is_external(who):
        from cbsim.planner.remote.external import ExternalIsolation

        sensors = tuple(one for one in world.sensors if one.body == world[name].row)
        external = ExternalIsolation(who, sensors, (world.step, period_steps(seat, world.step)), limit)
        isolation.on_exit(external.close)
        return external.planner, external
    if not seat.isolated:
        return (find_planner(who, isolation, limit) if isinstance(who, str) else who), isolation
    if not isinstance(who, str):
        raise UsageError(
            f"the planner of '{name}' is isolated, so that it is given as 'module:Class', not as an object"
        )
    from cbsim.planner.remote.isolated import ProcessIsolation

    isolated = ProcessIsolation(who, limit)
    isolation.on_exit(isolated.close)
    return isolated.planner, isolated
