"""A real window in a real X server, worked with real keys and a real mouse: Xvfb and xdotool, where they are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.common import ROOT

Found = TypeVar("Found")

SHOW_DELAY = 300.0  # [s] the first window of a machine waits for kernels to be compiled


@contextmanager
def x_server(width: int = 1400, height: int = 900, folder: Path | None = None) -> Iterator[str]:
    """Start an X server without a screen; yields its display. Given a folder, it keeps there what `seen_in` reads.

    It repeats no keys, which hands on a busy machine hold too long, and is not set up anew when its last client leaves:
    a client that comes in that moment would be thrown out.
    """
    if shutil.which("Xvfb") is None or shutil.which("xdotool") is None:
        pytest.skip("Xvfb and xdotool are not installed")
    read, write = os.pipe()
    server = subprocess.Popen(
        [
            "Xvfb",
            "-displayfd",
            str(write),
            "-screen",
            "0",
            f"{width}x{height}x24",
            "-nolisten",
            "tcp",
            "-r",
            "-noreset",
            *([] if folder is None else ["-fbdir", str(folder)]),
        ],
        pass_fds=[write],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        if not number:
            pytest.skip("Xvfb does not start here")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


def seen_in(folder: Path) -> NDArray[np.uint8]:
    """Pixels (rows, columns, 3) of the screen of an X server, from the file in the format of ``xwd`` that it keeps."""
    data = (folder / "Xvfb_screen0").read_bytes()
    head = np.frombuffer(data, ">u4", 25)
    start, width, height, line, colours = (int(head[k]) for k in (0, 4, 5, 12, 19))
    rows = np.frombuffer(data, np.uint8, line * height, start + 12 * colours).reshape(height, line)
    return rows[:, : 4 * width].reshape(height, width, 4)[:, :, 2::-1]  # blue, green, red, nothing


class Program:
    """A command of cbsim with a window; `at_once` does not wait until it has loaded what it shows."""

    def __init__(self, display: str, folder: Path, *arguments: str, at_once: bool = False) -> None:
        self.folder = folder
        self.environment = os.environ | {
            "DISPLAY": display,
            "SDL_VIDEODRIVER": "x11",
            "PYTHONPATH": str(ROOT),
            "CBSIM_TRACEBACK": "1",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cbsim", *arguments],
            cwd=folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.window = self._found()
        self.do("windowfocus", self.window)
        if not at_once:
            self.wait_until_loaded()

    def do(self, *words: object) -> str:
        """Let xdotool do something."""
        done = subprocess.run(
            ["xdotool", *map(str, words)], env=self.environment, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    def _found(self) -> str:
        return self.wait_for(lambda: next(iter(self.do("search", "--onlyvisible", "--class", ".").split()), None))

    @property
    def title(self) -> str:
        """Title of the window."""
        return self.do("getwindowname", self.window)

    def wait_until_loaded(self) -> None:
        """Wait until the window shows what it was opened for."""
        self.wait_for(lambda: None if self.title.startswith("loading ") else self.title)

    @property
    def corner(self) -> tuple[int, int]:
        """Place of the window on the screen [pixels]."""
        told = dict(line.split("=") for line in self.do("getwindowgeometry", "--shell", self.window).split())
        return int(told["X"]), int(told["Y"])

    def keys(self, *chords: str) -> None:
        """Press keys, one after another."""
        for chord in chords:
            self.do("key", chord)
            time.sleep(0.05)

    def picture(self) -> Path:
        """Let it save a picture."""
        before = set(self.folder.glob("cbsim-*.png"))
        self.keys("s")
        path = self.wait_for(
            lambda: next((new for new in set(self.folder.glob("cbsim-*.png")) - before if new.stat().st_size), None)
        )
        time.sleep(0.2)
        return path

    def wait_for(self, look: Callable[[], Found | None]) -> Found:
        """Wait until there is something to be found, while the program runs."""
        until = time.monotonic() + SHOW_DELAY
        while time.monotonic() < until:
            found = look()
            if found is not None:
                return found
            if self.process.poll() is not None:
                raise AssertionError(self.process.communicate()[0])
            time.sleep(0.05)
        raise AssertionError("nothing happened")

    def close(self) -> tuple[int, str]:
        """Close the window by its keys; exit code and what it said."""
        self.keys("ctrl+q")
        said = self.process.communicate(timeout=SHOW_DELAY)[0]
        return self.process.returncode, said

    def kill(self) -> None:
        """End it, whatever happened."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
