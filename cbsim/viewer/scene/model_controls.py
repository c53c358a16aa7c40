"""Model inputs controlled from the keyboard, joysticks or sliders.

Values are applied with `Run.steer`, as `cbsim.steer` does, so they are recorded and a replay repeats them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import pygame

from cbsim.simulation.loop import Run
from cbsim.world.world import World

__all__ = ["AXES", "ModelControls", "Range", "range_of"]

AXES = ("x", "y", "z", "r")  # joystick axes, in device order
ARROWS = {"left": ("x", -1.0), "right": ("x", 1.0), "up": ("y", -1.0), "down": ("y", 1.0)}  # forward is y = -1
UNLIMITED = 1e6  # larger values, and values that are not finite, are not displayed as numbers
DEAD_ZONE = 0.08  # dead zone as a fraction of a joystick's range


class Range(NamedTuple):
    """Range of a slider and the format of its value."""

    low: float
    high: float
    text: str

    def format(self, value: float) -> str:
        """Format a value; nan means unset."""
        if math.isnan(value):
            return "unset"
        return self.text.format(value) if abs(value) < UNLIMITED else "no limit"


RANGES: tuple[tuple[str, Range], ...] = (
    ("speed_factor", Range(-2.0, 2.0, "{:+.0%}")),
    ("joystick", Range(-1.0, 1.0, "{:+.2f}")),
)
"""Prefix of a control's name → its range."""


def range_of(name: str, value: float) -> Range:
    """Return the range of a control; by default ± twice its initial value, at least ± 10."""
    own = name.rpartition("/")[2]
    wide = max(10.0, 2.0 * abs(value)) if abs(value) < UNLIMITED else 20.0
    return next((found for begin, found in RANGES if own.startswith(begin)), Range(-wide, wide, "{:+.1f}"))


class ModelControls:
    """Current and pending values of the controls of a World's models.

    Attributes
    ----------
    values : dict
        Name of a control → its value.
    """

    def __init__(self, world: World) -> None:
        mind = world.first.columns.controller_state
        self.values = {name: float(mind[place]) for name, place in world.controls.items()}
        self._changed: dict[str, float] = {}
        self._joysticks: list[object] = []  # joysticks stay open while referenced

    def __bool__(self) -> bool:
        return bool(self.values)

    def set(self, name: str, value: float) -> None:
        """Set a control for the next step, if it exists."""
        if name in self.values and self.values[name] != value:
            self.values[name] = self._changed[name] = value

    def apply(self, run: Run) -> None:
        """Apply changed values to a run."""
        if self._changed:
            run.steer(self._changed)
            self._changed = {}

    @property
    def sliders(self) -> list[str]:
        """Names of the controls that are not keys."""
        return [name for name in self.values if not name.rpartition("/")[2].startswith("key.")]

    def handle_key(self, event: pygame.event.Event) -> bool:
        """Handle a key press or release (alt + arrow: joystick); returns whether it is bound to a control."""
        name, down = pygame.key.name(event.key), event.type == pygame.KEYDOWN
        if event.mod & (pygame.KMOD_CTRL | pygame.KMOD_SHIFT | pygame.KMOD_META):
            return False
        if event.mod & pygame.KMOD_ALT and name in ARROWS:
            axis, value = ARROWS[name]
            return self._set_all(f"joystick1.{axis}", value if down else 0.0)
        return self._set_all(f"key.{name}", float(down))

    def _set_all(self, own: str, value: float) -> bool:
        """Set all models' controls of a name; returns whether there are any."""
        names = [name for name in self.values if name.rpartition("/")[2] == own]
        for name in names:
            self.set(name, value)
        return bool(names)

    def open_joysticks(self) -> None:
        """Open all connected joysticks."""
        pygame.joystick.init()
        self._joysticks = [pygame.joystick.Joystick(number) for number in range(pygame.joystick.get_count())]

    def handle_joystick(self, event: pygame.event.Event) -> None:
        """Handle a joystick event; the first device is ``joystick1``."""
        if event.axis < len(AXES):
            number = getattr(event, "instance_id", getattr(event, "joy", 0))
            self._set_all(
                f"joystick{number + 1}.{AXES[event.axis]}", 0.0 if abs(event.value) < DEAD_ZONE else event.value
            )
