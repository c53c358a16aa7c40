"""Drawing surface with anti-aliased lines, polygons and text, scaled to the screen's resolution.

Uses only the common part of pygame and pygame-ce, and needs no window.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Literal

import numpy as np
import pygame

from cbsim.arrays import Floats
from cbsim.palette import CHROME, SCENE
from cbsim.viewer.drawing import text_rendering
from cbsim.viewer.drawing.label_layout import LabelLayout

__all__ = ["ANCHORS", "FAR", "Canvas", "Colour", "Corner", "Line", "clipped", "points_for"]

Points = Sequence[tuple[float, float]] | Floats
Line = Sequence[Sequence[float]]
Colour = tuple[int, int, int]
Corner = Literal["middle", "left", "right", "above", "below", "topleft", "topright", "bottomleft", "bottomright"]

ANCHORS: dict[Corner, tuple[float, float]] = {  # fraction of a text's width and height left of and above its anchor
    "middle": (0.5, 0.5), "left": (0.0, 0.5), "right": (1.0, 0.5), "above": (0.5, 1.0), "below": (0.5, 0.0),
    "topleft": (0.0, 0.0), "topright": (1.0, 0.0), "bottomleft": (0.0, 1.0), "bottomright": (1.0, 1.0),
}  # fmt: skip
FAR = 20_000.0  # [pixels] geometry beyond is clipped, because pygame uses 32-bit coordinates
CACHE_SIZE = 4096  # cached texts, and cached sprites
SUPERSAMPLING = 4  # supersampling factor of sprites


def points_for(height: int) -> float:
    """Pixels per point for a picture of a height [pixels]; text keeps its share of the picture on large screens."""
    return max(1.0, height / 900.0)


class Canvas:
    """A surface to draw on; positions are pixels, line widths and text sizes are points (1 pixel at normal density).

    Parameters
    ----------
    surface : pygame.Surface
    points : float
        Pixels per point: 2 on a screen of double density.

    Attributes
    ----------
    layout : LabelLayout
        Space taken by labels.
    """

    _sprites: dict[tuple[Hashable, float, float], pygame.Surface] = {}  # noqa: RUF012 - shared by all of them
    _texts: dict[tuple[str, int, Colour, Colour | None], pygame.Surface] = {}  # noqa: RUF012 - shared by all of them

    def __init__(self, surface: pygame.Surface, points: float = 1.0) -> None:
        self.surface = surface
        self.points = points
        self.layout = LabelLayout()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height [pixels]."""
        return self.surface.get_size()

    def fill(self, colour: Colour) -> None:
        """Fill the whole surface."""
        self.surface.fill(colour)

    def area(self, corners: Points, colour: Colour, *, alpha: float = 1.0, smooth: bool = True) -> None:
        """Fill a polygon of at least three corners, with blended edges if `smooth`."""
        for places in clipped(corners, area=True):
            if len(places) < 3:
                continue
            if alpha < 1.0:
                self._translucent(places, colour, alpha)
                continue
            pygame.draw.polygon(self.surface, colour, places)
            if smooth:
                pygame.draw.aalines(self.surface, colour, True, places)

    def _translucent(self, places: list[tuple[float, float]], colour: Colour, alpha: float) -> None:
        """Fill a translucent polygon."""
        low, high = np.floor(np.min(places, axis=0)), np.ceil(np.max(places, axis=0))
        box = pygame.Rect(*low.astype(int).tolist(), *(high - low + 1).astype(int).tolist())
        box = box.clip(self.surface.get_rect())
        if box.width and box.height:
            overlay = pygame.Surface(box.size, pygame.SRCALPHA)
            pygame.draw.polygon(overlay, (*colour, round(255 * alpha)), [(x - box.x, y - box.y) for x, y in places])
            self.surface.blit(overlay, box)

    def areas(self, polygons: Sequence[Line], colour: Colour, *, smooth: bool = True) -> None:
        """Fill many polygons of at least three corners; corners must lie within `FAR`."""
        surface, polygon, edges = self.surface, pygame.draw.polygon, pygame.draw.aalines
        for corners in polygons:
            if len(corners) > 2:
                polygon(surface, colour, corners)
                if smooth:
                    edges(surface, colour, True, corners)

    def strokes(self, lines: Sequence[Line], colour: Colour, width: float) -> None:
        """Draw many polylines of a width in pixels; points must lie within `FAR`."""
        surface, thin = self.surface, pygame.draw.aalines
        for through in lines:
            if len(through) > 1:
                if width < 1.75:
                    thin(surface, colour, False, through)
                else:
                    self._thick(through, colour, width)

    def line(self, places: Points, colour: Colour, width: float = 1.0, *, closed: bool = False) -> None:
        """Draw a polyline of a width in points."""
        self.stroke(places, colour, width * self.points, closed=closed)

    def stroke(self, places: Points, colour: Colour, width: float, *, closed: bool = False) -> None:
        """Draw a polyline of a width in pixels, at least one."""
        for through in clipped([*places, places[0]] if closed and len(places) else places):
            if len(through) < 2:
                continue
            if width < 1.75:
                pygame.draw.aalines(self.surface, colour, False, through)
            else:
                self._thick(through, colour, width)

    def _thick(self, through: Line, colour: Colour, width: float) -> None:
        """Draw a polyline wider than a pixel: one rectangle per segment, with round joins."""
        if len(through) == 2:
            self._bar(through, colour, 0.5 * width)
            return
        ends = np.asarray(through)
        along = np.diff(ends, axis=0)
        length = np.hypot(*along.T)
        keep = length > 1e-6
        starts, stops, along = ends[:-1][keep], ends[1:][keep], along[keep] / length[keep, None]
        aside = 0.5 * width * along[:, ::-1] * (-1.0, 1.0)
        for quad in np.stack([starts + aside, stops + aside, stops - aside, starts - aside], axis=1).tolist():
            pygame.draw.polygon(self.surface, colour, quad)
            pygame.draw.aalines(self.surface, colour, True, quad)
        if width > 3.0:
            for place in through[1:-1]:
                pygame.draw.circle(self.surface, colour, place, 0.5 * width)

    def _bar(self, ends: Line, colour: Colour, half: float) -> None:
        """Draw a straight segment given half its width [pixels]."""
        (x, y), (u, v) = ends
        length = math.hypot(u - x, v - y)
        if length > 1e-6:
            right, down = half * (v - y) / length, half * (x - u) / length
            quad = [(x + right, y + down), (u + right, v + down), (u - right, v - down), (x - right, y - down)]
            pygame.draw.polygon(self.surface, colour, quad)
            pygame.draw.aalines(self.surface, colour, True, quad)

    def dashes(self, places: Points, colour: Colour, width: float, on: float, off: float) -> None:
        """Draw a dashed polyline; width, dash and gap are pixels."""
        through = np.asarray(places, float)
        if len(through) < 2:
            return
        stations = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(through, axis=0).T))])
        starts = np.arange(0.0, stations[-1], max(on + off, 1.0))
        at = np.stack([np.interp(starts, stations, column) for column in through.T], axis=1)
        reach = on + width
        for start in starts[(at > -reach).all(axis=1) & (at < np.array(self.size) + reach).all(axis=1)].tolist():
            stop = min(start + on, stations[-1])
            inner = stations[(stations > start) & (stations < stop)]
            along = np.concatenate([[start], inner, [stop]])
            self.stroke(np.stack([np.interp(along, stations, column) for column in through.T], axis=1), colour, width)

    def disc(
        self,
        centre: Sequence[float],
        radius: float,
        fill: Colour | None,
        edge: Colour | None = None,
        width: float = 1.0,
    ) -> None:
        """Draw a disc; its radius is in pixels, the width of its edge in points."""
        angle = np.linspace(0.0, 2.0 * np.pi, max(8, min(64, int(3.0 * radius))), endpoint=False)
        ring = np.asarray(centre) + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        if fill is not None:
            self.area(ring, fill)
        if edge is not None:
            self.line(ring, edge, width, closed=True)

    def sprite(self, key: Hashable, side: float, paint: Callable[[Canvas], None]) -> pygame.Surface:
        """Return a cached small picture, painted on first use.

        Parameters
        ----------
        key : hashable
            Distinguishes sprites of the same size.
        side : float
            Side of the square that holds the sprite [points].
        paint : callable
            Paints the sprite on a canvas of four times the resolution.
        """
        whole = (key, side, self.points)
        if whole not in self._sprites:
            if len(self._sprites) >= CACHE_SIZE:
                self._sprites.clear()
            pixels = max(1, math.ceil(side * self.points))
            large = pygame.Surface((SUPERSAMPLING * pixels, SUPERSAMPLING * pixels), pygame.SRCALPHA)
            paint(Canvas(large, SUPERSAMPLING * self.points))
            self._sprites[whole] = pygame.transform.smoothscale(large, (pixels, pixels))
        return self._sprites[whole]

    def draw_sprite(self, sprite: pygame.Surface, centres: Floats) -> None:
        """Draw a sprite centred at many positions (n, 2) [pixels]."""
        corners = np.round(centres - 0.5 * np.array(sprite.get_size())).astype(int)
        self.surface.blits([(sprite, corner) for corner in corners.tolist()], doreturn=False)

    def blit_at(self, sprite: pygame.Surface, at: Sequence[float], away: Sequence[float]) -> None:
        """Blit a sprite with its corner at an offset [pixels] from a position."""
        self.surface.blit(sprite, (round(at[0] + away[0]), round(at[1] + away[1])))

    def dots(self, places: Floats, colour: Colour, size: float) -> None:
        """Draw many small squares of a size in points."""
        side = max(1, round(size * self.points))
        width, height = self.size
        at = np.floor(places - 0.5 * side).astype(int)
        at = at[(at > -side).all(axis=1) & (at[:, 0] < width) & (at[:, 1] < height)]
        fill = self.surface.fill
        for x, y in np.unique(at, axis=0).tolist():
            fill(colour, (x, y, side, side))

    def text(
        self,
        at: Sequence[float],
        text: str,
        colour: Colour = SCENE.ink,
        size: float = 15.0,
        *,
        anchor: Corner = "middle",
        halo: Colour | None = None,
    ) -> pygame.Rect:
        """Draw a line of text of a size in points, with an optional halo; returns its rectangle."""
        made = self._cached_text(text, max(6, round(size * self.points)), colour, halo)
        share = ANCHORS[anchor]
        width, height = made.get_size()
        away = -share[0] * width, -share[1] * height
        self.blit_at(made, at, away)
        return pygame.Rect(round(at[0] + away[0]), round(at[1] + away[1]), width, height)

    def label(
        self,
        places: Sequence[tuple[Sequence[float], Corner]],
        text: str,
        colour: Colour = SCENE.ink,
        size: float = 15.0,
    ) -> bool:
        """Draw text at the first free candidate position, preferring ones clear of bodies, labels and edges."""
        width, height = self.extent(text, size)
        whole, air = self.surface.get_rect(), (round(5 * self.points), round(2 * self.points))
        fixed_labels, bodies = self.layout.fixed_labels, self.layout.bodies
        for within, clear in ((whole, [*fixed_labels, *bodies]), (whole, fixed_labels), (None, [])):
            for at, anchor in places:
                share = ANCHORS[anchor]
                box = pygame.Rect(round(at[0] - share[0] * width), round(at[1] - share[1] * height), width, height)
                if self.layout.take(box.inflate(air), within, clear):
                    self.text(at, text, colour, size, anchor=anchor, halo=SCENE.paint)
                    return True
        return False

    def around(self, at: Sequence[float], right: float, up: float) -> list[tuple[tuple[float, float], Corner]]:
        """Candidate positions for a label below, above, right and left of a position, then one line farther away."""
        (x, y), line = at, 17.0 * self.points
        return [
            ((x, y + up), "below"),
            ((x, y - up), "above"),
            ((x + right, y), "left"),
            ((x - right, y), "right"),
            ((x, y + up + line), "below"),
            ((x, y - up - line), "above"),
        ]

    def beside(self, at: Sequence[float], right: float, up: float) -> list[tuple[tuple[float, float], Corner]]:
        """Candidate positions for a label diagonally beside a position, then up to three lines farther away."""
        (x, y), places = at, list[tuple[tuple[float, float], Corner]]()
        for line in range(4):
            away = up + 17.0 * line * self.points
            places += [
                ((x + right, y - away), "bottomleft"),
                ((x + right, y + away), "topleft"),
                ((x - right, y - away), "bottomright"),
                ((x - right, y + away), "topright"),
            ]
            if line:
                places += [((x, y - away), "above"), ((x, y + away), "below")]
        return places

    def extent(self, text: str, size: float = 15.0) -> tuple[int, int]:
        """Width and height of a line of text [pixels]."""
        return text_rendering.extent(text, max(6, round(size * self.points)))

    def _cached_text(self, text: str, size: int, colour: Colour, halo: Colour | None) -> pygame.Surface:
        key = (text, size, colour, halo)
        if key not in self._texts:
            if len(self._texts) >= CACHE_SIZE:
                self._texts.clear()
            self._texts[key] = _with_halo(text, size, colour, halo)
        return self._texts[key]

    def panel(self, box: pygame.Rect, *, alpha: float = 0.88, edge: bool = True) -> None:
        """Draw a translucent panel."""
        overlay = pygame.Surface(box.size, pygame.SRCALPHA)
        overlay.fill((*CHROME.panel, round(255 * alpha)))
        self.surface.blit(overlay, box)
        if edge:
            pygame.draw.rect(self.surface, CHROME.edge, box, max(1, round(self.points)))

    def sees(self, places: Points, beyond: float = 0.0) -> bool:
        """Return whether the bounding box of some positions, grown by some pixels, overlaps the picture."""
        at = np.asarray(places, float)
        if not len(at):
            return False
        low, high = at.min(axis=0) - beyond, at.max(axis=0) + beyond
        width, height = self.size
        return bool(low[0] <= width and low[1] <= height and high[0] >= 0 and high[1] >= 0)


