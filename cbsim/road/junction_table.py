"""Table of one junction: conflicts of lanelets, their stations, and who yields."""

from __future__ import annotations

from typing import Any

from cbsim.errors import UsageError
from cbsim.road.lanelet_map import LaneletMap, point_id
from cbsim.road.right_of_way import ConflictKind, Rule, junction_at
from cbsim.road.roadmap import build
from cbsim.spec.road import RoadNetwork

__all__ = ["junction_data", "junction_lines"]

WORDS = {
    Rule.SUBORDINATE: "zone mouths and U-turns yield",
    Rule.STOP: "has a stop line",
    Rule.ARRIVAL: "order of arrival; if at once",
    Rule.LANE: "comes in by an exit",
    Rule.LEFT_TURN: "left turn",
    Rule.RIGHT: "the right goes first",
    Rule.ID: "smaller id goes first",
}


def junction_data(network: RoadNetwork, point: str) -> dict[str, Any]:
    """Collect the conflicts of the junction at a point.

    Parameters
    ----------
    network : RoadNetwork
    point : str
        Address of a stop line, or of a point at which one of the junction's lanelets begins or ends.

    Returns
    -------
    dict
        `stops`, a list of addresses, and `conflicts`, a list of dicts with `yields`, `goes_first` (lanelets),
        `yields_at`, `goes_first_at` (stations from, to [m]), `kind` and `rule`.

    Raises
    ------
    ModelError
        If there is no such point.
    UsageError
        If it is at no junction.
    """
    road = LaneletMap(build(network))
    junction = junction_at(road.conflicts, point_id(point))
    if junction is None:
        stops = ", ".join(str(stop) for one in road.junctions for stop in one.stops[:1]) or "none"
        raise UsageError(f"nothing conflicts at '{point}' (stop lines of junctions: {stops})")
    table = road.conflicts
    rows = []
    for row in junction.conflicts:
        side = int(table.yields[row])
        names = [road.lanelets.names[lanelet] for lanelet in table.pairs[row].tolist()]
        ranges = [[round(float(x), 2) for x in (table.begins[row, k], table.ends[row, k])] for k in (0, 1)]
        rows.append(
            {
                "yields": names[side],
                "yields_at": ranges[side],
                "goes_first": names[1 - side],
                "goes_first_at": ranges[1 - side],
                "kind": ConflictKind(table.kinds[row]).name.lower(),
                "rule": Rule(table.rules[row]).name.lower(),
            }
        )
    return {"stops": [str(stop) for stop in junction.stops], "conflicts": rows}


def junction_lines(data: dict[str, Any]) -> list[str]:
    """Format the table of a junction as text."""
    stops = ", ".join(data["stops"]) or "none"
    lines = [f"  junction with {len(data['conflicts'])} conflicts, stop lines: {stops}"]
    cells = [("yields", "at [m]", "to", "at [m]", "kind", "because")]
    for row in data["conflicts"]:
        places = ["{:.1f}-{:.1f}".format(*row[key]) for key in ("yields_at", "goes_first_at")]
        reason = WORDS[Rule[row["rule"].upper()]]
        cells.append((row["yields"], places[0], row["goes_first"], places[1], row["kind"], reason))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines += [
        "    " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    return lines
