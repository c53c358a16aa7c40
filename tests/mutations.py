"""Mutated files: seeds of every format, what is done to them, and what every reader promises of whatever comes out."""

from __future__ import annotations

import random
import re
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from cbsim import models
from cbsim.errors import FileError, Problems, UsageError, bounded_hints
from cbsim.formats import FORMATS, Format, Reading, recognise, writer_for
from cbsim.formats.reader import Source, quiet_arithmetic
from cbsim.lint.files import _lint
from cbsim.paths import Files, data_folder
from tests.common import SHARED

__all__ = ["SLOW", "TooSlowError", "check", "form_named", "mutated", "seeds"]

ROOT = Path(__file__).resolve().parent
LARGEST = 1 << 16  # bytes of a seed, and of what is made of it
SLOW = 5.0  # CPU seconds that a small file may take

EXTREMES = """
    0 -0 1 -1 0.0 1e-320 5e-324 1e-100 1e-9 1e9 1e12 1e15 1e16 1e100 1e300 1e308 1.7976931348623157e308 1e309 1e400
    -1e308 -1e400 nan inf -inf NaN Infinity 2147483647 2147483648 -2147483649 4294967296 9223372036854775807
    9223372036854775808 99999999999999999999 0x10 1_000 1,5 1. .5 . - + e 1e 1e+ ٣ ½ 007 00 1.1.1.1 1.1 0.0.0
""".split()  # noqa: SIM905 (a list of them is longer than the screen)
OPENERS = (
    "[",
    "{",
    "(",
    "<a>",
    "<object>",
    "<link>",
    "[OBJECT A ",
    '"',
    "'",
    "/*",
    "<!--",
    "<![CDATA[",
    "- ",
    "? ",
    "&a [*a,",
    "!!",
    "\\",
)
SCRAPS = (
    "\0",
    "\ufeff",
    "\x1b[31m",
    "\r",
    "\n",
    "\t",
    "\x85",
    "\u2028",
    "\u202e",
    "\ud7ff",
    "é",
    "𝔸",
    "\\u0000",
    "\\ud800",
    "&#0;",
    "&amp;",
    "]]>",
    "${a}",
    "%s",
    "*",
    "<<: *a",
    "~",
    "---",
    "#",
    "//",
    ";",
    ",",
)
NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
WORD = re.compile(rb"[A-Za-z_][\w-]*")


class TooSlowError(Exception):
    """A reader took more CPU time than any small file may."""


def seeds(form: Format) -> list[bytes]:
    """Collect small files of a format: shipped ones, those of the tests, and real ones where they are."""
    folders = [
        *map(data_folder, ("rndf", "scenarios", "sensors")),
        ROOT / "corpus",
        *([SHARED] if SHARED.is_dir() else []),
    ]
    found: dict[bytes, None] = {}
    for path in (path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()):
        if path.stat().st_size > 4 * LARGEST:
            continue
        data = path.read_bytes()
        with suppress(FileError):
            if recognise(Source.decode(path, data)) is form:
                found[data[:LARGEST]] = None
    return list(found)


# --- mutations --------------------------------------------------------------------------------------------------------
def _span(dice: random.Random, data: bytes, most: int = 400) -> tuple[int, int]:
    begin = dice.randrange(len(data) + 1)
    return begin, min(len(data), begin + dice.randrange(1, most))


def _flip(dice: random.Random, data: bytes, _: bytes) -> bytes:
    made = bytearray(data)
    for _ in range(dice.randrange(1, 8) if made else 0):
        made[dice.randrange(len(made))] ^= 1 << dice.randrange(8)
    return bytes(made)


def _cut(dice: random.Random, data: bytes, _: bytes) -> bytes:
    begin, end = _span(dice, data)
    return dice.choice((data[:begin], data[begin:], data[:begin] + data[end:]))


def _splice(dice: random.Random, data: bytes, other: bytes) -> bytes:
    at, begin = dice.randrange(len(data) + 1), dice.randrange(len(other) + 1)
    return dice.choice((data[:at] + other[begin:], data[:at] + other[begin : begin + 300] + data[at:]))


def _repeat(dice: random.Random, data: bytes, _: bytes) -> bytes:
    begin, end = _span(dice, data)
    return data[:begin] + data[begin:end] * dice.choice((2, 3, 10, 100)) + data[end:]


