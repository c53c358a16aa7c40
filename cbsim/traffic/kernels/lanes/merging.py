"""Merging conflicts: cars on two lanelets that lead to the same point go through them one behind the other.

Who is in such a conflict, or may enter it, is in a list of its side of the conflict, with the distance of its rear from
the end. By these distances cars are projected on one another's lanelets: each follows the nearest one that is ahead on
the other side, as it follows its leader.
"""

from __future__ import annotations

from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.drivers import COMFORTABLE, HEADWAY, LEAST, MODEL, STRONGEST
from cbsim.traffic.kernels.following import follow
from cbsim.traffic.kernels.following.krauss import krauss
from cbsim.traffic.kernels.look import CHAIN, GAP, LEADER, LINE, SIDE_GAP, SIDE_LEADER, STANDS, rest_of
from cbsim.traffic.kernels.workspace import HEAD
from cbsim.world.traffic.tables import CAR_LENGTH, SPEED

__all__ = ["EASY", "NEAREST", "accelerate_behind", "follow_merging", "is_behind_all", "moves_up"]

EASY = 2.0  # [m/s²] with which who comes next must be able to stop, and who enters to follow those ahead
NEAREST = 2.0  # [m] behind the rear of a car, as it is projected, at which another one may enter
QUEUE = 30.0  # [m] before a line, or a conflict, in which one moves up with the car ahead
SLOW = 4.0  # [m/s] below which one does
QUEUE_TIME, QUEUE_GAP = 0.4, 2.0  # [s] of reaction, and [m] of gap at rest there


@inlined
def moves_up(plan, speed):
    """Whether a car with a row of `CarWorkspace.plan` drives slowly before a line or a conflict."""
    return speed < SLOW and min(plan[LINE], plan[CHAIN]) < QUEUE


@inlined
def accelerate_behind(values, speed, desired, gap, leader, in_queue, dt):
    """Acceleration of a car behind a leader, where it need not be startled by a small gap [m/s²].

    `in_queue` is what `moves_up` says of it.
    """
    following_values = values[HEADWAY], values[LEAST], values[STRONGEST], values[COMFORTABLE]
    one = follow(int(values[MODEL]), speed, desired, gap, leader, following_values, dt)
    if gap < QUEUE and (in_queue or one < -values[COMFORTABLE]):
        queue_values = QUEUE_TIME, min(values[LEAST], QUEUE_GAP), values[STRONGEST], values[COMFORTABLE]
        safe = krauss(speed, desired, gap, leader, queue_values, dt)
        one = max(one, safe if in_queue else min(safe, -values[COMFORTABLE]))
    return one


@inner
def is_behind_all(claims, travel, values, i, row, side, front, desired, dt, goes_on):
    """Whether car i, whose front is at a distance from the end of a merging conflict, may follow all on the other side.

    They have to be ahead of it, and it must not have to brake hard for them. With `goes_on`, it needs conflicts behind
    this one, too: whoever stands here may be waiting for those, and none of them has to stand.
    """
    at, speed = claims.areas[row, 1 - side, HEAD], travel[i, SPEED]
    while at >= 0:
        who = claims.merging[at, 1]
        gap = front - claims.rests[at]
        if who != i:
            if gap < NEAREST or (goes_on and travel[who, SPEED] < STANDS):
                return False
            if accelerate_behind(values, speed, desired, gap, travel[who, SPEED], False, dt) < -EASY - 1e-9:
                return False
        at = claims.merging[at, 0]
    return True


@inner
def follow_merging(road, travel, plans, claims):
    """Let all who are in merging conflicts see who is next ahead of them on the other side, in their plans."""
    for n in range(claims.size[0]):
        i, row = claims.merging[n, 1], claims.merging[n, 2] // 2
        plan, rear = plans[i], claims.rests[n]
        at = claims.areas[row, 1 - claims.merging[n, 2] % 2, HEAD]
        while at >= 0:
            who, rest = claims.merging[at, 1], claims.rests[at]
            gap = rear - road.car_sizes[i, CAR_LENGTH] - rest
            # who is nearer to the end is ahead; of equals the one with the lower number
            if (rest, who) < (rear, i):
                least = min(rest_of(plan[GAP], plan[LEADER]), rest_of(plan[SIDE_GAP], plan[SIDE_LEADER]))
                if rest_of(gap, travel[who, SPEED]) < least:
                    plan[SIDE_GAP], plan[SIDE_LEADER] = gap, travel[who, SPEED]
            at = claims.merging[at, 0]
