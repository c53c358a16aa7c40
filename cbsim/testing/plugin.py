"""The pytest plugin: every scenario file below a folder named ``scenarios`` is a test.

The simulator is not imported before a scenario runs, and only YAML files are examined, so that the plugin does not
affect test runs without scenarios. Its options are added after those of all conftests, unless an option of that name
exists.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from cbsim.testing.points import TestPoint
    from cbsim.testing.trial import Trial

__all__ = ["ScenarioFile", "ScenarioItem", "looks_like_a_scenario"]

FOLDER = "scenarios"
OBJECTS = pytest.StashKey[set[str]]()  # object names of all scenarios that ran
ENDINGS = (".yaml", ".yml")
NAMED = tuple(f".scenario{ending}" for ending in ENDINGS)
HEAD = 64 * 1024  # bytes of a file that are examined

# Keys of a scenario; each has at least one of CONTENTS, or it would be empty.
CONTENTS = {"network", "objects", "add", "models"}
KEYS = CONTENTS | {
    *("description", "mission", "place", "origin", "offset_frame", "script_angle", "seed", "step", "duration"),
    *("deadline", "traffic", "drivers", "lights", "people", "events", "record", "planner", "profile", "expect"),
    *("score", "sweep", "parameters"),
}

OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "--planner",
        {"action": "append", "metavar": "[NAME=]module:Class", "help": "planner of the first or a named bot"},
    ),
    ("--record", {"metavar": "DIR", "help": "keep recordings of scenarios that fail"}),
    ("--record-all", {"action": "store_true", "help": "keep those of scenarios that pass, too"}),
    ("--seed", {"type": int, "help": "seed of every scenario, in place of its own"}),
    ("--step", {"type": float, "help": "length of a step of every scenario [s]"}),
    ("--deadline", {"type": float, "help": "wall-clock time a planner has for a decision [s]"}),
    (
        "--cbsim-sample",
        {"type": int, "metavar": "N", "help": "points of each scenario's sweep that are tests of their own, at most"},
    ),
)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(parser: pytest.Parser) -> Iterator[None]:
    """Add options after those of all conftests."""
    result = yield
    group = parser.getgroup("cbsim", "driving scenarios of cbsim")
    taken = _taken(parser)
    for name, details in OPTIONS:
        if name not in taken:
            group.addoption(name, dest=_key(name), default=None, **details)
    return result


def _taken(parser: pytest.Parser) -> set[str]:
    groups = [*getattr(parser, "_groups", ()), getattr(parser, "_anonymous", None)]
    return {name for group in groups if group is not None for option in group.options for name in option.names()}


def _key(option: str) -> str:
    return "cbsim_" + option.removeprefix("--").replace("-", "_")


def pytest_report_header(config: pytest.Config) -> str | None:
    """List the planners."""
    planners = config.getoption(_key("--planner"), None)
    return f"cbsim: planner {', '.join(planners)}" if planners else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run with a planner for a bot that no scenario has."""
    if _unused_planners(session.config):
        session.exitstatus = pytest.ExitCode.USAGE_ERROR


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Report planners without a bot."""
    for line in _unused_planners(config):
        terminalreporter.write_line(f"ERROR: {line}", red=True)


def _unused_planners(config: pytest.Config) -> list[str]:
    """Messages about planners for bots that none of the scenarios has."""
    objects = config.stash.get(OBJECTS, set())
    texts = config.getoption(_key("--planner"), None) or () if objects else ()
    lines = []
    for text in texts:
        from cbsim.spec.planner import named_planner

        name, _ = named_planner(text)
        if name and name not in objects:
            from cbsim.errors import did_you_mean

            hint = did_you_mean(name, sorted(objects))
            lines.append(f"--planner {text}: no scenario has an object '{name}'" + (f" ({hint})" if hint else ""))
    return lines


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """Collect scenario files: below ``scenarios``, named ``*.scenario.yaml``, or named on the command line."""
    if file_path.suffix.lower() not in ENDINGS:
        return None
    if file_path.name.lower().endswith(NAMED):
        return ScenarioFile.from_parent(parent, path=file_path)
    asked = parent.session.isinitpath(file_path) or _is_below_scenarios(file_path, parent.config.rootpath)
    if not asked or not looks_like_a_scenario(file_path):
        return None
    return ScenarioFile.from_parent(parent, path=file_path)


def _is_below_scenarios(path: Path, root: Path) -> bool:
    """Tell whether a file is below a folder of that name, which is the root of the test run or below it."""
    inside = path.relative_to(root.parent) if path.is_relative_to(root.parent) else path
    return FOLDER in inside.parts[:-1]


def looks_like_a_scenario(path: Path) -> bool:
    """Tell scenarios, even invalid ones, from other YAML files: most top-level keys are those of scenarios."""
    try:
        with path.open("rb") as stream:
            text = stream.read(HEAD).decode("utf-8", "replace")
    except OSError:
        return False
    found = set(re.findall(r"^([A-Za-z_]\w*)[ \t]*:", text, re.MULTILINE))
    known = found & KEYS
    return bool(known & CONTENTS) and 2 * len(known) > len(found)


class ScenarioFile(pytest.File):
    """A scenario file: one test, and one for each point of its sweep that is asked for."""

    def collect(self) -> Iterator[ScenarioItem]:
        """Return the tests."""
        name = self.path.name
        ending = next((one for one in (*NAMED, *ENDINGS) if name.lower().endswith(one)), "")
        stem = name[: len(name) - len(ending)] or name
        yield ScenarioItem.from_parent(self, name=stem)
        sample = self.config.getoption(_key("--cbsim-sample"), None)
        if sample and varies(self.path):
            from cbsim.testing.points import points_of

            for point in points_of(self.path, sample):
                yield ScenarioItem.from_parent(self, name=f"{stem}[{point.name}]", point=point)


def varies(path: Path) -> bool:
    """Tell whether a scenario has a `sweep`."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return re.search(r"^sweep[ \t]*:", text, re.MULTILINE) is not None


