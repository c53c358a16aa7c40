"""`ExternalIsolation`: a planner in another program, in any language, over ZeroMQ in lock step.

cbsim listens with a ROUTER socket, and the planner connects with a DEALER. Simulated time stands still while the
planner thinks. A planner that is too slow, hangs up, ends, answers twice, out of turn or anything else than the schema
of docs/planner_protocol.md fails its scenario.
"""

from __future__ import annotations

import contextlib
import shlex
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any

from cbsim.errors import UsageError
from cbsim.planner.isolation import PlannerError, describe_call
from cbsim.planner.remote.process import ChildProcess
from cbsim.planner.remote.protocol import (
    LARGEST,
    PROTOCOL,
    ProtocolError,
    command_in,
    decode,
    encode,
    observation_message,
    start_message,
)
from cbsim.road.roadmap import RoadMap
from cbsim.spec.command import Vehicle
from cbsim.spec.mission import Mission
from cbsim.spec.planner import COMMAND_LINE
from cbsim.world.world import Sensor

__all__ = ["ADDRESS", "ExternalIsolation"]

ADDRESS = "CBSIM_PLANNER_ADDRESS"  # variable that names the address to connect to
SLICE = 20  # [ms] between two looks at whether a program still runs
HARD_LIMIT = 16 * LARGEST  # bytes of a message, beyond which ZeroMQ hangs up
FAREWELL = 0.2  # [s] for a program to end by itself after a request
LINGER = 200  # [ms] for the last message to leave


