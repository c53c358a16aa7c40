"""Adaptive multilevel splitting of processes whose probabilities are known in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cbsim.sweep.splitting import Mark, Splitting, combined


def estimate(process, particles, kill, target, seed):
    """Estimate and number of paths; `process` continues a state until its end, and notes when its level rises."""
    draw, states, marks, count = np.random.default_rng([seed, 7]), {}, {}, 0
    splitting = Splitting(particles, kill, target, (seed,))
    asking = splitting.paths()
    wanted = next(asking)
    while True:
        found = []
        for restart in wanted:
            begin = process.start if restart.parent is None else states[restart.parent][restart.mark]
            level = -math.inf if restart.parent is None else marks[restart.parent][restart.mark].level
            states[count], marks[count] = process.run(draw, begin, level)
            found.append((count, marks[count]))
            count += 1
        try:
            wanted = asking.send(found)
        except StopIteration as ended:
            return ended.value, count


class Streak:
    """A level that rises by one in each step, with probability q, until it does not for the first time: ties."""

    start = 0

    def __init__(self, q, longest):
        self.q, self.longest = q, longest

    def run(self, draw, state, level):
        states, marks = [state], [Mark(state, float(state))]
        while state < self.longest and draw.random() < self.q:
            state += 1
            states.append(state)
            marks.append(Mark(state, float(state)))
        return states, marks


class Gaps:
    """Arrivals with exponential gaps during a time; the level is the longest gap so far, looked at n times."""

    start = (0, 0.0, 0.0)

    def __init__(self, rate, time, count):
        self.rate, self.step, self.count = rate, time / count, count

    def run(self, draw, state, level):
        k, since, due = state
        states, marks = [state], [Mark(k, level)]
        due = due or float(draw.exponential(1.0 / self.rate))
        while k < self.count:
            k += 1
            now = k * self.step
            while due <= now:
                since, due = due, due + float(draw.exponential(1.0 / self.rate))
            if now - since > level:
                level = now - since
                states.append((k, since, due))
                marks.append(Mark(k, level))
        return states, marks


@pytest.mark.parametrize(("particles", "kill"), [(20, 1), (20, 10), (7, 6)])
def test_estimates_of_streaks_are_unbiased_with_ties(particles, kill):
    found = [estimate(Streak(0.5, 6), particles, kill, 6.0, seed)[0] for seed in range(600)]
    error = np.std(found) / math.sqrt(len(found))
    assert abs(np.mean(found) - 0.5**6) < 4.0 * error
    assert error < 0.2 * 0.5**6


def test_no_arrival_at_all_has_its_exponential_probability():
    """The due arrival is drawn before it comes, and kept by a fork: paths that know it must not bias the estimate."""
    process = Gaps(1.0, 6.0, 60)
    found = [estimate(process, 30, 3, 5.95, seed)[0] for seed in range(300)]
    error = np.std(found) / math.sqrt(len(found))
    assert abs(np.mean(found) - math.exp(-6.0)) < 4.0 * error


def test_one_in_a_million_is_within_its_interval_nineteen_times_in_twenty():
    """Ten repetitions with a hundred particles, of which 640 paths are made each: 6400 for one estimate."""
    inside = costs = 0
    for trial in range(60):
        runs = [estimate(Streak(0.1, 6), 100, 10, 6.0, 1000 * trial + k) for k in range(10)]
        made = combined([one for one, _ in runs], 100)
        inside += made.low <= 1e-6 <= made.high
        costs += sum(count for _, count in runs)
    assert inside >= 52  # binomial with 0.95: fewer have probability 0.003
    assert costs / 60 < 10_000


def test_paths_that_cannot_rise_end_with_nothing():
    assert estimate(Streak(0.0, 6), 10, 1, 6.0, 1) == (0.0, 10)
    assert estimate(Streak(1.0, 6), 10, 1, 6.0, 1) == (1.0, 10)


def test_interval_of_one_repetition_is_that_of_an_ideal_level():
    made = combined([1e-6], 100)
    width = math.exp(1.959963984540054 * math.sqrt(math.log(1e6) / 100))
    assert (made.low, made.high) == pytest.approx((1e-6 / width, 1e-6 * width))
    assert made.method == "asymptotic"
    assert combined([0.0, 0.0], 10)[:3] == (0.0, 0.0, 1.0)
