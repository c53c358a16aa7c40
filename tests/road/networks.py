"""Random road networks for property tests: odd ones, and those of ``cbsim new city``."""

from __future__ import annotations

from hypothesis import strategies as st

from cbsim.export.city import city
from cbsim.spec.road import RoadNetwork
from tests.road.site import Place, Site

coordinates = st.integers(0, 60).map(lambda k: 2.0 * k)
places = st.tuples(coordinates, coordinates)


@st.composite
def networks(draw: st.DrawFn) -> RoadNetwork:
    """Lay out up to six lanes anywhere within 120 m, with exits from anywhere to anywhere, and stop lines."""
    site = Site(metric=True)
    sizes = draw(st.lists(st.integers(2, 5), min_size=1, max_size=6))
    names = [f"{1 + k // 2}.{1 + k % 2}" for k in range(len(sizes))]
    points = [f"{name}.{k}" for name, size in zip(names, sizes, strict=True) for k in range(1, size + 1)]
    for name, size in zip(names, sizes, strict=True):
        own = [point for point in points if point.startswith(f"{name}.")]
        line: list[Place] = draw(st.lists(places, min_size=size, max_size=size))
        exits = draw(st.lists(st.tuples(st.sampled_from(own), st.sampled_from(points)), max_size=4))
        stops = draw(st.lists(st.sampled_from(own), max_size=2, unique=True))
        width = draw(st.sampled_from([None, 0.0, 2.0, 3.6576]))
        site.lane(name, line, exits=exits, stops=stops, width=width)
    return site.network()


def cities() -> st.SearchStrategy[RoadNetwork]:
    """Small cities, one-way and two-way, with one to three lanes each way and zones."""
    options = st.fixed_dictionaries(
        {
            "columns": st.integers(1, 3),
            "rows": st.integers(1, 2),
            "lanes": st.integers(1, 3),
            "two_way": st.booleans(),
            "zones": st.integers(0, 1),
            "seed": st.integers(0, 99),
        }
    )
    return options.map(lambda chosen: city(**chosen)[0])
