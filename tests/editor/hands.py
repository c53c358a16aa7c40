"""Hands that work an editor: with posted events in this process, or with xdotool in an X server; the same script."""

from __future__ import annotations

import time
from pathlib import Path

import pygame

from cbsim.editor.loading import open_session
from cbsim.editor.session import RunSettings
from cbsim.editor.window import Window
from tests.viewer.screen import Program

PATIENCE = 60.0  # [s]
MODS = {"ctrl": pygame.KMOD_LCTRL, "shift": pygame.KMOD_LSHIFT, "alt": pygame.KMOD_LALT}
CODES = {"esc": "escape", "enter": "return"}
X_NAMES = {
    "esc": "Escape", "enter": "Return", "tab": "Tab", "delete": "Delete", "backspace": "BackSpace", "up": "Up",
    "down": "Down", "left": "Left", "right": "Right", "[": "bracketleft", "]": "bracketright", "?": "question",
    ".": "period", ",": "comma", "-": "minus", "+": "plus", **{f"f{k}": f"F{k}" for k in range(1, 13)},
}  # fmt: skip


class Hand:
    """What a script does; each command is written down, so that another hand can do it again."""

    def __init__(self) -> None:
        self.log: list[tuple[str, tuple]] = []

    def key(self, *chords: str) -> None:
        for chord in chords:
            self._do("press", chord)

    def write(self, text: str) -> None:
        self._do("type_text", text)

    def click(self, at, holding: str = "") -> None:
        self.drag(at, at, holding=holding)

    def drag(self, start, end, holding: str = "", button: int = 1) -> None:
        if holding:
            self._do("hold", holding)
        self._do("point", *rounded(start))
        self._do("button_down", button)
        if rounded(start) != rounded(end):
            (x, y), (u, v) = rounded(start), rounded(end)
            self._do("point", (x + u) // 2, (y + v) // 2)
            self._do("point", u, v)
        self._do("button_up", button)
        if holding:
            self._do("release", holding)

    def _do(self, command: str, *words) -> None:
        self.log.append((command, words))
        getattr(self, command)(*words)

    def again(self, log) -> None:
        for command, words in log:
            self._do(command, *words)


def rounded(at) -> tuple[int, int]:
    return round(float(at[0])), round(float(at[1]))


class Frames:
    """Clock of a window that nobody looks at: each frame takes its time without being waited for."""

    def tick(self, rate: int) -> int:
        return round(1000 / rate)  # [ms]


class Posted(Hand):
    """Posts events to a window of SDL's dummy driver."""

    def __init__(self, path: Path, rndf: str | None = "four_way_stop") -> None:
        super().__init__()
        self.session = open_session(str(path), RunSettings(rndf))
        self.window = Window(self.session)
        self.window._clock = Frames()
        self.turn()
        self._at, self._mods = (0, 0), 0

    def turn(self) -> None:
        self.window.turn()

    def crash(self) -> None:
        """End as a program ends that is killed: nobody is asked, and the system takes the locks away."""
        self.session.store.autosave.release()
        self.window.close()

    def _post(self, kind: int, **values) -> None:
        pygame.event.post(pygame.event.Event(kind, **values))
        self.turn()

    def press(self, chord: str) -> None:
        *held, name = chord.split("+") if chord != "+" else ["+"]
        mods = self._mods | sum(MODS[word] for word in held)
        code = pygame.key.key_code(CODES.get(name, name)) if name != "?" else pygame.K_SLASH
        typed = name if len(name) == 1 and not held else ""
        self._post(pygame.KEYDOWN, key=code, mod=mods, unicode=typed, scancode=0)
        self._post(pygame.KEYUP, key=code, mod=self._mods, unicode=typed, scancode=0)

    def type_text(self, text: str) -> None:
        for sign in text:
            self._post(pygame.KEYDOWN, key=ord(sign.lower()), mod=0, unicode=sign, scancode=0)

    def hold(self, name: str) -> None:
        self._mods |= MODS[name]
        self._post(pygame.KEYDOWN, key=pygame.key.key_code(f"left {name}"), mod=self._mods, unicode="", scancode=0)

    def release(self, name: str) -> None:
        self._mods &= ~MODS[name]
        self._post(pygame.KEYUP, key=pygame.key.key_code(f"left {name}"), mod=self._mods, unicode="", scancode=0)

    def point(self, x: int, y: int) -> None:
        before, self._at = self._at, (x, y)
        self._post(pygame.MOUSEMOTION, pos=(x, y), rel=(x - before[0], y - before[1]), buttons=(0, 0, 0))

    def button_down(self, button: int) -> None:
        self._post(pygame.MOUSEBUTTONDOWN, pos=self._at, button=button)

    def button_up(self, button: int) -> None:
        self._post(pygame.MOUSEBUTTONUP, pos=self._at, button=button)


class UnsettledError(AssertionError):
    """A file did not become what the same keys made of another."""


class Real(Hand):
    """Works the program in an X server with xdotool."""

    def __init__(self, display: str, path: Path, rndf: str = "four_way_stop") -> None:
        super().__init__()
        self.program = Program(display, path.parent, "edit", str(path), "--rndf", rndf)
        self.process, self.apply, self.kill = self.program.process, self.program.do, self.program.kill
        time.sleep(0.5)

    def press(self, chord: str) -> None:
        *held, name = chord.split("+") if chord != "+" else ["+"]
        self.apply("key", "+".join([*held, X_NAMES.get(name, name)]))
        time.sleep(0.08)

    def type_text(self, text: str) -> None:
        self.apply("type", "--delay", 20, "--", text)
        time.sleep(0.08)

    def hold(self, name: str) -> None:
        self.apply("keydown", name)
        time.sleep(0.08)

    def release(self, name: str) -> None:
        self.apply("keyup", name)
        time.sleep(0.08)

    def point(self, x: int, y: int) -> None:
        self.apply("mousemove", "--window", self.program.window, x, y)
        time.sleep(0.08)

    def button_down(self, button: int) -> None:
        self.apply("mousedown", button)
        time.sleep(0.08)

    def button_up(self, button: int) -> None:
        self.apply("mouseup", button)
        time.sleep(0.08)

    def settle(self, path: Path, data: bytes, name: str) -> None:
        """Wait until a file holds what it should."""
        until = time.monotonic() + PATIENCE
        while path.read_bytes() != data and time.monotonic() < until:
            assert self.process.poll() is None, self.process.communicate()[0]
            time.sleep(0.05)
        if path.read_bytes() != data:
            raise UnsettledError(name)

    def leave(self) -> int:
        """Close the window, which has nothing to ask."""
        code, said = self.program.close()
        assert "error" not in said, said
        return code
