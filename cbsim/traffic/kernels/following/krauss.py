"""Krauss's model without its random part (Krauss 1998, DLR-Forschungsbericht 98-08, eq. 4.4)."""

from __future__ import annotations

from cbsim.jit import inlined

__all__ = ["krauss"]


@inlined
def krauss(speed, desired, gap, leader, values, dt):
    """Acceleration [m/s²]; arguments as in `follow`.

    The speed of the next step is the least of v + a dt, the desired speed, and the one from which both can come to rest
    one behind the other: v_l + (g − v_l τ) / ((v + v_l) / (2 b) + τ), where g is the gap beyond the minimum gap and
    the reaction time τ is the time headway.
    """
    headway, least, strongest, comfortable = values
    following = min(speed + strongest * dt, max(desired, speed - comfortable * dt))
    if gap < 1e9:
        ahead = max(leader, 0.0)
        safe = ahead + (gap - least - ahead * headway) / ((speed + ahead) / (2.0 * comfortable) + headway)
        following = min(following, max(safe, 0.0))
    return (following - speed) / dt
