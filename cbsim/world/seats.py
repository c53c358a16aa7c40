"""Seats of planners: the vehicles that they belong to, and whether they fit the step of the run."""

from __future__ import annotations

from cbsim.errors import ModelError
from cbsim.spec.objects import Controller, Kind, WheelType
from cbsim.spec.planner import Seat, seat_errors
from cbsim.world.bodies import Bodies
from cbsim.world.scene import Scene

__all__ = ["seats_of"]


def seats_of(scene: Scene, vehicles: list[int], bodies: Bodies) -> dict[int, tuple[str, Seat]]:
    """Find the vehicles of all seats: row in the table of vehicles → name of the object, and seat.

    Raises
    ------
    ModelError
        If a seat is not that of a vehicle, or does not fit the step of the run.
    """
    items = [scene.actors[row].item for row in vehicles]
    bots = [
        row
        for row, item in zip(vehicles, items, strict=True)
        if item.kind is Kind.AUTONOMOUS and item.controller is Controller.SENSOR
    ]
    found: dict[int, tuple[str, Seat]] = {}
    for seat in scene.settings.seats:
        row = bodies.row(seat.name) if seat.name else next(iter(bots), None)
        subject = f"planner of '{seat.name}'" if seat.name else "planner of the first bot"
        place = seat.location if seat.location.path else None
        if row is None or row not in vehicles:
            reason = "it has a seat's keys, such as rate and latency, which only planners of vehicles have"
            raise ModelError(reason, subject=subject, location=place)
        if seat.drives != "both" and scene.roadmap is None:
            raise ModelError(
                f"it drives {seat.drives} alone, and the rest needs a road", subject=subject, location=place
            )
        wheels = scene.actors[row].item.wheels
        if seat.drives != "both" and wheels is not None and wheels.type is WheelType.SKID:
            reason = f"it drives {seat.drives} alone, but levers of skid wheels have both speed and steering"
            raise ModelError(reason, subject=subject, location=place)
        for error in seat_errors(seat, scene.settings.step):
            raise ModelError(f"{error.message}; {error.hint}", subject=subject, location=place)
        found[vehicles.index(row)] = bodies[row].name, seat
    return found
