"""`FoxgloveRecorder`: a recorder that adds foxglove messages; `add_foxglove`: the same for an existing recording."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cbsim.evaluation.judge import judge, scene_of
from cbsim.evaluation.rules import Check
from cbsim.foxglove.display import Display
from cbsim.foxglove.messages import Message
from cbsim.foxglove.schemas import FOXGLOVE
from cbsim.recording.batch import Batch, Header
from cbsim.recording.recorder import FileRecorder
from cbsim.recording.recording import Recording
from cbsim.world.compile import compile_world
from cbsim.world.scene import Scene
from cbsim.world.tables import Shapes
from cbsim.world.world import World

__all__ = ["FoxgloveRecorder", "add_foxglove", "foxglove_recorder"]


class FoxgloveRecorder(FileRecorder):
    """Writes an MCAP file that cbsim, Foxglove and Lichtblick can read.

    Parameters
    ----------
    path : path
        The file, which is overwritten.
    scene : Scene, optional
        For the road and the goals.
    shapes : Shapes, optional
        For meshes.
    checks : callable, optional
        Returns the checks at the end; failures of planners are passed to `fault`.

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
        """Write a batch and its foxglove messages."""
        super().write(batch)
        if self._display is not None:
            for message in self._display.take(batch):
                self._write_message(message)

    def fault(self, name: str, time: float, message: str) -> None:
        """Write a failure."""
        super().fault(name, time, message)
        self._failed.append(name)
        if self._display is not None:
            self._write_message(self._display.fault(name, time, message))

    def end(self) -> None:
        """Write the checks and the index, and close the file."""
        try:
            if self._display is not None:
                checks = [] if self._checks is None else self._checks()
                for message in self._display.end([check for check in checks if check.name not in self._failed]):
                    self._write_message(message)
        finally:
            super().end()

    def _write_message(self, message: Message) -> None:
        if message.topic not in self._channels:
            schema = json.dumps(FOXGLOVE[message.schema]).encode()
            number = self._writer.register_schema(message.schema, "jsonschema", schema)
            self._channels[message.topic] = self._writer.register_channel(message.topic, "json", number)
        self._put(message.topic, max(0.0, message.time), message.data)


def foxglove_recorder(path: str | Path, world: World, checks: Callable[[], Sequence[Check]]) -> FoxgloveRecorder:
    """Return a recorder for `cbsim.execute(…, record=path, recorder=foxglove_recorder)`."""
    return FoxgloveRecorder(path, world.scene, world.shapes, checks)


def add_foxglove(recording: Recording, path: str | Path) -> None:
    """Write a recording with foxglove messages, as a run with `--foxglove` does.

    Parameters
    ----------
    recording : Recording
        With or without such messages; without source files, there are no road, meshes or checks.
    path : path
        The file; may be that of the recording.

    Raises
    ------
    RecordingError
        If it ends before its first Snapshot.
    FileError
        If one of its source files is missing or has errors.
    UsageError
        If the file cannot be written.
    """
    recording.require_snapshot()
    if not recording.sources:
        recording.save(path, FoxgloveRecorder)
        return
    scene = scene_of(recording)
    world, found = compile_world(scene), judge(recording, scene)
    own = world.bodies.single, world.bodies.pools
    same = [body.name for body in own[0]] == [item["name"] for item in recording.header.objects.single]
    same &= [pool[:3] for pool in own[1]] == [(p.name, p.first, p.stop) for p in recording.header.pools]
    shapes = world.shapes if same else None
    recording.save(path, lambda target: FoxgloveRecorder(target, scene, shapes, lambda: found.checks))
