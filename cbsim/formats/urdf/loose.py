"""Repair of malformed XML that ROS's reader accepts.

Undeclared prefixes, blanks before the declaration, a declared encoding that is not the file's, ampersands
that stand for themselves.

Repaired in place, so that no line moves, with a warning for each repair.
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
DECLARATION = re.compile(rb"(?:\xef\xbb\xbf)?(\s*)(<\?xml[^>]*\?>)")
ENCODING = re.compile(rb"encoding\s*=\s*[\"']([^\"']*)[\"']")
AMPERSAND = re.compile(rb"&(?!#[0-9]{1,8};|#x[0-9A-Fa-f]{1,8};|[A-Za-z_][\w.-]*;)")
WIDE = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")  # how a file of UTF-16 begins
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
    if source.data.startswith(WIDE):
        return source
    data = _declared(source, problems)
    data = _encoded(source, data, problems)
    stray = AMPERSAND.search(data)
    if stray is not None:
        line = data.count(b"\n", 0, stray.start()) + 1
        problems.warning("W913", "an ampersand stands for itself, where XML has '&amp;'", source.at(line))
        data = AMPERSAND.sub(b"&amp;", data)
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


def _declared(source: Source, problems: Problems) -> bytes:
    """Blank out an XML declaration that follows blanks, or that claims two bytes a character of a file of one."""
    data = source.data
    found = DECLARATION.match(data)
    if found is None:
        return data
    line = data[: found.start(2)].count(b"\n") + 1
    encoding = ENCODING.search(found[2])
    if found[1]:
        problems.warning("W913", "blanks stand before the XML declaration, which is ignored", source.at(line))
    elif encoding is not None and encoding[1].lower().startswith((b"utf-16", b"utf16", b"ucs-2")):
        name = encoding[1].decode("ascii", "replace")
        problems.warning("W913", f"the file is not in the encoding that it declares, {quote(name)}", source.at(line))
    else:
        return data
    return data[: found.start(2)] + b" " * len(found[2]) + data[found.end(2) :]


def _encoded(source: Source, data: bytes, problems: Problems) -> bytes:
    """Return bytes that are declared to be UTF-8, and are not, as what they are in Latin-1."""
    declared = DECLARATION.match(data)
    encoding = ENCODING.search(declared[2]) if declared is not None else None
    if encoding is None or encoding[1].lower() not in (b"utf-8", b"utf8"):
        return data
    try:
        data.decode()
    except UnicodeDecodeError as reason:
        line = data.count(b"\n", 0, reason.start) + 1
        problems.warning("W913", "the file is not in UTF-8, as it declares; it is read as Latin-1", source.at(line))
        return data.decode("latin-1").encode()
    return data


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
