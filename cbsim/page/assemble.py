"""Assembly of one HTML file from template, style sheet, scripts and data; its security policy forbids requests."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

__all__ = ["build_page"]

SHARED = ("unpack.js", "player.js")


def build_page(
    package: str, folder: str, scripts: Sequence[str], data: Any, parts: Mapping[str, str], name: str = "page.html"
) -> str:
    """Build a page; equal data yield equal text.

    Parameters
    ----------
    package, folder : str
        Location of the page, ``page.css`` and the scripts.
    scripts : sequence of str
        Script names in order of execution, after the shared array decoder and player, within one function scope.
    data : object
        JSON-serialisable data, embedded in the element ``data``.
    parts : mapping
        HTML by placeholder name in the page (double braces), besides ``style``, ``digest``, ``data`` and ``script``.
    name : str
        File of the page.
    """
    page = files(package) / folder
    shared = [(files("cbsim.page") / one).read_text(encoding="utf-8") for one in SHARED]
    code = "\n".join([*shared, *((page / script).read_text(encoding="utf-8") for script in scripts)])
    script = f'"use strict";\n(() => {{\n{code}\n}})();'
    given = {
        **parts,
        "style": (page / "page.css").read_text(encoding="utf-8"),
        "digest": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        # names may contain "</script>", which would end the data
        "data": json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "script": script,
    }
    text = (page / name).read_text(encoding="utf-8")
    pieces = text.split("{{")
    return pieces[0] + "".join(given[name] + rest for name, rest in (piece.split("}}", 1) for piece in pieces[1:]))
