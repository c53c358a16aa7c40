"""Drivers: planners bound to vehicles, with their errors reported as `PlannerError`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

from cbsim.errors import UsageError, did_you_mean
from cbsim.planner.isolation import PlannerError, PlannerIsolation, format_error
from cbsim.planner.operators import controllable_models
from cbsim.planner.read_only import ReadOnlyMapping, ReadOnlyReadings
from cbsim.spec.command import Command, Observation, Vehicle
from cbsim.spec.drives import DRIVES
from cbsim.spec.objects import Controller, Kind, WheelType
from cbsim.spec.planner import Seat
from cbsim.vehicle.parameters import PARAMETERS
from cbsim.world.world import World

__all__ = [
    "Driver",
    "Isolation",
    "Planner",
    "PlannerError",
    "decided",
    "default_driven_object",
    "find_planner",
    "start_limit",
    "vehicle_of",
]


START_FACTOR = 12.0  # time limit for importing, creating and starting a planner, in deadlines of one decision
NOTHING_READ = ReadOnlyMapping({}, ReadOnlyReadings())
_set = object.__setattr__


class Isolation(Protocol):
    """What a planner is called through: `PlannerIsolation`, or another process."""

    def call(self, planner: str, time: float, limit: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function of a planner, as `PlannerIsolation.call`."""


class Planner(Protocol):
    """Interface of a user's planner."""

    def start(self, mission: Any, network: Any, vehicle: Vehicle) -> None:
        """Receive the task before the first step.

        Parameters
        ----------
        mission : cbsim.spec.mission.Mission or None
            Checkpoints and speed limits.
        network : cbsim.road.roadmap.RoadMap or None
            Lane curves, map matching and routes, in the coordinates of observations.
        vehicle : Vehicle
            Size, wheelbase and limits of the vehicle.
        """

    def plan(self, observation: Observation) -> Command:
        """Return the command for the current step."""


@dataclass
class Driver:
    """A planner bound to the vehicle that it drives.

    Attributes
    ----------
    name : str
        Name of the object.
    vehicle : int
        Row in the table of vehicles.
    planner : Planner
    deadline : float
        Wall-clock time limit for one decision [s]; the limit to start is twelve times as long.
    isolation : Isolation
        Isolation through which the planner is called.
    period : int
        Steps between two decisions: it is asked in steps that are a multiple of it.
    is_late : bool
        Whether its commands act later than they are given, so that each is put in flight.
    seat : Seat
        Input of its planner.
    checkpoint : int
        Steps between two checkpoints, at which its memory is recorded; 0 for none.
    partner : Planner or None
        Who has the part of the controls that the planner has not; its input is the ground truth.
    """

    name: str
    vehicle: int
    planner: Planner
    deadline: float = 5.0
    isolation: Isolation = field(default_factory=PlannerIsolation)
    period: int = 1
    is_late: bool = False
    seat: Seat = field(default_factory=Seat)
    checkpoint: int = 0
    partner: Planner | None = None
    read_only: ReadOnlyReadings = field(default_factory=ReadOnlyReadings, init=False, repr=False)

    def start(self, world: World) -> None:
        """Call the planner's `start` with its task."""
        task = world.scene.mission, world.scene.roadmap, vehicle_of(world, self.name)
        if world.scene.roadmap is not None:
            world.scene.roadmap.compile_matching()
        self.isolation.call(self._class, 0.0, start_limit(self.deadline), start, self.planner, *task)
        if self.partner is not None:
            self.partner.start(*task)

    def decide(self, observation: Observation, truth: Observation | None = None) -> tuple[float, ...]:
        """Call the planner's `plan`; return the command as a row of the `command` column of a Snapshot.

        Parameters
        ----------
        observation : Observation
            Input of the planner, for it alone.
        truth : Observation, optional
            Input of a partner.
        """
        scans = observation.scans
        if not getattr(scans, "is_read_only", False):
            scans = ReadOnlyMapping(scans, self.read_only)
        readings = ReadOnlyMapping(observation.readings, self.read_only) if observation.readings else NOTHING_READ
        if self.partner is None:
            known = observation
            if scans is not observation.scans:
                _set(known, "scans", scans)  # nobody else has it; a copy would cost 3 µs
            _set(known, "readings", readings)
        else:
            known = _with_readings(observation, scans, readings)
        name = type(self.planner).__name__
        command = self.isolation.call(name, observation.time, self.deadline, plan, self.planner, known)
        row = decided(name, observation.time, command)
        if self.partner is None:
            return row
        other = self.partner.plan(observation if truth is None else truth).row()
        speed, steering = (row, other) if self.seat.drives == "speed" else (other, row)
        return speed[0], *steering[1:4], *speed[4:]

    @property
    def _class(self) -> str:
        return type(self.planner).__name__


