"""Mechanisms as `cbsim.multibody` saves them: JSON that keeps every bit ↔ `StoredMechanism`.

>>> from cbsim.errors import Problems
>>> from cbsim.formats.reader import Source
>>> text = '{"cbsim_mechanism": 1, "bodies": [{"name": "a", "mass": 2, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}], '
>>> text += '"joints": [{"name": "base", "parent": "origin", "child": "a", '
>>> text += '"translational": {"free": 3}, "rotational": {"free": 3}}]}'
>>> read(Source("a.json", text, text.encode()), Problems()).spec.bodies[0].mass
2.0
"""

from __future__ import annotations

from cbsim.errors import Problems
from cbsim.formats.json_tree import parse
from cbsim.formats.mechanism.reader import read_mechanism
from cbsim.formats.mechanism.writer import write
from cbsim.formats.reader import Source
from cbsim.spec.mechanism.stored import StoredMechanism

__all__ = ["read", "write"]


def read(source: Source, problems: Problems) -> StoredMechanism | None:
    """Read a mechanism, collecting all problems.

    Returns
    -------
    StoredMechanism or None
        None if it has an error.
    """
    root = parse(source, problems)
    return None if root is None else read_mechanism(root, problems)
