"""Keys of a scenario for planners: who sits at the wheel, how often it is asked, and how late its commands act."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from cbsim.errors import Location
from cbsim.formats.scenario.fields import Contradiction, Model, PlannerName, Positive, ShortForm, about, wrong
from cbsim.formats.scenario.rules import one_of
from cbsim.formats.scenario.same_names import changed, spec_of
from cbsim.formats.scenario.traffic import SpreadModel
from cbsim.spec.planner import COMMAND_LINE, Seat, is_external

__all__ = ["PlannerModel", "planner_text", "seat_of"]

NUMBER = {"type": "number"}


def _latency(spread: SpreadModel) -> SpreadModel:
    mean, deviation = spread.normal
    if mean < 0.0 or deviation < 0.0:
        raise wrong(f"a latency is {mean:g} s with deviation {deviation:g} s, expected at least 0")
    return spread


Latency = Annotated[SpreadModel, AfterValidator(_latency), ShortForm(**NUMBER)]
Rate = Annotated[Positive, Field(le=1e6)]
Program = Annotated[str, Field(pattern=r"\S", max_length=1000)]


class PlannerModel(Model):
    """A planner, and how it is asked."""

    short = "class"

    planner: PlannerName | None = about(
        "module:Class; or tcp://ADDRESS:PORT, where a program is waited for",
        None,
        alias="class",
        example="my_planner:Planner",
    )
    cmd: Program | None = about("in place of a class: the command line of a program", None, example="./my_planner")
    rate: Rate | None = about(
        "how often it is asked; by default in every step, of which its period is a whole number",
        None,
        unit="1/s",
        example=10.0,
    )
    latency: Latency | None = about(
        "time from when it is asked until its command acts; a number, or {normal: [mean, deviation]}",
        None,
        unit="s",
        example=0.08,
    )
    isolated: bool = about("whether the class runs in a process of its own", False)
    truth: bool = about("whether it is told where it is; else it knows what its sensors say", True)
    fidelity: Literal["truth", "visible", "noisy"] | None = about(
        "what it is told of objects: all, those that a sensor can see, or these with errors; by default none",
        None,
    )

    drives: Literal["both", "speed", "steering"] = about(
        "which part of the controls it has; the other part has the shipped driver", "both"
    )

    checkpoint: Positive | None = about(
        "time between two records of its memory, which its methods save and restore make and take",
        None,
        unit="s",
        example=10.0,
    )

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Either a class or a program, which is in a process of its own anyhow."""
        yield from one_of(data, "class", "cmd")
        if data.get("checkpoint") is not None and data.get("drives", "both") != "both":
            yield ("checkpoint",), "'checkpoint' needs a whole driver: 'drives' leaves a part to another one"
        planner = data.get("class")
        is_program = isinstance(planner, str) and is_external(planner)
        if data.get("isolated") is True and (is_program or data.get("cmd") is not None):
            yield ("isolated",), "'isolated' is for classes; a program runs in its own process anyhow"

    @property
    def seated(self) -> str:
        """The planner as ``--planner`` names it."""
        return f"{COMMAND_LINE}{self.cmd}" if self.planner is None else self.planner


def seat_of(name: str, model: PlannerModel, place: Location) -> Seat | None:
    """Make the spec of a seat; None where the file says nothing about it."""
    seat = spec_of(Seat, model, name=name, location=place)
    return None if seat == Seat(name) else seat


def planner_text(planner: str, seat: Seat | None) -> object:
    """Spell a planner as the file has it: its short form, if there is nothing else to say."""
    if seat is None:
        return planner
    keys = ("rate", "latency", "isolated", "truth", "fidelity", "drives", "checkpoint")
    return {"class": planner} | changed(Seat(), seat, keys)
