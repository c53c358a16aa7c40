"""``comfort``: an object's accelerations, jerks and turns are those of comfortable driving."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.rule import Check, Invariant, Measure
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation
from cbsim.world.motion import MOTION

__all__ = ["Comfort", "quadratic_fit"]

WINDOW = 1.0  # [s] over which a quadratic is fitted
STILL = 0.1  # [m/s] slower counts as rest


class _Limit(NamedTuple):
    """A measure: the argument with its bound, what it is called, its unit, and its sign."""

    key: str
    called: str
    unit: str
    sign: float = 1.0


LIMITS = (
    _Limit("acceleration", "accelerated with", "m/s²"),
    _Limit("braking", "braked with", "m/s²", -1.0),
    _Limit("sideways", "had a lateral acceleration of", "m/s²"),
    _Limit("jerk", "had a jerk of", "m/s³"),
    _Limit("jerk_along", "had a longitudinal jerk of", "m/s³"),
    _Limit("yaw_rate", "turned with", "rad/s"),
    _Limit("yaw_acceleration", "had a yaw acceleration of", "rad/s²"),
)


class Comfort(Invariant):
    """Seven bounds of nuPlan's comfort metric, after a quadratic fit over one second.

    Components of the velocity and the yaw rate are fitted by least squares over half a second before and after each
    step (at least one step). Its value, slope and curvature give speeds, accelerations and jerks. The ends of a run,
    where the window is not full, are not judged, nor is what an E-stop does: windows in which it brakes.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.bounds = {one.key: self.number(one.key) for one in LIMITS}
        self.half = max(1, round(0.5 * WINDOW / self.step))
        self.samples: Floats = np.zeros((0, 6))  # time, velocity east and north, yaw rate, direction
        self.places: Floats = np.zeros((0, 2))
        self.worst = dict.fromkeys(self.bounds, 0.0)

    def see(self, batch: Batch) -> None:
        """Judge all steps whose window is full."""
        track = self.track(batch)
        motion, self.time = track.motion[1:], float(track.times[-1])
        rate = motion[:, MOTION["angular_velocity"]][:, 2:]
        velocity = motion[:, MOTION["velocity"]][:, :2]
        fresh = np.concatenate([track.times[1:, None], velocity, rate, track.ahead[1:]], axis=1)
        self.samples = np.concatenate([self.samples, fresh])
        self.places = np.concatenate([self.places, motion[:, :2]])
        if len(self.samples) > 2 * self.half:
            self._judge()
            self.samples, self.places = self.samples[-2 * self.half :], self.places[-2 * self.half :]

    def forget(self) -> None:
        """Begin the next window with the next step."""
        self.samples, self.places = self.samples[:0], self.places[:0]

    def _judge(self) -> None:
        value, slope, curve = quadratic_fit(self.samples[:, 1:4], self.half, self.step)
        inner = slice(self.half, len(self.samples) - self.half)
        ahead = self.samples[inner, 4:]
        along = (slope[:, :2] * ahead).sum(axis=1)
        aside = slope[:, 1] * ahead[:, 0] - slope[:, 0] * ahead[:, 1]
        measures = {
            "acceleration": along,
            "braking": along,
            "sideways": np.abs(aside),
            "jerk": np.hypot(curve[:, 0], curve[:, 1]),
            "jerk_along": np.abs((curve[:, :2] * ahead).sum(axis=1)),
            "yaw_rate": np.abs(value[:, 2]),
            "yaw_acceleration": np.abs(slope[:, 2]),
        }
        failures, judged = [], ~self._is_stopped()
        for one in LIMITS:
            values, bound = np.where(judged, one.sign * measures[one.key], 0.0), self.bounds[one.key]
            self.worst[one.key] = max(self.worst[one.key], float(values.max()))
            over = np.flatnonzero(values > bound + 1e-9)
            if len(over):
                failures.append((int(over[0]), one, float(values[over[0]])))
        if failures:
            step, one, found = min(failures, key=lambda failure: failure[0])
            time, (x, y) = float(self.samples[inner][step, 0]), self.places[inner][step].tolist()
            told = f"{one.called} {found:.2f} {one.unit} at {time:.2f} s at ({x:.2f}, {y:.2f})"
            self.fail(time, f"{told}, expected {self.bounds[one.key]:g} {one.unit} at most")

    def _is_stopped(self) -> NDArray[np.bool_]:
        """Find the windows in which an E-stop brakes the object, shape (n − 2 half,)."""
        if not self.context.run_states.control.states:
            return np.zeros(len(self.samples) - 2 * self.half, bool)
        moves = np.hypot(self.samples[:, 1], self.samples[:, 2]) >= STILL
        stopped = moves & self.context.run_states.has_to_stand(self.row, self.samples[:, 0])
        return np.asarray(np.lib.stride_tricks.sliding_window_view(stopped, 2 * self.half + 1).any(axis=1))

    def measures(self) -> list[Measure]:
        """Return what was measured."""
        return [Measure(one.key, self.worst[one.key], one.unit) for one in LIMITS]

    def kept(self) -> Check:
        """Pass if all bounds were kept."""
        told = ", ".join(f"{one.key} {self.worst[one.key]:.2f} {one.unit}" for one in LIMITS)
        return self.check(True, self.time, f"at most: {told}")


def quadratic_fit(values: Floats, half: int, step: float) -> tuple[Floats, Floats, Floats]:
    """Fit a quadratic by least squares to a window around each sample (Savitzky and Golay 1964).

    Parameters
    ----------
    values : ndarray, shape (n, k)
        Samples at equal times.
    half : int
        Samples on either side.
    step : float
        Time between samples [s].

    Returns
    -------
    value, slope, curvature : ndarray, shape (n − 2 half, k)
        Of the fit at the middle of its window: itself, its first and its second derivative.
    """
    times = np.arange(1, half + 1) * step
    count, second, fourth = 2 * half + 1, 2.0 * float((times**2).sum()), 2.0 * float((times**4).sum())
    spread = count * fourth - second * second
    # The fit is of sums of even and of odd parts around the middle, which are summed sample by sample of the window,
    # for all windows at once.
    middle = values[half : len(values) - half]
    whole, square, odd = middle.copy(), np.zeros_like(middle), np.zeros_like(middle)
    even, part = np.empty_like(middle), np.empty_like(middle)
    for k, time in enumerate(times.tolist(), start=1):
        later, earlier = values[half + k : len(values) - half + k], values[half - k : len(values) - half - k]
        np.add(later, earlier, out=even)
        whole += even
        square += np.multiply(even, time * time, out=part)
        np.subtract(later, earlier, out=part)
        odd += np.multiply(part, time, out=part)
    value = (fourth * whole - second * square) / spread
    return value, odd / second, 2.0 * (count * square - second * whole) / spread
