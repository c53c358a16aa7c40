"""`Operator`: a controller of a user bound to the controls of one model, its mistakes caught and named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cbsim.errors import did_you_mean
from cbsim.planner.guard import Guard, PlannerError
from cbsim.spec.command import Observation, Puppet
from cbsim.spec.controls import expected
from cbsim.world.world import World

if TYPE_CHECKING:
    from cbsim.world.model_instances import ModelInstance  # whoever has none need not wait for the rigid-body core

__all__ = ["Operator", "puppet_of", "steered"]


@dataclass
class Operator:
    """A controller that works the joysticks, keys and switches of one model.

    Attributes
    ----------
    name : str
        Of the model.
    instance : ModelInstance
        The model.
    planner : object
        With a method `plan`, which takes an `Observation` and returns a mapping from names of controls to numbers, or
        None to leave them; and, if it likes, with a method `start`, as a planner has it, but given a `Puppet`.
    deadline : float
        Wall-clock time for one decision [s].
    patience : float
        Wall-clock time to start [s].
    guard : Guard
        Through which it is called.
    """

    name: str
    instance: ModelInstance
    planner: Any
    deadline: float = 5.0
    patience: float = 60.0
    guard: Guard = field(default_factory=Guard)

    def start(self, world: World) -> None:
        """Introduce the controller to its task, if it wants to know."""
        if callable(getattr(self.planner, "start", None)):
            task = world.scene.mission, world.scene.roadmap, puppet_of(self.instance)
            self.guard.call(self._class, 0.0, self.patience, start, self.planner, *task)

    def decide(self, observation: Observation) -> dict[int, float]:
        """Ask for controls; row in the Snapshot column `controller_state` → value."""
        wanted = self.guard.call(self._class, observation.time, self.deadline, plan, self.planner, observation)
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


def start(planner: Any, mission: Any, network: Any, puppet: Puppet) -> None:
    """Start a controller."""
    planner.start(mission, network, puppet)


def plan(planner: Any, observation: Observation) -> object:
    """Ask a controller."""
    return planner.plan(observation)


def puppet_of(instance: ModelInstance) -> Puppet:
    """Describe a model to its controller."""
    values = {
        name: float(instance.memory[place - instance.controller_rows.start])
        for name, place in instance.controls.items()
    }
    return Puppet(instance.name, tuple(body.name for body in instance.spec.bodies), values)


def steered(world: World) -> Mapping[str, ModelInstance]:
    """Models with controls, by name."""
    return {instance.name: instance for instance in world.instances if instance.controls}
