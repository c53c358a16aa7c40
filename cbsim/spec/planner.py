"""The planner's seat in a scenario: how often a planner is asked, and how late its commands act."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from cbsim.errors import Location
from cbsim.spec.traffic import Spread

__all__ = [
    "COMMAND_LINE",
    "FIDELITIES",
    "MOST_IN_FLIGHT",
    "ON_TIME",
    "PARTS",
    "Seat",
    "SeatError",
    "in_flight",
    "is_external",
    "named_planner",
    "period_steps",
    "seat_errors",
]

COMMAND_LINE = "cmd:"  # before the command line of a planner that is a program
ADDRESSES = ("tcp://", "ipc://")

MOST_IN_FLIGHT = 64  # commands of one vehicle that have been given and do not act yet
ON_TIME = Spread(0.0)
PARTS = ("both", "speed", "steering")  # of the controls of a vehicle
FIDELITIES = ("truth", "visible", "noisy")  # of the objects that a planner is told of
DEVIATIONS = 3.0  # at which a spread is cut


@dataclass(frozen=True, slots=True)
class Seat:
    """How the planner of one vehicle is asked, whoever it is.

    Attributes
    ----------
    name : str
        Of the object; empty for the first bot.
    rate : float or None
        How often it is asked [1/s]; None: in every step.
    latency : Spread
        Time from when it is asked until its command acts [s].
    isolated : bool
        Whether a class runs in a process of its own.
    truth : bool
        Whether the planner is told where its vehicle is; else it knows what its sensors say.
    fidelity : str
        What it is told of objects: one of `FIDELITIES`; empty for nothing.
    drives : str
        Which part of the controls it has: one of `PARTS`; the other part has the shipped driver.
    checkpoint : float or None
        Time between two records of its memory [s]; None: it is not recorded.
    location : Location
        Of its entry.
    """

    name: str = ""
    rate: float | None = None
    latency: Spread = ON_TIME
    isolated: bool = False
    truth: bool = True
    fidelity: str = ""
    drives: str = "both"
    checkpoint: float | None = None
    location: Location = field(default=Location(""), compare=False)


class SeatError(NamedTuple):
    """A value of a seat that does not fit the step: its key, what is wrong, and what would be right."""

    key: str
    message: str
    hint: str


def is_external(planner: str) -> bool:
    """Whether a planner is another program: a command line, or an address at which it is waited for."""
    return planner.startswith((COMMAND_LINE, *ADDRESSES))


def named_planner(text: str) -> tuple[str, str]:
    """Split ``[NAME=]PLANNER`` of a command line; an empty name is the first bot."""
    name, equals, planner = text.partition("=")
    if not equals or is_external(text.lstrip()):
        return "", text.strip()
    return name.strip(), planner.strip()


def period_steps(seat: Seat, step: float) -> int:
    """Count the steps between two decisions: those of the nearest rate that is possible."""
    return 1 if seat.rate is None else max(1, round(1.0 / (seat.rate * step)))


def in_flight(seat: Seat, step: float) -> int:
    """Count the commands that may be in flight at once; 0 if each acts in the step for which it is given."""
    longest = seat.latency.mean + DEVIATIONS * seat.latency.deviation
    steps = math.ceil(longest / step - 1e-9)
    return 0 if steps <= 0 else steps // period_steps(seat, step) + 1


def seat_errors(seat: Seat, step: float) -> list[SeatError]:
    """List what in a seat does not fit steps of a length [s]."""
    found = []
    if seat.rate is not None:
        period = 1.0 / (seat.rate * step)
        steps = period_steps(seat, step)
        if abs(period - steps) > 1e-6 * steps:
            message = f"the rate {seat.rate:g}/s asks every {period:.4g} steps of {step:g} s, not a whole number"
            found.append(SeatError("rate", message, f"the nearest rate is {1.0 / (steps * step):.9g}"))
    count = in_flight(seat, step)
    if count > MOST_IN_FLIGHT:
        longest = (MOST_IN_FLIGHT - 1) * period_steps(seat, step) * step
        message = f"the latency keeps up to {count} commands in flight, more than {MOST_IN_FLIGHT}"
        found.append(SeatError("latency", message, f"at this rate it is at most {longest:g} s, deviations included"))
    return found
