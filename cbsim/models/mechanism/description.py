"""Descriptions of saved mechanisms, which start in the state of their file, without inputs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cbsim.errors import Problems
from cbsim.models.settings import Settings
from cbsim.paths import Files
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mechanism.stored import StoredMechanism

__all__ = ["OPTIONS", "describe"]

OPTIONS: dict[str, str] = {}
"""There are none: all of it is in the file."""


def describe(
    stored: StoredMechanism,
    settings: Mapping[str, str],
    timestep: float,  # noqa: ARG001
    folder: Path,  # noqa: ARG001
    files: Files,  # noqa: ARG001
    problems: Problems,  # noqa: ARG001
    *,
    strict: bool = False,  # noqa: ARG001
) -> ModelDescription:
    """Describe a mechanism, as `cbsim.models` specifies, in its own timestep."""
    Settings(settings, OPTIONS, "a saved mechanism")
    return ModelDescription(stored.spec, state=stored.state)
