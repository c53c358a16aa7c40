"""People of a scenario: the model of an entry of ``people``, its spec, and its text."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from cbsim.errors import Location
from cbsim.formats.scenario.conditions import PlaceField
from cbsim.formats.scenario.fields import Model, Name, Positive, Time, about
from cbsim.formats.scenario.same_names import changed, spec_of
from cbsim.spec.people import WALKING_SPEED, Person

__all__ = ["PersonModel", "person_of", "person_text"]


class PersonModel(Model):
    """Somebody on foot, who walks along points, beside roads and across them."""

    name: Name = about("name, unique in the scenario", example="Ann")
    path: Annotated[list[PlaceField], Field(min_length=2)] = about(
        "where they walk: waypoints, or [x, y]", unit="m", example=[[4, 0], [4, 30], [-4, 30]]
    )
    speed: Positive = about("how fast", WALKING_SPEED, unit="m/s")
    initial_pause: Time = about("wait before they set off", 0.0, unit="s")
    bold: bool = about("they cross at once, without waiting for a gap at a crosswalk", False)


def person_of(model: PersonModel, place: Location) -> Person:
    """Make the spec of an entry."""
    return spec_of(Person, model, location=place)


def person_text(spec: Person) -> dict[str, Any]:
    """Plain values of a person; reading them gives an equal one."""
    return changed(Person("", ()), spec, ("name", "path", "speed", "initial_pause", "bold"))
