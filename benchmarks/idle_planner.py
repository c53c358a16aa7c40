"""A program that reads each observation and holds the brake: the peer of `bench_planner.Idle`."""

import os

import msgpack
import zmq


def main():
    socket = zmq.Context().socket(zmq.DEALER)
    socket.connect(os.environ["CBSIM_PLANNER_ADDRESS"])
    socket.send(msgpack.packb({"type": "hello", "protocol": 1}))
    while (message := msgpack.unpackb(socket.recv()))["type"] != "end":
        if message["type"] == "start":
            socket.send(msgpack.packb({"type": "ready"}))
        else:
            socket.send(msgpack.packb({"type": "command", "step": message["step"], "throttle": -1.0}))


if __name__ == "__main__":
    main()
