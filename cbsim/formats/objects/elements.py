"""``object`` elements of v2 files, split by the grammar: kind, children by tag, extensions.

Unknown and missing parts are reported here; values are interpreted in `cbsim.formats.objects`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from cbsim.errors import Location, Problems, did_you_mean
from cbsim.formats.objects import values as rules
from cbsim.formats.objects.grammar import CHILDREN, OBJECT_ATTRIBUTES, TELLTALES
from cbsim.formats.reader import Source
from cbsim.formats.values import Complaint, Quantity, parse_number, parse_whole, quote
from cbsim.formats.xml_text import attribute_text, element_text
from cbsim.spec.objects import Kind

__all__ = ["Elements", "Node", "place_of", "say_stray_text", "say_unknown", "tag_in", "take_apart"]

Element = etree._Element


class Node:
    """An element with its attributes, its path and its problems.

    Parameters
    ----------
    element : Element
    tag : str
        Name without its namespace.
    index : int
        Which of its siblings of that tag it is, from 1.
    source : Source
    problems : Problems
    outer : str
        Path of the element around it; empty for an object.
    """

    __slots__ = ("attributes", "element", "index", "outer", "problems", "source", "tag")

    def __init__(
        self, element: Element, tag: str, index: int, source: Source, problems: Problems, outer: str = ""
    ) -> None:
        self.element, self.tag, self.index, self.outer = element, tag, index, outer
        self.source, self.problems = source, problems
        self.attributes: dict[str, str] = dict(element.items())  # type: ignore[arg-type]

    @property
    def path(self) -> str:
        """``goal[2]`` in an object; empty for an object itself."""
        return f"{self.tag}[{self.index}]" if self.outer else ""

    @property
    def place(self) -> Location:
        """Where the element starts."""
        inside = f"{self.tag}[{self.index}]"
        return place_of(self.element, self.source, f"{self.outer}/{inside}" if self.outer else inside)

    @property
    def text(self) -> str:
        """Text without comments and children."""
        first = self.element.text or ""
        if not len(self.element):
            return first.strip()
        return "".join([first, *(child.tail or "" for child in self.element)]).strip()

    def get(self, name: str) -> str | None:
        """Return an attribute's text without blanks around it, or None."""
        text = self.attributes.get(name)
        return None if text is None else text.strip()

    def required(self, name: str) -> str | None:
        """Return an attribute's text; E632 if it is missing."""
        text = self.get(name)
        if text is None:
            self.problems.error("E632", f"'{self.tag}' has no attribute '{name}'", self.place)
        return text

    def number(self, name: str, quantity: Quantity) -> float:
        """Return an attribute as a number; an offset may be missing (W633), anything else may not (E632)."""
        text = self.attributes.get(name)
        if text is not None:
            value = parse_number(text.strip(), quantity)
            if not isinstance(value, Complaint):
                return value
            named = quantity._replace(name=f"{name} of '{self.tag}'")
            return rules.number(text.strip(), named, self.place, self.problems)
        if quantity in OPTIONAL:
            self.problems.warning("W633", f"'{self.tag}' has no attribute '{name}'; 0 stands in", self.place)
        else:
            self.required(name)
        return quantity.default

    def whole(self, name: str, least: int = 0, hint: str = "") -> int | None:
        """Return an attribute as a whole number; None if it is missing or invalid, which has been reported."""
        text = self.required(name)
        if text is None:
            return None
        value = parse_whole(text, name, least)
        if not isinstance(value, Complaint):
            return value
        return rules.whole(text, f"{name} of '{self.tag}'", self.place, self.problems, least, hint)


OPTIONAL = (rules.POSITION, rules.HEIGHT, rules.ORIENTATION)


@dataclass
class Elements:
    """An object split into parts.

    Attributes
    ----------
    node : Node
        The object itself.
    index : int
        Its index in the file, from 1.
    kind : Kind
        Its type, as written or inferred.
    sure : bool
        False if the type is a guess; unknown and missing parts are then not reported.
    children : dict
        Tag → nodes, in file order; only tags of the grammar.
    extensions : list of str
        Unknown elements and attributes.
    """

    node: Node
    index: int
    kind: Kind
    sure: bool = True
    children: dict[str, list[Node]] = field(default_factory=dict)
    extensions: list[str] = field(default_factory=list)

    def last(self, tag: str) -> Node | None:
        """Return the last child of a tag, which is valid, or None."""
        nodes = self.children.get(tag)
        return None if nodes is None else nodes[-1]

    def all(self, tag: str) -> list[Node]:
        """Return the children of a tag."""
        return self.children.get(tag, [])


def take_apart(element: Element, index: int, source: Source, problems: Problems) -> Elements:
    """Sort the attributes and children of an ``object`` element by the grammar of its kind."""
    node, inside = Node(element, "object", index, source, problems), f"object[{index}]"
    parts = Elements(node, index, *_kind(node))
    if not KNOWN[parts.kind].issuperset(node.attributes):
        _keep_attributes(parts, node, OBJECT_ATTRIBUTES[parts.kind], () if parts.sure else ANY_ATTRIBUTE)
    namespace = element.tag[: -len("object")]  # ``{…}``, or none
    stray = (element.text or "").strip()
    for child in element:
        stray = stray or (child.tail or "").strip()
        if isinstance(child.tag, str):  # no comment
            _sort_in(parts, child, namespace, inside)
    if stray:
        say_stray_text(node)
    _say_repeated(parts)
    if parts.sure:
        _say_missing(parts)
    return parts


