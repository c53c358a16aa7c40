"""Draw a road network, or a moment of a run, from above as SVG.

python examples/picture.py four_way_stop docs/pictures/four_way_stop.svg --time 26 --around Sedan
python examples/picture.py rndf/parking.rndf docs/pictures/parking.svg
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

import numpy as np
from shapely import MultiPoint

import cbsim
from cbsim.evaluation.outcome import execute
from cbsim.geometry.polyline import left_of
from cbsim.road.connector import connectors
from cbsim.road.roadmap import RoadMap, build
from cbsim.spec.objects import Kind, ShapeKind
from cbsim.spec.road import PointId, RoadNetwork
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import Body, World

COLOURS = {Kind.AUTONOMOUS: "#d55e00", Kind.DYNAMIC: "#0072b2", Kind.STATIC: "#555555", Kind.MESH: "#8a7f70"}
GROUND, ROAD, PAINT, ZONE, STOP = "#f2f2ea", "#d9d9d9", "#ffffff", "#cdc8da", "#c8102e"
WIDTH = 900  # [px]
ROUND = (ShapeKind.SPHERE, ShapeKind.CYLINDER)
Box = tuple[float, float, float, float]


def shape(tag: str, points: np.ndarray, **style: object) -> str:
    """One SVG polyline or polygon; y points down there."""
    path = " ".join(f"{x:.2f},{-y:.2f}" for x, y in points)
    attributes = " ".join(f'{key.replace("_", "-")}="{value}"' for key, value in style.items())
    return f'<{tag} points="{path}" {attributes}/>'


def disc(place: np.ndarray, radius: float, colour: str) -> str:
    """One filled circle."""
    return f'<circle cx="{place[0]:.2f}" cy="{-place[1]:.2f}" r="{radius:.2f}" fill="{colour}"/>'


def road(roadmap: RoadMap) -> Iterator[str]:
    """Zones and their spots, lanes and the curves between them, stop lines."""
    for corners in roadmap.perimeters:
        yield shape("polygon", corners, fill=ZONE, stroke="#b9b2cc", stroke_width=0.3)
    for curve in connectors(roadmap):
        yield shape("polyline", curve.samples, fill="none", stroke=ROAD, stroke_width=f"{curve.width:.2f}")
    for lane in roadmap.lanes:
        yield shape("polygon", np.vstack([lane.left, lane.right[::-1]]), fill=ROAD)
    for lane in roadmap.lanes:
        for side in (lane.left, lane.right):
            yield shape("polyline", side, fill="none", stroke=PAINT, stroke_width=0.25)
    for spec, lane in zip(roadmap.lane_specs, roadmap.lanes, strict=True):
        for stop in spec.stops:
            middle, heading = roadmap.position(stop.point), roadmap.heading(stop.point)
            across = 0.5 * lane.width * left_of(np.array([-np.sin(heading), np.cos(heading)]))
            line = np.array([middle - across, middle + across])
            yield shape("polyline", line, fill="none", stroke=STOP, stroke_width=0.6)
    for zone in roadmap.network.zones:
        for spot in zone.spots:
            yield bay(roadmap, zone.number, spot.number, spot.width or 3.0)


def bay(roadmap: RoadMap, zone: int, number: int, width: float) -> str:
    """A parking spot: open at its entry, as deep again behind its centre."""
    entry, centre = (roadmap.position(PointId(zone, number, point)) for point in (1, 2))
    along = centre - entry
    aside = 0.5 * width * left_of(along / np.hypot(*along))
    corners = np.array([entry + aside, entry + 2 * along + aside, entry + 2 * along - aside, entry - aside])
    return shape("polyline", corners, fill="none", stroke=PAINT, stroke_width=0.25)


def footprint(world: World, body: Body, snapshot: Snapshot) -> np.ndarray:
    """Corners (n, 2) of what a body covers."""
    mesh = world.scene.actors[body.row].mesh
    half = 0.5 * body.size
    if mesh is not None:
        corners = mesh[0] - 0.5 * (mesh[0].min(axis=0) + mesh[0].max(axis=0))
    else:
        corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * half
    places = body.pose(snapshot).apply(corners)[:, :2]
    return np.array(MultiPoint(places).convex_hull.exterior.coords)[:-1] if mesh is not None else places


def bodies(world: World, snapshot: Snapshot, recording: cbsim.Recording) -> Iterator[str]:
    """Where everything went, the last scans, and where everything stands."""
    for body in world:
        path = recording.positions(body.name)[:, :2]
        if np.ptp(path, axis=0).max() > 0.1:
            yield shape(
                "polyline", path, fill="none", stroke=COLOURS[body.kind], stroke_width=0.4, stroke_dasharray="1 1"
            )
    for body in world:
        if body.shape in ROUND:
            yield disc(body.pose(snapshot).position, 0.5 * body.size[0], COLOURS[body.kind])
        else:
            corners = footprint(world, body, snapshot)
            yield shape("polygon", corners, fill=COLOURS[body.kind], stroke="white", stroke_width=0.15)
    for reading in cbsim.sense(world, snapshot).values():
        points = getattr(reading, "points", np.empty((0, 3))).reshape(-1, 3)
        yield from (disc(point, 0.2, "#cc0044") for point in points[np.isfinite(points[:, 0])])


class Labels:
    """Texts, each beside its place where it covers nothing that is taken already."""

    def __init__(self, view: Box) -> None:
        self.size = 11.0 * view[2] / WIDTH  # [m] 11 px
        self.view, self.taken = view, list[Box]()

    def take(self, points: np.ndarray) -> None:
        """Keep a place free of labels."""
        (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
        self.taken.append((x0, y0, x1, y1))

    def width(self, text: str) -> float:
        """Length of a text [m]."""
        return 0.62 * self.size * len(text)

    def on(self, text: str, place: np.ndarray) -> str:
        """Write the text on its place, in white."""
        return self._text(text, place[0], place[1], "#fff")

    def put(self, text: str, place: np.ndarray, away: float) -> str:
        """Write the text on a ring around its place; nothing where there is no room within four rings."""
        width, height = self.width(text), self.size
        for ring in np.arange(1.0, 3.0, 0.5):
            for angle in np.radians([0, 180, 35, 145, -35, -145, 90, -90]):
                reach = np.array([np.cos(angle) * (away * ring + 0.5 * width), np.sin(angle) * (away * ring + height)])
                x, y = place[:2] + reach
                box = (x - 0.5 * width, y - 0.5 * height, x + 0.5 * width, y + 0.5 * height)
                if self._inside(box) and not any(overlap(box, other) for other in self.taken):
                    self.taken.append(box)
                    return self._text(text, x, y, "#222")
        return ""

    def _text(self, text: str, x: float, y: float, colour: str) -> str:
        style = f'text-anchor="middle" dominant-baseline="central" font-family="sans-serif" fill="{colour}"'
        return f'<text x="{x:.2f}" y="{-y:.2f}" font-size="{self.size:.2f}" {style}>{escape(text)}</text>'

    def _inside(self, box: Box) -> bool:
        x, y, width, height = self.view
        return box[0] > x and box[2] < x + width and box[1] > y and box[3] < y + height


def overlap(a: Box, b: Box) -> bool:
    """Tell whether two boxes (least x, least y, greatest x, greatest y) share a point."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def names(world: World, snapshot: Snapshot, recording: cbsim.Recording, view: Box) -> Iterator[str]:
    """Names of the objects in view, beside them and their ways."""
    labels = Labels(view)
    shown = [(body, footprint(world, body, snapshot)) for body in world]
    for body, corners in shown:
        labels.take(corners)
        for point in recording.positions(body.name)[::10, :2]:
            labels.take(point + 0.5 * np.array([[-1, -1], [1, 1]]))
    for body, corners in shown:
        place = body.pose(snapshot).position[:2]
        if (np.abs(place - (view[0] + 0.5 * view[2], view[1] + 0.5 * view[3])) < 0.5 * np.array(view[2:])).all():
            reach = 0.5 * float(np.ptp(corners, axis=0).max())
            inside = np.ptp(corners, axis=0).min() > 1.5 * labels.width(body.name)  # so large that it bears its name
            yield labels.on(body.name, place) if inside else labels.put(body.name, place, reach + 0.3 * labels.size)


