"""`FoxgloveRecorder` writes foxglove messages beside cbsim's own; `add_foxglove` does the same afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cbsim.evaluation.judge import judge, scene_of
from cbsim.evaluation.rules import Check
from cbsim.foxglove.display import Display
from cbsim.foxglove.schemas import FOXGLOVE
from cbsim.foxglove.words import Shown
from cbsim.recording.batch import Batch, Header
from cbsim.recording.recorder import FileRecorder
from cbsim.recording.recording import Recording
from cbsim.world.compile import compile_world
from cbsim.world.scene import Scene
from cbsim.world.tables import Shapes
from cbsim.world.world import World

__all__ = ["FoxgloveRecorder", "add_foxglove", "foxglove_recorder"]


class FoxgloveRecorder(FileRecorder):
    """Writes an MCAP file that cbsim reads as any of its own, and Foxglove and Lichtblick open.

    Parameters
    ----------
    path : path
        The file; overwritten.
    scene : Scene, optional
        For the road and the goals.
    shapes : Shapes, optional
        For meshes.
    checks : callable, optional
        Asked at the end how the checks came out; of planners' own failures the recorder hears by itself.

    Raises
    ------
    UsageError
        If it cannot be written.
    """

    def __init__(
        self,
        path: str | Path,
        scene: Scene | None = None,
        shapes: Shapes | None = None,
        checks: Callable[[], Sequence[Check]] | None = None,
    ) -> None:
        super().__init__(path)
        self._scene, self._shapes, self._checks = scene, shapes, checks
        self._display: Display | None = None
        self._failed: list[str] = []

    def begin(self, header: Header, snapshot: bytes, sources: Mapping[str, bytes]) -> None:
        """Write the header, the sources and the first Snapshot."""
        super().begin(header, snapshot, sources)
        self._display = Display(header, self._scene, self._shapes)

    def write(self, batch: Batch) -> None:
        """Write a batch, and what is shown of it."""
        super().write(batch)
        if self._display is not None:
            for shown in self._display.take(batch):
                self._show(shown)

    def fault(self, name: str, time: float, message: str) -> None:
        """Write a failure."""
        super().fault(name, time, message)
        self._failed.append(name)
        if self._display is not None:
            self._show(self._display.fault(name, time, message))

    def end(self) -> None:
        """Write how the checks came out, the index, and close the file."""
        try:
            if self._display is not None:
                checks = [] if self._checks is None else self._checks()
                for shown in self._display.end([check for check in checks if check.name not in self._failed]):
                    self._show(shown)
        finally:
            super().end()

    def _show(self, shown: Shown) -> None:
        if shown.topic not in self._channels:
            schema = json.dumps(FOXGLOVE[shown.schema]).encode()
            number = self._writer.register_schema(shown.schema, "jsonschema", schema)
            self._channels[shown.topic] = self._writer.register_channel(shown.topic, "json", number)
        self._put(shown.topic, max(0.0, shown.time), shown.data)


def foxglove_recorder(path: str | Path, world: World, checks: Callable[[], Sequence[Check]]) -> FoxgloveRecorder:
    """Make a recorder of a run for `cbsim.execute(…, record=path, recorder=foxglove_recorder)`."""
    return FoxgloveRecorder(path, world.scene, world.shapes, checks)


def add_foxglove(recording: Recording, path: str | Path) -> None:
    """Write a recording with foxglove messages, as a run with `--foxglove` does.

    Parameters
    ----------
    recording : Recording
        Made with or without them; one that carries no files has neither road nor meshes nor checks.
    path : path
        The file; the recording's own may be named.

    Raises
    ------
    RecordingError
        If it ends before its first Snapshot.
    FileError
        If a file that it carries is missing or has errors.
    UsageError
        If the file cannot be written.
    """
    recording.require_snapshot()
    if not recording.sources:
        recording.save(path, FoxgloveRecorder)
        return
    scene = scene_of(recording)
    world, found = compile_world(scene), judge(recording, scene)
    shapes = world.shapes if [body.name for body in world] == recording.names else None
    recording.save(path, lambda target: FoxgloveRecorder(target, scene, shapes, lambda: found.checks))