def _replace(pattern: re.Pattern[bytes], dice: random.Random, data: bytes, new: Callable[[], bytes]) -> bytes:
    places = list(pattern.finditer(data, dice.randrange(len(data) + 1)))[:60] or list(pattern.finditer(data))[:60]
    for match in sorted(dice.sample(places, min(len(places), dice.choice((1, 1, 1, 2, 5)))), key=lambda m: -m.start()):
        data = data[: match.start()] + new() + data[match.end() :]
    return data


def _number(dice: random.Random, data: bytes, _: bytes) -> bytes:
    return _replace(NUMBER, dice, data, lambda: dice.choice(EXTREMES).encode())


def _word(dice: random.Random, data: bytes, other: bytes) -> bytes:
    words = WORD.findall(data)[:500] + WORD.findall(other)[:500] + [b""]
    return _replace(WORD, dice, data, lambda: dice.choice(words))


def _lines(dice: random.Random, data: bytes, _: bytes) -> bytes:
    lines = data.split(b"\n")
    for _ in range(dice.choice((1, 1, 2, 5))):
        here, there = dice.randrange(len(lines)), dice.randrange(len(lines))
        what = dice.randrange(3)
        if what == 0:
            lines.insert(there, lines[here])
        elif what == 1:
            lines[here], lines[there] = lines[there], lines[here]
        elif len(lines) > 1:
            del lines[here]
    return b"\n".join(lines)


def _nest(dice: random.Random, data: bytes, _: bytes) -> bytes:
    at = dice.randrange(len(data) + 1)
    return data[:at] + dice.choice(OPENERS).encode() * dice.choice((1, 2, 70, 300, 2000)) + data[at:]


def _scrap(dice: random.Random, data: bytes, _: bytes) -> bytes:
    begin, end = _span(dice, data, 4)
    scrap = dice.choice(SCRAPS).encode("utf-8", "surrogatepass") * dice.choice((1, 1, 1, 40))
    return data[:begin] + scrap + data[dice.choice((begin, end)) :]


MUTATIONS = (_flip, _cut, _splice, _repeat, _number, _number, _number, _word, _lines, _nest, _scrap)


def mutated(dice: random.Random, stock: list[bytes]) -> bytes:
    """Mutate one of some seeds, once or a few times."""
    data = dice.choice(stock)
    for _ in range(dice.choice((1, 1, 2, 3, 5))):
        data = dice.choice(MUTATIONS)(dice, data, dice.choice(stock))[:LARGEST]
    return data


# --- promises ---------------------------------------------------------------------------------------------------------
@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise `TooSlowError` once so much CPU time has been spent."""

    def stop(*_: object) -> None:
        raise TooSlowError(f"more than {seconds:g} s of CPU time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def check(form: Format, data: bytes, *, lints: bool = False) -> Any:
    """Hold the reading of any bytes to what every reader promises; returns the spec, None of what has errors."""
    source, problems, files = Source.decode(f"seed{form.suffixes[0]}", data), Problems(), Files()
    with cpu_limit(SLOW), warnings.catch_warnings(), bounded_hints(), quiet_arithmetic():
        warnings.simplefilter("error")
        with suppress(FileError):
            recognise(source)
        spec = models.parse(source, form, problems, files)
        _check_places(source, problems)
        if spec is None:
            assert problems.errors, "neither a spec nor an error"
            return None
        counts = models.count(Reading(spec, form, problems, source))
        if problems.errors:
            return None
        if lints:
            _lint(Reading(spec, form, problems, source), None, files, problems, strict=False)
            _check_places(source, problems)
        _check_writing(form, spec, counts)
        return spec


def _check_places(source: Source, problems: Problems) -> None:
    lines = source.text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    for problem in problems:
        if problem.location.path == source.path:
            assert 1 <= (problem.location.line or 1) <= lines, f"line {problem.location.line} of {lines}: {problem}"
        assert len(str(problem)) < 1500, f"a message of {len(str(problem))} characters"


def _check_writing(form: Format, spec: Any, counts: dict[str, Any]) -> None:
    try:
        text = writer_for(spec, form.suffixes[0])(spec)
    except UsageError:
        return  # the format cannot say it, and the writer says so
    found = Problems()
    source = Source(f"seed{form.suffixes[0]}", text, text.encode())
    again = models.parse(source, form, found, Files())
    assert not found.errors, f"what was written is refused: {found.errors[0]}"
    assert again == spec, "what was written reads otherwise"
    assert models.count(Reading(again, form, found, source)) == counts


def form_named(name: str) -> Format:
    """Find a format."""
    return next(form for form in FORMATS if form.name == name)
