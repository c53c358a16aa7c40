"""The pages: every Python example runs as it is written, and every command is one that there is."""

from __future__ import annotations

import ast
import io
import re
import shlex
import shutil
import tokenize
from functools import cache

import pytest
from typer.main import get_command

import cbsim
from cbsim.cli.main import app
from tests.common import ROOT

FILES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
PAGES = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in FILES}
EXAMPLES = {name: re.findall(r"```python\n(.*?)```", text, re.DOTALL) for name, text in PAGES.items()}
COMMANDS = sorted(
    {line.strip() for text in PAGES.values() for line in re.findall(r"(?m)(?:^|&& |`)(cbsim \w[^#`\n]*)", text)}
)

RECORDED = {
    "docs/recording.md": {"run.mcap": ("sensors", 1.0), "town.mcap": ("town", 30.0)},
    "docs/plot.md": {"run.mcap": ("four_way_stop", 20.0)},
    "docs/report.md": dict.fromkeys(("run.mcap", "before.mcap", "after.mcap"), ("four_way_stop", 1.0)),
}
"""Page → what its examples find: recordings, of which scenario and how long."""
SITES = ("docs/lint.md", "docs/road.md")  # whose examples find site.rndf and site.mdf
CITED = re.compile(
    r"(?<![\w./-])(?:[\w.-]+/)*[\w-]+\.md\b(?:`{0,2},? (?:§\d+|D\d+)(?:(?:, | to | and |–)(?:§\d+|D\d+))*)?"
)
"""A page and its sections as sources cite them: ``docs/theory/contact.md §3, §5``, ``docs/formats/objects.md D22``."""
SOURCES = sorted(p for folder in ("cbsim", "tests", "benchmarks", "examples") for p in (ROOT / folder).rglob("*.py"))
SERVER = "vis = "  # from here on an example of view3d serves pages until somebody stops it


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, codes in EXAMPLES.items() if codes])
def test_examples_of_a_page_run_one_after_another_as_they_are_written(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for recording, (scenario, duration) in RECORDED.get(name, {}).items():
        cbsim.run(cbsim.load(scenario), duration=duration).save(recording)
    if name in SITES:
        shutil.copy(ROOT / "rndf" / "four_way_stop.rndf", "site.rndf")
        shutil.copy(ROOT / "rndf" / "four_way_stop.mdf", "site.mdf")
    known: dict[str, object] = {}
    for code in EXAMPLES[name]:
        exec(compile(code.partition(SERVER)[0], name, "exec"), known)  # the pages are ours


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_of_pages_are_there_and_so_are_their_options(line):
    words = shlex.split(re.sub(r"[\[\]…]", " ", line))[1:]
    command = get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    assert not hasattr(command, "commands") or not words[:1] or words[0].isupper(), f"there is no command {words[0]!r}"
    known = {"--help", "-h", *(option for one in command.params for option in (*one.opts, *one.secondary_opts))}
    assert {word.partition("=")[0] for word in words if re.match("--?[a-z]", word)} <= known


def broken_citations(text: str) -> list[str]:
    """Pages that are cited in a comment or docstring of a source and are not there, sections likewise."""
    broken = []
    for cited in CITED.findall(text):
        name, *sections = re.split(r"(?:`{0,2},? | to | and |–)(?=[§D]\d)", cited)
        page = PAGES.get(name)
        if page is None:
            broken.append(cited)
        for section in sections if page is not None else []:
            heading = rf"(?m)^## {section[1:]}\. " if section[0] == "§" else rf"(?m)^\| {section} \|"
            if not re.search(heading, page):
                broken.append(f"{name} {section}")
    return broken


LOST = re.compile(r"\b(?:reference|DESIGN): ?|\bDESIGN §|`?reference/")


@cache
def prose_of(text: str) -> str:
    """Comments and docstrings of a source that may cite something; other strings may name any file."""
    if not (CITED.search(text) or LOST.search(text)):
        return ""
    tree = ast.parse(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    found = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented)]
    found += [t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT]
    return "\n".join(found)


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("see docs/theory/contact.md §3 and docs/vehicle.md", []),
        ("see docs/theory/contact.md §3, §99.", ["docs/theory/contact.md §99"]),
        ("the notes (lost.md §2.11)", ["lost.md §2"]),
        ("docs/formats/objects.md D22, docs/formats/objects.md D99", ["docs/formats/objects.md D99"]),
        ("docs/formats/objects.md, D1 to D77", ["docs/formats/objects.md D77"]),
    ],
)
def test_a_citation_of_a_page_or_section_that_is_not_there_is_found(text, broken):
    assert broken_citations(text) == broken


def test_sources_cite_pages_and_sections_of_this_repository():
    cited = {p.relative_to(ROOT).as_posix(): broken_citations(prose_of(p.read_text(encoding="utf-8"))) for p in SOURCES}
    assert not {path: broken for path, broken in cited.items() if broken}


def test_no_source_cites_notes_outside_this_repository():
    found = {
        p.name for p in SOURCES if p.name != "test_pages.py" and LOST.search(prose_of(p.read_text(encoding="utf-8")))
    }
    assert not found