def checkpoints(roadmap: RoadMap, view: Box) -> Iterator[str]:
    """Checkpoints as dots with their numbers."""
    labels = Labels(view)
    holders = [*roadmap.lane_specs, *(spot for zone in roadmap.network.zones for spot in zone.spots)]
    marks = [(mark.number, roadmap.position(mark.point)) for holder in holders for mark in holder.checkpoints]
    dot = 0.3 * labels.size
    for _, place in marks:
        labels.take(place + dot * np.array([[-1, -1], [1, 1]]))
        yield disc(place, dot, "#222222")
    for number, place in marks:
        yield labels.put(str(number), place, 2.0 * dot)


def scale_bar(view: Box) -> str:
    """A bar of a round length in the lower left corner."""
    length = 10.0 ** np.floor(np.log10(0.3 * view[2]))
    size = 11.0 * view[2] / WIDTH
    x, y = view[0] + size, view[1] + size
    line = shape("polyline", np.array([[x, y], [x + length, y]]), stroke="#222", stroke_width=0.2 * size)
    style = f'font-size="{size:.2f}" font-family="sans-serif" fill="#222"'
    return f'{line}\n<text x="{x:.2f}" y="{-y - 0.5 * size:.2f}" {style}>{length:g} m</text>'


def page(view: Box, parts: list[str]) -> str:
    """The whole SVG; a view is its lower left corner, width and height [m]."""
    x, y, width, height = view
    top = -y - height
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{x:.1f} {top:.1f} {width:.1f} {height:.1f}"'
    size = f'width="{WIDTH}" height="{WIDTH * height / width:.0f}">'
    ground = f'<rect x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{GROUND}"/>'
    return "\n".join([f"{head} {size}", ground, *filter(None, parts), scale_bar(view), "</svg>\n"])


