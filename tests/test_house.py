"""The house: layers, lazy imports, the public face, budgets, documented codes, examples that run."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

import cbsim
from tests.common import ROOT

SOURCES = sorted((ROOT / "cbsim").rglob("*.py"))
VECTOR_CODE = {"add_product", "cast_box_into"}  # docs/architecture.md, "Long argument lists"
KERNELS = [p for p in SOURCES if p.name == "kernels.py" or "kernels" in p.parts]


@pytest.fixture(scope="module")
def tree_of() -> Callable[[Path], ast.Module]:
    """Parse a source; each is parsed once for all tests here, and forgotten after them."""
    return cache(lambda path: ast.parse(path.read_text(encoding="utf-8")))


def test_layers_and_other_import_contracts_hold():
    program = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([program, "--no-cache"], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout


def test_imports_have_no_cycles_not_even_for_types(tree_of):
    modules = {name_of(path): tree_of(path) for path in SOURCES}
    graph = nx.DiGraph()
    for module, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                imported = {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                whole = {f"{node.module}.{alias.name}" for alias in node.names}
                imported = {name if name in modules else node.module for name in whole}
            else:
                continue
            graph.add_edges_from((module, name) for name in imported & modules.keys() - {module})
    assert graph.has_edge("cbsim.viewer.session", "cbsim.viewer.panels")
    assert [found for found in nx.strongly_connected_components(graph) if len(found) > 1] == []


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_style_is_clean():
    for arguments in (["check", "."], ["format", "--check", "."]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *arguments], capture_output=True, text=True, cwd=ROOT, check=False
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_types_are_strict():
    done = subprocess.run([sys.executable, "-m", "mypy"], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_types_of_calls_of_kernels_are_checked(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from cbsim.world.kernels import leaf_count\n\nleaf_count(3, 4)\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", wrong],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert 'Too many arguments for "leaf_count"' in done.stdout


def test_every_public_name_is_there_and_documented():
    assert dir(cbsim)
    for name in cbsim.__all__:
        assert getattr(cbsim, name).__doc__, name


READERS = {
    "cli", "editor", "evaluation/rules", "export", "foxglove", "lint", "multibody/mechanics.py",
    "multibody/parameter_gradients.py", "multibody/solution.py", "multibody/storage.py", "page", "plot",
    "recording/drawings.py", "recording/outlines.py", "report", "sweep", "testing", "view3d", "viewer",
}  # fmt: skip
"""Rooms that only read: what they work out is in no World and no Snapshot."""
POSES = {
    "models/shift/assembly.py": 3, "models/shift/build.py": 2, "models/shift/chains.py": 1,
    "models/shift/drivers.py": 1, "models/shift/kinematics.py": 10, "models/shift/lights.py": 2,
    "models/shift/timestep.py": 2,
    "models/urdf/build.py": 5, "models/urdf/solids.py": 1, "models/urdf/touching.py": 2, "formats/urdf/tree.py": 3,
    "coupling/actor_proxies.py": 1, "sensing/objects.py": 1, "spec/mechanism/reduce.py": 4,
    "formats/irit/splines.py": 1,
}  # fmt: skip
"""How often a file composes poses with ``@``, or multiplies by a sparse matrix, whose rows SciPy adds in order."""
BLAS = {"convolve", "correlate", "corrcoef", "cov", "dot", "inner", "linalg", "matmul", "polyfit", "tensordot", "vdot"}


ELEMENTARY = {
    "acos", "acosh", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin", "asinh",
    "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "float_power", "gamma",
    "geomspace", "lgamma", "log", "log10", "log1p", "log2", "logaddexp", "logspace", "pow", "power", "sin", "sinc",
    "sinh", "tan", "tanh",
}  # fmt: skip
"""Functions that NumPy and the C library compute by other instructions on other CPUs; `math.hypot` is Python's own."""


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))


