"""Extension points: one of each kind from the table in docs/architecture.md, added to a copy of the tree and run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.common import ROOT

LINT_RULE = '''
def _long_name(context: NetworkContext) -> Iterator[Finding]:
    """W499: the network has a name."""
    yield Finding(f"the network is called '{context.network.name}'", context.network.location)


'''

EXPECT_RULE = '''"""``on_ground``: an object's height stays below a bound."""

from cbsim.evaluation.rules.rule import Check, Rule


class OnGround(Rule):
    """Any height above the bound fails."""

    def __init__(self, expectation, context):
        super().__init__(expectation, context)
        self.bound, self.highest, self.time = self.number("below", 0.0), 0.0, 0.0

    def see(self, batch):
        track = self.track(batch)
        self.highest = max(self.highest, float(track.positions[:, 2].max()))
        self.time = float(track.times[-1])

    def result(self):
        return self.check(self.highest < self.bound, self.time, f"as high as {self.highest:.2f} m")
'''

EXPECT_MODEL = '''
class OnGroundModel(RuleModel):
    """The object stays on the ground."""

    object: Name = about("name of the object")
    below: Length = about("bound of its height", 5.0, unit="m")


'''

COMMAND = '''"""``cbsim greet``: a greeting."""

from cbsim.cli.output import print_result


def greet() -> None:
    """Greet."""
    print_result("good day")
'''

CONVERSION = """
def _mission_to_mission(spec: Any, _network: RoadNetwork | None, _problems: Problems, _strict: bool) -> Any:
    return spec


"""

FORMAT = '''"""Word lists: ``words:`` and a word a line."""

from dataclasses import dataclass


@dataclass(frozen=True)
class WordList:
    words: tuple[str, ...]


def read(source, problems):
    return WordList(tuple(source.text.split()[1:]))


def write(spec):
    return "\\n".join(["words:", *spec.words]) + "\\n"


def count(spec):
    return {"words": len(spec.words)}
'''

SENSOR = '''"""Compass: heading of the body."""

from dataclasses import dataclass

from cbsim.sensing.reading import flat


@dataclass(frozen=True)
class Compass:
    key: str
    time: float
    cosine: float

    def values(self):
        return flat(self.cosine)

    @classmethod
    def of(cls, key, time, values):
        return cls(key, time, *map(float, values))


def take_compass(world, snapshot, sensor, index):
    return Compass(sensor.key, index / sensor.conf.rate, float(snapshot.columns.orientation[sensor.body, 0]))
