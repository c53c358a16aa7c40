"""What is drawn, one layer over another: a layer is a function in a file of this package and a line in `LAYERS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from cbsim.viewer.canvas import Canvas
from cbsim.viewer.layers import bodies, conflicts, danger, ground, labels, lasers, marks, measure, paths, road, thoughts
from cbsim.viewer.view import View

__all__ = ["LAYERS", "Layer", "draw_layers", "pieces"]


class Layer(NamedTuple):
    """One row of the table.

    Attributes
    ----------
    key : str
        Its name, by which it is switched on and off, with others of that name.
    title : str
        What it shows.
    draw : callable
        Draws it; an iterator draws a piece at each of its steps.
    still : bool
        It changes with the camera alone, so that pictures of it are kept; what of it is put or written keeps its size.
    flat : bool
        It is seen from above only.
    shown : bool
        Whether it is drawn unless the user says otherwise.
    """

    key: str
    title: str
    draw: Callable[[Canvas, View], Iterator[None] | None]
    still: bool = False
    flat: bool = True
    shown: bool = True


LAYERS: tuple[Layer, ...] = (
    Layer("ground", "ground, grid where there is no road", ground.draw, still=True, flat=False),
    Layer("zones", "zones and their perimeters", road.draw_zones, still=True),
    Layer("road", "road surface", road.draw_surface, still=True),
    Layer("markings", "lane markings", road.draw_markings, still=True),
    Layer("spots", "parking spots", road.draw_spots, still=True),
    Layer("conflicts", "right of way", conflicts.draw, still=True, shown=False),
    Layer("stops", "stop lines", road.draw_stops, still=True),
    Layer("meshes", "meshes that stand still", bodies.draw_standing, still=True),
    Layer("route", "route of the mission", paths.draw_route, still=True),
    Layer("checkpoints", "checkpoints", labels.draw_checkpoints, still=True),
    Layer("ids", "ids of waypoints", labels.draw_ids, still=True, shown=False),
    Layer("goals", "goals of objects", paths.draw_goals, shown=False),
    Layer("trails", "trails", paths.draw_trails, flat=False),
    Layer("beams", "laser beams", lasers.draw_beams, flat=False, shown=False),
    Layer("thoughts", "what planners show", thoughts.draw, flat=False),
    Layer("bodies", "bodies", bodies.draw, flat=False),
    Layer("joints", "joints of models", bodies.draw_joints, flat=False),
    Layer("lasers", "laser points", lasers.draw_points, flat=False),
    Layer("thoughts", "what planners show, in words", thoughts.draw_words, flat=False),
    Layer("danger", "time to collision", danger.draw),
    Layer("danger", "time to collision, in words", danger.draw_words),
    Layer("marks", "contacts and checks", marks.draw),
    Layer("names", "names", labels.draw_names, flat=False),
    Layer("selection", "selected body", marks.draw_selection, flat=False),
    Layer("measure", "measured distances", measure.draw, flat=False),
)
"""From the lowest to the highest."""


def draw_layers(canvas: Canvas, *views: View, still: bool | None = None) -> None:
    """Draw all layers that are shown, or only those that stand still, or only the others; each layer of all views."""
    for _ in pieces(canvas, *views, still=still):
        pass


def pieces(canvas: Canvas, *views: View, still: bool | None = None) -> Iterator[None]:
    """Draw as `draw_layers`, a piece at each step: a layer, or what a layer takes for one."""
    for layer in LAYERS:
        if still is not None and layer.still is not still:
            continue
        for view in views:
            if (view.is_flat or not layer.flat) and view.looks.shown.get(layer.key, layer.shown):
                yield from layer.draw(canvas, view) or ()
                yield
