"""Controls of a Juice model: joysticks, keys, and the slider of the engine's speed, with their columns."""

from __future__ import annotations

from cbsim.spec.juice import Source

__all__ = ["CONTROLS", "MEMORY", "PHASE", "SOURCES", "SPEED", "TIME"]

AXES = tuple(f"joystick{k}.{axis}" for k in (1, 2) for axis in "xyzr")
KEYS = tuple(f"key.{name}" for name in ("up", "down", "left", "right"))

PHASE, TIME, SPEED = 0, 1, 2  # places in the memory: of the main engine's phase [rad], the time it is of [s], its speed
CONTROLS: dict[str, int] = {"speed_factor": SPEED, **{name: 3 + k for k, name in enumerate((*AXES, *KEYS))}}
"""Control → its place in the memory. Joysticks go from −1 to 1, forward is y = −1; keys are 0 or 1."""

MEMORY = 3 + len(AXES) + len(KEYS)

SOURCES: dict[int, tuple[int, int]] = {
    **{Source.JOYSTICK1_X + k: (CONTROLS[f"joystick1.{axis}"], -1) for k, axis in enumerate("xyzr")},
    **{Source.JOYSTICK2_X + k: (CONTROLS[f"joystick2.{axis}"], -1) for k, axis in enumerate("xyzr")},
    Source.KEY_UP_DOWN: (CONTROLS["key.down"], CONTROLS["key.up"]),
    Source.KEY_LEFT_RIGHT: (CONTROLS["key.right"], CONTROLS["key.left"]),
}
"""Source → the place of what it is, and of what is taken off it (−1 for nothing)."""
