"""`OriginProxy`: a TCP proxy in front of the WebSocket server that admits connections by their Origin header.

Any web page may open a WebSocket to this machine and read what is sent. Browsers name the page's origin in the
handshake (RFC 6455 §10.2), but foxglove-sdk does not check it. So its server listens on a random loopback address, and
the proxy checks the handshake before it forwards anything.
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

__all__ = ["OriginProxy", "is_allowed_origin", "random_loopback_address"]

LOCAL = ("localhost", "127.0.0.1", "::1")
SITES = ("foxglove.dev", "lichtblick-suite.github.io")  # and their subdomains
DESKTOP = "file://"  # origin of the pages of desktop applications
EVERYBODY = "*"
HANDSHAKE, LARGEST = 10.0, 16 * 1024  # [s], [bytes] limits of a handshake
PIECE = 64 * 1024  # [bytes]
REFUSAL = b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n%s\n"


def is_allowed_origin(origin: str | None, more: Sequence[str] = ()) -> bool:
    """Return whether an origin is admitted; clients without one are not browsers, and are.

    Parameters
    ----------
    origin : str or None
        Header of the handshake.
    more : sequence of str
        Admitted origins besides those of this machine, Foxglove and Lichtblick; ``*`` for all.

    Examples
    --------
    >>> is_allowed_origin("http://localhost:8080"), is_allowed_origin("https://app.foxglove.dev"), is_allowed_origin("https://evil.example")
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


def random_loopback_address() -> str:
    """Draw a loopback address that pages cannot guess, on systems with more than one."""
    if not sys.platform.startswith("linux"):
        return LOCAL[1]
    return ".".join(["127", *(str(1 + secrets.randbelow(254)) for _ in range(3))])


class OriginProxy(socketserver.ThreadingTCPServer):
    """Proxy that listens from its construction until it is closed.

    Parameters
    ----------
    host, port : str, int
        Address for viewers; port 0 takes any free port.
    target : (str, int)
        Address of the server.
    origins : sequence of str
        Admitted origins besides the usual ones.

    Raises
    ------
    OSError
        If the address cannot be bound.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, host: str, port: int, target: tuple[str, int], origins: Sequence[str] = ()) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.target, self.origins = target, tuple(origins)
        super().__init__((host, port), _Connection)
        threading.Thread(target=self.serve_forever, name="cbsim origin proxy", daemon=True).start()

    @property
    def port(self) -> int:
        """The port for viewers."""
        return int(self.server_address[1])

    def close(self) -> None:
        """Stop listening; connections end with the server."""
        self.shutdown()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors of connections."""


class _Connection(socketserver.BaseRequestHandler):
    """One connection, in a thread of its own."""

    request: socket.socket
    server: OriginProxy

    def handle(self) -> None:
        self.request.settimeout(HANDSHAKE)
        handshake = self._handshake()
        origins = _origins(handshake)
        if len(origins) > 1 or not is_allowed_origin(next(iter(origins), None), self.server.origins):
            message = f"pages from {' and '.join(origins)[:200]} are not admitted; --foxglove-origin admits them"
            self.request.sendall(REFUSAL % message.encode())
            return
        with socket.create_connection(self.server.target) as behind:
            for line in (self.request, behind):
                line.settimeout(None)
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            behind.sendall(handshake)
            back = threading.Thread(target=_forward, args=(behind, self.request), daemon=True)
            back.start()
            _forward(self.request, behind)
            back.join()

    def _handshake(self) -> bytes:
        handshake = b""
        while b"\r\n\r\n" not in handshake:
            piece = self.request.recv(4096)
            if not piece or len(handshake) + len(piece) > LARGEST:
                raise ConnectionError
            handshake += piece
        return handshake


def _origins(handshake: bytes) -> list[str]:
    """Read the headers ``Origin`` of a handshake."""
    lines = handshake.split(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
    headers = (line.partition(":") for line in lines)
    return [value.strip() for name, _, value in headers if name.strip().lower() == "origin"]


def _forward(source: socket.socket, sink: socket.socket) -> None:
    """Forward bytes until one side closes, and close the other."""
    with suppress(OSError):
        while piece := source.recv(PIECE):
            sink.sendall(piece)
    for line in (source, sink):
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)
