"""`Driver`: one planner bound to one vehicle, its mistakes caught and named."""

from __future__ import annotations

import importlib
import math
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol

from cbsim.errors import CbsimError, UsageError
from cbsim.spec.command import Command, Observation, Vehicle
from cbsim.spec.drives import DRIVES
from cbsim.spec.objects import Kind, WheelType
from cbsim.vehicle.parameters import PARAMETERS
from cbsim.world.world import World

__all__ = ["Driver", "Planner", "PlannerError", "drivers_of", "find_planner", "vehicle_of"]


class PlannerError(CbsimError):
    """A planner raised, or gave what is not a command: the driver's fault, not the simulator's.

    Parameters
    ----------
    planner : str
        Its class.
    time : float
        Simulated time [s].
    reason : str
        What it did, with its own traceback if it raised.
    """

    def __init__(self, planner: str, time: float, reason: str) -> None:
        self.planner, self.time, self.reason = planner, time, reason
        super().__init__(f"planner '{planner}' failed at t={time:.3f} s: {reason}")


class Planner(Protocol):
    """What a user writes."""

    def start(self, mission: Any, network: Any, vehicle: Vehicle) -> None:
        """Learn the task before the first step.

        Parameters
        ----------
        mission : cbsim.spec.mission.Mission or None
            Checkpoints and speed limits.
        network : cbsim.road.roadmap.RoadMap or None
            Lane curves, matching and the like, in the coordinates of observations.
        vehicle : Vehicle
            Size, wheelbase and limits of what is driven.
        """

    def plan(self, observation: Observation) -> Command:
        """Decide what to do now."""


@dataclass
class Driver:
    """A planner at the wheel of one vehicle.

    Attributes
    ----------
    name : str
        Of the object.
    vehicle : int
        Row in the table of vehicles.
    planner : Planner
    """

    name: str
    vehicle: int
    planner: Planner

    def start(self, world: World) -> None:
        """Introduce the planner to its task."""
        try:
            self.planner.start(world.scene.mission, world.scene.roadmap, vehicle_of(world, self.name))
        except (Exception, SystemExit):
            raise self._failure(0.0, own_traceback()) from None

    def decide(self, observation: Observation) -> tuple[float, ...]:
        """Ask for a command; its numbers as the `command` column of a Snapshot holds them."""
        try:
            command: object = self.planner.plan(observation)
            row = command.row() if isinstance(command, Command) else None
        except (Exception, SystemExit):
            raise self._failure(observation.time, own_traceback()) from None
        if row is None:
            wrong = type(command).__name__
            raise self._failure(observation.time, f"plan() returned {wrong}, expected a Command")
        if not all(map(math.isfinite, row)):
            raise self._failure(observation.time, f"plan() returned a Command that is not finite: {row}")
        return row

    def _failure(self, time: float, reason: str) -> PlannerError:
        return PlannerError(type(self.planner).__name__, time, reason)


def own_traceback() -> str:
    """Format the exception in flight from the planner's own frames on."""
    kind, error, frames = sys.exc_info()
    return "".join(traceback.format_exception(kind, error, frames.tb_next if frames else None)).rstrip()


def vehicle_of(world: World, name: str) -> Vehicle:
    """Describe the vehicle that an object is."""
    number = world.vehicle(name)
    values = dict(zip(PARAMETERS, map(float, world.constants.vehicle_parameters[number]), strict=True))
    told = {field.name: values[field.name] for field in fields(Vehicle) if field.name in values}
    drive, model = list(DRIVES.items())[int(world.constants.vehicle_drive[number])]
    skid = model.wheels is WheelType.SKID
    width, length, height = map(float, world[name].size)
    return Vehicle(name=name, skid=skid, width=width, length=length, height=height, drive=drive, **told)


def find_planner(name: str) -> Planner:
    """Import ``module:Class`` and make one; the working directory counts as a place of modules.

    Raises
    ------
    UsageError
        If there is no such module or class, or it lacks `start` or `plan`.
    PlannerError
        If the module or the class fails on its own account.
    """
    module_name, colon, class_name = name.partition(":")
    if not colon or not module_name or not class_name:
        raise UsageError(f"planner '{name}' is not of the form module:Class")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        maker = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError) as reason:
        raise UsageError(f"planner '{name}' cannot be found: {reason}") from None
    except (Exception, SystemExit):
        raise PlannerError(name, 0.0, own_traceback()) from None
    try:
        made = maker()
    except (Exception, SystemExit):
        raise PlannerError(name, 0.0, own_traceback()) from None
    missing = [method for method in ("start", "plan") if not callable(getattr(made, method, None))]
    if missing:
        raise UsageError(f"planner '{name}' has no method {' and no '.join(missing)}")
    return made  # type: ignore[no-any-return]


def drivers_of(world: World, planner: object = None) -> list[Driver]:
    """Seat planners: those given, else those that the scenario names.

    Parameters
    ----------
    world : World
    planner : object or mapping, optional
        One planner for the first autonomous object, or object name → planner; a text is ``module:Class``.

    Raises
    ------
    UsageError
        If there is no such object, or nobody to drive.
    """
    if planner is None:
        seats: Mapping[str, object] = dict(world.settings.planners)
    else:
        seats = planner if isinstance(planner, Mapping) else {"": planner}
    drivers = []
    for name, who in seats.items():
        seat = name or _first_bot(world)
        drivers.append(Driver(seat, world.vehicle(seat), find_planner(who) if isinstance(who, str) else who))  # type: ignore[arg-type]
    return drivers


def _first_bot(world: World) -> str:
    for body in world:
        if body.kind is Kind.AUTONOMOUS:
            return body.name
    raise UsageError("there is no autonomous object for the planner to drive")
