"""Juice models, walkers and vehicles of 2001–2004: text ↔ `JuiceModel`.

>>> from cbsim.errors import Problems
>>> from cbsim.formats.reader import Source
>>> text = '<Model FileVersion="1"><Bodies><Body><ID>1</ID><Mass>2</Mass></Body></Bodies></Model>'
>>> model = read(Source("box.jm", text, text.encode()), Problems())
>>> model.bodies[0].mass
2.0
"""

from __future__ import annotations

from cbsim.errors import Problems, did_you_mean
from cbsim.formats.juice.elements import Part
from cbsim.formats.juice.reader import read_model
from cbsim.formats.juice.structure import check_structure
from cbsim.formats.juice.writer import write
from cbsim.formats.reader import Source, read_xml
from cbsim.formats.values import quote
from cbsim.spec.juice import JuiceModel

__all__ = ["read", "write"]


def read(source: Source, problems: Problems) -> JuiceModel | None:
    """Read a Juice file, collecting all problems.

    Returns
    -------
    JuiceModel or None
        What could be read; None if it is not XML, its root is none of Juice's, or its version is not known.
    """
    root = read_xml(source, problems)
    if root is None:
        return None
    part = Part(root, source, problems)
    if part.tag not in ("Model", "JuiceFile"):
        hint = did_you_mean(part.tag, ("Model", "JuiceFile")) or "a Juice file begins with <Model>"
        part.error("E931", f"the root element is {quote(part.tag)}, not 'Model' or 'JuiceFile'", hint)
        return None
    model = read_model(part)
    if model is not None:
        check_structure(model, problems)
    return model
