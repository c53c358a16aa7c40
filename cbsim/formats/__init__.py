"""Formats: conversion of text to spec and back, one module per format, one line each in `FORMATS`.

Each module has `read(source, problems) -> spec or None`, `write(spec) -> str` and, but for formats of models,
`count(spec) -> dict`, which `cbsim info` prints. Models are built and counted by the layer above, `cbsim.models`, which
also makes the checks that need building; files that may be models are read through it. Modules are imported when first
needed, so that a linter starts in milliseconds.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from cbsim.collector import collector_at_rest
from cbsim.errors import FileError, Location, Problem, Problems, Severity, UsageError, bounded_hints
from cbsim.formats.reader import Source, quiet_arithmetic
from cbsim.paths import Files

__all__ = [
    "FORMATS",
    "RECORDING_MAGIC",
    "Format",
    "Reading",
    "is_recording",
    "read_as",
    "read_file",
    "read_source",
    "recognise",
    "write",
]

RECORDING_MAGIC = b"\x89MCAP0\r\n"  # first bytes of recordings, which have no reader here
HEAD = 65536  # characters examined to recognise a format: some files begin with a long comment
PAGE = re.compile(r"(?i)\A\s*(<\?xml[^>]*>\s*)?(<!--(?:(?!-->)[\s\S])*-->\s*)*<(!doctype\s+)?html\b")  # a web page


@dataclass(frozen=True, slots=True)
class Format:
    """One row of the table.

    Attributes
    ----------
    name : str
        As `cbsim info` prints it.
    module : str
        Module with `read`, `write` and, except for formats of models, `count`.
    suffixes : tuple of str
        Usual suffixes, used when the content is ambiguous.
    head : str
        Regular expression found in the first 65 536 characters of a file of this format. It takes linear time: what
        may begin at any line must not run over the ends of lines.
    spec : str
        Class name of the spec, to find its writer.
    includes : bool
        Whether reading takes further files, which are then an argument of `read`.
    """

    name: str
    module: str
    suffixes: tuple[str, ...]
    head: str
    spec: str
    includes: bool = False

    def load(self) -> ModuleType:
        """Import the format's module."""
        return importlib.import_module(self.module)

    def read(self, source: Source, problems: Problems, files: Files) -> Any:
        """Read a source; None, with problems, if it cannot be understood."""
        read = self.load().read
        return read(source, problems, files) if self.includes else read(source, problems)


