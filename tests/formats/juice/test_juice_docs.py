"""The page on Juice: its example runs, its tables are those of the code."""

from __future__ import annotations

import re

from cbsim.formats.juice.grammar import ANY, ELEMENTS, IGNORED, LISTS
from cbsim.models.juice.controls import CONTROLS
from cbsim.models.juice.description import CHOICES, OPTIONS
from tests.common import ROOT

PAGE = (ROOT / "docs" / "formats" / "juice.md").read_text()
SOURCES = [path for room in ("formats", "models") for path in (ROOT / "cbsim" / room / "juice").glob("*.py")]


def section(title):
    return PAGE.split(f"## {title}")[1].split("\n## ")[0]


def elements_table():
    """Make the table of elements of the documentation."""
    lines = ["| in | element | of old | without | what becomes of it |", "|---|---|---|---|---|"]
    for parent, items in ELEMENTS.items():
        for item in items:
            old = " ".join(f"`{tag}`" for tag in item.old)
            note = item.note + (f"; {item.range.words}" if item.range != ANY else "")
            lines.append(f"| `{parent}` | `{item.tag}` | {old} | {shown(item.default)} | {note.lstrip('; ')} |")
        lines += [f"| `{parent}` | `{tag}` | | | a list |" for tag in LISTS.get(parent, ())]
        lines += [f"| `{parent}` | `{tag}` | | | ignored |" for tag in IGNORED.get(parent, ())]
    return "\n".join(lines) + "\n"


def shown(default):
    if default is None:
        return "error"
    if isinstance(default, tuple):
        return " ".join(f"{float(part):g}" for part in default)
    if isinstance(default, bool):
        return str(int(default))
    return f"{default:g}" if isinstance(default, int | float) else default


def words(text):
    return re.findall(r"`([\w.]+)`", text)


def test_example_runs(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "juice.md", "exec"), {})  # the page is ours
    assert capsys.readouterr().out == "['Left', 'Right'] ['joystick1.r', 'joystick1.x']\n"


def test_the_table_of_elements_is_that_of_the_grammar():
    assert elements_table() in section("Elements")


def test_every_setting_and_control_stands_on_the_page_with_what_it_may_be():
    rows = [line.split("|") for line in section("Settings").splitlines() if line.startswith("| `")]
    found = {name: row for row in rows for name in words(row[1])}
    assert sorted(found) == sorted(OPTIONS)
    for name, known in CHOICES.items():
        assert words(found[name][2]) == [known[0]]
        assert all(word == known[0] or word in found[name][3] or word in ("true", "false") for word in known)
    for control in CONTROLS:
        assert f"`{control.replace('joystick2', 'joystick1')}`" in section("Settings")


def test_codes_of_the_page_are_those_of_the_code():
    used = {code for path in SOURCES for code in re.findall(r"[\"']([EWI]9\d\d)[\"']", path.read_text())}
    assert used == set(re.findall(r"[EWI]9\d\d", section("Problems")))
