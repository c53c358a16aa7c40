"""Documents: files whose text is authoritative, with their edit history and contents, independent of any window.

A step becomes patches of the text, the patched text is parsed by the format's reader, and the result must equal the
request. What is shown is therefore what a run will load, every problem has a line, and undo restores the exact bytes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Self, TypeVar

from cbsim.editor.documents.edits import Edit
from cbsim.editor.documents.source_buffer import Patch, SourceBuffer, inverse
from cbsim.errors import Problems, Severity
from cbsim.formats.reader import Source
from cbsim.loading.request import Request
from cbsim.paths import Files
from cbsim.spec.objects import TrafficObject
from cbsim.spec.road import RoadNetwork

__all__ = ["TextDocument", "reason_of"]

Spec = TypeVar("Spec")


@dataclass(frozen=True)
class Step:
    """A step of the history: its label, and the patches that do and undo it."""

    label: str
    done: tuple[Patch, ...]
    undone: tuple[Patch, ...]


class TextDocument(ABC, Generic[Spec]):
    """A file being edited.

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
        If the contents are so broken that they cannot be edited; the text must be repaired first.

    Attributes
    ----------
    spec : object
        Parsed contents.
    problems : Problems
        Problems reported by the reader.
    buffer : SourceBuffer
        Its text.
    """

    spec: Spec
    problems: Problems

    def __init__(self, path: Path, data: bytes, version: int) -> None:
        self.path, self.version = path, version
        self.buffer = SourceBuffer.decode(data)
        self._done: list[Step] = []
        self._undone: list[Step] = []
        self.spec, self.problems = self._read(self.buffer)

    # --- of each format ----------------------------------------------------------------------------------------------
    @property
    @abstractmethod
    def objects(self) -> tuple[TrafficObject, ...]:
        """Objects to show."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Name of the contents."""

    @property
    @abstractmethod
    def format_name(self) -> str:
        """Name of the format, for people."""

    @property
    @abstractmethod
    def save_as_hint(self) -> str:
        """Names under which it can be saved."""

    @abstractmethod
    def _read(self, buffer: SourceBuffer) -> tuple[Spec, Problems]:
        """Read a text, or raise FileError."""

    @abstractmethod
    def with_data(self, data: bytes, version: int | None = None, path: Path | None = None) -> Self:
        """Return a document of other contents without history, by default of the same version and path.

        Raises
        ------
        FileError
            If they are not a valid file.
        """

    @abstractmethod
    def reopened(self) -> Self:
        """Return the document as the file on disk is now; raises FileError as opening does."""

    @abstractmethod
    def version_at(self, path: Path) -> int:
        """Version that it would have under another path."""

    @abstractmethod
    def converted(self, path: Path, version: int, network: RoadNetwork | None, problems: Problems) -> Self:
        """Return the document under another path or version; the text is unchanged within a version.

        Parameters
        ----------
        path : Path
            New path.
        version : int
        network : RoadNetwork or None
            Lanes of the road.
        problems : Problems
            Receives losses of the conversion.

        Raises
        ------
        FileError
            If the version cannot represent the contents.
        """

    @abstractmethod
    def apply(self, edit: Edit) -> None:
        """Apply an edit of the objects.

        Raises
        ------
        UsageError
            If the file's format or encoding cannot represent the result; the document is then unchanged.
        """

    @abstractmethod
    def lint(self, network: RoadNetwork | None, files: Files, problems: Problems) -> None:
        """Add what the linter says to the problems of the reader."""

    @abstractmethod
    def request(self, rndf: str | None, mdf: str | None, planner: Mapping[str, str]) -> Request:
        """Return what a trial run loads."""

    # --- what it says ------------------------------------------------------------------------------------------------
    @property
    def data(self) -> bytes:
        """Contents as bytes."""
        return self.buffer.data

    def line(self, number: int) -> str:
        """Return the text of a line, counted from 1, without surrounding blanks."""
        lines = (text for other, text in Source("", self.buffer.text, b"").lines() if other == number)
        return next(lines, "").strip()

    # --- history -----------------------------------------------------------------------------------------------------
    @property
    def undoable(self) -> str:
        """Label of the step that undo would revert; empty if there is none."""
        return self._done[-1].label if self._done else ""

    def _take_step(
        self, label: str, patches: Sequence[Patch], buffer: SourceBuffer, found: tuple[Spec, Problems]
    ) -> None:
        """Take a step whose text has been read."""
        if patches:
            self._done.append(Step(label, tuple(patches), inverse(patches)))
            self._undone.clear()
        self.buffer = buffer
        self.spec, self.problems = found

    def undo(self) -> str:
        """Revert the last step; returns its label, empty if there is none."""
        if not self._done:
            return ""
        step = self._done.pop()
        self._undone.append(step)
        self._patch(step.undone)
        return step.label

    def redo(self) -> str:
        """Repeat the last reverted step; returns its label, empty if there is none."""
        if not self._undone:
            return ""
        step = self._undone.pop()
        self._done.append(step)
        self._patch(step.done)
        return step.label

    def _patch(self, patches: Sequence[Patch]) -> None:
        self.buffer = self.buffer.patched(patches)
        self.spec, self.problems = self._read(self.buffer)

    def replace(self, data: bytes) -> None:
        """Replace the contents as one step, such as by recovered work.

        Raises
        ------
        FileError
            If they are not a valid file.
        """
        found = self.with_data(data)
        if found.buffer.codec != self.buffer.codec or found.buffer.mark != self.buffer.mark:
            self._done.clear()  # earlier steps refer to another encoding
            self._undone.clear()
            self.buffer, self.spec, self.problems = found.buffer, found.spec, found.problems
        else:
            patches = (Patch(0, self.buffer.text, found.buffer.text),)
            self._take_step("recover", patches, self.buffer.patched(patches), (found.spec, found.problems))

    def _at(self, path: Path) -> Self:
        """Return the document with its history under another path."""
        same = self.with_data(self.data, path=path)
        same._done, same._undone = list(self._done), list(self._undone)
        return same


def reason_of(found: Problems | None, before: Problems, otherwise: str) -> str:
    """Explain why an edit failed: the first problem that the reader did not report before."""
    known = {(one.code, one.message) for one in before}
    new = [one for one in found or () if (one.code, one.message) not in known]
    errors = [one for one in new if one.severity is Severity.ERROR] or new
    return errors[0].message if errors else otherwise
