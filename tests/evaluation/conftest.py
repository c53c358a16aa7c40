"""Runs that tests of recordings share."""

from tests.cli.conftest import cli
from tests.recording.conftest import in_chunks, joined, made, recording, sourced

__all__ = ["cli", "in_chunks", "joined", "made", "recording", "sourced"]
