"""Shift, the JSON format of multibody models of the Shift engine: text ↔ `ShiftModel`.

>>> from cbsim.errors import Problems
>>> from cbsim.formats.reader import Source
>>> text = '{"assemblies": [{"name": "a", "bodies": [{"name": "b", "mass": 2}], "joints": [{"name": "j", "type": "Rx",'
>>> text += '"body_frame_pairs": [["fixed", "origin"], ["b", "origin"]]}]}]}'
>>> model = read(Source("m.json", text, text.encode()), Problems())
>>> model.assemblies[0].bodies[0].mass
2.0
"""

from __future__ import annotations

from typing import Any

from cbsim.errors import Problems
from cbsim.formats.reader import Source
from cbsim.formats.shift.grammar import FileRecord
from cbsim.formats.shift.writer import write
from cbsim.spec.shift.model import ShiftModel

__all__ = ["read", "schema", "write"]


def read(source: Source, problems: Problems) -> ShiftModel | None:
    """Read a Shift file, collecting all problems except those of names and loops, which building finds.

    Returns
    -------
    ShiftModel or None
        What could be read; None if it is not JSON, or has no assemblies.
    """
    from cbsim.formats.json_tree import parse
    from cbsim.formats.shift.reader import read_model

    root = parse(source, problems)
    return None if root is None else read_model(root, problems)


def schema() -> dict[str, Any]:
    """JSON Schema of a Shift file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **FileRecord.model_json_schema(),
        "title": "Shift model",
    }
