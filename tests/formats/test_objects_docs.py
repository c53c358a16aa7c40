"""The pages on object files and sensor confs: their examples run, their tables are those of the code."""

from __future__ import annotations

import re

import pytest

from cbsim.formats.objects.grammar import CHILDREN, OBJECT_ATTRIBUTES
from cbsim.formats.objects.values import PARAMETERS
from cbsim.formats.sensor_conf.keys import KEYS
from cbsim.spec.sensor_models import SENSOR_MODELS
from tests.common import ROOT

PAGES = {name: (ROOT / "docs" / "formats" / f"{name}.md").read_text() for name in ("objects", "sensor_conf")}
SOURCES = {
    "objects": [
        *(ROOT / "cbsim" / "formats").glob("object*/*.py"),
        *(ROOT / "cbsim" / f"{name}.py" for name in ("formats/mesh", "road/goals", "lint/objects", "export/objects")),
    ],
    "sensor_conf": [*(ROOT / "cbsim" / "formats").glob("sensor_conf/*.py")],
}  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_examples_run(page, capsys):
    examples = re.findall(r"```python\n(.*?)```", PAGES[page], re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, page, "exec"), {})
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES)
def test_codes_of_the_page_are_those_of_the_code(page):
    used = {code for path in SOURCES[page] for code in re.findall(r"[\"']([EWI][67]\d\d)[\"']", path.read_text())}
    built = {"E655", "I667", "W667", "E667"} if page == "objects" else set()
    table = PAGES[page].split("## Problems")[1]
    assert used | built == set(re.findall(r"[EWI][67]\d\d", table))


def test_every_key_and_model_of_a_conf_is_on_the_page():
    assert all(f"`{name}`" in PAGES["sensor_conf"] for name in [*KEYS, *SENSOR_MODELS])


def test_every_child_attribute_and_parameter_of_an_object_is_on_the_page():
    names = {*CHILDREN, *PARAMETERS, *(name for row in OBJECT_ATTRIBUTES.values() for name in row)}
    names |= {name for row in CHILDREN.values() for name in row.attributes}
    assert all(f"`{name}`" in PAGES["objects"] for name in names)
