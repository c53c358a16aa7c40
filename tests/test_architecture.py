"""Extension points: one of each kind from the table in docs/architecture.md, added to a copy of the tree and run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
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

CONDITION = '''"""Condition `height`: an object is above a height."""

from cbsim.jit import inlined
from cbsim.world.events.tables import ABOVE, SUBJECT


@inlined
def is_high(nodes, values, state, n):
    """Whether the centre of the object of condition n is above its bound."""
    return state.position[nodes[n, SUBJECT], 2] > values[n, ABOVE]
'''

CONDITION_MODEL = '''
class HeightModel(Model):
    """An object is above a height."""

    object: Name = about("name of the object")
    above: Length = about("the height of its centre is greater", unit="m", example=1.0)


'''

FOLLOWING = '''"""Car-following model `steady`: a speed that nobody ahead changes."""

from cbsim.jit import inlined


@inlined
def steady(speed, desired, dt):
    """Acceleration to 3 m/s at once [m/s²]."""
    return (min(3.0, desired) - speed) / dt
'''

MEASURES = '''
    def measures(self):
        """Say how high it has been."""
        return [Measure("height", self.highest, "m", self.time)]
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


MODEL_READER = '''"""Pendulums: ``pendulum:`` and a length [m]."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pendulum:
    length: float


def read(source, problems):
    return Pendulum(float(source.text.split()[1]))


def write(spec):
    return f"pendulum: {spec.length!r}\\n"
'''

MODEL = '''"""Pendulums as mechanisms: a ball on a hinge."""

import numpy as np

from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mechanism.prototypes import Revolute

OPTIONS = {}


def describe(spec, settings, timestep, folder, files, problems, *, strict=False):
    origin, ball = Origin(), Body(1.0, 0.01 * np.eye(3), name="ball")
    hinge = Revolute(origin, ball, (1.0, 0.0, 0.0), child_vertex=(0.0, 0.0, spec.length), name="hinge")
    return ModelDescription(MechanismSpec(origin, [ball], [hinge], [], 0.01, -9.81), start={"hinge": (0.5,)})


def count(spec):
    return {"bodies": 1, "mass": 1.0}
'''

DRIVE = '''"""Drive `hover`: the throttle is the forward speed [m/s]."""

from cbsim.jit import inner


@inner
def step_hover(planar, command, dt):
    """Drive `hover`."""
    planar[3] = command[0]
    planar[1] += planar[3] * dt
'''

LAYER = '''"""Frame of the picture."""


def draw(canvas, view):
    print("layer drawn at", view.state.time)
'''

FIGURE = '''"""Start and end of every object."""


def ends(runs, request):
    return {run.name: {one.body.name: one.places[[0, -1]] for one in run.tracks} for run in runs}


def draw_ends(figure, runs, request, size):
    axes = figure.subplots()
    for run in runs:
        for track in run.tracks:
            axes.plot(*track.places[[0, -1]].T)
            print("ends of", track.body.name)
'''

CHANNEL = '''
def half_speed(speeds: Floats) -> Floats:
    """Half of the speed, shape (n,) [m/s]."""
    return 0.5 * speeds


'''

COLLISION = '''
@dataclass(frozen=True, eq=False)
class SphereSlabCollision(Collision):
    """A sphere of the parent against the slab of the child between two planes z = ± ``half_extent``."""

    origin_parent: Any = 0.0
    half_extent: Any = 0.1
    radius_parent: float = 0.0

    def meet(self, xp, qp, xc=None, qc=None):
        x, q = self._child(xc, qc)
        centre = np.asarray(xp, float) + rotate(qp, self.origin_parent)
        z = float(rotate(conjugate(q), centre - x)[2])
        normal = rotate(q, (0.0, 0.0, np.copysign(1.0, z)))
        gap = abs(z) - self.half_extent[2]
        return Meeting(gap - self.radius_parent, normal, centre - self.radius_parent * normal, centre - gap * normal)