FORMATS: tuple[Format, ...] = (
    Format("mdf", "cbsim.formats.mdf", (".mdf",), r"(?m)^[^\S\n]*(MDF_name|num_checkpoints)\b", "Mission"),
    Format(
        "rndf", "cbsim.formats.rndf", (".rndf", ".rdf"), r"(?m)^[^\w\n]*(RNDF_name|SRNDF|num_segments)\b", "RoadNetwork"
    ),
    Format(
        "objects-v2",
        "cbsim.formats.objects",
        (".xml",),
        r"<object_file\b|\A\s*(<\?xml[^>]*>\s*)?<object\s",
        "ObjectFile",
    ),
    Format(
        "objects-v1",
        "cbsim.formats.objects_v1",
        (".obj",),
        r"\A(\s|//[^\n]*\n)*\d+[^\S\n]*(//[^\n]*)?\r?\n(\s|//[^\n]*\n)*[0-3][^\S\n]*(//|\r?\n)",
        "ObjectFile",
    ),
    Format("juice", "cbsim.formats.juice", (".jm", ".jpm", ".jm3"), r"<(Model|JuiceFile)[\s>/]", "JuiceModel"),
    Format("urdf", "cbsim.formats.urdf", (".urdf",), r"<robot[\s>/]", "Robot"),
    Format(
        "mechanism",
        "cbsim.formats.mechanism",
        (".json",),
        r"\A\s*\{\s*\"cbsim_mechanism\"\s*:",
        "StoredMechanism",
    ),
    Format(
        "shift",
        "cbsim.formats.shift",
        (".json",),
        r"\A\s*[{/][\s\S]*?\"(model_parameters|assemblies)\"\s*:",
        "ShiftModel",
    ),
    Format("scenario", "cbsim.formats.scenario", (".yaml", ".yml"), r"(?m)^(network|mission|objects)\s*:", "Scenario"),
    Format(
        "sensor-conf",
        "cbsim.formats.sensor_conf",
        (".conf",),
        r"(?mi)^[^\S\n]*(model|start_angle|fov|max_range|samples|range_sigma)([^\S\n]*[=:][^\S\n]*|[ \t]+)\S",
        "SensorConf",
    ),
    Format(
        "irit",
        "cbsim.formats.irit",
        (".itd", ".irt", ".gz", ".z", ".ibd"),
        r"(?i)\[\s*OBJECT\b|(?m:^)[ \t]*(\w+[ \t]*=[ \t]*(list|nil|g?box|con[e2]|cylin|sphere|torus|poly|point|vector"
        r"|function|procedure|trans|scale|rot[xyz]|surfrev|circle|c(bezier|bspline))|save|include|load|view|interact)"
        r"[ \t]*\(",
        "IritFile",
        includes=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """Result of reading a file: the spec if there is one, the format, and all problems."""

    spec: Any
    format: Format
    problems: Problems
    source: Source


def recognise(source: Source) -> Format:
    """Recognise the format of a source by its content, and by its suffix if the content is ambiguous.

    Raises
    ------
    FileError
        E001 if the format is unknown, or the file is a web page.
    """
    suffix = Path(source.path).suffix.lower()
    head = source.text[:HEAD]
    if PAGE.match(head):
        text, hint = "this is a web page (HTML), which is not read here", "a download that failed often is one"
        raise FileError(Problem(Severity.ERROR, "E001", text, Location(source.path, 1), hint))
    by_suffix = [f for f in FORMATS if suffix in f.suffixes]
    by_head = (f for f in (*by_suffix, *FORMATS) if re.search(f.head, head))  # looked for until one fits
    found = next(by_head, by_suffix[0] if by_suffix else None)
    if found is not None:
        return found
    problems = Problems()
    known = ", ".join(f"{f.name} ({', '.join(f.suffixes)})" for f in FORMATS)
    problems.error("E001", "the format of this file is not known", Location(source.path, 1), f"known are {known}")
    raise FileError(problems)


def is_recording(path: str | Path, files: Files) -> bool:
    """Return whether a file begins as a recording; what is not a regular file that may be read is none."""
    if not files.exists(path):
        return False
    try:
        with Path(path).open("rb") as stream:
            return stream.read(len(RECORDING_MAGIC)) == RECORDING_MAGIC
    except OSError:
        return False


def read_source(path: str | Path, files: Files, *, asked_at: Location | None = None) -> Source:
    """Read the text of a file.

    Raises
    ------
    FileError
        If it cannot be opened, or is a recording (E002).
    """
    data = files.read(path, asked_at=asked_at)
    if data.startswith(RECORDING_MAGIC):
        place = asked_at or Location(str(path), 1)
        message = f"'{path}' is a recording (MCAP), which is not read here"
        hint = "'cbsim info', 'replay' and 'diff' read recordings"
        raise FileError(Problem(Severity.ERROR, "E002", message, place, hint))
    return Source.decode(path, data)


def read_file(
    path: str | Path,
    files: Files | None = None,
    *,
    format: str | None = None,  # noqa: A002
    asked_at: Location | None = None,
) -> Reading:
    """Read a file of any known format, keeping every problem.

    Parameters
    ----------
    path : str or Path
        The file.
    files : Files, optional
        Readable files; by default the file's own folder.
    format : str, optional
        A format's name, for a caller that knows.
    asked_at : Location, optional
        The line that asked for this file, for the problem if it is missing.

    Raises
    ------
    FileError
        If the file cannot be opened or its format is not known. Errors inside it are in the reading's problems.
    """
    allowed = files or Files([path])
    source = read_source(path, allowed, asked_at=asked_at)
    chosen = _named(format) if format else recognise(source)
    problems = Problems()
    chosen.load()
    with collector_at_rest(), bounded_hints(), quiet_arithmetic():
        spec = chosen.read(source, problems, allowed)
    return Reading(spec, chosen, problems, source)


def read_as(
    formats: tuple[str, ...],
    path: str | Path,
    files: Files,
    problems: Problems,
    *,
    asked_at: Location | None = None,
) -> Reading | None:
    """Read a file that has to be of one of some formats.

    Parameters
    ----------
    formats : tuple of str
        Their names.
    path, files, asked_at
        As `read_file`.
    problems : Problems
        Collects all problems of the file, or the one that keeps it from being read.

    Returns
    -------
    Reading or None
        None if it cannot be opened or is of another format (E002).
    """
    try:
        reading = read_file(path, files, asked_at=asked_at)
    except FileError as error:
        problems.extend(error.problems)
        return None
    if reading.format.name not in formats:
        message = f"'{path}' is a file of format '{reading.format.name}', expected {' or '.join(formats)}"
        problems.error("E002", message, asked_at or Location(str(path), 1))
        return None
    problems.extend(reading.problems)
    return reading


def write(spec: Any, path: str | Path) -> None:
    """Write a spec to a file in the format that reads it; the suffix chooses between versions of a format.

    Raises
    ------
    UsageError
        If no format writes such a spec, or the file cannot be written.
    """
    text = writer_for(spec, Path(path).suffix.lower())(spec)
    try:
        Path(path).write_text(text, encoding="utf-8", newline="")
    except (OSError, ValueError) as reason:
        raise UsageError(f"cannot write '{path}': {getattr(reason, 'strerror', None) or reason}") from None


def writer_for(spec: Any, suffix: str = "") -> Callable[[Any], str]:
    """Find the `write` function for a spec."""
    rows = [f for f in FORMATS if f.spec == type(spec).__name__]
    if not rows:
        raise UsageError(f"no format writes a {type(spec).__name__}; there is {', '.join(f.spec for f in FORMATS)}")
    chosen = next((f for f in rows if suffix in f.suffixes), rows[0])
    return chosen.load().write  # type: ignore[no-any-return]


def _named(name: str) -> Format:
    for row in FORMATS:
        if row.name == name:
            return row
    raise UsageError(f"no format '{name}'; there is {', '.join(f.name for f in FORMATS)}")
