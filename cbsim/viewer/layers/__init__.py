"""Table of layers, drawn in order; each layer is a function in a module of this package and a row of `LAYERS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.layers import (
    bodies,
    conflicts,
    events,
    ground,
    labels,
    lasers,
    lights,
    measure,
    paths,
    planner_annotations,
    road,
    time_to_collision,
)
from cbsim.viewer.view import View

__all__ = ["LAYERS", "Layer", "draw_incrementally", "draw_layers"]


class Layer(NamedTuple):
    """One layer.

    Attributes
    ----------
    key : str
        Key to show or hide it; layers may share one.
    title : str
        Title for the help.
    draw : callable
        Draws the layer; if it returns an iterator, each step draws a part.
    static : bool
        Depends only on the camera, so it is drawn into cached tiles; its sprites and texts keep their size.
    flat : bool
        Visible only in the top view.
    shown : bool
        Visible by default.
    """

    key: str
    title: str
    draw: Callable[[Canvas, View], Iterator[None] | None]
    static: bool = False
    flat: bool = True
    shown: bool = True


LAYERS: tuple[Layer, ...] = (
    Layer("ground", "ground, grid where there is no road", ground.draw, static=True, flat=False),
    Layer("zones", "zones and their perimeters", road.draw_zones, static=True),
    Layer("road", "road surface", road.draw_surface, static=True),
    Layer("markings", "lane markings", road.draw_markings, static=True),
    Layer("spots", "parking spots", road.draw_spots, static=True),
    Layer("conflicts", "right of way", conflicts.draw, static=True, shown=False),
    Layer("stops", "stop lines", road.draw_stops, static=True),
    Layer("meshes", "static meshes", bodies.draw_static_meshes, static=True),
    Layer("route", "route of the mission", paths.draw_route, static=True),
    Layer("checkpoints", "checkpoints", labels.draw_checkpoints, static=True),
    Layer("ids", "ids of waypoints", labels.draw_ids, static=True, shown=False),
    Layer("goals", "goals of objects", paths.draw_goals, shown=False),
    Layer("trails", "trails", paths.draw_trails, flat=False),
    Layer("beams", "laser beams", lasers.draw_beams, flat=False, shown=False),
    Layer("annotations", "planner annotations", planner_annotations.draw, flat=False),
    Layer("bodies", "bodies", bodies.draw, flat=False),
    Layer("joints", "joints of models", bodies.draw_joints, flat=False),
    Layer("lasers", "laser points", lasers.draw_points, flat=False),
    Layer("annotations", "text of planner annotations", planner_annotations.draw_text, flat=False),
    Layer("ttc", "time to collision", time_to_collision.draw),
    Layer("ttc", "values of time to collision", time_to_collision.draw_values),
    Layer("lights", "traffic lights", lights.draw),
    Layer("events", "contacts and checks", events.draw),
    Layer("names", "names", labels.draw_names, flat=False),
    Layer("selection", "selected body", events.draw_selection, flat=False),
    Layer("measure", "measured distances", measure.draw, flat=False),
)
"""All layers, bottom to top."""


def draw_layers(canvas: Canvas, *views: View, static: bool | None = None) -> None:
    """Draw all visible layers of some views, or only the static or the dynamic ones."""
    for _ in draw_incrementally(canvas, *views, static=static):
        pass


def draw_incrementally(canvas: Canvas, *views: View, static: bool | None = None) -> Iterator[None]:
    """Draw as `draw_layers` does, yielding after each part."""
    for layer in LAYERS:
        if static is not None and layer.static is not static:
            continue
        for view in views:
            if (view.is_flat or not layer.flat) and view.options.shown.get(layer.key, layer.shown):
                yield from layer.draw(canvas, view) or ()
                yield
