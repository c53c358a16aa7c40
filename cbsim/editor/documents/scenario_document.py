"""Documents of scenarios, whose events can be edited."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from cbsim.editor.documents.edits import Edit
from cbsim.editor.documents.event_edits import EventEdit
from cbsim.editor.documents.source_buffer import SourceBuffer
from cbsim.editor.documents.text_document import TextDocument, reason_of
from cbsim.editor.documents.yaml_spans import YamlSpans
from cbsim.errors import FileError, Problems, UsageError
from cbsim.formats import read_source
from cbsim.formats.reader import Source
from cbsim.formats.scenario import read
from cbsim.lint.scenario import lint_scenario
from cbsim.loading.request import Request
from cbsim.loading.scenario_file import check_format
from cbsim.paths import Files
from cbsim.spec.objects import ObjectFile, TrafficObject
from cbsim.spec.road import RoadNetwork
from cbsim.spec.scenario import Scenario

__all__ = ["ScenarioDocument"]

Change = Callable[[YamlSpans, Scenario], EventEdit]


class ScenarioDocument(TextDocument[Scenario]):
    """A scenario whose events are being edited; its objects are shown.

    Attributes
    ----------
    placed : tuple of TrafficObject
        Its objects where they start.
    object_files : list of ObjectFile or None
        Its object files, or None where they cannot all be read.
    """

    placed: tuple[TrafficObject, ...] = ()
    object_files: list[ObjectFile] | None = None

    def __init__(self, path: Path, data: bytes) -> None:
        super().__init__(path, data, 2)

    @classmethod
    def open(cls, path: Path, files: Files) -> ScenarioDocument:
        """Open a file.

        Raises
        ------
        FileError
            If it cannot be read or is not a scenario without mistakes.
        """
        source = read_source(path, files)
        check_format(source)
        return cls(path, source.data)

    @property
    def objects(self) -> tuple[TrafficObject, ...]:
        """Objects to show."""
        return self.placed

    @property
    def title(self) -> str:
        """Name of the contents."""
        return self.path.stem

    @property
    def format_name(self) -> str:
        """Name of the format, for people."""
        return "scenario"

    @property
    def save_as_hint(self) -> str:
        """Names under which it can be saved."""
        return ".yaml; files that it names are looked for beside it"

    def _read(self, buffer: SourceBuffer) -> tuple[Scenario, Problems]:
        problems = Problems()
        spec = read(Source.decode(self.path, buffer.data), problems)
        if spec is None:
            raise FileError(problems)
        return spec, problems

    def with_data(self, data: bytes, version: int | None = None, path: Path | None = None) -> ScenarioDocument:  # noqa: ARG002
        """Return a document of other contents without history, by default of the same path."""
        other = ScenarioDocument(path or self.path, data)
        other.placed, other.object_files = self.placed, self.object_files
        return other

    def reopened(self) -> ScenarioDocument:
        """Return the document as the file on disk is now."""
        return ScenarioDocument.open(self.path, Files([self.path]))

    def version_at(self, path: Path) -> int:  # noqa: ARG002
        """Version that it would have under another path: the same."""
        return self.version

    def converted(
        self,
        path: Path,
        version: int,  # noqa: ARG002
        network: RoadNetwork | None,  # noqa: ARG002
        problems: Problems,  # noqa: ARG002
    ) -> ScenarioDocument:
        """Return the document under another path."""
        return self._at(path)

    def lint(self, network: RoadNetwork | None, files: Files, problems: Problems) -> None:
        """Add what the linter says to the problems of the reader."""
        lint_scenario(self.spec, files, problems, network=network, objects=self.object_files)

    def request(self, rndf: str | None, mdf: str | None, planner: Mapping[str, str]) -> Request:
        """Return what a trial run loads."""
        return Request(str(self.path), rndf, None, mdf, planner=dict(planner))

    # --- edits -------------------------------------------------------------------------------------------------------
    def apply(self, edit: Edit) -> None:
        """Refuse to edit objects.

        Raises
        ------
        UsageError
            Always: objects belong to object files, or are written as text.
        """
        raise UsageError(f"cannot {edit.label}: here events are edited; open an object file to edit its objects")

    def change(self, make: Change) -> None:
        """Take a step.

        Parameters
        ----------
        make : callable
            Makes the edit of the text and of what it says.

        Raises
        ------
        UsageError
            If the text cannot say what is asked for; the document is then unchanged.
        """
        edit = make(YamlSpans(self.buffer.text, self.buffer.newline), self.spec)
        patches = [patch for patch in edit.patches if patch.before != patch.after]
        otherwise = "the text there is shared with other places, by an anchor or a parameter: change it as text"
        try:
            buffer = self.buffer.patched(patches)
            found = self._read(buffer)
        except FileError as error:
            raise UsageError(reason_of(error.problems, self.problems, otherwise)) from None
        except ValueError:  # patches overlap
            raise UsageError(otherwise) from None
        if found[0] != edit.wanted:
            raise UsageError(otherwise)
        self._take_step(edit.label, patches, buffer, found)
