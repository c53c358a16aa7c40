"""Reader of Shift files, key by key: files mix dialects, so that versions are no guide."""

from __future__ import annotations

from typing import Any

from cbsim.errors import Problems, did_you_mean
from cbsim.formats.shift.bodies import read_body, read_frame
from cbsim.formats.shift.dormant import Waking
from cbsim.formats.shift.forces import read_module, read_restraint
from cbsim.formats.shift.grammar import (
    AssemblyRecord,
    FileRecord,
    FixedRecord,
    LightRecord,
    ParametersRecord,
    Record,
    SimulationRecord,
    TerrainRecord,
    UnitsRecord,
)
from cbsim.formats.shift.joints import read_joint
from cbsim.formats.shift.names import name_of, reference_of
from cbsim.formats.shift.records import Part, is_number, json_text, shown
from cbsim.formats.shift.si import all_in_si
from cbsim.formats.shift.unique import all_different
from cbsim.formats.shift.units import UNITS, Units
from cbsim.formats.values import quote
from cbsim.formats.yaml_tree import Item, plain
from cbsim.spec.objects import ZERO, Triple
from cbsim.spec.shift.model import Assembly, Light, ShiftModel, Simulation, Terrain

__all__ = ["read_model"]

LEAST_STEP, STEP, MOST_STEP = 1e-6, 0.01, 1.0  # [s] of a run; the second without one in the file
MOST_STEPS = 1e9  # of a run


def read_model(root: Item, problems: Problems) -> ShiftModel | None:
    """Read the root of a file; None if it is not an object, or has no assemblies."""
    part = Part(root, FileRecord, "the file", problems)
    if "assemblies" not in part:
        return None
    parameters = _part(part, "model_parameters", ParametersRecord)
    units = _units(parameters)
    grounds = [part]
    if "fixed" in part:
        grounds.append(Part(part.child("fixed") or root, FixedRecord, "'fixed'", problems))
    frames = tuple(
        frame for ground in grounds for item in ground.children("frames")
        if (frame := read_frame(item, units, problems)) is not None
    )  # fmt: skip
    lights = tuple(_light(item, problems) for ground in grounds for item in ground.children("lights"))
    terrain = tuple(_terrain(item, units, problems) for ground in grounds for item in ground.children("terrain"))
    all_different(frames, "frame", "the ground", problems)
    waking = Waking(part, units)
    assemblies = waking.all("assemblies", lambda item, told: _assembly(item, units, told))
    all_different(assemblies, "assembly", "the file", problems)
    if units != Units():
        assemblies = all_in_si(assemblies, units)
    return ShiftModel(
        _version(parameters), _gravity(parameters, part, units), _folders(parameters), _simulation(parameters, units),
        frames, lights, terrain, assemblies, waking.dormant, parameters.kept if parameters else (), part.place,
    )  # fmt: skip


def _part(part: Part, name: str, model: type[Record]) -> Part | None:
    item = part.child(name)
    return None if item is None else Part(item, model, f"'{name}'", part.problems)


# --- settings ---------------------------------------------------------------------------------------------------------
def _units(parameters: Part | None) -> Units:
    part = None if parameters is None else _part(parameters, "units", UnitsRecord)
    sizes: dict[str, float] = {}
    for quantity, names in UNITS.items():
        name = "" if part is None else str(part.get(quantity, "")).strip()
        if part is None or not name:
            continue
        if name.lower() in names:
            sizes[quantity] = names[name.lower()]
        else:
            hint = did_you_mean(name.lower(), names) or f"there are {', '.join(names)}"
            part.error("E970", f"there is no unit {quote(name)} of {quantity}", quantity, hint=hint)
    return Units(**sizes)


def _version(parameters: Part | None) -> str:
    value = None if parameters is None else parameters.get("version")
    return "2.0" if value is None or isinstance(value, list | dict) else str(value)


def _gravity(parameters: Part | None, whole: Part, units: Units) -> Triple:
    value = None if parameters is None else parameters.get("gravity")
    if parameters is None or value is None:
        (parameters or whole).warning("W971", "no gravity is given; there is none")
        return ZERO
    good = isinstance(value, list) and len(value) == 3 and all(is_number(one) for one in value)
    if not good:
        parameters.error("E965", f"gravity is {shown(value)}, expected three numbers", "gravity")
        return ZERO
    return Triple(*(float(one) * units.acceleration for one in value))


def _folders(parameters: Part | None) -> tuple[str, ...]:
    if parameters is None:
        return ()
    key = parameters.either("include_directories", "include_dir")
    value = parameters.get(key)
    given = [value] if isinstance(value, str) else value
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        parameters.error("E965", f"{key} is {shown(value)}, expected a list of folders", key)
        return ()
    return tuple(given)