def _with_readings(told: Observation, scans: Mapping[str, Any], readings: Mapping[str, Any]) -> Observation:
    """Make an observation with other scans and readings; `dataclasses.replace` takes twice as long."""
    motion = told.time, told.position, told.heading, told.speed, told.yaw_rate
    mission = told.run_state, told.alarm, told.mission_time, told.restarts, told.checkpoints
    return Observation(*motion, scans, readings, told.state, told.controls, *mission, told.objects)


def decided(planner: str, time: float, command: object) -> tuple[float, ...]:
    """Return what a planner's `plan` returned as a row of the `command` column of a Snapshot.

    Raises
    ------
    PlannerError
        If it is no valid command.
    """
    if not isinstance(command, Command):
        raise PlannerError(planner, time, f"plan() returned {type(command).__name__}, expected a Command")
    try:
        row = Command.row(command)
    except Exception as error:  # the planner modified the Command past its own validation
        raise PlannerError(planner, time, format_error(error)) from None
    throttle, steering, left, right, reverse, handbrake = row
    sound = -1.0 <= throttle <= 1.0 and -1.0 <= steering <= 1.0 and -1.0 <= left <= 1.0 and -1.0 <= right <= 1.0
    if not (sound and -1.0 <= reverse <= 1.0 and -1.0 <= handbrake <= 1.0):  # not sound for NaN, too
        raise PlannerError(planner, time, f"plan() returned a Command with numbers outside -1 to 1: {row}")
    return row


def start(planner: Planner, mission: Any, network: Any, vehicle: Vehicle) -> None:
    """Call `Planner.start`."""
    planner.start(mission, network, vehicle)


def plan(planner: Planner, observation: Observation) -> object:
    """Call `Planner.plan`."""
    return planner.plan(observation)


def start_limit(deadline: float) -> float:
    """Wall-clock time limit for importing, creating and starting a planner, each, by that for one decision [s]."""
    return START_FACTOR * deadline


def vehicle_of(world: World, name: str) -> Vehicle:
    """Describe the vehicle of an object to its planner."""
    number = world.vehicle(name)
    values = dict(zip(PARAMETERS, map(float, world.constants.vehicle_parameters[number]), strict=True))
    limits = {field.name: values[field.name] for field in fields(Vehicle) if field.name in values}
    drive, model = list(DRIVES.items())[int(world.constants.vehicle_drive[number])]
    skid = model.wheels is WheelType.SKID
    width, length, height = map(float, world[name].size)
    return Vehicle(name=name, skid=skid, width=width, length=length, height=height, drive=drive, **limits)


def find_planner(
    name: str,
    isolation: PlannerIsolation | None = None,
    limit: float = 60.0,
    needs: tuple[str, ...] = ("start", "plan"),
) -> Planner:
    """Import ``module:Class`` and create an instance; the working directory is searched for the module, too.

    Parameters
    ----------
    name : str
    isolation : PlannerIsolation, optional
        Isolation through which the planner's own code is called.
    limit : float
        Wall-clock time limit for importing it and for creating it, each [s].
    needs : tuple of str
        Methods that it must have.

    Raises
    ------
    UsageError
        If there is no such module or class, or it lacks a method.
    PlannerError
        If the code of the module or of the class raises.
    """
    module_name, colon, class_name = name.partition(":")
    if not colon or not module_name or not class_name:
        raise UsageError(f"planner '{name}' is not of the form module:Class")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    isolation = isolation or PlannerIsolation()
    module = isolation.call(name, 0.0, limit, load, module_name)
    if module is None:
        where = "in the working directory or among the installed packages"
        raise UsageError(f"planner '{name}' cannot be found: no module named '{module_name}' {where}")
    maker = getattr(module, class_name, None)
    if maker is None:
        near = did_you_mean(class_name, (known for known in vars(module) if not known.startswith("_")))
        hint = f" ({near})" if near else ""
        raise UsageError(f"planner '{name}' cannot be found: '{module_name}' has no '{class_name}'{hint}")
    if not callable(maker):
        raise UsageError(f"planner '{name}' cannot be created: it is of type {type(maker).__name__}, expected a class")
    made = isolation.call(name, 0.0, limit, make, maker)
    missing = [method for method in needs if not callable(getattr(made, method, None))]
    if missing:
        raise UsageError(f"planner '{name}' has no method {' and no '.join(missing)}")
    return made  # type: ignore[no-any-return]


def load(module: str) -> Any:
    """Import a planner's module; None if no module has that name. A missing import inside it raises."""
    importlib.invalidate_caches()
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name is not None and f"{module}.".startswith(f"{missing.name}."):
            return None
        raise


def make(maker: Any) -> Any:
    """Create a planner."""
    return maker()


def default_driven_object(world: World) -> str | None:
    """Name of the first autonomous object that takes commands, else of the first model with controls; else None."""
    for body, actor in zip(world.bodies, world.scene.actors, strict=False):
        if body.kind is Kind.AUTONOMOUS and actor.item.controller is Controller.SENSOR:
            return body.name
    return next(iter(controllable_models(world)), None)
