"""`Served`: a live run for Foxglove and Lichtblick, with the extra `foxglove`."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from cbsim.errors import UsageError
from cbsim.evaluation.judge import Judge
from cbsim.foxglove.display import Display
from cbsim.foxglove.messages import Message
from cbsim.foxglove.proxy import OriginProxy, random_loopback_address
from cbsim.foxglove.schemas import FOXGLOVE
from cbsim.recording.batch import Batch, Header
from cbsim.recording.recorder import Recorder
from cbsim.simulation.loop import Run, RunObserver
from cbsim.world.world import World

__all__ = ["DEFAULT_ADDRESS", "Served"]

DEFAULT_ADDRESS = "127.0.0.1:8765"  # the default of viewers


def address_of(text: str) -> tuple[str, int]:
    """Read ``HOST:PORT``; either may be left out.

    >>> address_of(":9000")
    ('127.0.0.1', 9000)
    """
    usual, _, usual_port = DEFAULT_ADDRESS.rpartition(":")
    host, colon, port = text.rpartition(":") if ":" in text or text.isdecimal() else (text, "", "")
    number = port or usual_port
    if not (number.isascii() and number.isdecimal() and int(number) < 65536) or (colon and not port):
        raise UsageError(f"'{text}' is not an address; expected HOST:PORT, as {DEFAULT_ADDRESS}")
    return host.strip("[]") or usual, int(number)


def _library() -> Any:
    try:
        return importlib.import_module("foxglove")
    except ImportError as missing:
        raise UsageError(
            f"serving needs the extra 'foxglove' ({missing.name} is missing): pip install 'cbsim[foxglove]'; "
            "--record REC --foxglove writes a file without it"
        ) from None


class Served:
    """An observer of a run that sends messages to connected viewers; the bits of the run stay the same.

    Parameters
    ----------
    world : World
    address : str
        ``HOST:PORT``; port 0 takes any that is free.
    observer : RunObserver
        Another observer: a clock or a window.
    origins : sequence of str
        Origins of web pages that may connect, besides those of this machine and the viewers; ``*`` for all.

    Raises
    ------
    UsageError
        If foxglove-sdk is not installed, or the address cannot be bound.
    """

    def __init__(self, world: World, address: str, observer: RunObserver, origins: Sequence[str] = ()) -> None:
        self._host, port = address_of(address)
        self._live = Broadcast(world, self._host, port, origins)
        self._observer = observer
        self.listeners: Sequence[Recorder] = (*observer.listeners, self._live)

    @property
    def url(self) -> str:
        """Address for viewers."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"ws://{host}:{self._live.proxy.port}"

    def on_start(self, run: Run) -> None:
        """Forward the start of the run."""
        self._observer.on_start(run)

    def on_step(self, run: Run) -> None:
        """Forward a batch of steps."""
        self._observer.on_step(run)

    def close(self) -> None:
        """Stop serving."""
        self._live.server.stop()
        self._live.proxy.close()


class Broadcast:
    """A recorder that sends messages; late viewers get the newest message of each topic at once."""

    def __init__(self, world: World, host: str, port: int, origins: Sequence[str] = ()) -> None:
        self._library = _library()
        self._world = world
        self._channels: dict[str, Any] = {}
        self._newest: dict[str, Message] = {}
        self._display: Display | None = None
        scene = world.scene
        self._judge = Judge(scene.expectations, scene.roadmap, scene.mission)
        self._context = self._library.Context()
        address = random_loopback_address()
        try:
            self.server = self._library.start_server(
                name=f"cbsim {world.name}", host=address, port=0, server_listener=self, context=self._context
            )
            try:
                self.proxy = OriginProxy(host, port, (address, self.server.port), origins)
            except BaseException:
                self.server.stop()
                raise
        except (OSError, RuntimeError, ValueError) as reason:
            raise UsageError(f"cannot serve at {host}:{port}: {reason}") from None

    def begin(self, header: Header, snapshot: bytes, sources: Mapping[str, bytes]) -> None:
        """Create the display."""
        self._judge.begin(header, snapshot, sources)
        self._display = Display(header, self._world.scene, self._world.shapes)

    def take(self, batch: Batch) -> None:
        """Send the messages of a batch."""
        self._judge.take(batch)
        for message in () if self._display is None else self._display.take(batch):
            self._publish(message)

    def fault(self, name: str, time: float, message: str) -> None:
        """Send a failure."""
        if self._display is not None:
            self._publish(self._display.fault(name, time, message))

    def end(self) -> None:
        """Send the last state and the checks; failures of planners were sent before."""
        self._judge.end()
        for message in () if self._display is None else self._display.end(self._judge.checks):
            self._publish(message)

    def _publish(self, message: Message) -> None:
        if message.topic not in self._channels:
            data = json.dumps(FOXGLOVE[message.schema]).encode()
            schema = self._library.Schema(name=message.schema, encoding="jsonschema", data=data)
            self._newest[message.topic] = message  # before a viewer can subscribe
            self._channels[message.topic] = self._library.Channel(
                message.topic, schema=schema, message_encoding="json", context=self._context
            )
        self._newest[message.topic] = message
        self._send(message)

    def _send(self, message: Message) -> None:
        self._channels[message.topic].log(message.data, log_time=max(0, round(message.time * 1e9)))

    def on_subscribe(self, _client: Any, channel: Any) -> None:
        """Send the newest messages of a topic to a new subscriber."""
        message = self._newest.get(channel.topic)
        if message is not None and message.topic in self._channels:
            self._send(message)

    def on_unsubscribe(self, _client: Any, _channel: Any) -> None:
        """Do nothing."""