def place_of(element: Element, source: Source, inside: str = "") -> Location:
    """Locate the start of an element."""
    line: Any = element.sourceline
    return source.at(line, inside)


def tag_in(child: Element, parent: Element) -> str:
    """Name of a child in its parent's namespace; empty for a child of another."""
    name = etree.QName(child)
    return str(name.localname) if name.namespace == etree.QName(parent).namespace else ""


def say_stray_text(node: Node) -> None:
    """Warn of text where only elements belong."""
    if node.text:
        node.problems.warning("W640", f"text {quote(node.text)} between the elements is ignored", node.place)


def say_unknown(child: Element, place: Location, problems: Problems, where: str, known: tuple[str, ...]) -> None:
    """Report an unknown element."""
    name, parent = etree.QName(child), child.getparent()
    foreign = parent is not None and etree.QName(parent).namespace != name.namespace
    message = f"{where} has no element {quote(str(name.localname))}"
    say_kept(str(name.localname), message, place, problems, () if foreign else known)


def say_kept(name: str, message: str, place: Location, problems: Problems, known: tuple[str, ...]) -> None:
    """Add a remark on an unknown name that is kept, or a warning (W642) if it resembles a known one."""
    hint = did_you_mean(name, known)
    if hint:
        problems.warning("W642", f"{message}; it has no effect", place, hint)
    else:
        problems.info("I635", f"{message}; it is kept as it is", place)


def _kind(node: Node) -> tuple[Kind, bool]:
    """Return an object's kind, and whether that is sure: as written, as probably meant, or as it looks."""
    text = node.get("type")
    if text in KINDS:
        return KINDS[text], True
    if text is None:
        node.problems.error("E632", "the object has no attribute 'type'", node.place, f"one of {', '.join(Kind)}")
    else:
        meant, hint = rules.suggested(text, Kind)
        node.problems.error("E605", f"unknown object type {quote(text)}", node.place, hint)
        if meant is not None:
            return Kind(meant), True
    telltale = (kind for tag, kind in TELLTALES if node.element.find(f"{{*}}{tag}") is not None)
    return next(telltale, Kind.STATIC), False


KINDS = {str(kind): kind for kind in Kind}
KNOWN: dict[str, frozenset[str]] = {
    **{tag: frozenset(row.attributes) for tag, row in CHILDREN.items()},
    **{kind: frozenset(names) for kind, names in OBJECT_ATTRIBUTES.items()},
}
"""Attributes of the grammar by tag, and by kind for an object itself."""
NEEDED = {kind: [(tag, row) for tag, row in CHILDREN.items() if kind in row.needed] for kind in Kind}
ANY_ATTRIBUTE = tuple(name for names in OBJECT_ATTRIBUTES.values() for name in names)


def _keep_attributes(parts: Elements, node: Node, known: tuple[str, ...], quiet: tuple[str, ...] = ()) -> None:
    """Keep unknown attributes, and report all but the quiet ones."""
    for name in node.attributes:
        if name in known:
            continue
        if name not in quiet:
            message = f"'{node.tag}' has no attribute {quote(str(etree.QName(name).localname))}"
            say_kept(name, message, node.place, node.problems, () if name.startswith("{") else known)
        parts.extensions.append(attribute_text(node.element, name, node.path))


def _sort_in(parts: Elements, child: Element, namespace: str, inside: str) -> None:
    name, outer, kind = child.tag, parts.node, parts.kind
    tag = name[len(namespace) :] if name.startswith(namespace) else ""
    if tag not in CHILDREN or kind not in CHILDREN[tag].kinds:
        known = tuple(tag for tag, row in CHILDREN.items() if kind in row.kinds)
        if parts.sure or tag not in CHILDREN:
            place = place_of(child, outer.source, inside)
            say_unknown(child, place, outer.problems, f"an object of type '{kind}'", known)
        parts.extensions.append(element_text(child))
        return
    siblings = parts.children.setdefault(tag, [])
    node = Node(child, tag, len(siblings) + 1, outer.source, outer.problems, inside)
    siblings.append(node)
    if not KNOWN[tag].issuperset(node.attributes):
        _keep_attributes(parts, node, CHILDREN[tag].attributes)
    for grandchild in child.iterchildren("*") if len(child) else ():
        say_unknown(grandchild, node.place, node.problems, f"'{tag}'", ())
        parts.extensions.append(element_text(grandchild, node.path))


def _say_repeated(parts: Elements) -> None:
    for tag, nodes in parts.children.items():
        if len(nodes) > 1 and not CHILDREN[tag].many:
            message = f"the object has {len(nodes)} elements '{tag}'; the last one counts"
            parts.node.problems.warning("W636", message, nodes[-1].place, also=nodes[0].place)


def _say_missing(parts: Elements) -> None:
    for tag, row in NEEDED[parts.kind]:
        if tag in parts.children:
            continue
        message = f"the {parts.kind} object has no element '{tag}'"
        if row.absent:
            parts.node.problems.warning("W633", f"{message}; it is taken as {row.absent}", parts.node.place)
        else:
            parts.node.problems.error("E634", message, parts.node.place)
