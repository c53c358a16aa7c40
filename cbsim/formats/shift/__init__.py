"""Shift, the JSON format of multibody models of the Shift engine: text ↔ `ShiftModel` ↔ `MechanismSpec`.

>>> from cbsim.errors import Problems
>>> from cbsim.formats.reader import Source
>>> text = '{"assemblies": [{"name": "a", "bodies": [{"name": "b", "mass": 2}], "joints": [{"name": "j", "type": "Rx",'
>>> text += '"body_frame_pairs": [["fixed", "origin"], ["b", "origin"]]}]}]}'
>>> model = read(Source("m.json", text, text.encode()), Problems())
>>> count(model)["degrees_of_freedom"]
1
"""

from __future__ import annotations

import math
from typing import Any

from cbsim.errors import Problems
from cbsim.formats.reader import Source
from cbsim.formats.shift.grammar import FileRecord
from cbsim.formats.shift.writer import write
from cbsim.spec.shift.model import ShiftModel

__all__ = ["count", "read", "schema", "write"]


def read(source: Source, problems: Problems) -> ShiftModel | None:
    """Read a Shift file, collecting every problem, those of names and loops too.

    Returns
    -------
    ShiftModel or None
        What could be read; None if it is not JSON, or has no assemblies.
    """
    from cbsim.formats.json_tree import parse
    from cbsim.formats.shift.assembly import assemble
    from cbsim.formats.shift.drivers import check_forces
    from cbsim.formats.shift.reader import read_model

    root = parse(source, problems)
    model = None if root is None else read_model(root, problems)
    if model is not None and not problems.errors:
        assembled = assemble(model, problems)
        if assembled is not None:
            check_forces(assembled, problems)
    return model


def count(spec: ShiftModel) -> dict[str, int | float]:
    """Count bodies and joints as they stand in the file; loops, degrees of freedom and mass [kg] of what is active."""
    from cbsim.formats.shift.assembly import assemble, mobility
    from cbsim.formats.shift.network import network_of

    assemblies = [assembly for _, assembly in spec.walk()]
    assembled = assemble(spec, Problems())
    network = network_of(spec, Problems()) if assembled is None else assembled.network
    return {
        "bodies": sum(len(assembly.bodies) for assembly in assemblies),
        "joints": sum(len(assembly.joints) for assembly in assemblies),
        "loops": len(assembled.tree.chords) if assembled else 0,
        "degrees_of_freedom": mobility(assembled) if assembled else sum(t.joint.freedoms for t in network.ties),
        "mass": math.fsum(link.body.mass for link in network.links),
    }


def schema() -> dict[str, Any]:
    """JSON Schema of a Shift file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **FileRecord.model_json_schema(),
        "title": "Shift model",
    }