class ScenarioItem(pytest.Item):
    """A run of a scenario, or of a point of its sweep; it passes if the verdict is ``pass``."""

    def __init__(self, *, point: TestPoint | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.point = point

    def runtest(self) -> None:
        """Run it."""
        from cbsim.testing.trial import run_trial

        here = str(self.config.invocation_params.dir)
        if here not in sys.path:
            sys.path.insert(0, here)  # for planners of the test repository
        trial = self._trial()
        try:
            run_trial(trial)
        finally:
            self.user_properties += trial.properties
            self.config.stash.setdefault(OBJECTS, set()).update(trial.objects)
            if trial.warnings:
                self.add_report_section("call", "warnings", "\n".join(trial.warnings))

    def _trial(self) -> Trial:
        from cbsim.testing.trial import Trial

        def option(name: str) -> Any:
            return self.config.getoption(_key(name), None)

        record = option("--record")
        return Trial(
            self.path,
            planners=tuple(option("--planner") or ()),
            seed=option("--seed") if self.point is None or self.point.seed is None else self.point.seed,
            settings={} if self.point is None else dict(self.point.settings),
            step=option("--step"),
            deadline=option("--deadline"),
            record=None if record is None else self.config.invocation_params.dir / record / f"{self._slug()}.mcap",
            keep=bool(option("--record-all")),
        )

    def _slug(self) -> str:
        """Name of a recording: the file's path relative to the root of the test run, as one name."""
        root = self.config.rootpath
        inside = self.path.relative_to(root) if self.path.is_relative_to(root) else Path(self.path.name)
        name = self.name if self.point is None else re.sub(r"[^\w.=+-]+", "_", self.name).strip("_")
        return "-".join((*inside.parts[:-1], name))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the checks or the errors of a file; a traceback only of other exceptions."""
        from cbsim.errors import CbsimError

        if isinstance(excinfo.value, CbsimError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the heading of the report."""
        return self.path, None, f"scenario {self.name}"
