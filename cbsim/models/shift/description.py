"""Descriptions of Shift models, by options given as text: ``--set upright=false``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import Location, ModelError, Problems
from cbsim.formats.triangles import MeshData
from cbsim.geometry.elementary import square
from cbsim.geometry.linear import times
from cbsim.models.settings import Settings
from cbsim.models.shift.assembly import Assembled, assemble
from cbsim.models.shift.behaviour import Driver, ShiftBehaviour
from cbsim.models.shift.build import Built, Names, build
from cbsim.models.shift.compliance import Yielding
from cbsim.models.shift.drivers import Binder, needed_by, tyre_files
from cbsim.models.shift.ground import terrain_of
from cbsim.models.shift.laws import Laws, laws_of
from cbsim.models.shift.lights import lights_of
from cbsim.models.shift.massless_links import massless_links_of
from cbsim.models.shift.meshes import read_meshes
from cbsim.models.shift.restraints import gathered
from cbsim.models.shift.solids import colliders_of, shapes_of, tell_untouched, touches
from cbsim.models.shift.timestep import pace, shares_of
from cbsim.models.shift.upright import upright as turn_of
from cbsim.paths import Files
from cbsim.spec.mechanism.colliders import Collider
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.shift.model import ShiftModel

__all__ = ["OPTIONS", "describe", "description_of"]

FRICTION = 0.5
OPTIONS = {
    "upright": "turn the model so that its gravity is along -z: true, false",
    "inertia_about": "what moments of inertia are about: com, origin",
    "friction": "coefficient of friction of what touches, at least 0",
    "contacts": "whether collision geometry touches: true, false",
    "substeps": "steps of the model in one that is asked for, at least 1",
}
"""Option → what it means."""

ROUNDED = 20.0  # largest gap of a loop in motion, relative to that by the digits of its file at the start
NOISE = 2e-12  # residual of equations by rounding, relative to mass times size per step


def describe(
    model: ShiftModel,
    settings: Mapping[str, str],
    timestep: float,
    folder: Path,
    files: Files,
    problems: Problems,
    *,
    strict: bool = False,
) -> ModelDescription:
    """Describe a model without errors, as `cbsim.models` specifies, with a fraction of the step if it is stiff or fast.

    Raises
    ------
    UsageError
        If there is no such option, or its text is not a value of it.
    ModelError
        If there is nothing to simulate.
    """
    return description_of(model, timestep, folder, files, problems, strict=strict, **_options(settings))


def description_of(  # noqa: PLR0913 (its options)
    model: ShiftModel,
    timestep: float,
    folder: Path,
    files: Files,
    problems: Problems,
    *,
    strict: bool = False,
    upright: bool = True,
    inertia_about: str = "com",
    friction: float = FRICTION,
    contacts: bool = True,
    substeps: int = 0,
) -> ModelDescription:
    """Make a description of a model.

    Parameters
    ----------
    model, timestep, folder, files, problems, strict
        As `describe`.
    upright, inertia_about, friction, contacts, substeps
        `OPTIONS`; 0 substeps are as many as the model needs.
    """
    told = Problems()  # reading told of these already
    assembled = assemble(model, told)
    if assembled is None:
        raise ModelError("has nothing to simulate: " + _first_error(told), location=model.location)
    turn = turn_of(model.gravity) if upright else np.eye(3)
    laws, between = laws_of(assembled, told)
    meshes = read_meshes(model, assembled.network, folder, files, problems, strict=strict)
    needed, shapes = needed_by(assembled.network), shapes_of(assembled, meshes)
    about_origin = inertia_about == "origin"

    def put_together(shares: Mapping[int, float], problems: Problems) -> tuple[Built, list[Driver]]:
        built = build(assembled, turn, laws, shapes, needed, about_origin=about_origin, shares=shares)
        binder = Binder(assembled, built, turn, told, tyre_files(model, folder, files, problems))
        return built, binder.drivers(laws, between)

    built, drivers = put_together({}, problems)
    if told.errors:
        raise ModelError(_first_error(told), location=told.errors[0].location)
    drivers, needs, implicit = _paced(assembled, built, laws, drivers, timestep)
    step = timestep / (substeps or needs)
    shares = shares_of(assembled, laws, step)
    if shares:
        built, drivers = put_together(shares, told)
        drivers = _gathered(drivers, built) if implicit else drivers
    touching: list[Collider] = []
    if contacts and touches(model):
        tell_untouched(assembled, meshes, problems)
        touching = _touching(assembled, built, meshes, turn, friction, folder, files, problems)
    _tell_made(built, step, model.location, problems, is_shorter=needs > 1 and not substeps)
    spec = MechanismSpec(
        built.origin, list(built.bodies.values()), built.joints, timestep=step,
        gravity=times(turn, np.array(model.gravity, float)), colliders=touching,
    )  # fmt: skip
    return ModelDescription(
        spec, built.start, behaviour=ShiftBehaviour(drivers, step) if drivers else None, velocities=built.velocities,
        tolerance=_tolerance(assembled, built, step, touching=bool(touching)),
        massless_links=massless_links_of(assembled, built, shapes, turn, _names(built, touching)),
        rows=model.simulation.step, duration=model.simulation.span, lights=lights_of(assembled, built, turn),
    )  # fmt: skip


def _touching(
    assembled: Assembled,
    built: Built,
    meshes: Mapping[str, MeshData],
    turn: Floats,
    friction: float,
    folder: Path,
    files: Files,
    problems: Problems,
) -> list[Collider]:
    """Build colliders of bodies with collision geometry, and of terrain."""
    names = _names(built)
    bodies = colliders_of(assembled, built, meshes, turn, friction, names)
    return bodies + terrain_of(assembled, built, turn, friction, folder, files, problems, names) if bodies else []


def _paced(
    assembled: Assembled, built: Built, laws: Mapping[int, Laws], drivers: list[Driver], timestep: float
) -> tuple[list[Driver], int, bool]:
    """Say how many steps make one [s]: with strong dampers made implicit, where that is worth what it takes.

    Computing the compliance of the mechanism takes about as long as that many steps.
    """
    count, implicit = pace(assembled, built, laws, drivers, timestep), _gathered(drivers, built)
    fewer = pace(assembled, built, laws, implicit, timestep)
    worth = fewer * square(1.0 + len(built.bodies) / 4.0) < count
    return (implicit, fewer, True) if worth else (drivers, count, False)


def _gathered(drivers: list[Driver], built: Built) -> list[Driver]:
    return gathered(drivers, Yielding(list(built.bodies.values()), built.joints))


def _first_error(problems: Problems) -> str:
    return problems.errors[0].message if problems.errors else "no body is active"


def _names(built: Built, touching: Sequence[Collider] = ()) -> Names:
    """Names that are not in use."""
    names = Names()
    named = (*built.bodies.values(), *built.joints, *touching)
    names.taken |= {one.name for one in named}
    return names


def _tell_made(built: Built, step: float, place: Location, problems: Problems, *, is_shorter: bool) -> None:
    """Report what a file does not say: the mass of bodies without any, and steps that are shorter than asked for."""
    if built.light:
        text = f"bodies without mass have {built.light:.2g} kg each, a billionth of the lightest that has some"
        problems.info("I996", text, place)
    if is_shorter:
        text = f"the model takes steps of {step:.3g} s, for how fast it turns, swings or is damped at the start"
        problems.info("I997", text, place)


def _tolerance(assembled: Assembled, built: Built, step: float, *, touching: bool) -> float:
    """Return the tolerance of equations [N s, m]: small for the model, large against rounding errors."""
    points = np.array([pose.origin for pose in assembled.poses])
    size = max(float(np.abs(points).max()), 1e-3)
    mass = max(body.mass for body in built.bodies.values())
    least = 1e-9 if touching else 1e-14
    left = float(np.abs(assembled.chain.gaps(assembled.posture, assembled.poses)).max(initial=0.0))
    own = min(1e-6, max(NOISE * mass * size / step, 1e-10 * min(size, mass), least))
    return float(max(own, ROUNDED * left if left > 1e-12 else 0.0))


def _options(texts: Mapping[str, str]) -> dict[str, Any]:
    """Parse settings to arguments of `description_of`."""
    given = Settings(texts, OPTIONS, "a Shift model")
    substeps = given.number("substeps", 0.0, least=1.0, most=100_000.0)
    if not substeps.is_integer():
        raise given.refusal("substeps")
    return {
        "upright": given.flag("upright", default=True),
        "inertia_about": given.among("inertia_about", {"com": "com", "origin": "origin"}, "com"),
        "friction": given.number("friction", FRICTION, least=0.0),
        "contacts": given.flag("contacts", default=True),
        "substeps": int(substeps),
    }
