"""Car-following models, one file each; `follow` chooses by the driver's model (`cbsim.spec.traffic.FollowingModel`)."""

from __future__ import annotations

from cbsim.jit import inlined
from cbsim.traffic.kernels.following.idm import idm
from cbsim.traffic.kernels.following.krauss import krauss

__all__ = ["follow"]

IDM, KRAUSS = range(2)  # values of `FollowingModel`


@inlined
def follow(model, speed, desired, gap, leader, values, dt):
    """Acceleration behind a leader [m/s²].

    Parameters
    ----------
    model : int
        `FollowingModel`.
    speed, desired, leader : float
        One's own speed, the desired one, and the leader's [m/s].
    gap : float
        From bumper to bumper [m], infinite without a leader.
    values : tuple of float
        Time headway [s], minimum gap [m], maximum acceleration and comfortable deceleration [m/s²].
    dt : float
        Length of the step [s].
    """
    if model == KRAUSS:
        return krauss(speed, desired, gap, leader, values, dt)
    return idm(speed, desired, gap, leader, values)
