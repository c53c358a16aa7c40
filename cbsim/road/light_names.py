"""Names of the traffic lights of a network."""

from __future__ import annotations

from cbsim.spec.road import RoadNetwork

__all__ = ["light_names"]


def light_names(network: RoadNetwork) -> set[str]:
    """Names of the lights that lanes have, ``2.1`` for light 1 of intersection 2."""
    crossings = (crossing for lane in network.lanes for crossing in lane.crossings)
    return {crossing.target for crossing in crossings if crossing.keyword == "light"}
