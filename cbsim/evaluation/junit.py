"""JUnit XML of verdicts for build servers: one suite per scenario, one case per check and one for the run.

The format has no owner; attributes and their order follow Jenkins' schema (``junit-10.xsd``), as in pytest and others.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from cbsim.evaluation.outcome import Outcome
    from cbsim.evaluation.rules import Check

__all__ = ["Failure", "junit"]

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML 1.0 excludes
HEADLINE = 200  # characters of a message in an attribute


@dataclass(frozen=True, slots=True)
class Failure:
    """A scenario that could not be run: its name and the error of its files or of the simulator."""

    scenario: str
    message: str


def junit(results: Sequence[Outcome | Failure]) -> bytes:
    r"""Write the results of scenarios.

    Parameters
    ----------
    results : sequence of Outcome or Failure

    Returns
    -------
    bytes
        UTF-8. Characters that XML excludes, such as control characters in a planner's message, are written as ``\x1b``.
    """
    suites = ET.Element("testsuites", name="cbsim")
    for result in results:
        suites.append(_broken(result) if isinstance(result, Failure) else _suite(result))
    for key in ("tests", "failures", "errors"):
        suites.set(key, str(sum(int(suite.get(key, "0")) for suite in suites)))
    suites.set("time", f"{math.fsum(float(suite.get('time', '0')) for suite in suites):.3f}")
    ET.indent(suites)
    text: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _suite(outcome: Outcome) -> ET.Element:
    world, snapshot = outcome.world, outcome.snapshot
    properties = {
        "seed": snapshot.seed,
        "step": f"{world.step:g}",
        "digest": outcome.digest,
        "verdict": outcome.verdict,
        "simulated_time": f"{snapshot.time:g}",
        "real_time_factor": f"{outcome.real_time_factor:.3g}",
    }
    suite = _new_suite(world.name, len(outcome.checks) + 1, outcome.wall_time)
    listed = ET.SubElement(suite, "properties")
    for name, value in properties.items():
        ET.SubElement(listed, "property", name=name, value=_clean(str(value)))
    _case(suite, "run", outcome.wall_time)
    names = Counter[str]()
    for check in outcome.checks:
        names[check.name] += 1
        again = f" #{names[check.name]}" if names[check.name] > 1 else ""
        case = _case(suite, check.name + again, 0.0)
        if not check.passed:
            _failed(case, check)
    suite.set("failures", str(sum(check.passed is False for check in outcome.checks)))
    suite.set("errors", str(sum(check.passed is None for check in outcome.checks)))
    return suite


def _broken(failure: Failure) -> ET.Element:
    suite = _new_suite(failure.scenario, 1, 0.0)
    suite.set("errors", "1")
    _tell(_case(suite, "run", 0.0), "error", "error", failure.message)
    return suite


def _new_suite(name: str, tests: int, time: float) -> ET.Element:
    counts = {"tests": str(tests), "failures": "0", "errors": "0", "skipped": "0", "time": f"{time:.3f}"}
    return ET.Element("testsuite", {"name": _clean(name), **counts})


def _case(suite: ET.Element, name: str, time: float) -> ET.Element:
    named = {"classname": f"cbsim.{suite.get('name')}", "name": _clean(name), "time": f"{time:.3f}"}
    return ET.SubElement(suite, "testcase", named)


def _failed(case: ET.Element, check: Check) -> None:
    when = "" if check.time is None else f"at {check.time:.3f} s of simulated time: "
    _tell(case, "error" if check.passed is None else "failure", check.name.split(" ")[0], when + check.message)


def _tell(case: ET.Element, tag: str, kind: str, message: str) -> None:
    """Add a message: its last line, which is the error of a traceback, as an attribute, and all of it as text."""
    text = _clean(message).strip()
    lines = text.splitlines() or [""]
    told = ET.SubElement(case, tag, message=lines[-1].strip()[:HEADLINE], type=_clean(kind))
    told.text = text


def _clean(text: str) -> str:
    return FORBIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
