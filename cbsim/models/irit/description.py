"""Descriptions of walkers, by options given as text: ``--set flag=3,8``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from cbsim.errors import FileError, Location, Problem, Problems, Severity, UsageError
from cbsim.formats.irit.structure import find_walker
from cbsim.formats.reader import Source
from cbsim.geometry import elementary as math
from cbsim.models.irit.anatomy import DENSITY, Anatomy, measure
from cbsim.models.irit.build import kinematic_description
from cbsim.models.irit.dynamic import Build, dynamic_description
from cbsim.models.irit.gait import LIFT, Gait
from cbsim.models.irit.ground import FLAT, Ground, Slope, read_heights
from cbsim.models.irit.stability import standing_margin
from cbsim.models.settings import FLAGS, Settings
from cbsim.paths import Files
from cbsim.spec.irit.objects import IritFile
from cbsim.spec.irit.walker import GAITS
from cbsim.spec.mechanism.model_description import ModelDescription

__all__ = ["OPTIONS", "anatomy_of", "describe", "period_of"]

GRAVITY = 9.81
FRICTION = 0.8
ASIDE = 0.1  # largest distance of the weight from the line of two feet that can catch it, to the body's height
LOW = 0.03  # lift of feet as a share of the body's height where two of them support it
OPTIONS = {
    "flag": "where it goes, x,y [m] east and north of its start; none: straight on",
    "ground": "flat, or the file of a height field (ESRI ASCII grid)",
    "slope": "how steep the ground rises ahead, or ahead,right [degrees, below 60]",
    "gait": "how legs take turns: cross, parallel; by default as the file says",
    "speed": "of walking straight on [m/s]",
    "step_time": "how long a step takes [s]",
    "lift": "how high feet are lifted, as a share of the body's height",
    "tilt": "whether the body tilts with the ground: true, false, roll, pitch",
    "density": "of its parts [kg/m³]",
    "dynamics": "whether it moves by forces: true, false",
    "friction": "coefficient of friction of its feet, with dynamics",
}
"""Option → what it means."""

STEEP = 60.0  # [degrees]
FAR = 1e7  # [m]
TILTS = {"roll": (True, False), "pitch": (False, True), **{key: (on, on) for key, on in FLAGS.items()}}
NOWHERE = (math.nan, math.nan)


def describe(
    spec: IritFile,
    settings: Mapping[str, str],
    timestep: float,
    folder: Path,
    files: Files,
    problems: Problems,
    *,
    strict: bool = False,  # noqa: ARG001 (problems are always errors here)
) -> ModelDescription:
    """Describe the walker of a file without errors, as `cbsim.models` specifies.

    Names of height fields are relative to the folder of the file, or to the working directory.

    Raises
    ------
    UsageError
        If a text is not a value of its option.
    FileError
        If there is nothing to run.
    """
    anatomy = anatomy_of(spec)
    given = Settings(settings, OPTIONS, "a walker")
    gait = _gait(anatomy, given, folder, files, problems)
    problems.raise_if_any()
    period = _period(anatomy, given)
    density = given.number("density", DENSITY, least=1e-3, most=1e6)
    if given.flag("dynamics", default=False):
        friction = given.number("friction", FRICTION, least=0.0, most=100.0)
        outside = -standing_margin(gait)
        if outside >= 0.0:
            wanted, gait = gait.lift, _steadied(gait, given)
            falls = outside > ASIDE * anatomy.height
            text = f"with dynamics, the weight is not above the feet that stand in a step of the gait '{gait.kind}'"
            fate = f"but {outside:.2g} m aside: it drags its feet and gets nowhere" if falls else "it may tip over"
            hint = "the gait 'cross' walks" if falls and gait.kind != "cross" else _lifted(wanted, gait.lift)
            problems.warning("W081", f"{text}: {fate}", anatomy.walker.location, hint)
        return dynamic_description(anatomy, gait, period, Build(density, friction, timestep))
    return kinematic_description(anatomy, gait, period, density, timestep)


def _steadied(gait: Gait, given: Settings) -> Gait:
    """Limit the lift of feet so that they catch a tipping body in time; on rough ground they would stumble."""
    return replace(gait, lift=LOW) if "lift" not in given and isinstance(gait.ground, Slope) else gait


def _lifted(wanted: float, taken: float) -> str:
    """Describe the change of a gait that may tip over, or suggest one."""
    if taken < wanted:
        return f"so its feet are lifted by {taken:g} of the body's height, not by {wanted:g}; 'lift' sets another"
    return f"a lower lift than {taken:g} helps" if taken > LOW else ""


def anatomy_of(spec: IritFile) -> Anatomy:
    """Measure the walker of a file that has no errors.

    Raises
    ------
    FileError
        E080 of a file without one.
    """
    told = Problems()  # reading has told it all
    walker = find_walker(spec, told)
    anatomy = None if walker is None else measure(spec, walker, told)
    if anatomy is None:
        text = "the file holds geometry, but no 2N-legged walker: nothing in it moves"
        place = Location(spec.path, 1)
        raise FileError(Problem(Severity.ERROR, "E080", text, place, "'cbsim info' counts it"))
    return anatomy


def period_of(anatomy: Anatomy, settings: Mapping[str, str]) -> float:
    """Duration of a step [s]: as set, by its speed, or half the period of a pendulum as long as the walker is high."""
    return _period(anatomy, Settings(settings, OPTIONS, "a walker"))


def _period(anatomy: Anatomy, given: Settings) -> float:
    natural = math.pi * math.sqrt(anatomy.height / GRAVITY)
    if "speed" in given and "step_time" in given:
        raise UsageError("give speed or step_time, not both: a step has a length of its own")
    if "speed" not in given:
        return given.number("step_time", natural, least=1e-3, most=1e4)
    stride = anatomy.stride(turning=False)
    if stride <= 0.0:
        raise UsageError("speed needs a walker that walks: the coefStepWalk of this one is 0")
    return stride / given.number("speed", 1.0, least=1e-6, most=1e6)


def _gait(anatomy: Anatomy, given: Settings, folder: Path, files: Files, problems: Problems) -> Gait:
    kind = given.among("gait", {name: name for name in GAITS}, anatomy.walker.gait)
    if kind == "parallel" and anatomy.walker.pairs == 1:
        raise UsageError("gait is 'parallel', which would lift both legs of this walker at once")
    tilt = given.among("tilt", TILTS, (True, True))
    lift = given.number("lift", LIFT, least=0.0, most=10.0)
    return Gait(anatomy, _ground(given, folder, files, problems), kind, tilt, _flag_place(given), lift)


def _flag_place(given: Settings) -> tuple[float, float]:
    if given.text("flag", "none").lower() == "none":
        return NOWHERE
    values = given.numbers("flag")
    if len(values) != 2 or max(map(abs, values)) > FAR:
        raise given.refusal("flag")
    return values[0], values[1]


def _ground(given: Settings, folder: Path, files: Files, problems: Problems) -> Ground:
    name = given.text("ground", "flat")
    if name.lower() == "flat":
        return _slope(given) if "slope" in given else FLAT
    if "slope" in given:
        raise UsageError("give slope or ground, not both: a height field has slopes of its own")
    path = files.find(name, (folder, Path()))
    if path is None:
        files.require(folder / name)
        raise given.refusal("ground")
    return read_heights(Source.decode(path, files.read(path)), problems) or FLAT


def _slope(given: Settings) -> Slope:
    angles = given.numbers("slope")
    if len(angles) not in (1, 2) or max(map(abs, angles)) >= STEEP:
        raise given.refusal("slope")
    ahead, right = (math.tan(math.radians(angle)) for angle in (*angles, 0.0)[:2])
    return Slope(right, ahead)
