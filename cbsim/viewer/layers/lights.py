"""Traffic lights at the ends of lanes: a disc for green, a triangle for yellow, a square for red."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from cbsim.palette import PAINT, SCENE
from cbsim.road.lights import LaneLights, lane_lights
from cbsim.road.roadmap import RoadMap
from cbsim.road.signals import SignalState
from cbsim.spec.traffic import LightProgram
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.view import View

__all__ = ["draw"]

SIDE = 16.0  # [points] of a symbol
SMALLEST = 0.8  # [pixels per metre] below which symbols would cover the road
COLOURS = {SignalState.GREEN: PAINT.plan, SignalState.YELLOW: PAINT.selected, SignalState.RED: PAINT.danger}


@lru_cache(maxsize=4)
def _lights(roadmap: RoadMap, programs: tuple[LightProgram, ...]) -> LaneLights | None:
    return lane_lights(roadmap, programs)


def draw(canvas: Canvas, view: View) -> None:
    """Draw the strictest light of each lane end, as traffic obeys it at the time shown."""
    if view.stage.roadmap is None or view.camera.scale < SMALLEST:
        return
    found = _lights(view.stage.roadmap, view.stage.lights)
    if found is None:
        return
    shown, centres = found.states(view.state.time, view.state.lights), view.camera.to_screen(found.places)
    for state in SignalState:
        own = [k for k, one in enumerate(shown) if one is state]
        if own:
            canvas.draw_sprite(canvas.sprite(("light", state), SIDE, partial(_symbol, state)), centres[own])


def _symbol(state: SignalState, canvas: Canvas) -> None:
    middle = 0.5 * canvas.size[0]
    size = 0.8 * middle
    if state is SignalState.GREEN:
        angles = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    elif state is SignalState.YELLOW:
        angles = np.pi * (np.array([0.0, 2.0, 4.0]) / 3.0 - 0.5)
    else:
        angles = np.pi * (np.arange(4) / 2.0 + 0.25)
    corners = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    canvas.area(middle + size * corners, SCENE.ink)
    canvas.area(middle + 0.72 * size * corners, COLOURS[state])
