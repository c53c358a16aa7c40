"""Waveforms of Juice: functions of the main engine's phase, for clockworks and networks."""

from __future__ import annotations

from cbsim.geometry import elementary as math

__all__ = ["clockwork", "wave"]

TURN = 2.0 * math.pi


def clockwork(motion: int, phase: float) -> float:  # noqa: PLR0911 (one for each branch)
    """Wave of a clockwork motor: 1 sine, 2 of twice the frequency, 3 steps with sloping edges.

    Parameters
    ----------
    motion : int
        As `cbsim.spec.juice.Motion`.
    phase : float
        Of the motor, engine included [rad].
    """
    if motion == 1:
        return math.sin(phase)
    if motion == 2:
        return math.sin(2.0 * phase)
    turn = phase % TURN
    if turn < 0.125 * TURN:
        return math.sin(2.0 * turn)
    if turn < 0.375 * TURN:
        return 1.0
    if turn < 0.625 * TURN:
        return math.sin(2.0 * (turn - math.pi) + math.pi)
    if turn < 0.875 * TURN:
        return -1.0
    return math.sin(2.0 * (turn - TURN) + TURN)


def wave(degrees: float, duty: float) -> float:
    """Wave of a network's node: a sine whose slopes take a share of the time, flat in between.

    Parameters
    ----------
    degrees : float
        Phase; what is negative stands on the first slope.
    duty : float
        Share of the slopes [%]: 100 is a sine, 0 almost a square.
    """
    a = math.radians(degrees)
    if a > TURN:
        a -= TURN * math.ceil((a - TURN) / TURN)
    share = min(duty / 100.0, 1.0)
    half = max(0.01, 0.5 * math.pi * share)
    share = max(share, 2.0 * half / math.pi)  # a slope has some width, or nothing could be divided by it
    if a < half:
        return math.sin(a / share)
    if a < math.pi - half:
        return 1.0
    if a < math.pi + half:
        return math.sin((a - math.pi) / share + math.pi)
    if a < TURN - half:
        return -1.0
    return math.sin((a - TURN) / share + TURN)
