"""Located problems and the exception tree; imports nothing of cbsim.

An error in a file is data (`Problem`), collected in `Problems` while a reader continues, and raised once.

    CbsimError
    ├─ FileError        a file is not acceptable; carries every `Problem`
    ├─ ModelError       a well-formed description cannot be simulated
    ├─ StepError        a step has no solution, or none of finite numbers
    ├─ RecordingError   a recording is unreadable, or a replay diverged
    └─ UsageError       the API or the command line was misused
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

__all__ = [
    "UNPRINTABLE",
    "CbsimError",
    "FileError",
    "Location",
    "ModelError",
    "Problem",
    "Problems",
    "RecordingError",
    "Severity",
    "StabilityWarning",
    "StepError",
    "UsageError",
    "bounded_hints",
    "did_you_mean",
    "nearest",
    "printable",
]

NEAR = 0.65  # least share of common letters of two names for one to be suggested for the other
NAME_LENGTH = 200  # of compared names; time grows with the square of their length
COMPARISONS = 50_000  # names that are compared while one file is read, which takes a second
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
PROBLEMS_PER_CODE = 1000  # a hostile file must not fill memory with problems; the rest is counted

_hints_left: ContextVar[list[int] | None] = ContextVar("hints_left", default=None)


def printable(text: str) -> str:
    r"""Escape characters that a terminal acts on; file names may contain anything but ``/`` and NUL.

    These are control characters, marks of bidirectional text, and surrogates, which stand for undecodable bytes.

    >>> printable("a\x1b[31m.rndf")
    'a\\x1b[31m.rndf'
    """
    return text if text.isprintable() else UNPRINTABLE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


class Location(NamedTuple):
    """A place in a file; a tuple, because a large file has one for each of its records.

    Attributes
    ----------
    path : str
        The file, as the user named it.
    line : int or None
        1-based line; None for the whole file.
    column : int or None
        1-based column, where known.
    inside : str
        The element there: an XML path, a YAML key path or an RNDF id.
    """

    path: str
    line: int | None = None
    column: int | None = None
    inside: str = ""

    def __str__(self) -> str:
        path = printable(self.path)
        return path if self.line is None else f"{path}:{self.line}"


class Severity(StrEnum):
    """Severity of a problem: errors make a file unacceptable, warnings are suspicious, infos concern style."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Problem:
    """One located error, warning or remark.

    Attributes
    ----------
    severity : Severity
        Error, warning or info.
    code : str
        Stable code such as ``E201``; documented in ``docs/problems.md``.
    message : str
        Lower-case sentence with the value in quotes, the unit, and what was expected.
    location : Location
        Where.
    hint : str
        What to do, e.g. ``did you mean '7.2.2'?``.
    also : Location or None
        A second place, such as the first definition of a duplicate.
    """

    severity: Severity
    code: str
    message: str
    location: Location
    hint: str = ""
    also: Location | None = None

    def __str__(self) -> str:
        parts = [f"{self.location}: {self.severity}: {printable(self.message)} [{self.code}]"]
        if self.hint:
            parts.append(f"({printable(self.hint)})")
        if self.also is not None:
            parts.append(f"(see {self.also})")
        return " ".join(parts)


class Problems:
    """Ordered collection of problems."""

    def __init__(self, problems: Iterable[Problem] = ()) -> None:
        self._problems: list[Problem] = []
        self._counts: Counter[str] = Counter()
        self._severities: Counter[Severity] = Counter()
        self._known: set[Problem] = set()
        self.extend(problems)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._problems)

    def __len__(self) -> int:
        return len(self._problems)

    def __contains__(self, problem: object) -> bool:
        if len(self._known) < len(self._problems):
            self._known.update(self._problems)
        return problem in self._known

    def add(self, problem: Problem) -> None:
        """Append one problem; beyond 1000 of a code they are only counted."""
        self._counts[problem.code] += 1
        self._severities[problem.severity] += 1
        if self._counts[problem.code] <= PROBLEMS_PER_CODE:
            self._problems.append(problem)

    def extend(self, problems: Iterable[Problem]) -> None:
        """Append several problems in order."""
        for problem in problems:
            self.add(problem)

    def error(self, code: str, message: str, location: Location, hint: str = "", also: Location | None = None) -> None:
        """Add an error."""
        self.add(Problem(Severity.ERROR, code, message, location, hint, also))

    def warning(
        self, code: str, message: str, location: Location, hint: str = "", also: Location | None = None
    ) -> None:
        """Add a warning."""
        self.add(Problem(Severity.WARNING, code, message, location, hint, also))

    def info(self, code: str, message: str, location: Location, hint: str = "", also: Location | None = None) -> None:
        """Add a remark on style."""
        self.add(Problem(Severity.INFO, code, message, location, hint, also))

    @property
    def total(self) -> int:
        """How many problems were found, including those that were not kept."""
        return self._severities.total()

    def count(self, severity: Severity) -> int:
        """Count problems of one severity, including those that were not kept."""
        return self._severities[severity]

    @property
    def errors(self) -> list[Problem]:
        """The errors, in the order they were found."""
        return [p for p in self._problems if p.severity is Severity.ERROR]

    @property
    def warnings(self) -> list[Problem]:
        """The warnings, in the order they were found."""
        return [p for p in self._problems if p.severity is Severity.WARNING]

    @property
    def infos(self) -> list[Problem]:
        """The remarks on style, in the order they were found."""
        return [p for p in self._problems if p.severity is Severity.INFO]

    @property
    def left_out(self) -> dict[str, int]:
        """How many problems of each code were counted but not kept."""
        return {code: n - PROBLEMS_PER_CODE for code, n in self._counts.items() if n > PROBLEMS_PER_CODE}

    def in_order(self) -> list[Problem]:
        """Return the problems sorted by file and line, ties in the order found."""
        return sorted(self._problems, key=lambda p: (p.location.path, p.location.line or 0))

    def raise_if_any(self) -> None:
        """Raise `FileError` if there is at least one error."""
        if self._severities[Severity.ERROR]:
            raise FileError(self)


