"""Messages of the kernel compiler: warnings on standard error, and one line when something has to be compiled.

The logger ``cbsim.kernels`` reports compilation at level INFO. Unless logging is configured, its messages go to
standard error; ``logging.getLogger("cbsim.kernels").setLevel(logging.WARNING)`` silences them.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable
from typing import Any

from numba.core import event

__all__ = ["HOOK_MISSING", "LOGGER", "announce_compilation", "warn_once"]

HOOK_MISSING = (
    "this version of numba lacks an internal hook that cbsim uses; kernels are compiled by plain numba, "
    "with the same results but more slowly"
)

LOGGER = logging.getLogger("cbsim.kernels")
PRINTED: set[str] = set()  # warnings that have been printed


def warn_once(text: str) -> None:
    """Print a warning on standard error, once per process for each text up to its first quotation mark."""
    kind = text.partition("'")[0]
    if kind in PRINTED:
        return
    PRINTED.add(kind)
    _write(f"warning: {text}")  # not through `warnings`, which prints a source line


def _write(line: str) -> None:
    # a closed standard error must not stop a run
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


class _ErrorStream(logging.Handler):
    """Prints messages on standard error as long as nobody has configured logging."""

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.getLogger().handlers:
            _write(record.getMessage())


class _FirstCompilation(event.Listener):
    """Reports the first kernel of the package that is compiled; compilation of other numba functions is not ours."""

    def __init__(self, text: Callable[[], str]) -> None:
        self._text, self._done = text, False

    def on_start(self, begun: event.Event) -> None:
        if self._done or not LOGGER.isEnabledFor(logging.INFO):
            return
        function: Any = getattr(begun.data["dispatcher"], "py_func", None)
        if (getattr(function, "__module__", None) or "").startswith("cbsim."):
            self._done = True
            LOGGER.info(self._text())

    def on_end(self, ended: event.Event) -> None:
        """Do nothing."""


def announce_compilation(text: Callable[[], str]) -> None:
    """Log a text once the first kernel has to be compiled.

    Parameters
    ----------
    text : callable
        Makes the text.
    """
    if not LOGGER.handlers:
        LOGGER.addHandler(_ErrorStream())
        LOGGER.setLevel(logging.INFO if LOGGER.level == logging.NOTSET else LOGGER.level)
    event.register("numba:compile", _FirstCompilation(text))
