"""`Measures`: what is known of agents after a step, as arrays of Worlds and agents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.gym.kernels.columns import MEASURES

__all__ = ["Measures"]


class Measures(NamedTuple):
    """Measures of all agents, each of shape (worlds, agents); views, written anew in every step.

    Attributes
    ----------
    x, y : ndarray
        Centre of the body, east and north [m].
    heading : ndarray
        [rad] 0 = north, counter-clockwise positive.
    speed : ndarray
        Forward [m/s].
    yaw_rate : ndarray
        [rad/s]
    acceleration : ndarray
        Change of speed in this step over its length [m/s²].
    steering : ndarray
        Steering wheel after its slew rate, left positive, fraction of full.
    offset : ndarray
        Distance of the centre to the left of the middle of the route's lane [m].
    heading_error : ndarray
        Heading less that of the lane, −π to π [rad].
    half_width : ndarray
        Of the lane [m].
    limit : ndarray
        Speed limit [m/s].
    stop_distance : ndarray
        Way of the front bumper to the next stop line on the route before which the agent has not stood yet; 50 where
        there is none within 50 m [m].
    way_left : ndarray
        Way of the centre to the end of the route [m].
    progress : ndarray
        Way along the route in this step [m].
    collided : ndarray
        1 where a contact with another body began in this step, as the rule `collision` has it; else 0.
    off_lane : ndarray
        1 where the centre was beyond the border of the route's lane.
    ran_stop : ndarray
        1 where the front bumper passed a stop line of the route before which it had not come to rest, as the rule
        `stop_line` has it.
    made_stop : ndarray
        1 where the agent came to rest within a metre before a stop line of the route, so that it may pass it.
    arrived : ndarray
        1 where the front bumper is at the end of the route.
    along, aside, jerk, jerk_along, turning, turning_rate : ndarray
        Acceleration along and across the heading [m/s²], jerk, jerk along the heading [m/s³], yaw rate [rad/s] and its
        rate [rad/s²] as the rule `comfort` measures them, half a second ago; 0 in the first second.
    """

    x: Floats
    y: Floats
    heading: Floats
    speed: Floats
    yaw_rate: Floats
    acceleration: Floats
    steering: Floats
    offset: Floats
    heading_error: Floats
    half_width: Floats
    limit: Floats
    stop_distance: Floats
    way_left: Floats
    progress: Floats
    collided: Floats
    off_lane: Floats
    ran_stop: Floats
    made_stop: Floats
    arrived: Floats
    along: Floats
    aside: Floats
    jerk: Floats
    jerk_along: Floats
    turning: Floats
    turning_rate: Floats

    @classmethod
    def of(cls, table: Floats) -> Measures:
        """Take views of a table (worlds, agents, 25)."""
        assert table.shape[-1] == MEASURES == len(cls._fields)
        return cls(*np.moveaxis(table, -1, 0))
