"""`Controls`: joysticks, keys and switches of models, worked from the keyboard, with a joystick or by sliders.

What is set here is set in the run, by the same door as `cbsim.steer`: it is recorded, and a replay repeats it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import pygame

from cbsim.simulation.loop import Run
from cbsim.world.world import World

__all__ = ["AXES", "Controls", "Range", "range_of"]

AXES = ("x", "y", "z", "r")  # of a joystick, in the order in which devices count them
SIDES = {"left": ("x", -1.0), "right": ("x", 1.0), "up": ("y", -1.0), "down": ("y", 1.0)}  # forward is y = -1
ENDLESS = 1e6  # a control that is larger, or no number, has no value to speak of
DEAD = 0.08  # of a joystick's way in which it counts as let go


class Range(NamedTuple):
    """Between what and what a slider moves a control, and how its value is told."""

    low: float
    high: float
    text: str

    def said(self, value: float) -> str:
        """Tell a value; one that is no number stands for none."""
        if math.isnan(value):
            return "unset"
        return self.text.format(value) if abs(value) < ENDLESS else "no limit"


RANGES: tuple[tuple[str, Range], ...] = (
    ("speed_factor", Range(-2.0, 2.0, "{:+.0%}")),
    ("joystick", Range(-1.0, 1.0, "{:+.2f}")),
)
"""Beginning of a control's name → its range."""


def range_of(name: str, value: float) -> Range:
    """Range of a control; of one that is not in the table, twice as far as it is at the start, at least 10."""
    own = name.rpartition("/")[2]
    wide = max(10.0, 2.0 * abs(value)) if abs(value) < ENDLESS else 20.0
    return next((found for begin, found in RANGES if own.startswith(begin)), Range(-wide, wide, "{:+.1f}"))


class Controls:
    """Controls of the models of a World, as they are and as they are wanted.

    Attributes
    ----------
    values : dict
        Name of a control → its value.
    """

    def __init__(self, world: World) -> None:
        mind = world.first.columns.controller_state
        self.values = {name: float(mind[place]) for name, place in world.controls.items()}
        self._changed: dict[str, float] = {}
        self._sticks: list[object] = []  # open as long as somebody holds them

    def __bool__(self) -> bool:
        return bool(self.values)

    def put(self, name: str, value: float) -> None:
        """Set a control for the next step, if there is one of that name."""
        if name in self.values and self.values[name] != value:
            self.values[name] = self._changed[name] = value

    def give(self, run: Run) -> None:
        """Hand what has changed to the run."""
        if self._changed:
            run.steer(self._changed)
            self._changed = {}

    @property
    def sliders(self) -> list[str]:
        """Names of controls that are no keys."""
        return [name for name in self.values if not name.rpartition("/")[2].startswith("key.")]

    def key(self, event: pygame.event.Event) -> bool:
        """Take a key that is pressed or let go, alt+arrows for a joystick; whether it works a control."""
        name, down = pygame.key.name(event.key), event.type == pygame.KEYDOWN
        if event.mod & (pygame.KMOD_CTRL | pygame.KMOD_SHIFT | pygame.KMOD_META):
            return False
        if event.mod & pygame.KMOD_ALT and name in SIDES:
            axis, value = SIDES[name]
            return self._put_all(f"joystick1.{axis}", value if down else 0.0)
        return self._put_all(f"key.{name}", float(down))

    def _put_all(self, own: str, value: float) -> bool:
        """Set the controls of that name of all models; whether there is any."""
        names = [name for name in self.values if name.rpartition("/")[2] == own]
        for name in names:
            self.put(name, value)
        return bool(names)

    def open_sticks(self) -> None:
        """Find the joysticks that there are."""
        pygame.joystick.init()
        self._sticks = [pygame.joystick.Joystick(number) for number in range(pygame.joystick.get_count())]

    def stick(self, event: pygame.event.Event) -> None:
        """Take a joystick's motion: the first is ``joystick1``."""
        if event.axis < len(AXES):
            number = getattr(event, "instance_id", getattr(event, "joy", 0))
            self._put_all(f"joystick{number + 1}.{AXES[event.axis]}", 0.0 if abs(event.value) < DEAD else event.value)
