"""One HTML file of a template, a style sheet, scripts and data; its content security policy forbids every request."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

__all__ = ["one_file"]


def one_file(package: str, folder: str, scripts: Sequence[str], data: Any, parts: Mapping[str, str]) -> str:
    """Make the page of some data; the same data give the same text.

    Parameters
    ----------
    package, folder : str
        Where ``page.html``, ``page.css`` and the scripts stand.
    scripts : sequence of str
        In the order they run, after what unpacks arrays, in one function of their own.
    data : object
        What JSON can say; the page finds it in the element ``data``.
    parts : mapping
        HTML by the name that ``page.html`` has for it in double braces, besides ``style``, ``digest``, ``data`` and
        ``script``.
    """
    page = files(package) / folder
    shared = (files("cbsim.page") / "unpack.js").read_text(encoding="utf-8")
    code = "\n".join([shared, *((page / name).read_text(encoding="utf-8") for name in scripts)])
    script = f'"use strict";\n(() => {{\n{code}\n}})();'
    given = {
        **parts,
        "style": (page / "page.css").read_text(encoding="utf-8"),
        "digest": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        # a name may hold "</script>", which would end the data
        "data": json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "script": script,
    }
    text = (page / "page.html").read_text(encoding="utf-8")
    pieces = text.split("{{")
    return pieces[0] + "".join(given[name] + rest for name, rest in (piece.split("}}", 1) for piece in pieces[1:]))
