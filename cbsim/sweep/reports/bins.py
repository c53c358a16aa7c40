"""Bins of the parameters of a sweep, and pass rates in them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Axis", "axis_of", "cells"]

MOST_VALUES, BINS = 40, 20


class Axis(NamedTuple):
    """A parameter cut into bins.

    Attributes
    ----------
    name : str
    labels : list of str
        Of the bins, in order.
    places : ndarray
        Bin of each run.
    values : ndarray
        Where each run stands on the axis, from 0 to 1; NaN where it has no value.
    ends : tuple of str
        Labels of both ends.
    """

    name: str
    labels: list[str]
    places: np.ndarray
    values: np.ndarray
    ends: tuple[str, str]


def axis_of(name: str, column: list[Any] | np.ndarray) -> Axis:
    """Cut a column into bins: one per value if there are few, else equal parts of its range.

    Parameters
    ----------
    name : str
    column : list or ndarray of float
        Values; None, or NaN, where there is none.
    """
    if isinstance(column, np.ndarray):
        return _of_numbers(name, column)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in column if value is not None):
        return _of_numbers(name, np.array([np.nan if value is None else value for value in column], float))
    texts = ["" if value is None else str(value) for value in column]
    known = sorted(set(texts))
    if len(known) > MOST_VALUES:
        known = [*known[: MOST_VALUES - 1], "others"]
    number = {text: k for k, text in enumerate(known)}
    places = np.array([number.get(text, len(known) - 1) for text in texts], np.int64)
    return Axis(name, known, places, places / max(1, len(known) - 1), (known[0], known[-1]))


def _of_numbers(name: str, numbers: np.ndarray) -> Axis:
    sound = numbers[np.isfinite(numbers)]
    if not len(sound):
        return Axis(name, ["none"], np.zeros(len(numbers), np.int64), np.full(len(numbers), np.nan), ("", ""))
    low, high = float(sound.min()), float(sound.max())
    span = (high - low) or 1.0
    units, unique = (numbers - low) / span, np.unique(sound)
    ends = f"{low:g}", f"{high:g}"
    filled = np.where(np.isfinite(numbers), numbers, low)
    if len(unique) <= MOST_VALUES:
        return Axis(name, [f"{value:g}" for value in unique], np.searchsorted(unique, filled), units, ends)
    edges = np.linspace(low, high, BINS + 1)
    labels = [f"{a:.4g} to {b:.4g}" for a, b in itertools.pairwise(edges.tolist())]
    return Axis(name, labels, np.clip(((filled - low) / span * BINS).astype(np.int64), 0, BINS - 1), units, ends)


def cells(one: Axis, other: Axis, passed: np.ndarray) -> list[list[tuple[int, int]]]:
    """Count runs and those that passed, by the bins of two axes."""
    shape = len(one.labels), len(other.labels)
    index = one.places * shape[1] + other.places
    total = np.bincount(index, minlength=shape[0] * shape[1]).reshape(shape)
    good = np.bincount(index, weights=passed, minlength=shape[0] * shape[1]).reshape(shape)
    return [[(int(n), int(g)) for n, g in zip(*rows, strict=True)] for rows in zip(total, good, strict=True)]


def rates(axis: Axis, passed: np.ndarray) -> Mapping[str, tuple[int, int]]:
    """Count runs and those that passed, by the bins of one axis."""
    total = np.bincount(axis.places, minlength=len(axis.labels))
    good = np.bincount(axis.places, weights=passed, minlength=len(axis.labels))
    return {label: (int(n), int(g)) for label, n, g in zip(axis.labels, total, good, strict=True)}
