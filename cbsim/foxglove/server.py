"""`Served`: a run that Foxglove and Lichtblick look at while it goes, through the extra `foxglove`."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from cbsim.errors import UsageError
from cbsim.evaluation.judge import Judge
from cbsim.foxglove.display import Display
from cbsim.foxglove.gate import Gate, hidden_address
from cbsim.foxglove.schemas import FOXGLOVE
from cbsim.foxglove.words import Shown
from cbsim.recording.batch import Batch, Header
from cbsim.recording.recorder import Recorder
from cbsim.simulation.loop import Run
from cbsim.simulation.observers import RunObserver
from cbsim.world.world import World

__all__ = ["DEFAULT_ADDRESS", "Served"]

DEFAULT_ADDRESS = "127.0.0.1:8765"  # where viewers look unless told otherwise


def address_of(text: str) -> tuple[str, int]:
    """Read ``HOST:PORT``; either may be left out.

    >>> address_of(":9000")
    ('127.0.0.1', 9000)
    """
    usual, _, usual_port = DEFAULT_ADDRESS.rpartition(":")
    host, colon, port = text.rpartition(":") if ":" in text or text.isdecimal() else (text, "", "")
    number = port or usual_port
    if not (number.isascii() and number.isdecimal() and int(number) < 65536) or (colon and not port):
        raise UsageError(f"'{text}' is no address; expected HOST:PORT, as {DEFAULT_ADDRESS}")
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
    """Goes along with a run, and hands what is shown of it to whoever is connected; the bits of the run are the same.

    Parameters
    ----------
    world : World
    address : str
        ``HOST:PORT``; port 0 takes any that is free.
    observer : RunObserver
        Who goes along besides: a clock, or a window.
    origins : sequence of str
        Origins of web pages that may look, besides this machine's and the viewers' own; ``*`` for all.

    Raises
    ------
    UsageError
        If foxglove-sdk is not installed, or the address cannot be had.
    """

    def __init__(self, world: World, address: str, observer: RunObserver, origins: Sequence[str] = ()) -> None:
        self._host, port = address_of(address)
        self._live = Broadcast(world, self._host, port, origins)
        self._observer = observer
        self.listeners: Sequence[Recorder] = (*observer.listeners, self._live)

    @property
    def url(self) -> str:
        """Where it is served."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"ws://{host}:{self._live.gate.port}"

    def on_start(self, run: Run) -> None:
        """Introduce whoever goes along."""
        self._observer.on_start(run)

    def on_step(self, run: Run) -> None:
        """Let whoever goes along look."""
        self._observer.on_step(run)

    def close(self) -> None:
        """Stop serving."""
        self._live.server.stop()
        self._live.gate.close()


class Broadcast:
    """The listener that hands messages on; who connects late gets the newest of each topic at once."""

    def __init__(self, world: World, host: str, port: int, origins: Sequence[str] = ()) -> None:
        self._library = _library()
        self._world = world
        self._channels: dict[str, Any] = {}
        self._newest: dict[str, Shown] = {}
        self._display: Display | None = None
        scene = world.scene
        self._judge = Judge(scene.expectations, scene.roadmap, scene.mission)
        self._context = self._library.Context()
        hidden = hidden_address()
        try:
            self.server = self._library.start_server(
                name=f"cbsim {world.name}", host=hidden, port=0, server_listener=self, context=self._context
            )
            try:
                self.gate = Gate(host, port, (hidden, self.server.port), origins)
            except BaseException:
                self.server.stop()
                raise
        except (OSError, RuntimeError, ValueError) as reason:
            raise UsageError(f"cannot serve at {host}:{port}: {reason}") from None

    def begin(self, header: Header, snapshot: bytes, sources: Mapping[str, bytes]) -> None:
        """Set up what is shown."""
        self._judge.begin(header, snapshot, sources)
        self._display = Display(header, self._world.scene, self._world.shapes)

    def take(self, batch: Batch) -> None:
        """Hand on what is due of a batch."""
        self._judge.take(batch)
        for shown in () if self._display is None else self._display.take(batch):
            self._hand_on(shown)

    def fault(self, name: str, time: float, message: str) -> None:
        """Hand on a failure."""
        if self._display is not None:
            self._hand_on(self._display.fault(name, time, message))

    def end(self) -> None:
        """Hand on the last state, and how the checks came out; planners' own failures have been told."""
        self._judge.end()
        for shown in () if self._display is None else self._display.end(self._judge.checks):
            self._hand_on(shown)

    def _hand_on(self, shown: Shown) -> None:
        if shown.topic not in self._channels:
            data = json.dumps(FOXGLOVE[shown.schema]).encode()
            schema = self._library.Schema(name=shown.schema, encoding="jsonschema", data=data)
            self._newest[shown.topic] = shown  # before anybody can ask for it
            self._channels[shown.topic] = self._library.Channel(
                shown.topic, schema=schema, message_encoding="json", context=self._context
            )
        self._newest[shown.topic] = shown
        self._send(shown)

    def _send(self, shown: Shown) -> None:
        self._channels[shown.topic].log(shown.data, log_time=max(0, round(shown.time * 1e9)))

    def on_subscribe(self, _client: Any, channel: Any) -> None:
        """Give who has just come what was told before."""
        shown = self._newest.get(channel.topic)
        if shown is not None and shown.topic in self._channels:
            self._send(shown)

    def on_unsubscribe(self, _client: Any, _channel: Any) -> None:
        """Nothing to do."""
