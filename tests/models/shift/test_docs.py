"""The page on Shift: its example runs, its tables are those of the code."""

from __future__ import annotations

import re

from cbsim.formats.shift.grammar import RECORDS
from cbsim.formats.shift.names import JOINTS
from cbsim.models.shift.description import OPTIONS
from tests.common import ROOT

PAGE = (ROOT / "docs" / "formats" / "shift.md").read_text()
SOURCES = [
    *(path for room in ("formats", "models") for path in (ROOT / "cbsim" / room / "shift").glob("*.py")),
    ROOT / "cbsim" / "formats" / "json_tree.py",
]


def section(title):
    return PAGE.split(f"## {title}")[1].split("\n## ")[0]


def key_table():
    """Return a row of the table for every key: where it stands, its name, what becomes of it, its meaning."""
    for place, model in RECORDS.items():
        shared = [name for name in ("active", "comment") if name in model.model_fields]
        for name in (*(name for name in model.model_fields if name not in shared), *shared):
            field = model.model_fields[name]
            extra = field.json_schema_extra
            status = extra["status"] if isinstance(extra, dict) else ""
            needed = " (needed)" if field.is_required() else ""
            meaning = (field.description or "").replace("|", "\\|")
            yield f"| {place} | `{name}` | {status}{needed} | {meaning} |"


def words(text):
    return re.findall(r"`(\w+)`", text)


def test_the_double_pendulum_of_the_page_is_built_written_read_and_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "shift.md", "exec"), {})  # the page is ours
    assert capsys.readouterr().out == "['link1', 'link2'] (101, 3)\n"


def test_the_table_of_keys_is_that_of_the_code():
    rows = [line for line in section("Keys").splitlines() if line.startswith("| ") and not line.startswith("| record")]
    assert rows == list(key_table())


def test_every_type_of_joint_stands_in_the_table():
    rows = [line.split("|")[1] for line in section("Meaning").splitlines() if line.startswith("| `")]
    assert {word for row in rows for word in words(row)} - {"axis"} == set(JOINTS)


def test_every_setting_stands_in_the_table():
    found = [words(line)[0] for line in section("Settings").splitlines() if line.startswith("| `")]
    assert sorted(found) == sorted(OPTIONS)


def test_codes_of_the_page_are_those_of_the_code():
    used = {code for path in SOURCES for code in re.findall(r"[\"']([EWI]9[6-9]\d)[\"']", path.read_text())}
    softened = {"W962", "W964", "W965"}  # what is an error elsewhere, in looks and lights
    assert used | softened == set(re.findall(r"[EWI]9\d\d", section("Problems")))