class CbsimError(Exception):
    """Base class of all errors that cbsim raises on purpose; messages are written for users."""


class FileError(CbsimError):
    """A file is not acceptable.

    Parameters
    ----------
    problems : Problems or Problem
        All problems; the message has one line per error, in order of files and lines.
    """

    def __init__(self, problems: Problems | Problem) -> None:
        self.problems = Problems([problems]) if isinstance(problems, Problem) else problems
        super().__init__("\n".join(str(p) for p in self.problems.in_order() if p.severity is Severity.ERROR))


class ModelError(CbsimError):
    """A well-formed description cannot be simulated.

    Parameters
    ----------
    message : str
        What is wrong.
    subject : str
        The part that is wrong, such as a body's or a joint's name.
    location : Location, optional
        Where the part was described.
    code : str
        Code of the message, if it has one.
    """

    def __init__(self, message: str, *, subject: str = "", location: Location | None = None, code: str = "") -> None:
        self.subject, self.location, self.code = subject, location, code
        text = message if not subject else f"{subject}: {message}"
        text += f" [{code}]" if code else ""
        super().__init__(f"{location}: error: {text}" if location is not None and location.path else text)


class StepError(CbsimError):
    """A step could not be solved: the solver did not converge, or a number is not finite.

    Parameters
    ----------
    message : str
        What failed.
    time : float
        Simulated time of the failed step [s].
    snapshot : object
        The Snapshot, or the state, before the failed step.
    residual, complementarity : float
        Residual of the equations, and of the products of slack and impulse.
    worst : str
        Name of the constraint that is violated most.
    location : Location, optional
        Where the object that failed was described.
    """

    def __init__(
        self,
        message: str,
        *,
        time: float,
        snapshot: object = None,
        residual: float = math.nan,
        complementarity: float = math.nan,
        worst: str = "",
        location: Location | None = None,
    ) -> None:
        self.reason = message
        self.time = time
        self.snapshot = snapshot
        self.residual = residual
        self.complementarity = complementarity
        self.worst = worst
        self.location = location
        text = f"t={time:.3f} s: {message}"
        placed = location is not None and location.path
        super().__init__(f"{location}: error: the simulation failed: {text}" if placed else text)


class RecordingError(CbsimError):
    """A recording has the wrong version, is damaged, or its replay diverged."""


class StabilityWarning(UserWarning):
    """A mechanism is unstable with its step; the message names a stable one."""


class UsageError(CbsimError):
    """The API or the command line was misused; the message lists what is available."""


@contextmanager
def bounded_hints() -> Iterator[None]:
    """Bound the total work of `did_you_mean` within the context: a file may have any number of misspelt names.

    Nested contexts share the bound of the outermost.
    """
    token = None if _hints_left.get() else _hints_left.set([COMPARISONS])
    try:
        yield
    finally:
        if token is not None:
            _hints_left.reset(token)


def nearest(name: str, candidates: Iterable[str], near: float = NEAR) -> str | None:
    """Find the most similar name, ignoring case.

    Parameters
    ----------
    name : str
        What was found.
    candidates : iterable of str
        Known names; `bounded_hints` limits how many are compared.
    near : float
        Least share of common letters.

    Returns
    -------
    str or None
        None if no name is similar, or the budget of `bounded_hints` is used up.
    """
    left = _hints_left.get()
    if len(name) > NAME_LENGTH or (left and left[0] <= 0):
        return None
    short = [candidate for candidate in islice(candidates, left[0] if left else None) if len(candidate) <= NAME_LENGTH]
    spelled = {candidate.casefold(): candidate for candidate in reversed(short)}  # the first of equal names wins
    if left:
        left[0] -= 1 + len(spelled)
    close = difflib.get_close_matches(name.casefold(), spelled, n=1, cutoff=near)
    return spelled[close[0]] if close else None


def did_you_mean(name: str, candidates: Iterable[str], near: float = NEAR) -> str:
    """Suggest the `nearest` existing name.

    Returns
    -------
    str
        ``did you mean 'x'?``, or an empty string.

    Examples
    --------
    >>> did_you_mean("LNAE", ["lane", "kind"]), did_you_mean("polyline", ["link", "lane"])
    ("did you mean 'lane'?", '')
    """
    meant = nearest(name, candidates, near)
    return "" if meant is None else f"did you mean '{meant}'?"
