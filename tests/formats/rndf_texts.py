"""What tests of road networks and missions share: reading from a text, and the codes of what was found."""

from __future__ import annotations

from pathlib import Path

from cbsim.errors import Problems
from cbsim.formats import mdf, rndf
from cbsim.formats.reader import Source
from cbsim.spec.mission import Mission
from cbsim.spec.road import RoadNetwork

CORPUS = Path(__file__).resolve().parents[1] / "corpus"

HEAD = "RNDF_name\tsite\nnum_segments\t1\nnum_zones\t0\n"
POINTS = "1.1.1\t38.801000\t-77.200000\n1.1.2\t38.802000\t-77.200000\n"
TAIL = "end_lane\nend_segment\nend_file\n"


def source_of(text: str | bytes, path: str = "site.rndf") -> Source:
    """Make a source from a text as it would stand in a file."""
    return Source.decode(path, text if isinstance(text, bytes) else text.encode())


def read_network(text: str | bytes) -> tuple[RoadNetwork | None, Problems]:
    """Read a network and everything that is said about it."""
    problems = Problems()
    return rndf.read(source_of(text), problems), problems


def read_mission(text: str | bytes) -> tuple[Mission | None, Problems]:
    """Read a mission and everything that is said about it."""
    problems = Problems()
    return mdf.read(source_of(text, "mission.mdf"), problems), problems


def network_of(text: str | bytes) -> RoadNetwork:
    """Read a network that must be there."""
    network, _ = read_network(text)
    assert network is not None
    return network


def mission_of(text: str | bytes) -> Mission:
    """Read a mission that must be there."""
    mission, _ = read_mission(text)
    assert mission is not None
    return mission


def found(problems: Problems) -> list[tuple[int | None, str]]:
    """Lines and codes of all problems, sorted."""
    return sorted((problem.location.line, problem.code) for problem in problems)


def network_codes(text: str | bytes) -> list[str]:
    """Codes of what is said about a network, by line."""
    return [code for _, code in found(read_network(text)[1])]


def lane_text(options: str = "", points: str = POINTS) -> str:
    """Make a network of one lane, with as many points as it says."""
    count = f"num_waypoints\t{len(points.splitlines())}\n"
    return f"{HEAD}segment\t1\nnum_lanes\t1\nlane\t1.1\n{count}{options}{points}{TAIL}"