def view_of(points: np.ndarray, margin: float = 12.0) -> Box:
    """The view that shows all of some points."""
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    return float(low[0]), float(low[1]), float(high[0] - low[0]), float(high[1] - low[1])


def picture_of_network(network: RoadNetwork) -> str:
    """A network with its checkpoints."""
    roadmap = build(network)
    view = view_of(roadmap.positions)
    return page(view, [*road(roadmap), *checkpoints(roadmap, view)])


def picture_of_run(world: World, time: float, around: str | None, window: float) -> str:
    """What stands where at a time, and where it came from."""
    recording = cbsim.run(world, duration=time)
    snapshot = execute(world, steps=len(recording) - 1).snapshot
    centre = world[around] if around else next((b for b in world if b.kind is Kind.AUTONOMOUS), next(iter(world)))
    x, y, _ = centre.pose(snapshot).position
    view = (x - window, y - 0.5 * window, 2 * window, window)
    roads = road(world.scene.roadmap) if world.scene.roadmap is not None else ()
    return page(view, [*roads, *bodies(world, snapshot, recording), *names(world, snapshot, recording, view)])


def main(arguments: list[str]) -> None:
    """Draw what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", help="a scenario, or an RNDF file")
    parser.add_argument("target", type=Path, help="the SVG to write")
    parser.add_argument("--time", type=float, default=20.0, help="moment of the run [s]")
    parser.add_argument("--around", help="object in the middle; else the first bot")
    parser.add_argument("--window", type=float, default=50.0, help="half of the width shown [m]")
    given = parser.parse_args(arguments)
    if given.what.endswith((".rndf", ".rdf")):
        text = picture_of_network(cbsim.read(given.what))
    else:
        text = picture_of_run(cbsim.load(given.what), given.time, given.around, given.window)
    given.target.parent.mkdir(parents=True, exist_ok=True)
    given.target.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