'''


def insert(path: Path, before: str, text: str) -> None:
    """Insert text into a file before the only occurrence of another."""
    whole = path.read_text(encoding="utf-8")
    assert whole.count(before) == 1, f"{path}: '{before}' occurs {whole.count(before)} times"
    path.write_text(whole.replace(before, text + before), encoding="utf-8")


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """A copy of the sources and of the shipped data."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("cbsim", "scenarios", "rndf", "sensors"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def python(tree: Path, *arguments: str, code: int = 0) -> str:
    """Run Python with the copy of the tree; return its output."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "SDL_VIDEODRIVER": "dummy", "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=tree, env=environment, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_lint_rule_is_a_function_and_a_line_in_the_table_of_its_module(tree):
    module = tree / "cbsim" / "lint" / "network" / "topology.py"
    insert(module, "\nRULES: ", LINT_RULE.rstrip("\n") + "\n\n")
    insert(module, '    Rule("W401", _lane_end),\n', '    Rule("W499", _long_name),\n')
    assert "the network is called 'loop" in python(tree, "-m", "cbsim", "check", "rndf/loop.rndf")


def test_command_is_a_file_and_a_line_in_commands(tree):
    (tree / "cbsim" / "cli" / "greet.py").write_text(COMMAND)
    main = tree / "cbsim" / "cli" / "main.py"
    insert(main, "from cbsim.cli.list import list_\n", "from cbsim.cli.greet import greet\n")
    insert(main, '    ("run", run.run, ', '    ("greet", greet, "Greet."),\n')
    assert python(tree, "-m", "cbsim", "greet") == "good day\n"
    assert "greet" in python(tree, "-m", "cbsim", "--help")


def test_conversion_is_a_function_and_a_line_in_conversions(tree):
    module = tree / "cbsim" / "export" / "convert.py"
    insert(module, "CONVERSIONS: dict", CONVERSION.lstrip("\n"))
    insert(module, '    ("urdf", "urdf"): ', '    ("mdf", "mdf"): _mission_to_mission,\n')
    python(tree, "-m", "cbsim", "convert", "rndf/loop.mdf", "copy.mdf", "--to", "mdf")
    assert "checkpoints" in (tree / "copy.mdf").read_text()


def test_format_is_a_module_and_a_line_in_formats(tree):
    (tree / "cbsim" / "formats" / "word_list.py").write_text(FORMAT)
    line = r'    Format("word-list", "cbsim.formats.word_list", (".words",), r"\Awords:", "WordList"),' + "\n"
    insert(tree / "cbsim" / "formats" / "__init__.py", '    Format("mdf", ', line)
    (tree / "some.words").write_text("words:\none\ntwo\n")
    shown = python(tree, "-m", "cbsim", "info", "some.words")
    assert "word-list" in shown
    assert ["words", "2"] in [line.split() for line in shown.splitlines()]


def test_key_of_the_viewer_is_a_line_in_actions(tree):
    line = '    Action(("f9",), "say which", "file", lambda s: print("pressed on", s)),\n'
    insert(tree / "cbsim" / "viewer" / "keys.py", '    Action(("?", "f1"), ', line)
    code = (
        "import pygame, cbsim.viewer.keys as k, cbsim.viewer.actions as a\n"
        "event = pygame.event.Event(pygame.KEYDOWN, key=pygame.K_F9, mod=0, unicode='')\n"
        "a.find_action(k.ACTIONS, event).callback('it')\n"
        "assert any('say which' in str(row) for row in a.help_rows(k.ACTIONS))"
    )
    assert "pressed on it" in python(tree, "-c", code)


def test_sensor_is_a_file_and_three_table_lines(tree):
    (tree / "cbsim" / "sensing" / "compass.py").write_text(SENSOR)
    tables = tree / "cbsim" / "sensing" / "__init__.py"
    insert(tables, "from cbsim.sensing.faults import", "from cbsim.sensing.compass import Compass, take_compass\n")
    insert(tables, '    "ladar": take_scan,\n', '    "compass": take_compass,\n')
    insert(tables, '    "gps": Fix,\n', '    "compass": Compass,\n')
    insert(tree / "cbsim" / "spec" / "sensor.py", '"ladar", "radar", "objects", ', '"compass", ')
    (tree / "compass.conf").write_text("type compass\nrate 10\n")
    (tree / "bot.yaml").write_text(
        "add:\n  - {name: Bot, kind: autonomous, size: [2, 4, 1.5], position: [0, 0, 0],\n"
        "     sensors: [{conf: compass.conf}]}\n"
    )
    code = "import cbsim; world = cbsim.load('bot.yaml'); print(cbsim.sense(world, world.start))"
    assert "Compass(key='Bot/compass', time=0.0, cosine=1.0)" in python(tree, "-c", code)


def test_rule_of_expect_is_a_file_a_model_and_two_table_lines(tree):
    rules = tree / "cbsim" / "evaluation" / "rules"
    (rules / "on_ground.py").write_text(EXPECT_RULE)
    insert(
        rules / "__init__.py",
        "from cbsim.evaluation.rules.reach ",
        "from cbsim.evaluation.rules.on_ground import OnGround\n",
    )
    insert(rules / "__init__.py", '        ("reach", Reach),\n', '        ("on_ground", OnGround),\n')
    models = tree / "cbsim" / "formats" / "scenario_rules.py"
    insert(models, "RULES: Registry", EXPECT_MODEL.lstrip("\n"))
    insert(models, '        ("reach", ReachModel),\n', '        ("on_ground", OnGroundModel),\n')
    (tree / "high.yaml").write_text(
        "duration: 0.2\nadd:\n  - {name: Box, kind: static, size: [1, 1, 1], position: [0, 0, 0]}\n"
        "expect:\n  - on_ground: {object: Box}\n  - on_ground: {object: Box, below: 0.1}\n"
    )
    shown = python(tree, "-m", "cbsim", "run", "high.yaml", code=1)
    assert [line.split()[0] for line in shown.splitlines() if "on_ground" in line] == ["passed", "FAILED"]
