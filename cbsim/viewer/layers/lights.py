"""Traffic lights at the ends of lanes: a disc for green, a triangle for yellow, a square for red."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import ModelError
from cbsim.palette import PAINT, SCENE
from cbsim.road.lanelets import Lanelets, build_lanelets
from cbsim.road.light_names import light_names
from cbsim.road.roadmap import RoadMap
from cbsim.road.signals import Signals, SignalState, signals_of
from cbsim.spec.traffic import LightProgram
from cbsim.viewer.canvas import Canvas
from cbsim.viewer.view import View

__all__ = ["draw"]

Floats = NDArray[np.float64]

SIDE = 16.0  # [points] of a symbol
SMALLEST = 0.8  # [pixels per metre] below which symbols would cover the road
COLOURS = {SignalState.GREEN: PAINT.plan, SignalState.YELLOW: PAINT.selected, SignalState.RED: PAINT.danger}


@lru_cache(maxsize=4)
def _signals(roadmap: RoadMap, programs: tuple[LightProgram, ...]) -> tuple[Signals, list[list[int]], Floats] | None:
    """Programs of a network, lights of each lane end, and the places of these ends (n, 2) [m]; None without lights."""
    if not light_names(roadmap.network):
        return None
    try:
        lanelets = build_lanelets(roadmap)
    except ModelError:
        return None
    rows = [row for row in range(len(lanelets)) if len(lanelets.lights[row])]
    places = np.array([_end(lanelets, row) for row in rows], float).reshape(-1, 2)
    return signals_of(lanelets, programs), [lanelets.lights[row].tolist() for row in rows], places


def _end(lanelets: Lanelets, row: int) -> Floats:
    return np.asarray(lanelets.points[int(lanelets.offsets[row + 1]) - 1])


def draw(canvas: Canvas, view: View) -> None:
    """Draw the strictest light of each lane end, as it is at the time shown."""
    if view.stage.roadmap is None or view.camera.scale < SMALLEST:
        return
    found = _signals(view.stage.roadmap, view.stage.lights)
    if found is None:
        return
    signals, lists, places = found
    shown = [max(signals.state(light, view.state.time) for light in lights) for lights in lists]
    centres = view.camera.to_screen(places)
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
