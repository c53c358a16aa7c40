"""The pages: every Python example runs as it is written, and every command is one that there is."""

from __future__ import annotations

import re
import shlex
import shutil

import pytest
from typer.main import get_command

import cbsim
from cbsim.cli.main import app
from tests.common import ROOT

FILES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
PAGES = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in FILES}
EXAMPLES = {name: re.findall(r"```python\n(.*?)```", text, re.DOTALL) for name, text in PAGES.items()}
COMMANDS = sorted(
    {line.strip() for text in PAGES.values() for line in re.findall(r"(?m)(?:^|&& |`)(cbsim \w[^#`\n]*)", text)}
)

RECORDED = {
    "docs/recording.md": {"run.mcap": ("sensors", 1.0)},
    "docs/plot.md": {"run.mcap": ("four_way_stop", 20.0)},
    "docs/report.md": dict.fromkeys(("run.mcap", "before.mcap", "after.mcap"), ("four_way_stop", 1.0)),
}
"""Page → what its examples find: recordings, of which scenario and how long."""
SITES = ("docs/lint.md", "docs/road.md")  # whose examples find site.rndf and site.mdf
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
