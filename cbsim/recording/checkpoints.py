"""Checkpoints of planners in a recording: their memory, with the Snapshot from which a run can be continued."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from cbsim.recording.container import DamageError

__all__ = ["CheckpointRow", "checkpoint_rows_of"]

HEAD = struct.Struct("<qqQQQ")  # step; checkpoints passed; bytes of name, memory and Snapshot


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """A planner's memory before it is asked in a step.

    Attributes
    ----------
    step : int
        Number of the step.
    name : str
        Of the object that it drives.
    memory : bytes
        What its `save` returned.
    snapshot : bytes
        The Snapshot of that step; `World.restore` reads it.
    passed : int
        Checkpoints of the mission that the object has passed by then.
    """

    step: int
    name: str
    memory: bytes
    snapshot: bytes
    passed: int = 0

    def to_bytes(self) -> bytes:
        """Encode it."""
        name = self.name.encode()
        return b"".join(
            (
                HEAD.pack(self.step, self.passed, len(name), len(self.memory), len(self.snapshot)),
                *(name, self.memory, self.snapshot),
            )
        )


def checkpoint_rows_of(data: bytes) -> Iterator[CheckpointRow]:
    """Decode rows, one after another.

    Raises
    ------
    DamageError
        If the bytes are fewer than they say.
    """
    at = 0
    while at < len(data):
        if len(data) - at < HEAD.size:
            raise DamageError(f"a checkpoint has {len(data) - at} bytes, expected {HEAD.size} at least")
        step, passed, *sizes = HEAD.unpack_from(data, at)
        at += HEAD.size
        if sum(sizes) > len(data) - at:
            raise DamageError(f"a checkpoint has {len(data) - at} bytes, expected {sum(sizes)}")
        parts = []
        for size in sizes:
            parts.append(data[at : at + size])
            at += size
        yield CheckpointRow(step, parts[0].decode(errors="replace"), parts[1], parts[2], passed)
