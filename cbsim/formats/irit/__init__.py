"""IRIT data files and scripts: text ↔ `IritFile`.

>>> from cbsim.errors import Problems
>>> from cbsim.formats.reader import Source
>>> text = "[OBJECT FLOOR [POLYGON 3 [0 0 0] [1 0 0] [0 1 0]]]"
>>> spec = read(Source("floor.itd", text, text.encode()), Problems())
>>> len(spec.objects)
1
>>> print(write(spec).splitlines()[1].strip())
[POLYGON 3
"""

from __future__ import annotations

import re

from cbsim.errors import Problems
from cbsim.formats.irit.data import read_objects
from cbsim.formats.irit.packed import unpacked
from cbsim.formats.irit.script.result import run_script
from cbsim.formats.irit.structure import check_instances, find_walker
from cbsim.formats.irit.writer import write
from cbsim.formats.reader import Source
from cbsim.paths import Files
from cbsim.spec.irit.objects import IritFile

__all__ = ["is_script", "read", "write"]

DATA = re.compile(r"(?i)\[\s*OBJECT\b")


def is_script(source: Source) -> bool:
    """Return whether a file is a script, by its suffix or the lack of a data object."""
    name = source.path.lower()
    if name.removesuffix(".gz").removesuffix(".z").endswith((".irt", ".itd")):
        return ".irt" in name[-8:]
    return not DATA.search(source.text)


def read(source: Source, problems: Problems, files: Files | None = None) -> IritFile | None:
    """Read a data file, or run a script, collecting all problems.

    Parameters
    ----------
    source : Source
    problems : Problems
    files : Files, optional
        Files that a script may include; by default those in the folder of the file.

    Returns
    -------
    IritFile or None
        Contents as far as they could be read; None if the file is not text.
    """
    plain = unpacked(source, problems)
    if plain is None:
        return None
    if is_script(plain):
        objects = run_script(plain, problems, files or Files([source.path]))
    else:
        objects = read_objects(plain, problems)
    spec = IritFile(objects, source.path)
    check_instances(spec, problems)
    find_walker(spec, problems)
    return spec
