"""Draw a run from above as SVG: lanes, where everything went, and the last laser scan.

python examples/picture.py four_way_stop 20 docs/pictures/four_way_stop.svg Sedan
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import cbsim
from cbsim.road.connector import connectors
from cbsim.spec.objects import Kind

COLOURS = {Kind.AUTONOMOUS: "#d55e00", Kind.DYNAMIC: "#0072b2", Kind.STATIC: "#555555", Kind.MESH: "#999999"}
WINDOW = 50.0  # [m] half of the width shown, around the object named, else the first bot


def polyline(points: np.ndarray, **style: object) -> str:
    """One SVG line; y points down there."""
    path = " ".join(f"{x:.2f},{-y:.2f}" for x, y in points)
    attributes = " ".join(f'{key.replace("_", "-")}="{value}"' for key, value in style.items())
    return f'<polyline points="{path}" fill="none" {attributes}/>'


def outline(body, snapshot) -> np.ndarray:
    """Corners (4, 2) of a body's footprint."""
    half = 0.5 * body.size
    corners = np.array([[-half[0], -half[1], 0], [half[0], -half[1], 0], [half[0], half[1], 0], [-half[0], half[1], 0]])
    return body.pose(snapshot).apply(corners)[:, :2]


def draw(world, snapshot, recording, centre) -> str:
    """The whole picture."""
    parts = []
    parts += [
        polyline(curve.samples, stroke="#e4e4e4", stroke_width=curve.width) for curve in connectors(world.scene.roadmap)
    ]
    for lane in world.scene.roadmap.lanes:
        road = np.vstack([lane.left, lane.right[::-1]])
        points = " ".join(f"{x:.2f},{-y:.2f}" for x, y in road)
        parts.append(f'<polygon points="{points}" fill="#e4e4e4"/>')
    for lane in world.scene.roadmap.lanes:
        parts += [polyline(side, stroke="#ffffff", stroke_width=0.25) for side in (lane.left, lane.right)]
    for body in world:
        path = recording.positions(body.name)[:, :2]
        parts.append(polyline(path, stroke=COLOURS[body.kind], stroke_width=0.5, stroke_dasharray="1 1"))
    for scan in cbsim.sense(world, snapshot).values():
        parts += [
            f'<circle cx="{x:.2f}" cy="{-y:.2f}" r="0.25" fill="#cc0044"/>'
            for x, y, _ in scan.points.reshape(-1, 3)
            if np.isfinite(x)
        ]
    for body in world:
        corners = " ".join(f"{x:.2f},{-y:.2f}" for x, y in outline(body, snapshot))
        parts.append(f'<polygon points="{corners}" fill="{COLOURS[body.kind]}" stroke="white" stroke-width="0.15"/>')
    x, y, _ = centre.pose(snapshot).position
    view = f"{x - WINDOW:.1f} {-y - WINDOW / 2:.1f} {2 * WINDOW:.1f} {WINDOW:.1f}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" width="900" height="450">'
    ground = f'<rect x="{x - WINDOW}" y="{-y - WINDOW}" width="{2 * WINDOW}" height="{2 * WINDOW}" fill="#f7f7f2"/>'
    return "\n".join([head, ground, *parts, "</svg>\n"])


def main() -> None:
    name, duration, target = sys.argv[1], float(sys.argv[2]), Path(sys.argv[3])
    world = cbsim.load(name)
    recording = cbsim.run(world, duration=duration)
    snapshot = world.start
    for _ in range(len(recording) - 1):
        snapshot = cbsim.step(world, snapshot)
    target.parent.mkdir(parents=True, exist_ok=True)
    bot = next(body for body in world if body.kind is Kind.AUTONOMOUS)
    centre = world[sys.argv[4]] if len(sys.argv) > 4 else bot
    target.write_text(draw(world, snapshot, recording, centre))


if __name__ == "__main__":
    main()
