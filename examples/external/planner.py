"""A planner in a program of its own: it drives to the end of its lane in a straight line, and stops there.

cbsim run four_way_stop --planner "cmd:python planner.py"                    (started by cbsim)
cbsim run four_way_stop --planner tcp://127.0.0.1:5555 & python planner.py tcp://127.0.0.1:5555

Needs pyzmq and msgpack, and not cbsim. The messages: docs/planner_protocol.md.
"""

import math
import os
import sys

import msgpack
import zmq

PROTOCOL = 1


def array(message):
    """Return a matrix of doubles as a list of rows."""
    values = memoryview(message["data"]).cast("d")
    width = message["shape"][-1]
    return [values[k : k + width].tolist() for k in range(0, len(values), width)]


class Planner:
    """Holds 5 m/s, steers towards the end of the lanelet it starts on, and brakes for it."""

    def __init__(self, start):
        self.max_steer, self.wheelbase = start["vehicle"]["max_steer"], start["vehicle"]["wheelbase"]
        self.lines = [array(lanelet["centreline"]) for lanelet in start["lanelets"]]
        self.goal = None

    def plan(self, seen):
        x, y, _ = memoryview(seen["position"]["data"]).cast("d")
        if self.goal is None:
            nearest = min(self.lines, key=lambda line: min(math.dist(p, (x, y)) for p in line), default=[(x, y)])
            self.goal = nearest[-1]
        away = math.dist(self.goal, (x, y))
        bearing = math.atan2(x - self.goal[0], self.goal[1] - y) - seen["heading"]  # 0 is north, to the left positive
        bearing = math.remainder(bearing, 2.0 * math.pi)
        wanted = min(5.0, math.sqrt(2.0 * max(0.0, away - 5.0)))
        throttle = max(-1.0, min(1.0, 0.5 * (wanted - seen["speed"])))
        steering = max(-1.0, min(1.0, bearing / self.max_steer))
        return {"throttle": throttle, "steering": steering}


def main():
    socket = zmq.Context().socket(zmq.DEALER)
    socket.connect(sys.argv[1] if len(sys.argv) > 1 else os.environ["CBSIM_PLANNER_ADDRESS"])
    send = lambda **message: socket.send(msgpack.packb(message))  # noqa: E731
    send(type="hello", protocol=PROTOCOL, name="example in Python")
    planner = None
    while True:
        message = msgpack.unpackb(socket.recv())
        if message["type"] == "start":
            planner = Planner(message)
            send(type="ready")
        elif message["type"] == "plan":
            send(type="command", step=message["step"], **planner.plan(message))
        else:
            break  # the run is over


if __name__ == "__main__":
    main()
