"""The page of the editor tells its keys as they are."""

from __future__ import annotations

import re

from cbsim.editor.keys import ACTIONS, MOUSE
from cbsim.viewer.actions import markdown
from tests.common import ROOT


def told(name: str) -> str:
    page = (ROOT / "docs" / "editor.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", page, re.DOTALL)
    return found


def test_the_page_has_the_table_of_keys():
    assert told("keys") == markdown([action for action in ACTIONS if action.description])


def test_the_page_tells_what_the_mouse_does():
    assert told("mouse") == "| mouse | does |\n|---|---|\n" + "".join(f"| {act} | {said} |\n" for act, said in MOUSE)


def test_no_two_actions_have_the_same_key():
    keys = [key for action in ACTIONS for key in action.keys]
    assert len(keys) == len(set(keys))
