"""The page on IRIT: its example runs, its tables are those of the code."""

from __future__ import annotations

import re

from cbsim.formats.irit.data import RECORDS
from cbsim.formats.irit.script.functions import FUNCTIONS, IGNORED, UNSUPPORTED
from cbsim.formats.irit.script.machine import CONTROL
from cbsim.models.irit.description import OPTIONS
from tests.common import ROOT

PAGE = (ROOT / "docs" / "formats" / "irit.md").read_text()
SOURCES = [
    *(path for room in ("formats", "models") for path in (ROOT / "cbsim" / room / "irit").rglob("*.py")),
    ROOT / "cbsim" / "export" / "irit.py",
]

READ = "read, written"
SEEN = "read, written, drawn"
KINDS = {
    "OBJECT": ("{attribute} NAME items", f"{READ}; a list of objects, or geometry; nested up to 100 deep"),
    "NUMBER": ("n", READ),
    "STRING": ('"text"', READ),
    "POINT": ("x y z", READ),
    "VECTOR": ("x y z", READ),
    "PLANE": ("a b c d", READ),
    "CTLPT": ("kind numbers", f"{READ}; E1 … E9, and P1 … P9 with a weight first"),
    "MATRIX": ("16 numbers", f"{READ}; those named MATRICES, VIEW_MAT, PRSP_MAT are never geometry"),
    "INSTANCE": ("name 16 numbers", f"{SEEN} where it is moved to"),
    "POLYGON": ("{attribute} n {vertex}", f"{SEEN}; convex or not"),
    "POLYLINE": ("{attribute} n {vertex}", READ),
    "POINTLIST": ("{attribute} n {vertex}", READ),
    "POLYSTRIP": ("{attribute} n {vertex}", f"{SEEN} as triangles"),
    "CURVE": ("basis n [order] kind [knots] points", f"{READ}, evaluated"),
    "SURFACE": ("basis n n [orders] kind [knots] points", f"{SEEN} as triangles"),
    "TRISRF": ("basis n [order] kind [knots] points", f"{SEEN} as triangles in the basis BEZIER; else `W056`"),
    "TRIVAR": ("basis n n n [orders] kind [knots] points", f"{SEEN}: its six faces"),
    "MULTIVAR": ("basis count n … [orders] kind [knots] points", f"{SEEN} up to three parameters; else `W056`"),
    "TRIMSRF": ("surface {[TRIMCRV {[TRIMCRVSEG curves]}]}", f"{SEEN}: what is inside an odd number of loops"),
    "MODEL": ("n n {[MDLTSRF …]} {[MDLTSEG …]}", f"{SEEN}: each surface inside its loops"),
}
"""Keyword → how it is written after it, and what becomes of it."""


def section(title):
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def test_example_runs(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "irit.md", "exec"), {})  # the page is ours
    assert capsys.readouterr().out == "[2.  5.  1.1]\n"


def test_every_kind_of_object_stands_in_the_table_and_has_a_reader():
    found = re.findall(r"(?m)^\| `([A-Z]+)` \| `(.*?)` \| (.*) \|$", section("Objects"))
    assert {name: (grammar, status) for name, grammar, status in found} == KINDS
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
