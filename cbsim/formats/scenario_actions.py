"""Keys of a scenario for the actions of events: one class per action, one line each in `ActionModel`."""

from __future__ import annotations

from typing import ClassVar, Literal

from cbsim.formats.scenario_conditions import OneOf
from cbsim.formats.scenario_fields import Model, Name, about

__all__ = ["ActionModel"]


class RunStateModel(Model):
    """Set the emergency stop of an autonomous object: PAUSE brakes as hard as it can and holds, DISABLE for good."""

    object: Name = about("name of the autonomous object")
    state: Literal["RUN", "PAUSE", "DISABLE"] = about("the state", example="PAUSE")


class ActionModel(OneOf):
    """What an event begins: one kind of action with its arguments."""

    what: ClassVar[str] = "an action"

    run_state: RunStateModel | None = about("set the emergency stop of an autonomous object", None)
