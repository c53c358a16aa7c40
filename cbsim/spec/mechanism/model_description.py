"""Model descriptions: a mechanism, how it starts and what drives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cbsim.arrays import Floats
from cbsim.spec.mechanism.behaviour import Behaviour, MasslessLinks, Motion
from cbsim.spec.mechanism.bodies import Body
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.model_light import ModelLight

__all__ = ["ModelDescription"]


@dataclass(frozen=True)
class ModelDescription:
    """A mechanism and how it starts.

    Attributes
    ----------
    spec : MechanismSpec
        The mechanism.
    start : mapping
        Name of a joint → coordinates [m or rad] at which it starts, where those are not zero.
    set_down : bool
        Move what is free to rise or fall to where its lowest contact touches, before the start.
    behaviour : Behaviour or None
        Driver of its joints and bodies.
    motion : Motion or None
        Motion in place of the rigid-body core.
    drawn : mapping
        Name of a joint → length and diameter [m] of its drawing in the file; others are scaled to the model.
    state : ndarray, shape (bodies, 13), or None
        Maximal state at the start, in place of `start`, closed loops and `set_down`.
    velocities : mapping or None
        Name of a body → velocity of its centre [m/s], in the world, and turning [rad/s], in its own frame, at the very
        time of the start, at which those that are not named are at rest. None: all were at rest before it, too.
    tolerance : float or None
        Tolerance of the solver's equations [N s, N m s, m]; None for its default.
    most_turn : float or None
        Largest rotation of a body with a behaviour in a step [rad]; bodies that spin faster are slowed down after the
        step. Near 2, a step's rotation no longer determines the momentum. None: unbounded.
    massless_links : MasslessLinks or None
        Links that are not part of the mechanism: drawn and recorded, but not simulated.
    rows : float or None
        Default step of a World with this model alone [s], a multiple of its own; None for its own.
    duration : float or None
        Default duration of a run with this model alone [s]; None if its file has none.
    lights : tuple of ModelLight
        For pictures; a run does not depend on them.
    """

    spec: MechanismSpec
    start: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    set_down: bool = False
    behaviour: Behaviour | None = None
    motion: Motion | None = None
    drawn: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    state: Floats | None = None
    velocities: Mapping[str, tuple[float, ...]] | None = None
    tolerance: float | None = None
    most_turn: float | None = None
    massless_links: MasslessLinks | None = None
    rows: float | None = None
    duration: float | None = None
    lights: tuple[ModelLight, ...] = ()

    @property
    def bodies(self) -> list[Body]:
        """All that have a row in the table of bodies: those of the mechanism, then massless links."""
        return [*self.spec.bodies, *(self.massless_links.bodies if self.massless_links is not None else ())]
