"""Recordings for Foxglove and Lichtblick: messages of foxglove's schemas beside cbsim's own topics.

They are derived from the recording, so they can be added to one later, and readers of cbsim ignore them.
"""

from __future__ import annotations

from cbsim.foxglove.recorder import FoxgloveRecorder, add_foxglove, foxglove_recorder

__all__ = ["FoxgloveRecorder", "add_foxglove", "foxglove_recorder"]
