"""Opening of editor sessions: an existing or new object file over a network."""

from __future__ import annotations

from pathlib import Path

from cbsim.editor.documents.object_document import Document
from cbsim.editor.documents.scenario_document import ScenarioDocument
from cbsim.editor.saving.autosave import Autosave
from cbsim.editor.scenery import show_scenery
from cbsim.editor.session import RunSettings, Session
from cbsim.errors import FileError, Location, Problems, UsageError
from cbsim.formats import read_source, recognise
from cbsim.loading.loader import Loader
from cbsim.paths import Files, find_shipped, is_regular
from cbsim.road.roadmap import RoadMap, build

__all__ = ["open_session"]


def open_session(
    name: str,
    run: RunSettings,
    *,
    version: int | None = None,
    points: float = 1.0,
    problems: Problems | None = None,
) -> Session:
    """Open an object file, or create it if it does not exist.

    Parameters
    ----------
    name : str
        Path of the file.
    run : RunSettings
        Network, mission and planners; the bare name of a network refers to a shipped one.
    version : int, optional
        Version of a new file; by default given by its suffix.
    points : float
        Pixels per point.
    problems : Problems, optional
        Receives warnings about the network, and about autosaves of a file that cannot be edited.

    Raises
    ------
    FileError, UsageError
        If the file or the network is invalid.
    """
    path = Path(name)
    if _is_scenario(path):
        return _scenario_session(path, run, version, points, problems)
    rndf = run.rndf
    if rndf is not None and not is_regular(rndf):
        found = find_shipped(rndf, "rndf", (".rndf",))
        rndf = rndf if found is None else str(found)
    run = run._replace(rndf=rndf)
    files = Files([path, *filter(None, (run.rndf, run.mdf))])
    roadmap = None if rndf is None else _network(rndf, files, problems)
    if path.is_symlink() or path.exists():
        document = _opened(path, files, problems)
        if version not in (None, document.version):
            raise UsageError(f"'{path}' is a file of version {document.version}: 'save as' gives the other one")
        saved: bytes | None = document.data
    else:
        if not path.absolute().parent.is_dir():
            raise UsageError(f"there is no folder '{path.absolute().parent}' for '{path.name}'")
        document, saved = Document.new(path, version), None
    return Session(document, roadmap, run, saved=saved, points=points)


def _is_scenario(path: Path) -> bool:
    """Return whether a file is a scenario, by its suffix or its contents."""
    if path.suffix.lower() in (".yaml", ".yml"):
        return True
    if not is_regular(str(path)):
        return False
    try:
        return recognise(read_source(path, Files([path]))).name == "scenario"
    except FileError:
        return False


def _scenario_session(
    path: Path,
    run: RunSettings,
    version: int | None,
    points: float,
    problems: Problems | None,
) -> Session:
    """Open a scenario with its network and objects."""
    if run.rndf is not None or run.mdf is not None or version is not None:
        raise UsageError(
            f"'{path}' is a scenario, which names its network and mission: "
            "--rndf, --mdf and --version are for object files"
        )
    files = Files([path])
    document = ScenarioDocument.open(path, files)
    roadmap = show_scenery(document, files, Problems() if problems is None else problems)
    return Session(document, roadmap, run, saved=document.data, points=points)


def _opened(path: Path, files: Files, problems: Problems | None) -> Document:
    """Open a file; if it cannot be edited, also warn about its autosaves."""
    try:
        return Document.open(path, files)
    except FileError:
        if problems is not None and Autosave(path).find(b"").work:
            message = "unsaved work on this file is kept, and offered once it can be edited, or is moved away"
            problems.warning("W671", message, Location(str(path)))
        raise


def _network(rndf: str, files: Files, problems: Problems | None) -> RoadMap:
    loader = Loader(files, strict=False)
    try:
        network = loader.read(rndf, ("rndf",))
        loader.problems.raise_if_any()
    finally:
        if problems is not None:
            problems.extend(loader.problems)
    return build(network)
