r"""RNDF, DARPA's road network definition file, and its dialects: text ↔ `RoadNetwork`.

The reader is tolerant: records are recognised by their keyword, in any order; counts are advisory; options are assigned
to the lane that they name; unknown records are kept and written back. It reports lexical (0xx) and structural (1xx)
problems and continues. See ``docs/formats/rndf.md``.

>>> from cbsim.errors import Problems
>>> from cbsim.formats.reader import Source
>>> text = "RNDF_name r\nsegment 1\nlane 1.1\n1.1.1 38.0 -77.0\nend_lane\nend_segment\nend_file\n"
>>> network = read(Source("r.rndf", text, text.encode()), Problems())
>>> count(network)["waypoints"], network.segments[0].lanes[0].points.texts
(1, (('38.0', '-77.0'),))
"""

from __future__ import annotations

from cbsim.errors import Problems
from cbsim.formats.reader import Source
from cbsim.formats.rndf.build import build_network
from cbsim.formats.rndf.columns import Columns, drop_impossible
from cbsim.formats.rndf.lexical import read_lines
from cbsim.formats.rndf.metric import lane_length
from cbsim.formats.rndf.place import place_loose_blocks, place_options
from cbsim.formats.rndf.reader import read_records
from cbsim.formats.rndf.structure import check_structure
from cbsim.formats.rndf.writer import write
from cbsim.spec.road import RoadNetwork

__all__ = ["count", "read", "write"]


def read(source: Source, problems: Problems) -> RoadNetwork | None:
    """Read a road network, collecting all problems.

    Parameters
    ----------
    source : Source
        The file.
    problems : Problems
        Collects problems; with an error among them the network is as far as it could be understood.

    Returns
    -------
    RoadNetwork or None
        None if there is not a single record of the format.
    """
    lines = read_lines(source, problems)
    if lines is None:
        return None
    state = read_records(source.path, lines, problems)
    if state.is_empty:
        problems.error("E116", "no record of a road network was found", source.at(1))
        return None
    place_loose_blocks(state)
    place_options(state)
    columns = Columns(state.drafts)
    if not columns.is_possible:
        drop_impossible(state)
        columns = Columns(state.drafts)
    check_structure(state)
    return build_network(state.root, source.path, columns)


def count(network: RoadNetwork) -> dict[str, int | float]:
    """Count the records of a network, duplicates and dangling references included; `lane_km` is the sum of chords."""
    lanes = list(network.lanes)
    perimeters = [zone.perimeter for zone in network.zones if zone.perimeter is not None]
    spots = [spot for zone in network.zones for spot in zone.spots]
    return {
        "segments": len(network.segments),
        "lanes": len(lanes),
        "waypoints": sum(len(lane.points) for lane in lanes),
        "zones": len(network.zones),
        "perimeter_points": sum(len(perimeter.points) for perimeter in perimeters),
        "spots": len(spots),
        "checkpoints": sum(len(lane.checkpoints) for lane in lanes) + sum(len(spot.checkpoints) for spot in spots),
        "stops": sum(len(lane.stops) for lane in lanes),
        "exits": sum(len(lane.exits) for lane in lanes) + sum(len(perimeter.exits) for perimeter in perimeters),
        "lane_km": round(lane_length(network) / 1000.0, 6),
    }
