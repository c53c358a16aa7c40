"""Documents of object files, version 1 and 2."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cbsim.editor.documents import record_edits, xml_edits
from cbsim.editor.documents.edits import Edit, Unpatchable
from cbsim.editor.documents.source_buffer import SourceBuffer
from cbsim.editor.documents.text_document import TextDocument, reason_of
from cbsim.errors import FileError, Location, Problem, Problems, Severity, UsageError
from cbsim.export.objects import to_v1, to_v2
from cbsim.formats import objects, objects_v1, read_as
from cbsim.formats.reader import Source
from cbsim.formats.xml_text import text_of
from cbsim.lint.objects import lint_objects
from cbsim.loading.request import Request
from cbsim.paths import Files
from cbsim.spec.objects import ObjectFile, TrafficObject
from cbsim.spec.road import RoadNetwork

__all__ = ["Document", "version_of"]

FORMATS = {1: objects_v1, 2: objects}
EDITS = {1: record_edits, 2: xml_edits}
EMPTY = {
    1: "0 // number of objects\n",
    2: '<?xml version="1.0" encoding="UTF-8"?>\n<object_file>\n  <name>{name}</name>\n</object_file>\n',
}
"""Initial contents of a new file."""
IMPLIED = re.compile(r"(object|mesh) [0-9]+")


class Document(TextDocument[ObjectFile]):
    """An object file being edited.

    Parameters
    ----------
    path : Path
        Where it is saved.
    data : bytes
        Its contents.
    version : int
        Version of its format.

    Raises
    ------
    FileError
        If the contents are so broken that objects are missing; the text must be repaired first.
    """

    def __init__(self, path: Path, data: bytes, version: int) -> None:
        super().__init__(path, data, version)
        self._check_text()

    @classmethod
    def open(cls, path: Path, files: Files) -> Document:
        """Open a file.

        Raises
        ------
        FileError
            If it cannot be read or is not an object file.
        """
        problems = Problems()
        reading = read_as(("objects-v1", "objects-v2"), path, files, problems)
        if reading is None or reading.spec is None:
            raise FileError(problems)
        return cls(path, reading.source.data, 1 if reading.format.name == "objects-v1" else 2)

    @classmethod
    def new(cls, path: Path, version: int | None = None) -> Document:
        """Create a new file; by default the suffix selects the version (``.obj`` is version 1)."""
        chosen = version or (1 if path.suffix.lower() == ".obj" else 2)
        text = EMPTY[chosen].format(name=text_of(path.stem))
        return cls(path, text.encode("utf-8"), chosen)

    # --- what it says ------------------------------------------------------------------------------------------------
    @property
    def objects(self) -> tuple[TrafficObject, ...]:
        """Objects of the file."""
        return self.spec.objects

    @property
    def title(self) -> str:
        """Name of the contents."""
        return self.spec.name

    @property
    def format_name(self) -> str:
        """Name of the format, for people."""
        return f"version {self.version}"

    @property
    def save_as_hint(self) -> str:
        """Names under which it can be saved."""
        return ".xml version 2, .obj version 1"

    def lint(self, network: RoadNetwork | None, files: Files, problems: Problems) -> None:
        """Add what the linter says to the problems of the reader."""
        lint_objects(self.spec, network, files, problems)

    def request(self, rndf: str | None, mdf: str | None, planner: Mapping[str, str]) -> Request:
        """Return what a trial run loads."""
        return Request(None, rndf, str(self.path), mdf, planner=dict(planner))

    def _read(self, buffer: SourceBuffer) -> tuple[ObjectFile, Problems]:
        problems = Problems()
        source = Source.decode(self.path, buffer.data)
        spec = FORMATS[self.version].read(source, problems)
        if spec is None:
            raise FileError(problems)
        return spec, problems

    def _check_text(self) -> None:
        """Raise if objects are missing, or if values cannot be located in the text."""
        if self.version == 1 and (self.spec.broken or any(one.code in {"E620", "E621"} for one in self.problems)):
            raise FileError(self.problems)
        try:
            EDITS[self.version].patches(self.buffer, self.objects, Edit(""))
        except Unpatchable:
            place = Location(str(self.path), 1)
            message = "the values of this file have no places that could be told; it cannot be edited"
            raise FileError(Problem(Severity.ERROR, "E670", message, place)) from None

    # --- history -----------------------------------------------------------------------------------------------------
    def apply(self, edit: Edit) -> None:
        """Apply an edit.

        Raises
        ------
        UsageError
            If the file's format or encoding cannot represent the result; the document is then unchanged.
        """
        wanted = _kept(edit.applied(self.objects), self.version)
        name = self.spec.name if edit.name is None else edit.name
        trouble: Problems | None = None
        for rewrite in (False, True):
            try:
                patches = EDITS[self.version].patches(self.buffer, self.objects, edit, rewrite=rewrite)
                patches = [patch for patch in patches if patch.before != patch.after]
                buffer = self.buffer.patched(patches)
                spec, problems = self._read(buffer)
            except (
                Unpatchable,
                FileError,
                ValueError,
                OverflowError,
            ):  # ValueError: overlapping patches; OverflowError: numbers out of range
                continue
            if spec.name == name and _same(_kept(spec.objects, self.version), wanted):
                self._take_step(edit.label, patches, buffer, (spec, problems))
                return
            trouble = problems
        raise UsageError(reason_of(trouble, self.problems, f"a file of version {self.version} has no place for that"))

    # --- versions ----------------------------------------------------------------------------------------------------
    def with_data(self, data: bytes, version: int | None = None, path: Path | None = None) -> Document:
        """Return a document of other contents without history, by default of the same version and path."""
        return Document(path or self.path, data, self.version if version is None else version)

    def reopened(self) -> Document:
        """Return the document as the file on disk is now."""
        return Document.open(self.path, Files([self.path]))

    def version_at(self, path: Path) -> int:
        """Version that it would have under another path."""
        return version_of(path, self.version)

    def converted(self, path: Path, version: int, network: RoadNetwork | None, problems: Problems) -> Document:
        """Return the document under another path or version; the text is unchanged within a version.

        Parameters
        ----------
        path : Path
            New path.
        version : int
        network : RoadNetwork or None
            Lanes used to expand goals without waypoint for version 1.
        problems : Problems
            Receives losses of the conversion.

        Raises
        ------
        FileError
            If the version cannot represent the contents.
        """
        if version == self.version:
            return self._at(path)
        own = Problems()
        spec = to_v1(self.spec, network, own) if version == 1 else to_v2(self.spec, own)
        problems.extend(own)
        own.raise_if_any()
        return Document(path, FORMATS[version].write(spec).encode("utf-8"), version)


def version_of(path: Path, usual: int) -> int:
    """Return the version that a file's suffix implies."""
    return {".obj": 1, ".xml": 2}.get(path.suffix.lower(), usual)


def _kept(items: Sequence[TrafficObject], version: int) -> tuple[TrafficObject, ...]:
    """Normalise objects to what a version can store, for comparison.

    Version 1 stores neither names nor descriptions of sensors; implied names depend on an object's row.
    """
    if version == 2:
        return tuple(replace(item, name="") if IMPLIED.fullmatch(item.name) else item for item in items)
    return tuple(
        replace(
            item,
            name="",
            sensors=tuple(replace(one, type_code=one.type_code or 0, description=None) for one in item.sensors),
        )
        for item in items
    )


def _same(found: Sequence[TrafficObject], wanted: Sequence[TrafficObject]) -> bool:
    """Return whether the parsed objects equal the requested ones, including extensions, which specs do not compare."""
    return len(found) == len(wanted) and all(
        one == other and _lasting(one) == _lasting(other) for one, other in zip(found, wanted, strict=True)
    )


def _lasting(item: TrafficObject) -> list[str]:
    """Extensions that do not belong to list entries, and so survive edits of lists."""
    return [text for text in item.extensions if not text.startswith(("goal[", "sensor[", "script["))]
