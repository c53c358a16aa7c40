"""`Part`: an element of a Juice file with its location, which reads its items by the grammar.

The original reader accepted anything: the leading part of a number, 0 for a word, a null pointer for an unknown ID.
Here such values are reported.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from lxml import etree

from cbsim.errors import Location, Problems, did_you_mean
from cbsim.formats.juice.grammar import ATTRIBUTES, ELEMENTS, GATHERED, IGNORED, LISTS, MOST, Item, Range
from cbsim.formats.reader import Source
from cbsim.formats.values import DECIMAL_COMMA, NUMBER, quote
from cbsim.spec.juice import Attitude
from cbsim.spec.number import Written
from cbsim.spec.objects import Triple

__all__ = ["Part"]

Element = etree._Element

WRAPS = ("Component", "Joint")  # wrappers of items in files before the first version
WORD = 2**32  # an ID has 32 bits, which some files write as a signed number
WHOLE = re.compile(r"[+-]?[0-9]+")
CHOICE = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
WITH_UNIT = re.compile(rf"({NUMBER.pattern})\s*(?![deDExX][0-9]*$)[A-Za-z°µ][^,]*")
ADDRESS = 8  # digits
TEXT_LIMIT = 64  # characters of a number
SHOWN = 3
FLAGS = {**dict.fromkeys("tTyY1", True), **dict.fromkeys("fFnN0", False)}


class Part(NamedTuple):
    """An element with its location and its problems."""

    element: Element
    source: Source
    problems: Problems

    @property
    def tag(self) -> str:
        """Name without its namespace."""
        return str(etree.QName(self.element).localname)

    @property
    def place(self) -> Location:
        """Where the element begins."""
        line: Any = self.element.sourceline
        return self.source.at(line, self.tag)

    @property
    def text(self) -> str:
        """Text of a leaf as written."""
        parts = [self.element.text or ""]
        for child in self.element:  # includes comments, which are empty
            inside = Part(child, self.source, self.problems).text if isinstance(child.tag, str) else ""
            parts += [inside, child.tail or ""]
        return "".join(parts)

    def error(self, code: str, message: str, hint: str = "", also: Location | None = None) -> None:
        """Report an error at the element."""
        self.problems.error(code, message, self.place, hint, also)

    def warning(self, code: str, message: str, hint: str = "", also: Location | None = None) -> None:
        """Report a warning at the element."""
        self.problems.warning(code, message, self.place, hint, also)

    # --- children -----------------------------------------------------------------------------------------------------
    def children(self) -> Iterator[Part]:
        """Yield the child elements, including those in wrappers of old files."""
        for element in self.element.iterchildren("*"):
            part = Part(element, self.source, self.problems)
            if part.tag in WRAPS:
                yield from part.children()
            else:
                yield part

    def listed(self, *tags: str) -> Iterator[Part]:
        """Yield the child elements with one of some names."""
        return (part for part in self.children() if part.tag in tags)

    def has(self, tag: str) -> bool:
        """Whether there is a child element of a name."""
        return any(part.tag == tag for part in self.children())

    def last(self, tag: str) -> Part | None:
        """Return the last child element of a name, which is valid, and report others; None if there is none."""
        parts = list(self.listed(tag))
        if len(parts) > 1:
            text = f"{quote(self.tag)} has {len(parts)} elements {quote(tag)}; the last one counts"
            parts[-1].warning("W937", text, also=parts[0].place)
        return parts[-1] if parts else None

    def look_over(self, kind: str = "", extra: tuple[str, ...] = ()) -> None:
        """Report unknown elements, and stray text.

        Parameters
        ----------
        kind : str
            Kind of the grammar; by default that of the element.
        extra : tuple of str
            Further known elements.
        """
        kind = kind or self.tag
        items = ELEMENTS.get(kind, ())
        known = [item.tag for item in items] + [tag for item in items for tag in item.old]
        known += [*LISTS.get(kind, ()), *extra]
        ignored = {*IGNORED["*"], *IGNORED.get(kind, ())}
        first: dict[str, Part] = {}
        for part in self.children():
            if part.tag not in known and part.tag not in ignored:
                hint = _list_of(part.tag) or did_you_mean(part.tag, known)
                part.warning("W937", f"{quote(kind)} has no element {quote(part.tag)} in Juice; it is ignored", hint)
            elif part.tag in GATHERED and first.setdefault(part.tag, part) is not part:
                text = f"{quote(kind)} has another element {quote(part.tag)}; what both hold counts"
                part.warning("W937", text, also=first[part.tag].place)
        self._attributes()
        text = "".join([self.element.text or "", *(child.tail or "" for child in self.element)])
        if any(char.isalnum() for char in text):
            self.warning("W937", f"text {quote(text.strip())} in '{self.tag}' is ignored")

    def _attributes(self) -> None:
        """Report unknown attributes; Juice writes all values as elements."""
        known = ATTRIBUTES.get(self.tag, ())
        unknown = [str(name) for name in self.element.attrib if str(name) not in known]
        if unknown:
            names = ", ".join(map(quote, unknown[:SHOWN]))
            more = f" and {len(unknown) - SHOWN} more" if len(unknown) > SHOWN else ""
            text = f"{quote(self.tag)} has attributes that Juice does not know, {names}{more}; they are ignored"
            self.warning("W937", text, did_you_mean(unknown[0], known))

    # --- items --------------------------------------------------------------------------------------------------------
    def items(self, kind: str = "", *, quiet: bool = False) -> dict[str, Any]:
        """Read all items of an element.

        Parameters
        ----------
        kind : str
            Kind of the grammar; by default that of the element.
        quiet : bool
            Do not report unknown elements.

        Returns
        -------
        dict
            Field → value; the default if it is missing or invalid.
        """
        kind = kind or self.tag
        if not quiet:
            self.look_over(kind)
        found: dict[str, list[Part]] = {}
        for part in self.children():
            found.setdefault(part.tag, []).append(part)
        values = {}
        for item in ELEMENTS[kind]:
            parts = [part for tag in (*item.old, item.tag) for part in found.get(tag, ())]
            if not parts and item.kind == "id":  # of the third dialect
                parts = found.get("SerializationID", [])
            values[item.field] = self._item(item, parts)
        return values

    def _item(self, item: Item, parts: list[Part]) -> Any:
        if not parts:
            if item.default is None:
                self.error("E933", f"'{self.tag}' has no element '{item.tag}'")
            return 0 if item.default is None else item.default
        if len(parts) > 1:
            text = f"{quote(self.tag)} has {len(parts)} elements {quote(item.tag)}; the last one counts"
            parts[-1].warning("W937", text, also=parts[0].place)
        parts[-1]._attributes()
        value = parts[-1].value(item)
        return (0 if item.default is None else item.default) if value is None else value

    def value(self, item: Item) -> Any:  # noqa: PLR0911 (one for each kind)
        """Read the element as an item; None if it is invalid, which has been reported."""
        match item.kind:
            case "text":
                return self.text
            case "number":
                return self._number(self.text.strip(), item.tag, item.range)
            case "triple":
                return self._three(item, ("X", "Y", "Z"), Triple)
            case "attitude":
                return self._three(item, ("Y" if self.has("Y") else "H", "P", "R"), Attitude)
            case "flag":
                return self._flag(item.tag)
            case "choice":
                return self._choice(item.tag)
            case "id":
                return self._id()
        return self._reference(item.tag)

    def _number(self, text: str, name: str, bounds: Range) -> float | None:
        if not text:
            self.warning("W932", f"{name} is empty; its default is taken")
            return None
        if len(text) > TEXT_LIMIT or not NUMBER.fullmatch(text):
            self.error("E934", f"{name} must be a number, not {quote(text)}", _number_meant(text))
            return None
        plain = float(text)
        if not (bounds.least <= plain <= bounds.most and plain > bounds.above) or not math.isfinite(plain):
            words = f"at most {MOST:g}" if plain > MOST else bounds.words
            self.error("E935", f"{name} must be {words}, not {quote(text)}")
            return None
        return Written(text)

    def _three(self, item: Item, tags: tuple[str, ...], make: Callable[..., Any]) -> Any:
        children = list(self.children())
        values: list[float] = []
        for tag in tags:
            inside = [part for part in children if part.tag == tag]
            if not inside:
                hint = did_you_mean(tag, [part.tag for part in children])
                self.warning("W932", f"{item.tag} has no element '{tag}', which is taken as its default", hint)
            value = inside[-1]._number(inside[-1].text.strip(), f"{item.tag} {tag}", item.range) if inside else None
            values.append(item.default[len(values)] if value is None else value)
        for part in children:
            if part.tag not in tags:
                part.warning("W937", f"{quote(self.tag)} has no element {quote(part.tag)} in Juice; it is ignored")
        return make(*values)

    def _flag(self, name: str) -> bool | None:
        text = self.text.strip()
        if text[:1] in FLAGS:
            return FLAGS[text[:1]]
        self.warning("W932", f"{name} must be 0 or 1, not {quote(text)}; its default is taken")
        return None

    def _choice(self, name: str) -> int | None:
        """Read a number of an enumeration; ``1.0`` equals ``1``."""
        text = self.text.strip()
        found = CHOICE.fullmatch(text)
        if found is None or len(text) > TEXT_LIMIT:
            self.error("E934", f"{name} must be a whole number, not {quote(text)}")
            return None
        return int(found[1])

    def _id(self) -> int | None:
        """Read the ID of a part: a whole number other than 0, taken modulo 2³²."""
        text = self.text.strip()
        if len(text) > TEXT_LIMIT or not WHOLE.fullmatch(text):
            self.error("E933", f"ID must be a whole number, not {quote(text)}")
            return None
        number = self._word("ID", text)
        if not number:
            self.error("E933", f"ID must not be {text}, which stands for no part")
        return number or None

    def _reference(self, name: str) -> int:
        """Read the ID of another part, 0 for none."""
        text = self.text.strip()
        if len(text) > TEXT_LIMIT or not WHOLE.fullmatch(text):
            return self._address(name, text)
        if len(text) == ADDRESS and text[0] == "0" and int(text):
            return self._address(name, text)
        return self._word(name, text)

    def _word(self, name: str, text: str) -> int:
        """Take a whole number modulo 2³², and report larger ones."""
        value = int(text)
        if not -(WORD // 2) <= value < WORD:
            self.warning("W934", f"{name} is {quote(text)}, and no number of 32 bits; it is taken as {value % WORD}")
        return value % WORD

    def _address(self, name: str, text: str) -> int:
        """Take a reference written as an address: eight hexadecimal digits."""
        if len(text) == ADDRESS and all(char in "0123456789ABCDEFabcdef" for char in text):
            number = int(text, 16)
            self.warning("W934", f"{name} is written in hexadecimal, {quote(text)}; it is taken as {number}")
            return number
        self.warning("W934", f"{name} must be an ID, not {quote(text)}; it is taken as none")
        return 0


def _number_meant(text: str) -> str:
    """Suggest the meaning of a text that is nearly a number."""
    if DECIMAL_COMMA.fullmatch(text):
        return "write a decimal point, not a comma"
    found = WITH_UNIT.fullmatch(text[:TEXT_LIMIT])
    return f"did you mean {quote(found[1])}? Juice writes no units" if found else ""


def _list_of(tag: str) -> str:
    """Suggest the list of an element that is outside of it."""
    found = next((group for group, tags in LISTS.items() if tag in tags and group in GATHERED), "")
    return f"it belongs in {quote(found)}" if found else ""