def clipped(places: Points, *, area: bool = False) -> list[list[tuple[float, float]]]:
    """Convert a polyline or polygon to pairs of numbers, clipped to `FAR` where necessary."""
    at = np.asarray(places, float)
    if not at.size or np.abs(at).max() <= FAR:
        pairs: list[tuple[float, float]] = at.tolist()
        return [pairs]
    import shapely

    if len(at) < (3 if area else 2) or not np.isfinite(at).all():
        return []
    whole = shapely.Polygon(at).buffer(0.0) if area else shapely.LineString(at)
    parts = shapely.get_parts(shapely.clip_by_rect(whole, -FAR, -FAR, FAR, FAR))
    return [list((part.exterior if area else part).coords) for part in parts if part.length > 0.0]


def _with_halo(text: str, size: int, colour: Colour, halo: Colour | None) -> pygame.Surface:
    """Render a text; a halo is the text drawn eight more times, one step off in every direction."""
    inner = text_rendering.render(text, size, colour)
    if halo is None:
        return inner
    step = max(1, round(size / 14))
    overlay = pygame.Surface((inner.get_width() + 2 * step, inner.get_height() + 2 * step), pygame.SRCALPHA)
    around = text_rendering.render(text, size, halo)
    for dx in (-step, 0, step):
        for dy in (-step, 0, step):
            overlay.blit(around, (step + dx, step + dy))
    overlay.blit(inner, (step, step))
    return overlay
