"""Forces of a Shift file besides those of joints: restraints and force modules."""

from __future__ import annotations

from dataclasses import dataclass, field

from cbsim.errors import Location
from cbsim.spec.shift.reference import Reference

__all__ = ["Controller", "ForceModule", "Restraint", "Tyre"]

NOWHERE = Location("")


@dataclass(frozen=True, slots=True)
class Restraint:
    """A spring, a damper or friction, by a polynomial in pieces.

    Attributes
    ----------
    kind : str
        ``spring``, ``damper`` or ``friction``.
    joint : tuple of str
        The joint whose coordinate it acts along: names of assemblies, then its own. Empty for a pair of frames.
    pair : (Reference, Reference) or None
        The frames it acts between.
    along : str
        ``x``, ``y`` or ``z`` of the parent's frame; empty for the line between the frames' origins.
    knots : tuple of float
        Where a piece ends and the next begins, to which it belongs [m or rad; m/s or rad/s].
    pieces : tuple of tuple of float
        Coefficients of each piece, of falling powers: f, of which −f acts.
    """

    name: str
    kind: str
    joint: tuple[str, ...] = ()
    pair: tuple[Reference, Reference] | None = None
    along: str = ""
    knots: tuple[float, ...] = ()
    pieces: tuple[tuple[float, ...], ...] = ()
    active: bool = True
    kept: tuple[tuple[str, str], ...] = ()
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Controller:
    """A PID controller: u = p e + i ∫e dt + d ė, e = target − what it watches.

    Attributes
    ----------
    gains : tuple of float
        p, i, d, as the file has them.
    watches_rate : bool
        It watches a velocity, not a position.
    joint : tuple of str
        The joint it watches; empty where it watches a frame.
    frame : Reference or None
        The frame it watches.
    dof : str
        ``Tx`` to ``Rz``: which part of the frame's position or velocity.
    local : bool
        In the frame's own axes, not in those of the ground.
    output : tuple of str
        The joint it drives.
    """

    gains: tuple[float, float, float]
    target: float
    watches_rate: bool
    joint: tuple[str, ...] = ()
    frame: Reference | None = None
    dof: str = ""
    local: bool = True
    output: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tyre:
    """A tyre.

    Attributes
    ----------
    kind : str
        ``fiala``; others are told of by name.
    wheel : tuple of str
        The body that it is on.
    definition : str
        File of its numbers; empty for those that stand here.
    numbers : tuple of (str, float)
        Numbers that the file gives in place.
    """

    kind: str
    wheel: tuple[str, ...] = ()
    definition: str = ""
    numbers: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class ForceModule:
    """A force module of the format's engine; ``law`` is None where there is none here for its kind."""

    name: str
    kind: str
    law: Controller | Tyre | None = None
    active: bool = True
    kept: tuple[tuple[str, str], ...] = ()
    location: Location = field(default=NOWHERE, compare=False)
