"""`Canvas`: strokes, areas and texts on a surface, smooth at their edges, their widths scaled to the screen.

It uses of pygame only what pygame and pygame-ce share, and needs no window: a surface is memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Literal

import numpy as np
import pygame
from numpy.typing import NDArray

from cbsim.palette import CHROME, SCENE
from cbsim.viewer import lettering
from cbsim.viewer.room import Room

__all__ = ["ANCHORS", "FAR", "Canvas", "Colour", "Corner", "Line", "near", "points_for"]

Floats = NDArray[np.float64]
Points = Sequence[tuple[float, float]] | Floats
Line = Sequence[Sequence[float]]
Colour = tuple[int, int, int]
Corner = Literal["middle", "left", "right", "above", "below", "topleft", "topright", "bottomleft", "bottomright"]

ANCHORS: dict[Corner, tuple[float, float]] = {  # share of a text's width and height that lies left of and above a place
    "middle": (0.5, 0.5), "left": (0.0, 0.5), "right": (1.0, 0.5), "above": (0.5, 1.0), "below": (0.5, 0.0),
    "topleft": (0.0, 0.0), "topright": (1.0, 0.0), "bottomleft": (0.0, 1.0), "bottomright": (1.0, 1.0),
}  # fmt: skip
FAR = 20_000.0  # [pixels] what is drawn farther away than this is cut off: pygame counts in 32 bits
TEXTS = 4096  # rendered texts, and sprites, that are kept
FINER = 4  # times as many pixels each way are painted of a sprite, and then mixed


def points_for(height: int) -> float:
    """Pixels in a point for a picture of a height [pixels]: text takes as large a part of a 4K screen as of others."""
    return max(1.0, height / 900.0)


class Canvas:
    """A surface to draw on, in pixels; widths and sizes of text are in points, of which a plain screen's are pixels.

    Parameters
    ----------
    surface : pygame.Surface
    points : float
        Pixels in a point: 2 on a screen of twice the density.

    Attributes
    ----------
    room : Room
        Where labels stand.
    """

    _sprites: dict[tuple[Hashable, float, float], pygame.Surface] = {}  # noqa: RUF012 - shared by all of them
    _texts: dict[tuple[str, int, Colour, Colour | None], pygame.Surface] = {}  # noqa: RUF012 - shared by all of them

    def __init__(self, surface: pygame.Surface, points: float = 1.0) -> None:
        self.surface = surface
        self.points = points
        self.room = Room()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height [pixels]."""
        return self.surface.get_size()

    def fill(self, colour: Colour) -> None:
        """Cover everything."""
        self.surface.fill(colour)

    def area(self, corners: Points, colour: Colour, *, alpha: float = 1.0, smooth: bool = True) -> None:
        """Fill a polygon, given by three corners or more; its edges are blended unless they need not be."""
        for places in near(corners, area=True):
            if len(places) < 3:
                continue
            if alpha < 1.0:
                self._veil(places, colour, alpha)
                continue
            pygame.draw.polygon(self.surface, colour, places)
            if smooth:
                pygame.draw.aalines(self.surface, colour, True, places)

    def _veil(self, places: list[tuple[float, float]], colour: Colour, alpha: float) -> None:
        """Fill a polygon that lets shine through what is below it."""
        low, high = np.floor(np.min(places, axis=0)), np.ceil(np.max(places, axis=0))
        box = pygame.Rect(*low.astype(int).tolist(), *(high - low + 1).astype(int).tolist())
        box = box.clip(self.surface.get_rect())
        if box.width and box.height:
            sheet = pygame.Surface(box.size, pygame.SRCALPHA)
            pygame.draw.polygon(sheet, (*colour, round(255 * alpha)), [(x - box.x, y - box.y) for x, y in places])
            self.surface.blit(sheet, box)

    def areas(self, polygons: Sequence[Line], colour: Colour, *, smooth: bool = True) -> None:
        """Fill many polygons of three corners or more, none of which is far away."""
        surface, polygon, edges = self.surface, pygame.draw.polygon, pygame.draw.aalines
        for corners in polygons:
            if len(corners) > 2:
                polygon(surface, colour, corners)
                if smooth:
                    edges(surface, colour, True, corners)

    def strokes(self, lines: Sequence[Line], colour: Colour, width: float) -> None:
        """Draw many lines, none of which is far away, as wide as a number of pixels."""
        surface, thin = self.surface, pygame.draw.aalines
        for through in lines:
            if len(through) > 1:
                if width < 1.75:
                    thin(surface, colour, False, through)
                else:
                    self._broad(through, colour, width)

    def line(self, places: Points, colour: Colour, width: float = 1.0, *, closed: bool = False) -> None:
        """Draw a line through places, as wide as a number of points."""
        self.stroke(places, colour, width * self.points, closed=closed)

    def stroke(self, places: Points, colour: Colour, width: float, *, closed: bool = False) -> None:
        """Draw a line through places, as wide as a number of pixels, at least one."""
        for through in near([*places, places[0]] if closed and len(places) else places):
            if len(through) < 2:
                continue
            if width < 1.75:
                pygame.draw.aalines(self.surface, colour, False, through)
            else:
                self._broad(through, colour, width)

    def _broad(self, through: Line, colour: Colour, width: float) -> None:
        """Draw a line that is broader than a pixel: a rectangle for each of its parts, and round joints."""
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
        """Draw a straight line of half a width [pixels]."""
        (x, y), (u, v) = ends
        length = math.hypot(u - x, v - y)
        if length > 1e-6:
            right, down = half * (v - y) / length, half * (x - u) / length
            quad = [(x + right, y + down), (u + right, v + down), (u - right, v - down), (x - right, y - down)]
            pygame.draw.polygon(self.surface, colour, quad)
            pygame.draw.aalines(self.surface, colour, True, quad)

    def dashes(self, places: Points, colour: Colour, width: float, on: float, off: float) -> None:
        """Draw a broken line, as wide as a number of pixels, of dashes and gaps of some pixels."""
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
        """Draw a disc of a radius in pixels, with an edge of some points."""
        angle = np.linspace(0.0, 2.0 * np.pi, max(8, min(64, int(3.0 * radius))), endpoint=False)
        ring = np.asarray(centre) + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        if fill is not None:
            self.area(ring, fill)
        if edge is not None:
            self.line(ring, edge, width, closed=True)

    def sprite(self, key: Hashable, side: float, paint: Callable[[Canvas], None]) -> pygame.Surface:
        """Make a small picture once, and keep it.

        Parameters
        ----------
        key : hashable
            What tells it from others of that size.
        side : float
            Of the square that holds it [points].
        paint : callable
            Paints it on a canvas that is four times as fine.
        """
        whole = (key, side, self.points)
        if whole not in self._sprites:
            if len(self._sprites) >= TEXTS:
                self._sprites.clear()
            pixels = max(1, math.ceil(side * self.points))
            large = pygame.Surface((FINER * pixels, FINER * pixels), pygame.SRCALPHA)
            paint(Canvas(large, FINER * self.points))
            self._sprites[whole] = pygame.transform.smoothscale(large, (pixels, pixels))
        return self._sprites[whole]

    def put(self, sprite: pygame.Surface, centres: Floats) -> None:
        """Put a sprite at many places (n, 2) [pixels]."""
        corners = np.round(centres - 0.5 * np.array(sprite.get_size())).astype(int)
        self.surface.blits([(sprite, corner) for corner in corners.tolist()], doreturn=False)

    def lay(self, sprite: pygame.Surface, at: Sequence[float], away: Sequence[float]) -> None:
        """Lay a sprite down, its corner some pixels away from a place."""
        self.surface.blit(sprite, (round(at[0] + away[0]), round(at[1] + away[1])))

    def dots(self, places: Floats, colour: Colour, size: float) -> None:
        """Draw many small squares, each of some points, in one go."""
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
        """Write a line of text at a place, as high as some points, over a halo where there is one; where it stands."""
        made = self._written(text, max(6, round(size * self.points)), colour, halo)
        share = ANCHORS[anchor]
        width, height = made.get_size()
        away = -share[0] * width, -share[1] * height
        self.lay(made, at, away)
        return pygame.Rect(round(at[0] + away[0]), round(at[1] + away[1]), width, height)

    def label(
        self,
        places: Sequence[tuple[Sequence[float], Corner]],
        text: str,
        colour: Colour = SCENE.ink,
        size: float = 15.0,
    ) -> bool:
        """Write a line of text at the first of some places that is free; clear of bodies, signs and edges if one is."""
        width, height = self.extent(text, size)
        whole, air = self.surface.get_rect(), (round(5 * self.points), round(2 * self.points))
        signs, bodies = self.room.signs, self.room.bodies
        for within, clear in ((whole, [*signs, *bodies]), (whole, signs), (None, [])):
            for at, anchor in places:
                share = ANCHORS[anchor]
                box = pygame.Rect(round(at[0] - share[0] * width), round(at[1] - share[1] * height), width, height)
                if self.room.take(box.inflate(air), within, clear):
                    self.text(at, text, colour, size, anchor=anchor, halo=SCENE.paint)
                    return True
        return False

    def around(self, at: Sequence[float], right: float, up: float) -> list[tuple[tuple[float, float], Corner]]:
        """Places for a label some pixels below, above, right and left of a place, then a line farther off."""
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
        """Places for a label some pixels right or left of a place and up or down from it, then lines farther off."""
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
        return lettering.extent(text, max(6, round(size * self.points)))

    def _written(self, text: str, size: int, colour: Colour, halo: Colour | None) -> pygame.Surface:
        key = (text, size, colour, halo)
        if key not in self._texts:
            if len(self._texts) >= TEXTS:
                self._texts.clear()
            self._texts[key] = _with_halo(text, size, colour, halo)
        return self._texts[key]

    def panel(self, box: pygame.Rect, *, alpha: float = 0.88, edge: bool = True) -> None:
        """Lay a sheet for text over the picture."""
        sheet = pygame.Surface(box.size, pygame.SRCALPHA)
        sheet.fill((*CHROME.panel, round(255 * alpha)))
        self.surface.blit(sheet, box)
        if edge:
            pygame.draw.rect(self.surface, CHROME.edge, box, max(1, round(self.points)))

    def sees(self, places: Points, beyond: float = 0.0) -> bool:
        """Tell whether the box around places, widened by some pixels, is in the picture at all."""
        at = np.asarray(places, float)
        if not len(at):
            return False
        low, high = at.min(axis=0) - beyond, at.max(axis=0) + beyond
        width, height = self.size
        return bool(low[0] <= width and low[1] <= height and high[0] >= 0 and high[1] >= 0)


def near(places: Points, *, area: bool = False) -> list[list[tuple[float, float]]]:
    """Plain pairs of numbers that pygame can count with: a line or polygon, or the parts of it that are not too far."""
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
    """Render a text; with a halo, eight times more in its colour, one step off in every direction."""
    inner = lettering.render(text, size, colour)
    if halo is None:
        return inner
    step = max(1, round(size / 14))
    sheet = pygame.Surface((inner.get_width() + 2 * step, inner.get_height() + 2 * step), pygame.SRCALPHA)
    around = lettering.render(text, size, halo)
    for dx in (-step, 0, step):
        for dy in (-step, 0, step):
            sheet.blit(around, (step + dx, step + dy))
    sheet.blit(inner, (step, step))
    return sheet
