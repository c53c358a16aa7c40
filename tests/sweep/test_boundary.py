from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import UsageError
from cbsim.sweep.boundary import BoundarySeeker, surface
from cbsim.sweep.texts import variations_of


def sought(seeker, passes, runs, batch=8):
    """Values of the points of a search, and whether each passed."""
    points, verdicts = [], []
    while len(points) < runs:
        asked = seeker.ask(batch)
        good = [bool(passes(*values)) for values in asked]
        seeker.tell([{"verdict": "pass" if one else "fail"} for one in good])
        points += asked
        verdicts += good
    return np.array(points[:runs], float), np.array(verdicts[:runs])


@pytest.mark.parametrize(
    "passes",
    [
        lambda x, y: y < 10.0 + 0.5 * x,
        lambda x, y: (x - 20.0) ** 2 / 150.0 + (y - 12.0) ** 2 / 40.0 > 1.0,
        lambda x, y: y < 15.0 + 4.0 * np.sin(x / 5.0),
    ],
    ids=["line", "ellipse", "wave"],
)
def test_two_hundred_runs_draw_the_boundary_of_a_grid_of_ten_thousand(passes):
    seeker = BoundarySeeker(variations_of(["x=0:40", "y=0:30"]))
    points, good = sought(seeker, passes, 200)
    xs, ys = np.meshgrid((np.arange(100) + 0.5) * 0.4, (np.arange(100) + 0.5) * 0.3)
    truth = passes(xs, ys).ravel()
    at = np.column_stack([xs.ravel() / 40.0, ys.ravel() / 30.0])
    found = surface(points / (40.0, 30.0), good, at) > 0.0
    assert np.mean(found == truth) > 0.985
    random = np.random.default_rng(1).random((200, 2))
    plain = surface(random, passes(*(random * (40.0, 30.0)).T), at) > 0.0
    assert np.mean(found != truth) < 0.6 * np.mean(plain != truth)


def test_one_parameter_is_bisected():
    seeker = BoundarySeeker(variations_of(["x=0:40"]))
    points, good = sought(seeker, lambda x: x > 23.7, 12, batch=1)
    assert abs(points[good].min() - points[~good].max()) < 1.0
    assert points[~good].max() <= 23.7 < points[good].min()


def test_seeker_is_reproducible_and_keeps_constraints():
    def runs(seed):
        seeker = BoundarySeeker(variations_of(["x=0:40", "y=0:30", "z=1,2,3"]), ["x + y < 60"], seed)
        for _ in range(14):
            asked = seeker.ask(8)
            assert all(x + y < 60 for x, y, _ in asked)
            seeker.tell([{"verdict": "pass" if one[0] > one[1] else "fail"} for one in asked])
        return seeker.ask(8)

    assert runs(1) == runs(1) != runs(2)


def test_too_many_parameters_are_refused():
    with pytest.raises(UsageError, match="1 to 8 parameters, not in 9"):
        BoundarySeeker(variations_of([f"p{k}=0:1" for k in range(9)]))
