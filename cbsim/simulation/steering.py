"""`steer`: setting joysticks, keys and switches of models between two steps."""

from __future__ import annotations

from collections.abc import Mapping

from cbsim.errors import UsageError, did_you_mean
from cbsim.spec.controls import expected
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World, expect_world

__all__ = ["places_of", "steer"]


def steer(world: World, snapshot: Snapshot, controls: Mapping[str, float]) -> Snapshot:
    """Set controls of models; the given Snapshot is unchanged.

    Parameters
    ----------
    world : World
    snapshot : Snapshot
    controls : mapping
        Name of a control, as in `World.controls` → value, held until it is set again.

    Raises
    ------
    UsageError
        If there is no such control, or its value is out of range.
    """
    expect_world(world, "steer").require(snapshot)
    following = snapshot.copy()
    for place, value in places_of(world, controls).items():
        following.columns.controller_state[place] = value
    return following


def places_of(world: World, controls: Mapping[str, float]) -> dict[int, float]:
    """Look up the rows of controls in the column `controller_state`; raises UsageError as `steer` does."""
    known, found = world.controls, dict[int, float]()
    for name, value in controls.items():
        if name not in known:
            there = ", ".join(known)[:400] or "none"
            hint = did_you_mean(name, known)
            raise UsageError(f"no control '{name}'; there is {there}" + (f" ({hint})" if hint else ""))
        if wanted := expected(name, value):
            raise UsageError(f"control '{name}' is {value!r}, expected {wanted}")
        found[known[name]] = float(value)
    return found
