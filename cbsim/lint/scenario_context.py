"""Context of the rules for scenarios: the scenario, and the files that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cbsim.errors import FileError, Location, ModelError, Problems, did_you_mean
from cbsim.formats.scenario import KINDS, find_named
from cbsim.models import MODELS, read_file
from cbsim.paths import Files, shipped_names
from cbsim.road.address import Addresses, point_sets
from cbsim.spec.mission import Mission
from cbsim.spec.objects import ObjectFile, TrafficObject
from cbsim.spec.road import PointId, RoadNetwork
from cbsim.spec.scenario import Scenario

if TYPE_CHECKING:
    from cbsim.road.lanelets import Lanelets

__all__ = ["ScenarioContext"]

FORMATS_OF = {
    "network": ("rndf",),
    "mission": ("mdf",),
    "objects": ("objects-v1", "objects-v2"),
    "models": tuple(MODELS),
}
READER_WARNINGS = ("W642",)  # warnings of readers that are reported for the scenario, too
SPEC: dict[str, type] = {"network": RoadNetwork, "mission": Mission, "objects": ObjectFile, "models": object}


@dataclass
class ScenarioContext:
    """A scenario and the files that it names, each read when first used."""

    scenario: Scenario
    files: Files
    problems: Problems
    given_network: RoadNetwork | None
    given_mission: Mission | None
    given_objects: Sequence[ObjectFile] | None
    strict: bool

    @property
    def folder(self) -> Path:
        """Folder of the scenario."""
        return Path(self.scenario.location.path).parent

    def find(self, kind: str, name: str, place: Location) -> Path | None:
        """Find a named file; report a missing one with the nearest name."""
        path = find_named(kind, name, self.folder, self.files)
        if path is None and self.files.allows(self.folder) and not self.files.allows(self.folder / name):
            self.problems.error("E010", f"'{name}' is outside the folders that may be read", place)
        elif path is None:
            shipped, suffixes = KINDS[kind]
            beside = self.folder.glob("*") if self.files.allows(self.folder) else ()
            names = (name for one in beside if one.suffix in suffixes for name in (one.stem, one.name))
            near = [*names, *shipped_names(shipped, suffixes)]
            self.problems.error("E011", f"no such file '{name}'", place, did_you_mean(name, near))
        return path

    def read(self, kind: str, name: str | None, place: Location) -> Any:
        """Read a named file and report its errors; None if it does not exist or is not usable."""
        path = None if name is None else self.find(kind, name, place)
        if path is None:
            return None
        try:
            reading = read_file(path, self.files, asked_at=place)
        except FileError as error:
            self.problems.extend(error.problems)
            return None
        if reading.format.name not in FORMATS_OF[kind]:
            wanted = " or ".join(FORMATS_OF[kind])
            message = f"this is a file of format '{reading.format.name}', expected {wanted}"
            self.problems.error("E891" if kind == "models" else "E002", message, place)
            return None
        self.problems.extend(
            [*reading.problems.errors, *(p for p in reading.problems.warnings if p.code in READER_WARNINGS)]
        )
        return reading.spec if isinstance(reading.spec, SPEC[kind]) else None

    @cached_property
    def network(self) -> RoadNetwork | None:
        """Its road network; None if there is none, or it cannot be read."""
        if self.given_network is not None:
            return self.given_network
        network: RoadNetwork | None = self.read("network", self.scenario.network, self.scenario.at("network"))
        return network

    @property
    def roadless(self) -> bool:
        """Whether no network is given at all, as opposed to an unreadable one."""
        return self.scenario.network is None and self.given_network is None

    @property
    def present(self) -> set[str]:
        """Which of network and mission are given, readable or not."""
        road = set() if self.roadless else {"network"}
        given = self.scenario.mission is not None or self.given_mission is not None
        return road | ({"mission"} if given else set())

    @cached_property
    def addresses(self) -> Addresses | None:
        """Points of the network."""
        if self.network is None:
            return None
        sets = point_sets(self.network)
        return Addresses(PointId(*key, number) for key, points, _ in sets for number in points.numbers)

    @cached_property
    def ways(self) -> tuple[Lanelets | None, list[list[int]]]:
        """Lanelets of the network with where each leads; None where there is none, or it has too many exits."""
        if self.network is None:
            return None, []
        from cbsim.road.lanelets import build_lanelets  # of what a scenario without flows has no need
        from cbsim.road.lanelets.neighbours import find_neighbours
        from cbsim.road.lanelets.reach import change_edges, find_turns, ways_on, with_changes
        from cbsim.road.roadmap import build

        try:
            lanelets = build_lanelets(build(self.network))
        except ModelError:  # told when the World is made
            return None, []
        graph = ways_on(lanelets, find_turns(lanelets))
        return lanelets, with_changes(graph, change_edges(find_neighbours(lanelets)))

    @cached_property
    def object_files(self) -> list[ObjectFile | None]:
        """Its object files; None for one that cannot be read."""
        if self.given_objects is not None:
            return list(self.given_objects)
        at = self.scenario.at
        return [self.read("objects", name, at(f"objects.{k}")) for k, name in enumerate(self.scenario.objects)]

    @property
    def named(self) -> list[TrafficObject]:
        """Objects of the object files."""
        return [item for file in self.object_files if file is not None for item in file.objects]

    @property
    def added(self) -> list[TrafficObject]:
        """Objects of the scenario itself."""
        return [addition.object for addition in self.scenario.add]

    @property
    def complete(self) -> bool:
        """Whether all object files were read, so that other names are errors."""
        return all(file is not None for file in self.object_files)
