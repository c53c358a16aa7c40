"""Text of XML: escapes, and unknown elements and attributes as texts that can be written back.

Of object files, a text is ``[tag[k] ](<element/> | name="value")``: an element or an attribute of the object (or of the
file), or with a path, of its k-th child with that tag: ``goal[2] colour="red"``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lxml import etree

__all__ = ["Extras", "attribute_text", "element_text", "fits_xml", "quoted", "text_of"]

Element = etree._Element

PATH = re.compile(r"(?:(?P<path>[A-Za-z_]\w*\[[0-9]+\]) )?(?P<content>.*)", re.DOTALL)
IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
IN_ATTRIBUTE = IN_TEXT | str.maketrans({'"': "&quot;", "\n": "&#10;", "\t": "&#9;"})
XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def fits_xml(text: str) -> bool:
    """Return whether a text is valid in XML."""
    return NOT_XML.search(text) is None


def text_of(text: str) -> str:
    """Escape a text for the content of an element; invalid characters become U+FFFD."""
    return _xml(text).translate(IN_TEXT)


def quoted(text: str) -> str:
    """Escape and quote a text for an attribute."""
    return f'"{_xml(text).translate(IN_ATTRIBUTE)}"'


def _xml(text: str) -> str:
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def element_text(element: Element, path: str = "") -> str:
    """Text of an unknown element."""
    return _at(path) + etree.tostring(element, encoding="unicode", with_tail=False)


def attribute_text(element: Element, name: str, path: str = "") -> str:
    """Text of an unknown attribute, with the declaration of its namespace, if any."""
    value = quoted(element.get(name) or "")
    known = etree.QName(name)
    if not known.namespace:
        return f"{_at(path)}{name}={value}"
    if known.namespace == XML_NAMESPACE:
        return f"{_at(path)}xml:{known.localname}={value}"
    prefix = next((p for p, uri in element.nsmap.items() if p and uri == known.namespace), "ns")
    return f"{_at(path)}xmlns:{prefix}={quoted(known.namespace)} {prefix}:{known.localname}={value}"


def _at(path: str) -> str:
    return f"{path} " if path else ""


class Extras:
    """Extension texts by path.

    Parameters
    ----------
    texts : iterable of str
        As they are in a spec.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._attributes: dict[str, list[str]] = {}
        self._elements: dict[str, list[str]] = {}
        for text in texts:
            match = PATH.fullmatch(text)
            if match is not None:
                content = match["content"]
                place = self._elements if content.startswith("<") else self._attributes
                place.setdefault(match["path"] or "", []).append(content)

    def attributes(self, path: str = "") -> str:
        """Attributes of an element, each behind a blank; a namespace is declared once."""
        seen: dict[str, None] = {}
        for text in self._attributes.get(path, []):
            declaration, _, rest = text.rpartition(" ") if text.startswith("xmlns:") else ("", "", text)
            seen.update(dict.fromkeys(part for part in (declaration, rest) if part))
        return "".join(f" {text}" for text in seen)

    def elements(self, path: str = "") -> list[str]:
        """Child elements."""
        return self._elements.get(path, [])