def _depends_on_cpu(node: ast.AST, libraries: dict[str, str]) -> bool:
    """Tell whether an expression may have other bits on another CPU."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        library = libraries.get(node.value.id)
        named = library is not None and node.attr in ELEMENTARY
        return named or library == "cmath" or (library == "numpy" and node.attr == "hypot")
    if isinstance(node, ast.ImportFrom):
        return node.module in ("math", "numpy") and not ELEMENTARY.isdisjoint(each.name for each in node.names)
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Pow):
        return isinstance(node, ast.AugAssign) or not (_is_constant(node.left) and _is_constant(node.right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "pow"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "argsort":
        return all(each.arg != "kind" for each in node.keywords)  # the order of equal elements depends on the CPU
    return False


def _cpu_dependent(tree: ast.Module) -> list[ast.AST]:
    nodes = list(ast.walk(tree))
    imported = [alias for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    libraries = {each.asname or each.name: each.name for each in imported if each.name in ("math", "cmath", "numpy")}
    return [node for node in nodes if _depends_on_cpu(node, libraries)]


def test_what_makes_worlds_and_steps_calls_no_function_whose_bits_depend_on_the_cpu(tree_of):
    """`cbsim.geometry.elementary` has what is needed instead; kernels have a test of their own."""
    wrong = []
    for path in SOURCES:
        name = path.relative_to(ROOT / "cbsim").as_posix()
        if any(name == room or name.startswith(f"{room}/") for room in READERS) or path in KERNELS:
            continue
        wrong += [f"{name}:{getattr(node, 'lineno', 0)}" for node in _cpu_dependent(tree_of(path))]
    assert not wrong, "use cbsim.geometry.elementary; sort with kind='stable'"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import numpy as np\nnp.sin(x)", True),
        ("import math\nmath.atan2(y, x)", True),
        ("import math\nmath.hypot(y, x), math.sqrt(x)", False),
        ("import numpy as np\nnp.hypot(y, x)", True),
        ("from math import exp", True),
        ("from cbsim.geometry import elementary as math\nmath.sin(x)", False),
        ("x**2", True),
        ("x **= 2", True),
        ("2.0**-52", False),
        ("pow(x, y)", True),
        ("x.argsort()", True),
        ("x.argsort(kind='stable')", False),
    ],
)
def test_expressions_whose_bits_depend_on_the_cpu_are_found(source, found):
    assert bool(_cpu_dependent(ast.parse(source))) is found


def test_what_makes_worlds_and_steps_calls_no_blas(tree_of):
    """Its sums are in another order on another CPU: `cbsim.geometry.linear` has what is needed instead."""
    wrong, composed = [], {}
    for path in SOURCES:
        name = path.relative_to(ROOT / "cbsim").as_posix()
        if any(name == room or name.startswith(f"{room}/") for room in READERS):
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
                composed[name] = composed.get(name, 0) + 1
            is_numpy = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np"
            optimised = isinstance(node, ast.keyword) and node.arg == "optimize"
            if optimised or (is_numpy and node.attr in BLAS):
                wrong.append(f"{name}:{getattr(node, 'lineno', 0)}")
    assert not wrong, "use cbsim.geometry.linear"
    assert composed == POSES, "use cbsim.geometry.linear.times for arrays; list here how often poses are composed"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_all_lists_names_that_exist(path, tree_of):
    tree = tree_of(path)
    assert ast.get_docstring(tree), f"{path} says not what lives there"
    listed = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and getattr(node.targets[0], "id", "") == "__all__"
        and isinstance(node.value, ast.List)
        and all(isinstance(item, ast.Constant) for item in node.value.elts)
    ]
    defined = {name for node in ast.walk(tree) for name in names_of(node)}
    for names in listed:
        assert set(names) <= defined, set(names) - defined


def names_of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    return []


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_and_functions_keep_their_budgets(path, tree_of):
    assert path.read_text().count("\n") <= 400
    limit = 90 if path in KERNELS else 60
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = (body[-1].end_lineno - body[0].lineno + 1) if body else 0
            assert length <= limit, f"{node.name} has {length} lines"


@pytest.mark.parametrize("path", KERNELS, ids=lambda p: str(p.relative_to(ROOT)))
def test_kernels_take_at_most_twelve_arguments(path, tree_of):
    for node in tree_of(path).body:
        if isinstance(node, ast.FunctionDef) and node.name not in VECTOR_CODE:
            count = len(node.args.args) + len(node.args.posonlyargs)
            assert count <= 12, f"{node.name} takes {count}"


def test_nothing_is_left_to_do():
    word = re.compile("|".join(rf"\b{a}{b}\b" for a, b in (("TO", "DO"), ("FIX", "ME"), ("X", "XX"), ("HA", "CK"))))
    for path in [*SOURCES, *(ROOT / "tests").rglob("*.py")]:
        assert not word.search(path.read_text()), path


def test_reading_and_linting_import_neither_numba_nor_pygame():
    code = (
        "import sys, cbsim.formats, cbsim.models, cbsim.lint.files as f, cbsim.errors as e\n"
        "for row in cbsim.formats.FORMATS: row.load()\n"
        "for name in cbsim.models.MODELS: cbsim.models.family(name)\n"
        "import cbsim.lint.network, cbsim.lint.mission, cbsim.lint.objects, cbsim.lint.scenario\n"
        "assert not {'numba', 'pygame', 'scipy'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr


def test_every_problem_code_is_documented():
    documented = "\n".join(p.read_text() for p in (ROOT / "docs").rglob("*.md"))
    used = set()
    for path in SOURCES:
        used |= set(re.findall(r"[\"']([EWI]\d{3})[\"']", path.read_text()))
    assert used
    assert not {code for code in used if code not in documented}


def test_no_path_of_one_machine_stands_in_the_project():
    foreign = re.compile(r"(?<![\w.])/(?:tmp|root|home|mnt|work)/\w+")
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, check=False)
    if listed.returncode:
        pytest.skip("this is not a git checkout")
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".yaml", ".xml", ".sh"} and path.is_file():
            assert not foreign.search(path.read_text()), path


MODULES = [".".join(p.relative_to(ROOT).with_suffix("").parts) for p in SOURCES if p.name != "__main__.py"]


@pytest.mark.parametrize("name", [m for m in MODULES if ">>>" in (ROOT / (m.replace(".", "/") + ".py")).read_text()])
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(name.removesuffix(".__init__"))
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed


def test_type_checkers_see_the_same_public_face():
    text = (ROOT / "cbsim" / "__init__.pyi").read_text()
    assert sorted(re.findall(r" as (\w+)$", text, re.MULTILINE)) == sorted(cbsim.__all__)


def test_readme_example_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})  # the README is ours
    assert capsys.readouterr().out.startswith("[")


def test_every_link_of_the_pages_leads_somewhere():
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"
