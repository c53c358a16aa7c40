"""Recordings that Foxglove and Lichtblick open as they are: messages of foxglove's schemas beside cbsim's own topics.

They are made from what the recording holds, so they can be added to one later, and no reader of cbsim looks at them.
"""

from __future__ import annotations

from cbsim.foxglove.recorder import FoxgloveRecorder, add_foxglove, foxglove_recorder

__all__ = ["FoxgloveRecorder", "add_foxglove", "foxglove_recorder"]
