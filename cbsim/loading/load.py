"""`load`: from names and files to a World."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cbsim.collector import collector_at_rest
from cbsim.errors import (
    FileError,
    Location,
    ModelError,
    Problem,
    Problems,
    Severity,
    StepError,
    UsageError,
)
from cbsim.formats import read_source
from cbsim.lint.objects import lint_objects
from cbsim.loading.loader import Loader
from cbsim.loading.mistakes import every_mistake
from cbsim.loading.model_files import STEP, model_format, model_scene, model_settings
from cbsim.loading.request import Request
from cbsim.loading.scenario_file import check_format, find_scenario
from cbsim.paths import Files, scenario_name
from cbsim.road.goals import LaneTable, expand_goals
from cbsim.road.roadmap import RoadMap, build
from cbsim.spec.mission import Mission
from cbsim.spec.objects import Controller, Kind, ObjectFile, TrafficObject
from cbsim.spec.profiles import MISSION_RULES, clock_rules
from cbsim.spec.road import RoadNetwork
from cbsim.spec.scenario import Expectation, Placement, Scenario
from cbsim.world.compile import compile_world
from cbsim.world.forks import MOST_FORKS
from cbsim.world.scene import Actor, Model, Scene, Settings
from cbsim.world.world import World

__all__ = ["find_scenario", "load", "load_scene"]

OBJECTS = ("objects-v2", "objects-v1")
LEAST_STEP = 1e-6  # [s]
MOST_STEPS = 1e9
SEEDS = 2**63  # a Snapshot keeps the seed among its signed numbers
DURATION = 60.0  # [s] of a run when neither the scenario nor the user says


def load(  # noqa: PLR0913 - the public face spells out every option
    scenario: str | Path | None = None,
    *,
    rndf: str | Path | None = None,
    objects: str | Path | None = None,
    mdf: str | Path | None = None,
    step: float | None = None,
    seed: int | None = None,
    duration: float | None = None,
    planner: str | Mapping[str, str] | None = None,
    settings: Mapping[str, object] | None = None,
    strict: bool = False,
    deadline: float | None = None,
    forks: int = 0,
    problems: Problems | None = None,
) -> World:
    """Load a World.

    Parameters
    ----------
    scenario : str or Path, optional
        Name of a shipped scenario, a scenario file, or a model file, which runs alone.
    rndf, objects, mdf : str or Path, optional
        A road network, an object file and a mission, without a scenario or in place of the files that it names.
    step, seed, duration : optional
        In place of the scenario's; step and duration in seconds.
    planner : str or mapping, optional
        ``module:Class`` for the first bot, or object name → ``module:Class``, in place of the scenario's.
    settings : mapping, optional
        Scenario parameters or settings of a model, as of `--set`; other values than text are converted by `str`.
    strict : bool
        Treat missing sensor confs as errors.
    deadline : float, optional
        In place of the scenario's: wall-clock time that a planner may take for one decision [s].
    forks : int
        How many forks a chain of them may have (`cbsim.fork`); they take room in every Snapshot.
    problems : Problems, optional
        Collects warnings.

    Raises
    ------
    FileError
        With all errors of all files.
    ModelError
        If the files are well-formed but do not fit together.
    UsageError
        If nothing is named.
    """
    seats = {"": planner} if isinstance(planner, str) else dict(planner or {})
    request = Request(
        _text(scenario),
        _text(rndf),
        _text(objects),
        _text(mdf),
        step,
        seed,
        duration,
        seats,
        {key: str(value) for key, value in (settings or {}).items()},
        strict,
        deadline,
        forks=forks,
    )
    with collector_at_rest():
        world = compile_world(load_scene(request, problems=problems))
    if len(world.instances) + len(world.scene.actors) > 1 and world.instances:
        from cbsim.coupling.placement import check_places  # not needed without models

        check_places(world)
    return world


def _text(path: str | Path | None) -> str | None:
    return None if path is None else str(path)


def load_scene(request: Request, *, files: Files | None = None, problems: Problems | None = None) -> Scene:
    """Read everything a World is compiled from.

    Parameters
    ----------
    request : Request
        What to load.
    files : Files, optional
        Readable files; by default those in the folders of the files that the request names. A replay passes those of
        its recording.
    problems : Problems, optional
        Collects warnings.

    Raises
    ------
    FileError, UsageError
        As `load`.
    """
    if request.scenario is None and request.rndf is None and request.objects is None:
        raise UsageError("nothing to load: name a scenario, or --rndf and --objects")
    path = find_scenario(request.scenario, files)
    named = [name for name in (path, request.rndf, request.objects, request.mdf) if name is not None]
    loader = Loader(files or Files(named), request.strict)
    try:
        scene = _model_alone(loader, request, path) or _Assembly(loader, request, path).scene()
        loader.problems.raise_if_any()
    except FileError as error:
        if files is not None:
            raise
        raise FileError(every_mistake(request, named, error, loader.problems)) from None
    finally:
        if problems is not None:
            problems.extend(loader.problems)
    return scene


def _model_alone(loader: Loader, request: Request, path: Path | None) -> Scene | None:
    """Read a model file as `_model` does; a failed set-up is an error located at the file."""
    try:
        return _model(loader, request, path)
    except StepError as error:
        raise ModelError(f"cannot be set up: {error.reason}", location=Location(str(path))) from None


def _model(loader: Loader, request: Request, path: Path | None) -> Scene | None:
    """Read a model file in place of a scenario; None if the file is not a model."""
    if path is None:
        return None
    source = read_source(path, loader.files)
    chosen = model_format(source)
    if chosen is None:
        return None
    for option in ("rndf", "objects", "mdf"):
        if getattr(request, option):
            raise UsageError(f"'{path}' is a model, which runs alone: --{option} is for scenarios")
    settings = _settings(request, Scenario(step=STEP))
    scene = model_scene(source, chosen, request, settings, loader.files, loader.problems)
    _check_numbers(scene.settings.step, scene.settings.duration, scene.settings.seed)  # maybe the file's
    return scene


class _Assembly:
    """Builds one Scene; each method reads one kind of part."""

    def __init__(self, loader: Loader, request: Request, path: Path | None) -> None:
        self.loader, self.request, self.path = loader, request, path
        self.folder = path.parent if path is not None else Path()
        self.spec = self._scenario()

    def _scenario(self) -> Scenario:
        if self.path is None:
            if self.request.settings:
                key, text = next(iter(self.request.settings.items()))
                place = Location(f"--set {key}={text}")
                message = "--set needs a scenario or a model; --rndf and --objects name neither"
                hint = "write a scenario that names them, or run a model"
                raise FileError(Problem(Severity.ERROR, "E809", message, place, hint))
            return Scenario()
        from cbsim.formats.scenario import read_with  # imported late: runs without a scenario file start faster

        source = read_source(self.path, self.loader.files)
        check_format(source)
        settings = {key: text for key, text in self.request.settings.items() if "/" not in key}
        spec = read_with(source, self.loader.problems, settings)
        self.loader.problems.raise_if_any()
        assert spec is not None
        return spec

    def scene(self) -> Scene:
        """Read everything."""
        network: RoadNetwork | None = self._file(self.request.rndf, self.spec.network, "network", ("rndf",))
        mission: Mission | None = self._file(self.request.mdf, self.spec.mission, "mission", ("mdf",))
        origin = None if self.spec.origin is None else (self.spec.origin.latitude, self.spec.origin.longitude)
        files = self._object_files()
        self._lint(network, mission, [file for _, file in files])
        roadmap = None if network is None else build(network, origin)
        name = self.path or Path(self.request.objects or self.request.rndf or "")
        settings = _settings(self.request, self.spec)
        actors, models = tuple(self._actors(files, roadmap)), self._models(settings.step)
        if self.spec.seats:
            from cbsim.lint.scenario_planner import tell_blind_seats

            bots = [one for one in actors if one.item.controller is Controller.SENSOR]
            sensors = {one.item.name: [conf.type for _, conf in one.confs] for one in bots}
            tell_blind_seats(self.spec, sensors, self.loader.problems)
        request = replace(self.request, environment=self.loader.files.environment)
        return Scene(
            scenario_name(name),
            actors,
            roadmap,
            mission,
            settings,
            self._expectations(actors, roadmap, mission),
            self.loader.files.seen,
            request.to_dict(),
            models,
            self.spec.traffic,
            self.spec.drivers,
            self.spec.lights,
            self.spec.events,
            None if mission is None else self.spec.clock,
            self.spec.score,
        )

    def _expectations(
        self, actors: Sequence[Actor], roadmap: RoadMap | None, mission: Mission | None
    ) -> tuple[Expectation, ...]:
        """Rules of the scenario, else those of a mission about the first bot that a planner may drive."""
        driven = (one.item for one in actors if one.item.controller is Controller.SENSOR)
        bot = next((item.name for item in driven if item.kind is Kind.AUTONOMOUS), None)
        if self.spec.expect or roadmap is None or mission is None or bot is None:
            return self.spec.expect
        profile = self.spec.profile
        place = Location(f"rules of a mission ({profile})")
        rules = [*MISSION_RULES.items(), *clock_rules(self.spec.clock is not None, profile)]
        return tuple(Expectation(rule, (("object", bot), *given), place, profile) for rule, given in rules)

    def _models(self, step: float) -> tuple[Model, ...]:
        """All models of the scenario."""
        theirs = model_settings(self.request.settings, self.spec.models)
        if not self.spec.models:
            return ()
        from cbsim.loading.placed_models import placed_model  # imported late: scenarios without models start faster

        found = (placed_model(one, theirs[one.name], step, self.folder, self.loader) for one in self.spec.models)
        return tuple(model for model in found if model is not None)

    def _file(self, asked: str | None, named: str | None, key: str, formats: tuple[str, ...]) -> Any:
        """Read the file that the request names, else the one that the scenario names."""
        if asked is not None:
            return self.loader.read(asked, formats)
        return None if named is None else self._named(key, named, self.spec.at(key), formats)

    def _named(self, kind: str, name: str, place: Location, formats: tuple[str, ...]) -> Any:
        """Read a file that the scenario names; the linter of scenarios reports missing ones."""
        from cbsim.formats.scenario import find_named

        path = find_named(kind, name, self.folder, self.loader.files)
        return None if path is None else self.loader.read(path, formats, place)

    def _object_files(self) -> list[tuple[Path, ObjectFile]]:
        if self.request.objects is not None:
            found = [self.loader.read(self.request.objects, OBJECTS)]
        else:
            names = enumerate(self.spec.objects)
            found = [self._named("objects", name, self.spec.at(f"objects.{k}"), OBJECTS) for k, name in names]
        return [(Path(file.location.path).parent, file) for file in found if file is not None]

    def _lint(self, network: RoadNetwork | None, mission: Mission | None, files: list[ObjectFile]) -> None:
        """Report missing names, waypoints and files."""
        problems, strict = self.loader.problems, self.loader.strict
        if self.request.objects is not None:
            for file in files:
                lint_objects(file, network, self.loader.files, problems, strict=strict)
        if self.path is None and mission is not None and network is not None:
            from cbsim.lint.mission import lint_pairing

            lint_pairing(mission, network, problems)
        if self.path is not None:
            from cbsim.lint.scenario import lint_scenario

            given = files if self.request.objects is not None or len(files) == len(self.spec.objects) else None
            spec = self.spec if self.request.step is None else replace(self.spec, step=self.request.step)
            lint_scenario(
                spec, self.loader.files, problems, network=network, mission=mission, objects=given, strict=strict
            )

    def _actors(self, files: list[tuple[Path, ObjectFile]], roadmap: RoadMap | None) -> list[Actor]:
        """All objects: those of the object files, then those of the scenario itself."""
        moved = dict(self.spec.place)
        lanes = None if roadmap is None else LaneTable(roadmap.network)
        placed = [(item, moved.get(item.name), folder) for folder, file in files for item in file.objects]
        placed += [(one.object, one.placement, self.folder) for one in self.spec.add]
        found = [self._actor(item, placement, folder, lanes) for item, placement, folder in placed]
        if self.spec.people and not self.loader.problems.errors:
            from cbsim.world.people.compile import actor_of  # of what others have no need

            found += [actor_of(one, roadmap, self.spec.script_angle) for one in self.spec.people]
        return found

    def _actor(self, item: TrafficObject, place: Placement | None, folder: Path, lanes: LaneTable | None) -> Actor:
        start, station = (None, 0.0) if place is None else (place.waypoint, place.station)
        problems = self.loader.problems
        goals = () if lanes is None else expand_goals(item, lanes.network, problems, start, station, lanes)
        if item.goals and self.request.rndf is None and self.spec.network is None:
            message = f"object '{item.name}' has goals, but there is no road network"
            self.loader.problems.error("E630", message, item.location)
        mesh = self.loader.mesh(item, folder) if item.vertices is not None else None
        return Actor(item, place, goals, self.loader.confs(item, folder), mesh)


def _settings(request: Request, spec: Scenario) -> Settings:
    """Combine the settings of a run: those of the request before those of the scenario."""
    named = spec.duration if request.duration is None else request.duration
    duration = DURATION if named is None else named
    step = spec.step if request.step is None else request.step
    seed = spec.seed if request.seed is None else request.seed
    try:
        _check_numbers(step, duration, seed)
    except UsageError as reason:
        if request.step is not None or request.duration is not None or request.seed is not None:
            raise
        place = spec.at("duration" if spec.duration is not None else "step")
        raise FileError(Problem(Severity.ERROR, "E805", str(reason), place)) from None
    if request.deadline is not None and not 0.0 < request.deadline < math.inf:
        raise UsageError(f"deadline is {request.deadline!r} s, expected a finite number > 0")
    if not 0 <= request.forks <= MOST_FORKS:
        raise UsageError(f"forks is {request.forks}, expected 0 to {MOST_FORKS}")
    return Settings(
        step,
        seed,
        duration,
        spec.offset_frame,
        spec.script_angle,
        tuple(request.planner.items()) or spec.planner,
        spec.deadline if request.deadline is None else request.deadline,
        spec.record.traffic,
        spec.seats,
        request.forks,
    )


def _check_numbers(step: float, duration: float, seed: int) -> None:
    """Check the ranges of step [s], duration [s] and seed."""
    if not LEAST_STEP <= step <= 1.0:
        raise UsageError(f"step is {step!r} s, expected {LEAST_STEP:g} to 1")
    if not 0.0 <= duration < math.inf:
        raise UsageError(f"duration is {duration!r} s, expected a finite number ≥ 0")
    if duration / step > MOST_STEPS:
        raise UsageError(
            f"{duration:g} s in steps of {step:g} s are {duration / step:.3g} steps, more than {MOST_STEPS:g}"
        )
    if not 0 <= seed < SEEDS:
        raise UsageError(f"seed is {seed}, expected 0 to {SEEDS - 1}")
