"""Operators: users' controllers bound to the controls of models, with their errors reported as `PlannerError`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cbsim.errors import did_you_mean
from cbsim.planner.isolation import PlannerError, PlannerIsolation
from cbsim.spec.command import ControlledModel, Observation
from cbsim.spec.controls import expected
from cbsim.world.world import World

if TYPE_CHECKING:
    from cbsim.world.model_instances import ModelInstance  # without models, the rigid-body core is not imported

__all__ = ["Operator", "controllable_models", "controlled_model"]


@dataclass
class Operator:
    """A controller bound to the joysticks, keys and switches of one model.

    Attributes
    ----------
    name : str
        Name of the model.
    instance : ModelInstance
        The model.
    planner : object
        Object with a method `plan`, which takes an `Observation` and returns a mapping from names of controls to
        numbers, or None to leave them unchanged; and optionally with a method `start`, as a planner has it, which takes
        a `ControlledModel` in place of a `Vehicle`.
    deadline : float
        Wall-clock time limit for one decision [s].
    start_deadline : float
        Wall-clock time limit to start [s].
    isolation : PlannerIsolation
        Isolation through which it is called.
    period : int
        Steps between two decisions.
    """

    name: str
    instance: ModelInstance
    planner: Any
    deadline: float = 5.0
    start_deadline: float = 60.0
    isolation: PlannerIsolation = field(default_factory=PlannerIsolation)
    period: int = 1

    def start(self, world: World) -> None:
        """Call the controller's `start`, if it has one, with its task."""
        if callable(getattr(self.planner, "start", None)):
            task = world.scene.mission, world.scene.roadmap, controlled_model(self.instance)
            self.isolation.call(self._class, 0.0, self.start_deadline, start, self.planner, *task)

    def decide(self, observation: Observation) -> dict[int, float]:
        """Call the controller's `plan`; return index in the Snapshot's column of controller state → value."""
        wanted = self.isolation.call(self._class, observation.time, self.deadline, plan, self.planner, observation)
        places, found = self.instance.controls, dict[int, float]()
        try:
            pairs = [] if wanted is None else list(dict(wanted).items())
        except (TypeError, ValueError):
            what = f"plan() returned {type(wanted).__name__}, expected a mapping from names of controls to numbers"
            raise PlannerError(self._class, observation.time, what) from None
        for name, value in pairs:
            if not isinstance(name, str) or name not in places:
                reason = f"the model has no control {name!r}; there is {', '.join(places)} "
                hint = did_you_mean(str(name), places)
                raise PlannerError(self._class, observation.time, (reason + (hint and f"({hint})")).rstrip())
            if wanted := expected(name, value):
                reason = f"plan() set '{name}' to {value!r}, expected {wanted}"
                raise PlannerError(self._class, observation.time, reason)
            found[places[name]] = float(value)
        return found

    @property
    def _class(self) -> str:
        return type(self.planner).__name__


def start(planner: Any, mission: Any, network: Any, controlled: ControlledModel) -> None:
    """Call the controller's `start`."""
    planner.start(mission, network, controlled)


def plan(planner: Any, observation: Observation) -> object:
    """Call the controller's `plan`."""
    return planner.plan(observation)


def controlled_model(instance: ModelInstance) -> ControlledModel:
    """Describe a model to its controller."""
    values = {
        name: float(instance.memory[place - instance.controller_rows.start])
        for name, place in instance.controls.items()
    }
    return ControlledModel(instance.name, tuple(body.name for body in instance.spec.bodies), values)


def controllable_models(world: World) -> Mapping[str, ModelInstance]:
    """Models with controls, by name."""
    return {instance.name: instance for instance in world.instances if instance.controls}
