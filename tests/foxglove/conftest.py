"""Runs that tests of recordings share."""

from tests.recording.conftest import in_chunks, joined, made, recording, sourced

__all__ = ["in_chunks", "joined", "made", "recording", "sourced"]
