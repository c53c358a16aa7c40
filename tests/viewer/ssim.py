"""Structural similarity of two pictures: 1 where they are the same.

Source: Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error visibility to structural similarity",
IEEE Transactions on Image Processing 13 (2004), equation 13, with windows of 8 by 8 pixels.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

WINDOW = 8
C1, C2 = (0.01 * 255.0) ** 2, (0.03 * 255.0) ** 2


def ssim(one, other):
    """Mean similarity of two pictures (height, width, 3) of bytes, by their brightness."""
    assert one.shape == other.shape
    weights = np.array([0.299, 0.587, 0.114])
    x, y = (image.astype(float) @ weights for image in (one, other))

    def mean(values):
        summed = np.cumsum(np.cumsum(np.pad(values, ((1, 0), (1, 0))), axis=0), axis=1)
        corners = summed[WINDOW:, WINDOW:] - summed[:-WINDOW, WINDOW:] - summed[WINDOW:, :-WINDOW]
        return (corners + summed[:-WINDOW, :-WINDOW]) / WINDOW**2

    mx, my = mean(x), mean(y)
    vx, vy, cov = mean(x * x) - mx * mx, mean(y * y) - my * my, mean(x * y) - mx * my
    index = (2 * mx * my + C1) * (2 * cov + C2) / ((mx * mx + my * my + C1) * (vx + vy + C2))
    return float(index.mean())


def slow_ssim(one, other):
    """The same by the book, window by window, to hold the fast one to."""
    weights = np.array([0.299, 0.587, 0.114])
    x, y = (sliding_window_view(image.astype(float) @ weights, (WINDOW, WINDOW)) for image in (one, other))
    axes = (-2, -1)
    mx, my = x.mean(axis=axes), y.mean(axis=axes)
    vx, vy = x.var(axis=axes), y.var(axis=axes)
    cov = (x * y).mean(axis=axes) - mx * my
    index = (2 * mx * my + C1) * (2 * cov + C2) / ((mx * mx + my * my + C1) * (vx + vy + C2))
    return float(index.mean())
