"""3-D visualisation of mechanisms: a live web page (viser, the extra ``view3d``) or a self-contained HTML file.

`cbsim.multibody` re-exports these functions. Mechanisms are accessed only through protocols.
"""

from __future__ import annotations

from cbsim.view3d.api import build_robot, export_html, visualize
from cbsim.view3d.environment import (
    set_arrow,
    set_background,
    set_camera,
    set_floor,
    set_lamp,
    set_light,
    set_surface,
)
from cbsim.view3d.recorded import visualize_recording
from cbsim.view3d.visualizer import Visualizer

__all__ = [
    "Visualizer",
    "build_robot",
    "export_html",
    "set_arrow",
    "set_background",
    "set_camera",
    "set_floor",
    "set_lamp",
    "set_light",
    "set_surface",
    "visualize",
    "visualize_recording",
]
