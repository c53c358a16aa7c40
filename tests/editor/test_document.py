"""Documents: text that is changed in places only, and given back to the byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cbsim.editor.document import Document
from tests.editor.common import RECORD_TEXTS, XML_TEXTS, edits

TEXTS = [(2, text) for text in XML_TEXTS.values()] + [(1, text) for text in RECORD_TEXTS.values()]
IDS = [*XML_TEXTS, *RECORD_TEXTS]
PATH = Path("site.xml")


def kept(objects, version):
    """Objects without names where the file has none: those that stand in are made of their places."""
    implied = [version == 1 or item.name in {f"mesh {k}" for k in range(9)} for item in objects]
    return [replace(item, name="") if made else item for item, made in zip(objects, implied, strict=True)]


@pytest.mark.parametrize(("version", "data"), TEXTS, ids=IDS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data_=st.data())
def test_any_steps_say_what_was_asked_for_and_all_of_them_undone_give_the_very_bytes(version, data, data_):
    document = Document(PATH, data, version)
    states = [(document.data, document.objects)]
    for _ in range(data_.draw(st.integers(1, 5))):
        edit = data_.draw(edits(document.objects, version))
        wanted = edit.applied(document.objects)
        document.do(edit)
        assert kept(document.objects, version) == kept(wanted, version)
        again = Document(PATH, document.data, version)
        assert again.objects == document.objects
        if document.data != states[-1][0]:
            states.append((document.data, document.objects))
    for before, objects in reversed(states[:-1]):
        document.undo()
        assert (document.data, document.objects) == (before, objects)
    assert document.data == data
    assert document.undo() == ""
    while document.redo():
        pass
    assert (document.data, document.objects) == states[-1]
