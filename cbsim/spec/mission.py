"""Contents of a mission file: checkpoints in order, and speed limits per segment or zone (MDF)."""

from __future__ import annotations

from dataclasses import dataclass, field

from cbsim.errors import Location
from cbsim.spec.brief import brief
from cbsim.spec.road import Extension

__all__ = ["Mission", "MissionCheckpoint", "SpeedLimit"]


@dataclass(frozen=True, slots=True)
class MissionCheckpoint:
    """One entry of the ordered list."""

    number: int
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class SpeedLimit:
    """Limits of one segment or zone [m/s]; 0 where undefined."""

    segment: int
    minimum: float
    maximum: float
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Mission:
    """A whole mission file.

    Attributes
    ----------
    name, network_name : str
        ``MDF_name`` and the name of the network it was written for; free text.
    checkpoints : tuple of MissionCheckpoint
        To be visited strictly in this order; the last is the finish line.
    speed_limits : tuple of SpeedLimit or None
        None where the file has no such section.
    network_key : str
        ``RNDF``, or ``RNDF_name`` in Cornell's dialect.
    extensions : tuple of Extension
        Records that the reader does not know, kept and written back.
    """

    name: str
    network_name: str
    checkpoints: tuple[MissionCheckpoint, ...]
    speed_limits: tuple[SpeedLimit, ...] | None = None
    format_version: str = ""
    creation_date: str = ""
    network_key: str = "RNDF"
    checkpoint_count: int | None = field(default=None, compare=False)
    speed_limit_count: int | None = field(default=None, compare=False)
    extensions: tuple[Extension, ...] = ()
    location: Location = field(default=Location(""), compare=False)

    __repr__ = brief