class ExternalIsolation:
    """Calls into a planner of another program, which `close` ends if it was started here.

    Parameters
    ----------
    name : str
        ``tcp://127.0.0.1:5555``, an address to listen at, or ``cmd:./my_planner``, a program to start.
    sensors : tuple of Sensor
        Of its bot.
    steps : (float, int)
        Length of a step [s], and steps between two decisions.
    limit : float
        Wall-clock time limit for its first message [s].

    Attributes
    ----------
    planner : object
        What stands for the planner in this process, to pass to `call`.

    Raises
    ------
    UsageError
        If the extra `planner` is not installed, or there is no such program or address.
    PlannerError
        If it does not say hello, or in another version of the protocol.
    """

    def __init__(self, name: str, sensors: tuple[Sensor, ...], steps: tuple[float, int], limit: float) -> None:
        try:
            import zmq

            encode({})
        except ImportError as missing:
            wanted = f"planners in other programs need the extra 'planner' ({missing.name} is missing)"
            raise UsageError(f"{wanted}: pip install 'cbsim[planner]'") from None
        self._zmq, self._sensors, self._steps = zmq, sensors, steps
        self._peer = b""
        self._child: ChildProcess | None = None
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._monitor = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        try:
            self._open(name)
            kind = type(f"planner at {name}" if self._child is None else name, (), {})
            self.planner = kind()
            self._greet(kind.__name__, limit)
        except BaseException:
            self.close()
            raise

    def call(self, planner: str, time: float, limit: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call ``start`` or ``plan`` of the planner, as in `PlannerIsolation.call`."""
        what = describe_call(function)
        if function.__name__ == "start":
            self._send(planner, time, what, self._start_message(*arguments[1:]))
            self._expect(planner, time, limit, what, "ready")
            return None
        step = round(time / self._steps[0])
        self._send(planner, time, what, observation_message(step, arguments[1]))
        message = self._expect(planner, time, limit, what, "command")
        answered = message.get("step")
        if answered != step:
            twice = isinstance(answered, int) and answered < step
            raise self._fault(
                planner, time, f"it answered step {answered!r:.40} {'again ' if twice else ''}when step {step} was due"
            )
        try:
            return command_in(message)
        except ProtocolError as error:
            raise self._fault(planner, time, f"{what} returned {error}") from None

    def close(self) -> None:
        """Tell the planner that the run is over, and end its program."""
        if self._peer:
            with contextlib.suppress(self._zmq.ZMQError):
                self._socket.send_multipart([self._peer, encode({"type": "end"})], self._zmq.NOBLOCK)
        if self._child is not None:
            self._child.close(FAREWELL)
        self._socket.disable_monitor()
        self._monitor.close(0)
        self._socket.close(LINGER)
        self._context.term()

    def _start_message(self, mission: Mission | None, network: RoadMap | None, vehicle: Vehicle) -> dict[str, Any]:
        return start_message(mission, network, vehicle, self._sensors, self._steps)

    def _open(self, name: str) -> None:
        """Listen at the address, or at a free port for a program that is started."""
        zmq, socket = self._zmq, self._socket
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.MAXMSGSIZE, HARD_LIMIT)
        socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        command = name.removeprefix(COMMAND_LINE).strip() if name.startswith(COMMAND_LINE) else ""
        try:
            socket.bind("tcp://127.0.0.1:*" if command else name)
        except zmq.ZMQError as error:
            raise UsageError(f"cannot listen for a planner at '{name}': {error}") from None
        if not command:
            print(f"waiting for a planner to connect to {name} …", file=sys.stderr)  # noqa: T201
            return
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"planner '{name}': {error}") from None
        if not words or shutil.which(words[0]) is None:
            raise UsageError(f"planner '{name}' cannot be started: there is no program '{words[0] if words else ''}'")
        self._child = ChildProcess(words, {ADDRESS: bytes(socket.getsockopt(zmq.LAST_ENDPOINT)).rstrip(b"\0").decode()})

    def _greet(self, planner: str, limit: float) -> None:
        """Wait for the hello."""
        hello = self._expect(planner, 0.0, limit, "hello", "hello")
        if hello.get("protocol") != PROTOCOL:
            found = f"it speaks version {hello.get('protocol')!r:.40} of the planner protocol"
            raise self._fault(planner, 0.0, f"{found}, expected {PROTOCOL}")

    def _send(self, planner: str, at: float, what: str, message: dict[str, Any]) -> None:
        try:
            self._socket.send_multipart([self._peer, encode(message)], self._zmq.NOBLOCK)
        except self._zmq.ZMQError as error:
            raise self._fault(planner, at, f"it hung up before {what} ({error})") from None

    def _expect(self, planner: str, at: float, limit: float, what: str, kind: str) -> dict[str, Any]:
        """Receive a message of a kind."""
        try:
            message = decode(self._receive(planner, at, limit, what))
        except ProtocolError as error:
            raise self._fault(planner, at, f"it sent {error}") from None
        found = message["type"]
        if found == "error":
            raise self._fault(planner, at, f"{message.get('message', 'error')!s:.2000}")
        if found == "command" and kind == "ready":
            raise self._fault(planner, at, "it sent a command before it was asked for one")
        if found != kind:
            raise self._fault(planner, at, f"it sent a message of type '{found:.40}', expected '{kind}'")
        return message

    def _receive(self, planner: str, at: float, limit: float, what: str) -> bytes:
        """Wait for a message of the planner."""
        zmq, end = self._zmq, time.monotonic() + limit
        poller = zmq.Poller()
        poller.register(self._socket, zmq.POLLIN)
        poller.register(self._monitor, zmq.POLLIN)
        while True:
            ready = dict(poller.poll(min(SLICE, max(0.0, 1000.0 * (end - time.monotonic())))))
            if self._socket in ready:
                peer, *parts = self._socket.recv_multipart()
                if not self._peer:
                    self._peer = peer
                if peer != self._peer:
                    raise self._fault(planner, at, "a second planner has connected")
                return b"".join(parts)
            if self._monitor in ready:
                self._monitor.recv_multipart()
                if self._child is not None:
                    self._child.wait(FAREWELL)
                elif self._peer:
                    raise self._fault(planner, at, f"it hung up during {what}")
                if self._child is not None and self._child.exit_code is None:
                    raise self._fault(planner, at, f"it hung up during {what}")
            if self._child is not None and self._child.exit_code is not None and not self._socket.poll(0):
                raise self._fault(planner, at, f"it ended during {what}")
            if time.monotonic() > end:
                if what == "hello":
                    raise self._fault(planner, at, f"no planner said hello in {limit:g} s")
                raise self._fault(planner, at, f"{what} took longer than its deadline of {limit:g} s")

    def _fault(self, planner: str, at: float, reason: str) -> PlannerError:
        """Describe a fault, with what its program has written; the reason comes last."""
        if self._child is None:
            return PlannerError(planner, at, reason)
        ending = f" ({self._child.ending})" if self._child.exit_code is not None else ""
        return PlannerError(planner, at, f"{self._child.last_lines()}{reason}{ending}")