def _simulation(parameters: Part | None, units: Units) -> Simulation:
    if parameters is None:
        return Simulation()
    key = parameters.either("simulation", "integrators", "integrator")
    entries = list(parameters.children(key, single=True))
    if not entries:
        return Simulation()
    part = Part(entries[0], SimulationRecord, f"'{key}'", parameters.problems)
    if len(entries) > 1:
        text = f"'{key}' has {len(entries)} entries; the first one counts"
        parameters.problems.warning("W966", text, entries[1].location)
    _check_times(part, units)
    errors = [part.get(name) for name in ("relative_error", "absolute_error") if name in part]
    if errors and (min(errors) < 0.0 or max(errors) == 0.0):
        part.error("E965", "tolerances must not be below 0, nor all be 0", "relative_error")
    kept = _in_seconds({name: part.get(name) for name in SimulationRecord.model_fields if name in part}, units)
    step, span = kept.pop("time_step", None), kept.pop("time_span", None)
    rest = tuple((name, json_text(value)) for name, value in kept.items())
    others = (plain(entry) for entry in entries[1:])
    return Simulation(step, span, rest, tuple(json_text(_in_seconds(one, units)) for one in others))


def _in_seconds(value: Any, units: Units) -> Any:
    """Convert the times of an integrator; unused entries may be anything."""
    if not isinstance(value, dict):
        return value
    sizes = {"time_step": units.time, "time_span": units.time, "omega_n": 1.0 / units.time}
    return {key: one * sizes[key] if key in sizes and is_number(one) else one for key, one in value.items()}


def _check_times(part: Part, units: Units) -> None:
    step, span = part.get("time_step"), part.get("time_span")
    if step is not None and not step * units.time >= LEAST_STEP:
        bound = "more than 0" if step <= 0.0 else f"at least {LEAST_STEP:g} s"
        part.error("E965", f"time_step is {step:g}, expected {bound}", "time_step")
    elif span is not None and span * units.time > MOST_STEPS * _row(step, units):
        text = f"time_span is {span:g}, expected at most {MOST_STEPS:g} steps of {_row(step, units):g} s"
        part.error("E965", text, "time_span")
    elif step is not None and step * units.time > MOST_STEP:
        text = f"time_step is {step * units.time:g} s; a run takes steps of at most {MOST_STEP:g} s"
        part.warning("W965", text, "time_step")
    if span is not None and span < 0.0:
        part.error("E965", f"time_span is {span:g}, expected at least 0", "time_span")


def _row(step: float | None, units: Units) -> float:
    """Default step of runs of the file [s]."""
    return STEP if step is None else min(step * units.time, MOST_STEP)


# --- the ground -------------------------------------------------------------------------------------------------------
def _light(item: Item, problems: Problems) -> Light:
    """Read a light; problems are warnings, since the motion does not depend on it."""
    found = Problems()
    part = Part(item, LightRecord, "a light", found)
    parent = reference_of(part, part.get("parent"), "parent") if "parent" in part else None
    kind = str(part.get("type", "point"))
    if kind not in ("point", "spot", "directional"):
        part.warning("W965", f"there is no light of type {quote(kind)}; a point shines instead", "type")
        kind = "point"
    for problem in found:
        problems.warning("W" + problem.code[1:], problem.message, problem.location, problem.hint)
    return Light(str(part.get("name", "")), kind, parent, bool(part.get("active", True)), part.kept, part.place)


def _terrain(item: Item, units: Units, problems: Problems) -> Terrain:
    part = Part(item, TerrainRecord, "a terrain", problems)
    parent = reference_of(part, part.get("parent"), "parent") if "parent" in part else None
    scale = [value * units.length for value in part.get("scale", (1.0, 1.0))]
    if min(scale) <= 0.0:
        part.error("E965", f"scale of {part.what} is {min(scale):g}, expected more than 0", "scale")
    return Terrain(
        name_of(part), parent, str(part.get("elevation_map", "")), (scale[0], scale[1]),
        str(part.get("coordinate_type", "")).lower() == "sae", bool(part.get("active", True)), part.kept, part.place,
    )  # fmt: skip


# --- assemblies -------------------------------------------------------------------------------------------------------
def _assembly(item: Item, units: Units, problems: Problems) -> Assembly:
    part = Part(item, AssemblyRecord, "an assembly", problems)
    name, waking = name_of(part), Waking(part, units)
    bodies = waking.all("bodies", lambda one, told: read_body(one, units, told))
    joints = waking.all("joints", lambda one, told: read_joint(one, units, told))
    restraints = waking.all(part.either("restraints", "restraint"), read_restraint, single=True)
    modules = waking.all("force_modules", lambda one, told: read_module(one, units, told), single=True)
    inner = waking.all("assemblies", lambda one, told: _assembly(one, units, told))
    all_different(bodies, "body", part.what, problems)
    all_different(inner, "assembly", part.what, problems)
    return Assembly(
        name, bodies, all_different(joints, "joint", part.what, problems, rename=True), restraints, modules, inner,
        bool(part.get("active", True)), waking.dormant, part.kept, part.place,
    )  # fmt: skip
