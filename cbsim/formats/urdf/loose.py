"""XML that ROS's reader takes though it is none: prefixes that nobody declares, blanks before the declaration.

Mended in place, so that no line moves; each is told of in a warning.
"""

from __future__ import annotations

import re

from cbsim.errors import Problems
from cbsim.formats.reader import Source
from cbsim.formats.values import quote

__all__ = ["mended"]

ROOT = re.compile(rb"<robot(?=[\s/>])")
PREFIX = re.compile(rb"(?:<|\s)([A-Za-z_][\w.-]*):[A-Za-z_]")
DECLARED = re.compile(rb"xmlns:([A-Za-z_][\w.-]*)\s*=")
DECLARATION = re.compile(rb"\s+(<\?xml[^>]*\?>)")
RESERVED = {b"xml", b"xmlns"}
MOST = 100  # prefixes; a file with more has none that anybody meant


def mended(source: Source, problems: Problems) -> Source:
    """Return the source with what is missing declared, or as it is.

    Parameters
    ----------
    source : Source
    problems : Problems
        Gets a warning (W913) for each thing that is mended.
    """
    data = source.data
    early = DECLARATION.match(data)
    if early is not None:
        line = data[: early.start(1)].count(b"\n") + 1
        problems.warning("W913", "blanks stand before the XML declaration, which is ignored", source.at(line))
        data = data[: early.start(1)] + b" " * len(early[1]) + data[early.end(1) :]
    root = ROOT.search(data)
    if root is not None:
        missing = _undeclared(data, root.end())
        for prefix, place in missing.items():
            line = data.count(b"\n", 0, place) + 1
            problems.warning(
                "W913", f"no namespace is declared for the prefix {quote(prefix.decode())}", source.at(line)
            )
        names = b"".join(b' xmlns:%s="urn:%s"' % (prefix, prefix) for prefix in missing)
        data = data[: root.end()] + names + data[root.end() :]
    return source if data is source.data else Source(source.path, source.text, data)


def _undeclared(data: bytes, start: int) -> dict[bytes, int]:
    """Find prefixes that no namespace is declared for, and where each stands first."""
    known = {*DECLARED.findall(data), *RESERVED}
    found: dict[bytes, int] = {}
    for match in PREFIX.finditer(data, start):
        if match[1] not in known and match[1] not in found:
            found[match[1]] = match.start(1)
            if len(found) == MOST:
                break
    return found
