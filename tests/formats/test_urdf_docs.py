"""The page on URDF: its examples run, its tables are those of the code."""

from __future__ import annotations

import re

from cbsim.formats.urdf.grammar import GRAMMAR
from cbsim.models.urdf.description import OPTIONS
from cbsim.spec.urdf import JOINT_TYPES
from tests.common import ROOT

PAGE = (ROOT / "docs" / "formats" / "urdf.md").read_text()
SOURCES = [
    *(path for room in ("formats", "models") for path in (ROOT / "cbsim" / room / "urdf").glob("*.py")),
    *(ROOT / "cbsim" / name for name in ("export/urdf.py", "multibody/urdf.py")),
]


def section(title):
    return PAGE.split(f"## {title}")[1].split("\n## ")[0]


def words(text):
    return tuple(re.findall(r"`(\w+)`", text))


def test_example_runs(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "urdf.md", "exec"), {})  # the page is ours
    assert capsys.readouterr().out == "(100, 13, 3) 0\n"


def test_every_element_of_the_grammar_stands_in_the_table_with_its_attributes_and_children():
    table = section("Elements").split("| type of joint")[0]
    rows = [line.split("|")[1:4] for line in table.splitlines() if line.startswith("| `")]
    found = {words(name)[0]: (words(attributes), words(children)) for name, attributes, children in rows}
    assert found == {name: (row.attributes, row.children) for name, row in GRAMMAR.items()}


def test_every_joint_type_stands_in_the_table():
    table = section("Elements").split("| type of joint")[1]
    found = {word for line in table.splitlines() if line.startswith("| `") for word in words(line.split("|")[1])}
    assert found == set(JOINT_TYPES)


def test_every_setting_stands_in_the_table():
    found = [words(line)[0] for line in section("Settings").splitlines() if line.startswith("| `")]
    assert sorted(found) == sorted(OPTIONS)


def test_codes_of_the_page_are_those_of_the_code():
    used = {code for path in SOURCES for code in re.findall(r"[\"']([EWI]9\d\d)[\"']", path.read_text())}
    assert used == set(re.findall(r"[EWI]9\d\d", section("Problems")))
