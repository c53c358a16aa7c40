"""`Summary`: a verdict and its checks as text for terminals and notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Literal

from cbsim.evaluation.rules import Check
from cbsim.evaluation.score import ScoreResult

__all__ = ["Summary", "Verdict", "times"]

Verdict = Literal["pass", "fail", "error"]

MOST = 50  # of listed checks; if there are more, failed ones come first
COLOURS = {"pass": "#1a7f37", "fail": "#cf222e", "error": "#9a6700"}


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary of a result.

    Attributes
    ----------
    scenario : str
        Its name.
    verdict : str
        ``pass``, ``fail`` or ``error``.
    ran : str
        Simulated time and speed.
    checks : tuple of Check
    warnings : tuple of str
    score : ScoreResult or None
    """

    scenario: str
    verdict: Verdict
    ran: str
    checks: tuple[Check, ...]
    warnings: tuple[str, ...] = ()
    score: ScoreResult | None = None

    @property
    def text(self) -> str:
        """Lines for a terminal; only the last line of a planner's traceback."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.scenario}: {self.verdict}   {self.ran}"
        for check in self._listed:
            yield f"  {check.status}  {check.name}: {_last_line(check.message)}"
        if self._left_out:
            yield f"  … and {self._left_out} more checks"
        yield from (f"  {line}" for line in (self.score.lines() if self.score is not None else ()))
        yield from (f"  warning: {warning}" for warning in self.warnings)

    @property
    def html(self) -> str:
        """A table for a notebook, with full messages."""
        colour = COLOURS[self.verdict]
        rows = "".join(map(_row, self._listed))
        if self._left_out:
            rows += f"<tr><td></td><td colspan='3'>… and {self._left_out} more checks</td></tr>"
        warnings = "".join(f"<p>warning: {escape(warning)}</p>" for warning in self.warnings)
        return (
            f"<div><p><b>{escape(self.scenario)}: <span style='color:{colour}'>{self.verdict}</span></b> "
            f"{escape(self.ran)}</p><table>{rows}</table>{self._score_html}{warnings}</div>"
        )

    @property
    def _score_html(self) -> str:
        if self.score is None:
            return ""
        head, *lines = self.score.lines()
        return f"<p><b>{escape(head)}</b></p><ul>{''.join(f'<li>{escape(line.strip())}</li>' for line in lines)}</ul>"

    @property
    def _listed(self) -> list[Check]:
        if len(self.checks) <= MOST:
            return list(self.checks)
        return sorted(self.checks, key=lambda check: (False, None, True).index(check.passed))[:MOST]

    @property
    def _left_out(self) -> int:
        return len(self.checks) - len(self._listed)


def _row(check: Check) -> str:
    colour = COLOURS["error" if check.passed is None else "pass" if check.passed else "fail"]
    time = "" if check.time is None else f"{check.time:.3f} s"
    message = f"<pre style='margin:0;white-space:pre-wrap;text-align:left'>{escape(check.message)}</pre>"
    cells = (f"<b style='color:{colour}'>{check.status}</b>", escape(check.name), time, message)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _last_line(message: str) -> str:
    return (message.strip().splitlines() or [""])[-1].strip()


def times(factor: float) -> str:
    """Format a factor with three significant digits.

    >>> times(2345.6), times(0.01234), times(0.0)
    ('2346', '0.0123', '0')
    """
    return f"{factor:.0f}" if factor >= 100.0 else f"{factor:.3g}"