'''

SLAB_ROW = """\
    if isinstance(collision, SphereSlabCollision):
        row[origin], row[c.RADIUS] = collision.origin_parent, collision.radius_parent
        row[extent] = collision.half_extent
        return c.SLAB
"""

SLAB_POINT = """\
    elif shape == SLAB:
        fx = fy = ex = ey = 0.0
        ez -= min(max(ez, -hz), hz)
"""

BALL_ON_SLAB = """
import numpy as np
import cbsim.multibody as mb
from cbsim.spec.mechanism.collisions import SphereSlabCollision
from cbsim.spec.mechanism.contacts import ContactConstraint, ImpactContact

origin, table, ball = mb.Origin(), mb.Body(1.0, np.eye(3), name="table"), mb.Body(1.0, 0.1 * np.eye(3), name="ball")
joints = [mb.Fixed(origin, table, name="legs"), mb.Floating(origin, ball, name="air")]
contact = ContactConstraint(ImpactContact(SphereSlabCollision(0.0, 0.1, 0.05)), ball, table, name="rest")
made = mb.Mechanism(origin, [table, ball], joints, [contact])
z = mb.minimal_to_maximal(made, [0, 0, 0.17, 0, 0, 0] + 6 * [0.0])
for _ in range(30):
    z = mb.step(made, z)
print("height", round(float(z[13 + 2] if z.ndim == 1 else z[1, 2]), 3))
"""


def insert(path: Path, before: str, text: str) -> None:
    """Insert text into a file before the only occurrence of another."""
    whole = path.read_text(encoding="utf-8")
    assert whole.count(before) == 1, f"{path}: '{before}' occurs {whole.count(before)} times"
    path.write_text(whole.replace(before, text + before), encoding="utf-8")


def replace(path: Path, old: str, new: str) -> None:
    """Replace the only occurrence of a text in a file."""
    insert(path, old, new)
    path.write_text(path.read_text(encoding="utf-8").replace(new + old, new), encoding="utf-8")


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
    models = tree / "cbsim" / "formats" / "scenario" / "rules.py"
    insert(models, "RULES: Registry", EXPECT_MODEL.lstrip("\n"))
    insert(models, '        ("reach", ReachModel),\n', '        ("on_ground", OnGroundModel),\n')
    (tree / "high.yaml").write_text(
        "duration: 0.2\nadd:\n  - {name: Box, kind: static, size: [1, 1, 1], position: [0, 0, 0]}\n"
        "expect:\n  - on_ground: {object: Box}\n  - on_ground: {object: Box, below: 0.1}\n"
    )
    shown = python(tree, "-m", "cbsim", "run", "high.yaml", code=1)
    assert [line.split()[0] for line in shown.splitlines() if "on_ground" in line] == ["passed", "FAILED"]


def test_metric_is_what_a_rule_measures_and_two_table_lines(tree):
    rule = tree / "cbsim" / "evaluation" / "rules" / "height.py"
    rule.write_text(EXPECT_RULE.replace("OnGround", "Height").replace("import Check", "import Measure") + MEASURES)
    rules = rule.with_name("__init__.py")
    insert(rules, "from cbsim.evaluation.rules.u_turn ", "from cbsim.evaluation.rules.height import Height\n")
    insert(rules, '        ("reach", Reach),\n', '        ("height", Height),\n')
    tables = tree / "cbsim" / "spec" / "metrics.py"
    insert(tables, '    ("wrong_way", (("at_most"', '    ("height", (("below", INF),)),\n')
    insert(tables, '    "longest_wrong_way": ', '    "height": "height",\n')
    (tree / "tower.yaml").write_text(
        "duration: 0.2\nadd:\n  - {name: Bot, kind: autonomous, size: [2, 4, 1.5], position: [0, 0, 0]}\n"
    )
    code = (
        "import cbsim; recording = cbsim.run(cbsim.load('tower.yaml'))\n"
        "print([(row.metric, row.value) for row in cbsim.metrics(recording) if row.rule == 'height'])"
    )
    assert python(tree, "-c", code) == "[('height', 0.75)]\n"


def test_car_following_model_is_a_file_a_branch_and_three_table_lines(tree):
    models = tree / "cbsim" / "traffic" / "kernels" / "following"
    (models / "steady.py").write_text(FOLLOWING)
    chosen = models / "__init__.py"
    insert(chosen, "\n__all__", "from cbsim.traffic.kernels.following.steady import steady\n")
    replace(chosen, "IDM, KRAUSS = range(2)", "IDM, KRAUSS, STEADY = range(3)")
    insert(chosen, "    return idm(", "    if model == STEADY:\n        return steady(speed, desired, dt)\n")
    replace(tree / "cbsim" / "spec" / "traffic.py", "    KRAUSS = 1\n", "    KRAUSS = 1\n    STEADY = 2\n")
    scenario = tree / "cbsim" / "formats" / "scenario" / "traffic.py"
    replace(scenario, 'Literal["idm", "krauss"]', 'Literal["idm", "krauss", "steady"]')
    (tree / "steady.yaml").write_text(
        "network: loop\ntraffic:\n  - {name: cars, count: 2, drivers: {slow: 1}}\ndrivers:\n  slow: {model: steady}\n"
    )
    code = (
        "import cbsim; world = cbsim.load('steady.yaml')\n"
        "print(cbsim.step(world, world.start).columns.travel[:, 2].tolist())"
    )
    assert python(tree, "-c", code) == "[3.0, 3.0]\n"


def test_format_of_models_is_a_reader_a_package_and_two_table_lines(tree):
    (tree / "cbsim" / "formats" / "pendulum.py").write_text(MODEL_READER)
    line = r'    Format("pendulum", "cbsim.formats.pendulum", (".pendulum",), r"\Apendulum:", "Pendulum"),' + "\n"
    insert(tree / "cbsim" / "formats" / "__init__.py", '    Format("mdf", ', line)
    (tree / "cbsim" / "models" / "pendulum.py").write_text(MODEL)
    insert(tree / "cbsim" / "models" / "__init__.py", '    "irit": ', '    "pendulum": "cbsim.models.pendulum",\n')
    (tree / "one.pendulum").write_text("pendulum: 0.5\n")
    shown = python(tree, "-m", "cbsim", "run", "one.pendulum", "--duration", "0.05", "--json", "-")
    (ball,) = json.loads(shown)["objects"]
    assert ball["name"] == "ball"
    assert np.linalg.norm(ball["position"]) == pytest.approx(0.5, abs=1e-6)


def test_drive_is_a_file_a_branch_and_three_table_lines(tree):
    kernels = tree / "cbsim" / "vehicle" / "kernels"
    (kernels / "hover.py").write_text(DRIVE)
    row = '        ("hover", Drive(CAR, "moves at the speed of its throttle", ANY)),\n'
    insert(tree / "cbsim" / "spec" / "drives.py", '        ("skid-kinematic", ', row)
    replace(
        kernels / "columns.py",
        "DYNAMIC, SKID_KINEMATIC, SKID = range(5)",
        "DYNAMIC, HOVER, SKID_KINEMATIC, SKID = range(6)",
    )
    replace(
        kernels / "drives.py",
        "import DELAYED, DYNAMIC, KINEMATIC, SKID",
        "import DELAYED, DYNAMIC, HOVER, KINEMATIC, SKID",
    )
    insert(
        kernels / "drives.py",
        "from cbsim.vehicle.kernels.kinematic ",
        "from cbsim.vehicle.kernels.hover import step_hover\n",
    )
    insert(
        kernels / "drives.py",
        "    elif drive == DELAYED:\n",
        "    elif drive == HOVER:\n        step_hover(planar, command, dt)\n",
    )
    scenario = tree / "cbsim" / "formats" / "scenario" / "models.py"
    replace(scenario, '"dynamic", "skid-kinematic", ', '"dynamic", "hover", "skid-kinematic", ')
    (tree / "hover.yaml").write_text(
        "add:\n  - {name: Bot, kind: autonomous, size: [2, 4, 1.5], position: [0, 0, 0], drive: hover}\n"
    )
    code = (
        "import cbsim; from cbsim.spec.command import Command; world = cbsim.load('hover.yaml')\n"
        "print(cbsim.step(world, world.start, {'Bot': Command(throttle=0.5)}).columns.position[0, 1])"
    )
    assert float(python(tree, "-c", code)) == pytest.approx(0.5 * 0.05)


def test_condition_of_events_is_a_kernel_a_class_and_two_lines(tree):
    conditions = tree / "cbsim" / "events" / "kernels" / "conditions"
    (conditions / "height.py").write_text(CONDITION)
    branches = conditions / "__init__.py"
    insert(
        branches,
        "from cbsim.events.kernels.conditions.region ",
        "from cbsim.events.kernels.conditions.height import is_high\n",
    )
    replace(branches, "ANY, AFTER = range(11)", "ANY, AFTER, HEIGHT = range(12)")
    insert(
        branches,
        "    elif kind == AFTER:\n",
        "    elif kind == HEIGHT:\n        found = is_high(nodes, values, state, n)\n",
    )
    replace(
        tree / "cbsim" / "world" / "events" / "tables.py",
        '"all", "any", "after"\n',
        '"all", "any", "after", "height"\n',
    )
    models = tree / "cbsim" / "formats" / "scenario" / "conditions.py"
    insert(models, "class ConditionModel(OneOf):", CONDITION_MODEL.lstrip("\n"))
    insert(
        models,
        "    speed: SpeedConditionModel",
        '    height: HeightModel | None = about("an object is high up", None)\n',
    )
    (tree / "high.yaml").write_text(
        "add:\n  - {name: Drone, kind: static, shape: box, size: [1, 1, 1], position: [0, 0, 2]}\n"
        "  - {name: Bot, kind: autonomous, size: [2, 4, 1.5], position: [9, 0, 0]}\n"
        "events:\n  - {name: high, when: {height: {object: Drone, above: 1}}}\n"
        "  - {name: higher, when: {height: {object: Drone, above: 5}}}\n"
    )
    code = (
        "import cbsim; world = cbsim.load('high.yaml')\n"
        "print(cbsim.step(world, world.start).columns.event.ravel().tolist())"
    )
    assert python(tree, "-c", code) == "[0, -1]\n"


def test_column_of_the_snapshot_is_a_row_of_columns_and_a_field_of_state(tree):
    tables = tree / "cbsim" / "world" / "tables.py"
    insert(tables, '    Column("pool_next", ', '    Column("fuel", "float", "vehicles", 1, "kg", "fuel left"),\n')
    insert(tables, "    pool_next: Floats\n", "    fuel: Floats\n")
    code = (
        "import cbsim; world = cbsim.load('two_bots.yaml'); start = world.start; start.state.fuel[:] = 40.0, 50.0\n"
        "later = world.restore(cbsim.step(world, start).to_bytes())\n"
        "print(later.columns.fuel.tolist(), later.hash != cbsim.step(world, world.start).hash)"
    )
    bots = "".join(
        f"  - {{name: Bot {k}, kind: autonomous, size: [2, 4, 1.5], position: [{9 * k}, 0, 0]}}\n" for k in range(2)
    )
    (tree / "two_bots.yaml").write_text("add:\n" + bots)
    assert python(tree, "-c", code) == "[40.0, 50.0] True\n"


def test_layer_of_the_viewer_is_a_function_and_a_row_of_layers(tree):
    layers = tree / "cbsim" / "viewer" / "layers"
    (layers / "frame.py").write_text(LAYER)
    insert(layers / "__init__.py", "    ground,\n", "    frame,\n")
    insert(layers / "__init__.py", '    Layer("measure", ', '    Layer("frame", "frame of the picture", frame.draw),\n')
    shown = python(tree, "-m", "cbsim", "view", "rndf/loop.rndf", "--screenshot", "loop.png")
    assert "layer drawn at 0.0" in shown


@pytest.fixture(scope="module")
def recording(tree) -> str:
    """A recording of a mover, before anything is added."""
    (tree / "go.yaml").write_text(
        "duration: 0.5\nadd:\n  - {name: Cart, kind: dynamic, size: [1, 2, 1], position: [0, 0, 0],\n"
        "     script: [{speed: 5, distance: 10, angle: 0}]}\n"
    )
    python(tree, "-m", "cbsim", "run", "go.yaml", "--record", "go.mcap")
    return "go.mcap"


def test_kind_of_figure_is_a_function_and_a_row_of_kinds(tree, recording):
    plot = tree / "cbsim" / "plot"
    (plot / "ends.py").write_text(FIGURE)
    insert(plot / "figure.py", "from cbsim.plot import profiles", "from cbsim.plot import ends\n")
    insert(plot / "figure.py", '    "scan": Kind(', '    "ends": Kind(ends.draw_ends, ends.ends, (80.0, 60.0)),\n')
    assert "ends of Cart" in python(tree, "-m", "cbsim", "plot", recording, "--kind", "ends", "-o", "ends.svg")
    assert (tree / "ends.svg").stat().st_size > 0


def test_plot_of_a_report_is_a_function_a_row_of_channels_and_its_values(tree, recording):
    report = tree / "cbsim" / "report"
    insert(report / "channels.py", "def steering(", CHANNEL.lstrip("\n"))
    insert(
        report / "channels.py",
        '    Channel("steering", ',
        '    Channel("half", "Half of the speed", "m/s", 1e-3, "high"),\n',
    )
    insert(
        report / "data.py",
        "from cbsim.report.channels import CHANNELS",
        "from cbsim.report.channels import half_speed\n",
    )
    insert(report / "data.py", '        "steering": steering(', '        "half": half_speed(speeds),\n')
    python(tree, "-m", "cbsim", "report", recording, "-o", "report.html")
    assert "Half of the speed" in (tree / "report.html").read_text(encoding="utf-8")


def test_joint_is_a_row_of_prototypes_and_a_name(tree):
    spec = tree / "cbsim" / "spec" / "mechanism"
    insert(spec / "joints.py", '    "Planar": (2, 0),\n', '    "Piston": (1, 1),\n')
    insert(spec / "prototypes.py", "Floating = ", 'Piston = _Axial("Piston")\n')
    code = (
        "import numpy as np, cbsim.multibody as mb\n"
        "from cbsim.spec.mechanism.prototypes import Piston\n"
        "origin, rod = mb.Origin(), mb.Body(1.0, np.eye(3), name='rod')\n"
        "made = mb.Mechanism(origin, [rod], [Piston(origin, rod, (0, 0, 1), name='piston')])\n"
        "z = mb.step(made, mb.minimal_to_maximal(made, [0.5, 0.2, 0.0, 0.0]))\n"
        "print(mb.minimal_dimension(made), np.round(mb.maximal_to_minimal(made, z), 4).tolist())"
    )
    assert python(tree, "-c", code).startswith("4 [0.499, 0.2")


def test_collision_is_a_class_a_row_and_a_nearest_point(tree):
    spec, dynamics = tree / "cbsim" / "spec" / "mechanism", tree / "cbsim" / "dynamics"
    insert(spec / "collisions.py", "@dataclass(frozen=True, eq=False)\nclass StringCollision", COLLISION.lstrip("\n"))
    insert(
        dynamics / "compile.py",
        "from cbsim.spec.mechanism.collisions import",
        "from cbsim.spec.mechanism.collisions import SphereSlabCollision\n",
    )
    insert(dynamics / "compile.py", "    if isinstance(collision, StringCollision):\n", SLAB_ROW)
    replace(dynamics / "kernels" / "columns.py", "STRING, FACE = range(6)", "STRING, FACE, SLAB = range(7)")
    insert(
        dynamics / "kernels" / "nearest_points.py",
        "from cbsim.dynamics.kernels.cones import",
        "from cbsim.dynamics.kernels.columns import SLAB\n",
    )
    insert(dynamics / "kernels" / "nearest_points.py", "    elif shape == BOX:\n", SLAB_POINT)
    assert python(tree, "-c", BALL_ON_SLAB) == "height 0.15\n"
