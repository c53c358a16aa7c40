"""`Part`: an element of a URDF file with its location, which reads attributes and children by the grammar.

Unknown, missing and malformed parts are reported here; values are interpreted in `reader`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from lxml import etree

from cbsim.errors import Location, Problems, Severity, did_you_mean
from cbsim.formats.reader import Source
from cbsim.formats.urdf.grammar import GRAMMAR, IGNORED, KEEPERS, SDF
from cbsim.formats.values import Complaint, Quantity, parse_number, quote
from cbsim.formats.xml_text import element_text

__all__ = ["Part"]

Element = etree._Element

XACRO = re.compile(r"\$[{(]")
XACRO_HINT = "this is xacro: expand it first (xacro FILE.xacro > FILE.urdf)"
SOFT = {
    "E903": "W903", "E904": "W904", "E905": "W905", "E916": "W916", "E918": "W917", "E919": "W919", "E927": "W927",
}  # fmt: skip
"""Code of an error → code of the warning where nothing depends on it."""
REPEATED = ("material",)  # elements that CAD exporters repeat in collisions, without effect

STRAY = re.compile(r"\S")


class Part(NamedTuple):
    """An element with its location and its problems."""

    element: Element
    source: Source
    inside: str
    problems: Problems

    @property
    def tag(self) -> str:
        """Name without its namespace."""
        return str(etree.QName(self.element).localname)

    @property
    def place(self) -> Location:
        """Where the element begins."""
        line: Any = self.element.sourceline
        return self.source.at(line, self.inside)

    def error(self, code: str, message: str, hint: str = "", also: Location | None = None) -> None:
        """Report an error at the element."""
        self.problems.error(code, message, self.place, hint, also)

    def warning(self, code: str, message: str, hint: str = "", also: Location | None = None) -> None:
        """Report a warning at the element."""
        self.problems.warning(code, message, self.place, hint, also)

    # --- attributes ---------------------------------------------------------------------------------------------------
    def get(self, name: str) -> str | None:
        """Return an attribute's text without blanks around it; None if it is missing, or xacro, which is reported."""
        text = self.element.get(name)
        if text is None:
            return None
        if XACRO.search(text):
            self.error("E916", f"{name} of '{self.tag}' is an expression, {quote(text)}", XACRO_HINT)
            return None
        return text.strip()

    def required(self, name: str) -> str | None:
        """Return an attribute's text; E903 if it is missing or empty."""
        text = self.get(name)
        if text:
            return text
        if self.element.get(name) is None or not self.element.get(name, "").strip():
            state = "no" if text is None else "an empty"
            hint = did_you_mean(name, [str(a) for a in self.element.attrib]) if text is None else ""
            self.error("E903", f"'{self.tag}' has {state} attribute '{name}'", hint)
        return None

    def number(self, name: str, quantity: Quantity, *, needed: bool = True) -> float | None:
        """Return an attribute as a number; None if it is missing or refused, which has then been reported."""
        text = self.required(name) if needed else self.get(name)
        return None if text is None else self._parse(text, quantity._replace(name=f"{name} of '{self.tag}'"))

    def numbers(self, name: str, count: int, quantity: Quantity, *, needed: bool = False) -> tuple[float, ...] | None:
        """Return an attribute as several numbers between blanks; None if it is missing or one of them is refused."""
        text = self.required(name) if needed else self.get(name)
        if text is None:
            return None
        words = text.split()
        named = quantity._replace(name=f"{name} of '{self.tag}'")
        if len(text.replace(",", " ").split()) == count and "," in text:
            hint = "blanks stand between the numbers, no commas"
            self.error("E904", f"{named.name} must be {count} numbers, not {quote(text)}", hint)
            return None
        if len(words) != count:
            numbers = "1 number" if len(words) == 1 else f"{len(words)} numbers"
            self.error("E904", f"{named.name} has {numbers}, expected {count}: {quote(text)}")
            return None
        values = [self._parse(word, named) for word in words]
        found = tuple(value for value in values if value is not None)
        return found if len(found) == count else None

    def _parse(self, text: str, quantity: Quantity) -> float | None:
        value = parse_number(text, quantity)
        if isinstance(value, Complaint):
            self.error("E905" if value.out_of_range else "E904", value.message, value.hint)
            return None
        return value

    @contextmanager
    def softened(self) -> Iterator[Part]:
        """Return the same element whose errors are told as warnings: what they spoil is not simulated anyway."""
        own = Problems()
        yield self._replace(problems=own)
        for problem in own:
            code = SOFT.get(problem.code, problem.code)
            severity = Severity.WARNING if problem.severity is Severity.ERROR else problem.severity
            self.problems.add(replace(problem, code=code, severity=severity))

    # --- children -----------------------------------------------------------------------------------------------------
    def child(self, element: Element, inside: str = "") -> Part:
        """Return a child as a part."""
        return Part(element, self.source, inside or self.inside, self.problems)

    def sort_in(self, *, tell_unknown: bool = True) -> tuple[dict[str, list[Part]], tuple[Part, ...]]:
        """Sort the children by the grammar of the element.

        Parameters
        ----------
        tell_unknown : bool
            Tell of elements that the grammar does not have here.

        Returns
        -------
        dict, tuple of Part
            Tag → parts in file order, an entry for every tag of the grammar; the others.
        """
        row = GRAMMAR[self.tag]
        found: dict[str, list[Part]] = {tag: [] for tag in row.children}
        strangers: list[Part] = []
        for element in self.element.iterchildren("*"):
            part, name = self.child(element), etree.QName(element)
            if "xacro" in (name.namespace or ""):
                part.error("E916", f"'{name.localname}' is an element of xacro", XACRO_HINT)
            elif name.localname in found:
                found[str(name.localname)].append(part)
            else:
                strangers.append(part)
                if tell_unknown:
                    part.tell_unknown(self.tag)
        for tag, parts in found.items():
            if len(parts) > 1 and tag in row.single:
                text = f"'{self.tag}' has {len(parts)} elements '{tag}'; the first one counts"
                parts[1].warning("W914", text, also=parts[0].place)
        self._look_at_attributes(row.attributes)
        self._look_at_text()
        return found, tuple(strangers)

    @property
    def text(self) -> str:
        """The whole element as it is written back."""
        return element_text(self.element)

    def tell_unknown(self, where: str) -> None:
        """Report an element that is not simulated; a warning where it may be misspelt."""
        fate = "it is kept, but not simulated" if where in KEEPERS else "it is left out"
        if self.tag in IGNORED:
            self.problems.info("I917", f"{quote(self.tag)} in '{where}': {fate}", self.place)
            return
        hint = self._better_place(where)
        text = f"'{where}' has no element {quote(self.tag)} in URDF; {fate}"
        (self.problems.warning if hint else self.problems.info)("W915" if hint else "I917", text, self.place, hint)

    def _better_place(self, where: str) -> str:
        """Say how URDF writes what an element that has no place here seems to mean; nothing where none is known."""
        if self.tag in GRAMMAR[where].attributes:
            return f"it is an attribute: <{where} {self.tag}=…>"
        if self.tag in SDF:
            return f"that is SDF: URDF has {SDF[self.tag]}"
        homes = [name for name, row in GRAMMAR.items() if self.tag in row.children]
        if homes and self.tag not in REPEATED:
            return f"it belongs in {' or '.join(map(quote, homes))}"
        return did_you_mean(self.tag, GRAMMAR[where].children)

    def leaf(self) -> Part:
        """Look over an element that has attributes alone."""
        self.sort_in()
        return self

    def _look_at_attributes(self, known: Sequence[str]) -> None:
        for name in map(str, self.element.attrib):
            if name not in known and not name.startswith("{"):
                text = f"'{self.tag}' has no attribute {quote(name)} in URDF; it is ignored"
                hint = did_you_mean(name, [one for one in known if one not in self.element.attrib])
                (self.problems.warning if hint else self.problems.info)(
                    "W915" if hint else "I917", text, self.place, hint
                )

    def _look_at_text(self) -> None:
        text = "".join([self.element.text or "", *(child.tail or "" for child in self.element)])
        if STRAY.search(text):
            self.warning("W915", f"text {quote(text.strip())} in '{self.tag}' is ignored")
