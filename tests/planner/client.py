"""A planner in a program of its own that does what its argument says from 0.3 s on."""

from __future__ import annotations

import os
import sys
import time

import msgpack
import zmq


def main(mode):
    socket = zmq.Context().socket(zmq.DEALER)
    socket.connect(sys.argv[2] if len(sys.argv) > 2 else os.environ["CBSIM_PLANNER_ADDRESS"])

    def send(kind, **content):
        socket.send(msgpack.packb({"type": kind, **content}))

    if mode == "silent":
        time.sleep(60)
    if mode == "gone":
        sys.exit("no licence")
    send("command" if mode == "rude" else "hello", protocol=2 if mode == "version" else 1, name=mode)
    while True:
        message = msgpack.unpackb(socket.recv())
        if message["type"] == "end":
            print("told of the end", flush=True)
            return
        if message["type"] == "start":
            vehicle = message["vehicle"]
            print("started", os.getpid(), vehicle["name"], len(message["lanelets"]), flush=True)
            send("ready")
            continue
        answer = {"step": message["step"], "throttle": 0.5, "steering": 0.05 * message["speed"]}
        if message["time"] > 0.29:
            FAULTS[mode](socket, send, answer)
        send("command", **answer)


def say(text):
    print(text, file=sys.stderr, flush=True)


def dies(socket, send, answer):
    say("last words")
    os._exit(0)


def twice(socket, send, answer):
    send("command", **answer)


def again(socket, send, answer):
    answer["step"] -= 2


def ahead(socket, send, answer):
    answer["step"] += 2


def slow(socket, send, answer):
    say("thinking")
    time.sleep(60)


def long(socket, send, answer):
    send("command", **answer, name="x" * (1 << 20))


def huge(socket, send, answer):
    send("command", **answer, name="x" * (1 << 25))
    time.sleep(60)


def hangs_up(socket, send, answer):
    socket.close(0)
    time.sleep(60)


def garbage(socket, send, answer):
    socket.send(b"\xc1garbage")


def number(socket, send, answer):
    socket.send(msgpack.packb(7))


def stranger(socket, send, answer):
    other = socket.context.socket(zmq.DEALER)
    other.connect(socket.last_endpoint.decode())
    other.send(msgpack.packb({"type": "hello", "protocol": 1}))
    time.sleep(1.0)


def changed(**values):
    return lambda _socket, _send, answer: answer.update(values)


def sending(kind, **content):
    return lambda _socket, send, _answer: send(kind, **content)


FAULTS = {
    "good": changed(),
    "dies": dies,
    "twice": twice,
    "again": again,
    "ahead": ahead,
    "slow": slow,
    "long": long,
    "huge": huge,
    "hangs up": hangs_up,
    "garbage": garbage,
    "number": number,
    "stranger": stranger,
    "nan": changed(throttle=float("nan")),
    "range": changed(steering=1.5),
    "text": changed(throttle="full"),
    "levers": changed(levers=[1.0]),
    "reverse": changed(reverse=1),
    "key": changed(brake=1.0),
    "error": sending("error", message="no way ahead"),
    "kind": sending("question"),
}


if __name__ == "__main__":
    main(sys.argv[1])
