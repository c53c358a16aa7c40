"""A planner to start from: it follows the lane it stands on, at 5 m/s, and stops at the lane's end.

cbsim run four_way_stop --planner own_planner:OwnPlanner        (in this folder)
"""

from __future__ import annotations

import math

from cbsim import Command


class OwnPlanner:
    """Pure pursuit of a point on the lane, and a speed that is kept."""

    def start(self, mission, network, vehicle) -> None:
        self.mission, self.network, self.vehicle = mission, network, vehicle

    def plan(self, observation) -> Command:
        x, y, _ = observation.position.tolist()  # plain numbers, with which Python is faster than with those of NumPy
        match = self.network.match([(x, y)], [observation.heading])
        number, station = match.lane.item(), match.station.item()
        if number < 0:
            return Command(throttle=-1.0)  # not on any lane: stop
        lane = self.network.lanes[number]
        wanted = min(5.0, math.sqrt(2.0 * max(0.0, lane.length - station - self.vehicle.length)))
        (goal_x, goal_y), _ = lane.at(station + 6.0)
        sideways = -(goal_x - x) * math.cos(observation.heading) - (goal_y - y) * math.sin(observation.heading)
        angle = math.atan(2.0 * sideways / 6.0**2 * self.vehicle.wheelbase)  # the arc through a point 6 m ahead
        throttle = 0.5 * (wanted - observation.speed)
        steering = angle / self.vehicle.max_steer
        return Command(max(-1.0, min(1.0, throttle)), max(-1.0, min(1.0, steering)))
