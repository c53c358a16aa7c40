"""Points of a scenario's `sweep` as tests: some of them, drawn reproducibly."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from cbsim.errors import CbsimError

__all__ = ["TestPoint", "points_of"]

LONGEST_NAME = 120


class TestPoint(NamedTuple):
    """A point of a sweep as a test.

    Attributes
    ----------
    name : str
        ``gap=5-seed=3``.
    settings : dict
        Texts of `--set`.
    seed : int or None
        None for the scenario's.
    """

    name: str
    settings: dict[str, str]
    seed: int | None


TestPoint.__test__ = False  # type: ignore[attr-defined] # no test of pytest's


def points_of(path: Path, sample: int) -> list[TestPoint]:
    """Draw points of the sweep of a scenario file: all of a grid that has no more, and none where it has mistakes.

    Parameters
    ----------
    path : Path
    sample : int
        How many at most.
    """
    from cbsim.loading.scenario_file import read_scenario
    from cbsim.sweep.space import Space, setting_text, size_of

    try:
        spec = read_scenario(str(path)).sweep
    except (CbsimError, OSError):  # the test of the scenario itself tells what is wrong
        return []
    if not spec.variations or sample < 1:
        return []
    endless = any(size_of(one.values) is None for one in spec.variations)
    method = spec.method or ("latin" if endless else "grid")
    space = Space(spec.variations, spec.where, method, sample)
    found = []
    for point in space:
        values = dict(zip(space.names, point.values, strict=True))
        name = "-".join(f"{key}={setting_text(value)}" for key, value in values.items())
        settings = {key: setting_text(value) for key, value in values.items() if key != "seed"}
        seed = values.get("seed")
        name = name if len(name) <= LONGEST_NAME else f"point {point.row}"
        found.append(TestPoint(name, settings, seed if isinstance(seed, int) else None))
    return found
