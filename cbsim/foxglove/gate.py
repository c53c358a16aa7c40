"""`Gate`: the address that viewers connect to; it lets through who may look, by the Origin that browsers tell.

Any web page may open a WebSocket to this machine, and read what it is sent. A browser says in the handshake which site
the page is from, and foxglove-sdk does not look at that. So its server listens on a loopback address that is drawn anew
each time, and the gate reads the handshake before it passes anything on.
"""

from __future__ import annotations

import secrets
import socket
import socketserver
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

__all__ = ["Gate", "hidden_address", "may_look"]

LOCAL = ("localhost", "127.0.0.1", "::1")
SITES = ("foxglove.dev", "lichtblick-suite.github.io")  # and what stands below them
DESKTOP = "file://"  # what the pages of desktop applications are from
EVERYBODY = "*"
HANDSHAKE, LARGEST = 10.0, 16 * 1024  # [s], [bytes] in which it must be told
PIECE = 64 * 1024  # [bytes]
REFUSAL = b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n%s\n"


def may_look(origin: str | None, more: Sequence[str] = ()) -> bool:
    """Tell whether a page from somewhere may look; who tells no Origin is no browser.

    Parameters
    ----------
    origin : str or None
        As a browser says it.
    more : sequence of str
        Origins that may, besides this machine's, Foxglove's and Lichtblick's; ``*`` for all.

    Examples
    --------
    >>> may_look("http://localhost:8080"), may_look("https://app.foxglove.dev"), may_look("https://evil.example")
    (True, True, False)
    """
    if origin is None or origin == DESKTOP or EVERYBODY in more or origin in more:
        return True
    try:
        parts = urlsplit(origin)
        scheme, host = parts.scheme, parts.hostname or ""
    except ValueError:
        return False
    if scheme in ("http", "https") and host in LOCAL:
        return True
    return scheme == "https" and any(host == site or host.endswith(f".{site}") for site in SITES)


def hidden_address() -> str:
    """Draw a loopback address that no page can guess, where the system has more than one."""
    if not sys.platform.startswith("linux"):
        return LOCAL[1]
    return ".".join(["127", *(str(1 + secrets.randbelow(254)) for _ in range(3))])


class Gate(socketserver.ThreadingTCPServer):
    """Listens from its making to its closing.

    Parameters
    ----------
    host, port : str, int
        Where viewers connect; port 0 takes any that is free.
    target : (str, int)
        Where the server listens.
    origins : sequence of str
        That may look, besides the usual ones.

    Raises
    ------
    OSError
        If the address cannot be had.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, host: str, port: int, target: tuple[str, int], origins: Sequence[str] = ()) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.target, self.origins = target, tuple(origins)
        super().__init__((host, port), _Visit)
        threading.Thread(target=self.serve_forever, name="cbsim gate", daemon=True).start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    def close(self) -> None:
        """Stop listening; visits end with the server behind."""
        self.shutdown()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a visitor that goes away is no news."""


class _Visit(socketserver.BaseRequestHandler):
    """One connection, in a thread of its own."""

    request: socket.socket
    server: Gate

    def handle(self) -> None:
        self.request.settimeout(HANDSHAKE)
        told = self._handshake()
        origins = _origins(told)
        if len(origins) > 1 or not may_look(next(iter(origins), None), self.server.origins):
            said = f"pages from {' and '.join(origins)[:200]} may not look; --foxglove-origin lets them"
            self.request.sendall(REFUSAL % said.encode())
            return
        with socket.create_connection(self.server.target) as behind:
            for line in (self.request, behind):
                line.settimeout(None)
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            behind.sendall(told)
            back = threading.Thread(target=_pass_on, args=(behind, self.request), daemon=True)
            back.start()
            _pass_on(self.request, behind)
            back.join()

    def _handshake(self) -> bytes:
        told = b""
        while b"\r\n\r\n" not in told:
            piece = self.request.recv(4096)
            if not piece or len(told) + len(piece) > LARGEST:
                raise ConnectionError
            told += piece
        return told


def _origins(handshake: bytes) -> list[str]:
    """Read the headers ``Origin`` of a handshake."""
    lines = handshake.split(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
    headers = (line.partition(":") for line in lines)
    return [value.strip() for name, _, value in headers if name.strip().lower() == "origin"]


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    """Pass bytes on until one side ends, and end the other."""
    with suppress(OSError):
        while piece := source.recv(PIECE):
            sink.sendall(piece)
    for line in (source, sink):
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)
