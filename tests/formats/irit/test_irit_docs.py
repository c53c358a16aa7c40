"""The page on IRIT: its example runs, its tables are those of the code."""

from __future__ import annotations

import re

from cbsim.formats.irit.data import RECORDS
from cbsim.formats.irit.kinds import KINDS
from cbsim.formats.irit.script.functions import FUNCTIONS, IGNORED, UNSUPPORTED
from cbsim.formats.irit.script.machine import CONTROL
from cbsim.models.irit.description import OPTIONS
from tests.common import ROOT

PAGE = (ROOT / "docs" / "formats" / "irit.md").read_text()
SOURCES = [
    *(path for room in ("formats", "models") for path in (ROOT / "cbsim" / room / "irit").rglob("*.py")),
    ROOT / "cbsim" / "export" / "irit.py",
]


def section(title):
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def test_example_runs(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "irit.md", "exec"), {})  # the page is ours
    assert capsys.readouterr().out == "[2.  5.  1.1]\n"


def test_every_kind_of_object_stands_in_the_table_and_has_a_reader():
    found = re.findall(r"(?m)^\| `([A-Z]+)` \| `(.*?)` \| (.*) \|$", section("Objects"))
    assert {name: (grammar, status) for name, grammar, status in found} == {k: tuple(v) for k, v in KINDS.items()}
    assert set(KINDS) == {"OBJECT", *RECORDS}


def test_every_function_stands_in_the_table_with_its_usage():
    text = section("Scripts")
    for function in FUNCTIONS.values():
        assert f"`{function.usage}`" in text, function.name
    for name in (*CONTROL, *IGNORED):
        assert f"`{name}`" in text, name
    assert f"the other {len(UNSUPPORTED)} functions of IRIT" in text


def test_every_setting_stands_in_the_table():
    assert re.findall(r"(?m)^\| `(\w+)` \|", section("Settings")) == list(OPTIONS)
    for meaning in OPTIONS.values():
        assert meaning in section("Settings")


def test_codes_of_the_page_are_those_of_the_code():
    used = {code for path in SOURCES for code in re.findall(r"[\"']([EWI]\d\d\d)[\"']", path.read_text())}
    assert used == set(re.findall(r"[EWI]\d\d\d", section("Problems"))) | {"W930"}
