"""`Chart`: lines over two axes as SVG, without a script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

__all__ = ["Chart"]

WIDTH, HEIGHT = 1000.0, 360.0
LEFT, RIGHT, TOP, BOTTOM = 78.0, 24.0, 16.0, 46.0
TICKS = 6


class Chart:
    """Lines over two axes.

    Parameters
    ----------
    across, up : (float, float)
        Values at the left and right, and at the bottom and top.
    name, side : str
        Of the axes.
    """

    def __init__(self, across: tuple[float, float], up: tuple[float, float], name: str, side: str) -> None:
        self.across, self.up = _wide(across), _wide(up)
        self.parts: list[str] = []
        for value in _ticks(self.across):
            x, _ = self._place(value, 0.0)
            self.parts.append(_line("grid", x, TOP, x, HEIGHT - BOTTOM))
            self.parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 17:.1f}" text-anchor="middle">{value:g}</text>')
        centre, middle = 0.5 * (LEFT + WIDTH - RIGHT), 0.5 * (TOP + HEIGHT - BOTTOM)
        self.parts += [
            f'<text x="{centre:.1f}" y="{HEIGHT - 8:.1f}" text-anchor="middle">{escape(name)}</text>',
            f'<text transform="translate(16 {middle:.1f}) rotate(-90)" text-anchor="middle">{escape(side)}</text>',
        ]

    def rows(self, labels: Sequence[tuple[float, str]] = ()) -> None:
        """Draw grid lines across, by default at round values; labels are SVG."""
        for value, label in labels or [(value, f"{value:g}") for value in _ticks(self.up)]:
            _, y = self._place(0.0, value)
            self.parts.append(_line("grid", LEFT, y, WIDTH - RIGHT, y))
            self.parts.append(f'<text x="{LEFT - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')

    def row(self, value: float, kind: str, label: str) -> None:
        """Draw a line across."""
        _, y = self._place(0.0, value)
        self.parts.append(_line(kind, LEFT, y, WIDTH - RIGHT, y))
        self.parts.append(f'<text x="{WIDTH - RIGHT - 4:.1f}" y="{y - 5:.1f}" text-anchor="end">{escape(label)}</text>')

    def column(self, value: float, kind: str, label: str) -> None:
        """Draw a line upwards."""
        x, _ = self._place(value, 0.0)
        self.parts.append(_line(kind, x, TOP, x, HEIGHT - BOTTOM))
        self.parts.append(f'<text x="{x - 5:.1f}" y="{TOP + 12:.1f}" text-anchor="end">{escape(label)}</text>')

    def line(self, points: Sequence[tuple[float, float]], kind: str, name: str) -> None:
        """Draw a line of a class of the style sheet; a name is shown when it is pointed at."""
        if not points:
            return
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in (self._place(*point) for point in points))
        title = f"<title>{escape(name)}</title>" if name else ""
        self.parts.append(f'<polyline class="{kind}" points="{places}">{title}</polyline>')

    def svg(self, label: str) -> str:
        """Return the picture."""
        box = f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}"'
        return (
            f'<svg class="chart" {box} role="img" aria-label="{escape(label, quote=True)}">{"".join(self.parts)}</svg>'
        )

    def _place(self, x: float, y: float) -> tuple[float, float]:
        (left, right), (low, high) = self.across, self.up
        return (
            LEFT + (x - left) / (right - left) * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - (y - low) / (high - low) * (HEIGHT - TOP - BOTTOM),
        )


def _wide(ends: tuple[float, float]) -> tuple[float, float]:
    """Return ends that differ."""
    return ends if ends[0] != ends[1] else (ends[0], ends[0] + 1.0)


def _ticks(ends: tuple[float, float]) -> list[float]:
    """Round values between two."""
    low, high = min(ends), max(ends)
    raw = (high - low) / TICKS
    power = 10.0 ** np.floor(np.log10(raw))
    step = float(next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw))
    count = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1.0)
    return [float(f"{value:.12g}") + 0.0 for value in count * step]  # no -0


def _line(kind: str, x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"/>'
