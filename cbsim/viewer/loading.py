"""Loading of sources: scenarios and models run, recordings play back, networks are static.

`prepare` does the slow part in any thread; `begin` starts planners, whose time limits need the main thread.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from cbsim.errors import FileError, Problems, UsageError
from cbsim.formats import is_recording, read_source, recognise
from cbsim.loading.load import find_scenario, load
from cbsim.loading.loader import Loader
from cbsim.models import MODELS
from cbsim.paths import Files, is_regular
from cbsim.viewer.scene.source import LiveSource, NetworkSource, RecordingSource, Source
from cbsim.world.world import World

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cbsim.road.roadmap import RoadMap

__all__ = ["begin", "open_source", "prepare"]


def open_source(
    name: str,
    exits: ExitStack,
    *,
    rndf: str | None = None,
    mdf: str | None = None,
    planner: Mapping[str, str] | None = None,
    settings: Mapping[str, str] | None = None,
    problems: Problems | None = None,
) -> Source:
    """Open a file or shipped scenario as a source.

    Parameters
    ----------
    name : str
        A file, or the bare name of a shipped scenario.
    exits : ExitStack
        Closes whatever is opened.
    rndf, mdf : str, optional
        Network and mission of an object file, or the mission of a network.
    planner, settings : mapping, optional
        As `cbsim.load`.
    problems : Problems, optional
        Collects warnings.

    Raises
    ------
    FileError, ModelError, UsageError, RecordingError
        As `cbsim.load` and `Recording.open`.
    """
    return begin(prepare(name, rndf=rndf, mdf=mdf, planner=planner, settings=settings, problems=problems), exits)


def begin(prepared: World | Source, exits: ExitStack) -> Source:
    """Start the run of a World with its planners; any other source is returned unchanged."""
    return exits.enter_context(LiveSource(prepared)) if isinstance(prepared, World) else prepared


def prepare(
    name: str,
    *,
    rndf: str | None = None,
    mdf: str | None = None,
    planner: Mapping[str, str] | None = None,
    settings: Mapping[str, str] | None = None,
    problems: Problems | None = None,
) -> World | Source:
    """Load a World, or read a network or recording; parameters and errors as in `open_source`."""
    if is_regular(name) and is_recording(name, Files([name])):
        from cbsim.recording.recording import Recording

        return RecordingSource(Recording.open(name))
    kind = _kind(name)
    if kind == "rndf":
        if mdf is None and not planner and not settings:
            return NetworkSource(_network(name, problems))
        return load(rndf=name, mdf=mdf, planner=planner, settings=settings, problems=problems)
    if kind.startswith("objects"):
        return load(objects=name, rndf=rndf, mdf=mdf, planner=planner, settings=settings, problems=problems)
    if kind in {"scenario", *MODELS}:
        return load(name, rndf=rndf, mdf=mdf, planner=planner, settings=settings, problems=problems)
    raise UsageError(f"'{name}' is a file of format '{kind}'; scenarios, networks, models and recordings are shown")


def _kind(name: str) -> str:
    """Return the name of a file's format; a bare name is a shipped scenario."""
    path = name if is_regular(name) else find_scenario(name)
    assert path is not None
    source = read_source(path, Files([path]))
    try:
        return recognise(source).name
    except FileError:
        if Path(name).suffix in {".yaml", ".yml"}:
            return "scenario"
        raise


def _network(name: str, problems: Problems | None) -> RoadMap:
    from cbsim.road.roadmap import build

    loader = Loader(Files([name]), strict=False)
    try:
        network = loader.read(name, ("rndf",))
        loader.problems.raise_if_any()
    finally:
        if problems is not None:
            problems.extend(loader.problems)
    return build(network)
