"""Mechanisms in space: on a web page with a player (viser, the extra ``view3d``), or in one file that needs nothing.

`cbsim.multibody` lends these functions to its users; what is here knows of mechanisms only what it reads of them.
"""

from __future__ import annotations

from cbsim.view3d.face import build_robot, export_html, visualize
from cbsim.view3d.surroundings import set_arrow, set_background, set_camera, set_floor, set_light, set_surface
from cbsim.view3d.visualizer import Visualizer

__all__ = [
    "Visualizer",
    "build_robot",
    "export_html",
    "set_arrow",
    "set_background",
    "set_camera",
    "set_floor",
    "set_light",
    "set_surface",
    "visualize",
]
