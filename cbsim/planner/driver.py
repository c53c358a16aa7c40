"""`Driver`: one planner bound to one vehicle, its mistakes caught and named."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Protocol

from cbsim.errors import UsageError, did_you_mean
from cbsim.planner.guard import Guard, PlannerError, told
from cbsim.planner.operators import Operator, steered
from cbsim.planner.sealed import Sealed
from cbsim.spec.command import Command, Observation, Vehicle
from cbsim.spec.drives import DRIVES
from cbsim.spec.objects import Controller, Kind, WheelType
from cbsim.vehicle.parameters import PARAMETERS
from cbsim.world.world import World

__all__ = ["Driver", "Planner", "PlannerError", "drivers_of", "find_planner", "first_seat", "vehicle_of"]


START = 12.0  # times as long as for a decision may importing, making and starting a planner take


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
    deadline : float
        Wall-clock time for one decision [s]; twelve times as long to start.
    guard : Guard
        Through which it is called.
    """

    name: str
    vehicle: int
    planner: Planner
    deadline: float = 5.0
    guard: Guard = field(default_factory=Guard)
    sealed: Sealed = field(default_factory=Sealed, init=False, repr=False)

    def start(self, world: World) -> None:
        """Introduce the planner to its task."""
        task = world.scene.mission, world.scene.roadmap, vehicle_of(world, self.name)
        self.guard.call(self._class, 0.0, START * self.deadline, start, self.planner, *task)

    def decide(self, observation: Observation) -> tuple[float, ...]:
        """Ask for a command; its numbers as the `command` column of a Snapshot holds them."""
        scans = {key: self.sealed(key, scan) for key, scan in observation.scans.items()}
        readings = {key: self.sealed(key, reading) for key, reading in observation.readings.items()}
        known = replace(observation, scans=scans, readings=readings) if scans or readings else observation
        command = self.guard.call(self._class, observation.time, self.deadline, plan, self.planner, known)
        if not isinstance(command, Command):
            wrong = type(command).__name__
            raise PlannerError(self._class, observation.time, f"plan() returned {wrong}, expected a Command")
        try:
            row = Command.row(command)
        except Exception as error:  # somebody wrote into it past its own checks
            raise PlannerError(self._class, observation.time, told(error)) from None
        if not all(abs(number) <= 1.0 for number in row):  # false for what is not a number, too
            reason = f"plan() returned a Command with numbers that are not from -1 to 1: {row}"
            raise PlannerError(self._class, observation.time, reason)
        return row

    @property
    def _class(self) -> str:
        return type(self.planner).__name__


def start(planner: Planner, mission: Any, network: Any, vehicle: Vehicle) -> None:
    """Start a planner."""
    planner.start(mission, network, vehicle)


def plan(planner: Planner, observation: Observation) -> object:
    """Ask a planner."""
    return planner.plan(observation)


def vehicle_of(world: World, name: str) -> Vehicle:
    """Describe the vehicle that an object is."""
    number = world.vehicle(name)
    values = dict(zip(PARAMETERS, map(float, world.constants.vehicle_parameters[number]), strict=True))
    told = {field.name: values[field.name] for field in fields(Vehicle) if field.name in values}
    drive, model = list(DRIVES.items())[int(world.constants.vehicle_drive[number])]
    skid = model.wheels is WheelType.SKID
    width, length, height = map(float, world[name].size)
    return Vehicle(name=name, skid=skid, width=width, length=length, height=height, drive=drive, **told)


def find_planner(
    name: str, guard: Guard | None = None, limit: float = 60.0, needs: tuple[str, ...] = ("start", "plan")
) -> Planner:
    """Import ``module:Class`` and make one; the working directory counts as a place of modules.

    Parameters
    ----------
    name : str
    guard : Guard, optional
        Through which the planner's own code is called.
    limit : float
        Longest wall-clock time for each of importing and making it [s].
    needs : tuple of str
        Methods that it must have.

    Raises
    ------
    UsageError
        If there is no such module or class, or it lacks a method.
    PlannerError
        If the module or the class fails on its own account.
    """
    module_name, colon, class_name = name.partition(":")
    if not colon or not module_name or not class_name:
        raise UsageError(f"planner '{name}' is not of the form module:Class")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    guard = guard or Guard()
    module = guard.call(name, 0.0, limit, load, module_name)
    if module is None:
        where = "in the working directory or among installed ones"
        raise UsageError(f"planner '{name}' cannot be found: no module named '{module_name}' {where}")
    maker = getattr(module, class_name, None)
    if maker is None:
        near = did_you_mean(class_name, (known for known in vars(module) if not known.startswith("_")))
        hint = f" ({near})" if near else ""
        raise UsageError(f"planner '{name}' cannot be found: '{module_name}' has no '{class_name}'{hint}")
    if not callable(maker):
        raise UsageError(f"planner '{name}' cannot be made: it is a {type(maker).__name__}, expected a class")
    made = guard.call(name, 0.0, limit, make, maker)
    missing = [method for method in needs if not callable(getattr(made, method, None))]
    if missing:
        raise UsageError(f"planner '{name}' has no method {' and no '.join(missing)}")
    return made  # type: ignore[no-any-return]


def load(module: str) -> Any:
    """Import a planner's module; None if there is none of that name, rather than one that it imports in turn."""
    importlib.invalidate_caches()
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name is not None and f"{module}.".startswith(f"{missing.name}."):
            return None
        raise


def make(maker: Any) -> Any:
    """Make a planner."""
    return maker()


def drivers_of(world: World, planner: object = None, guard: Guard | None = None) -> list[Driver | Operator]:
    """Seat planners, and controllers of models: those given, else those that the scenario names.

    Parameters
    ----------
    world : World
    planner : object or mapping, optional
        One for the first autonomous object (without any, for the first model with controls), or name of an object or a
        model → planner; a text is ``module:Class``.
    guard : Guard, optional
        Through which they are called.

    Raises
    ------
    UsageError
        If there is no such object, or nobody to drive.
    """
    if planner is None:
        seats: Mapping[str, object] = dict(world.settings.planners)
    else:
        seats = planner if isinstance(planner, Mapping) else {"": planner}
    guard, deadline = guard or Guard(), world.settings.deadline
    drivers: list[Driver | Operator] = []
    for name, who in seats.items():
        seat = name or first_seat(world)
        if seat is None:
            raise UsageError("there is no autonomous object for the planner to drive, and no model with controls")
        instance = steered(world).get(seat)
        vehicle = world.vehicle(seat) if instance is None else 0
        needs = ("start", "plan") if instance is None else ("plan",)
        made: Any = find_planner(who, guard, START * deadline, needs) if isinstance(who, str) else who
        if instance is None:
            drivers.append(Driver(seat, vehicle, made, deadline, guard))
        else:
            drivers.append(Operator(seat, instance, made, deadline, START * deadline, guard))
    return drivers


def first_seat(world: World) -> str | None:
    """Name the first autonomous object that takes commands, else the first model with controls; None where is none."""
    for body, actor in zip(world.bodies, world.scene.actors, strict=False):
        if body.kind is Kind.AUTONOMOUS and actor.item.controller is Controller.SENSOR:
            return body.name
    return next(iter(steered(world)), None)
