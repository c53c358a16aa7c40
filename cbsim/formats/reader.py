"""Source texts with locations, and hardened XML and YAML parsers with line numbers, shared by all readers.

Sizes, depths and counts are bounded, because input may be hostile.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import yaml
from lxml import etree

from cbsim.errors import Location, Problems

__all__ = [
    "DEPTH_LIMIT",
    "XML_NODE_LIMIT",
    "YAML_NODE_LIMIT",
    "Source",
    "quiet_arithmetic",
    "read_xml",
    "read_yaml",
    "yaml_lines",
]

DEPTH_LIMIT = 64  # nesting of XML elements or YAML nodes; real files stay below 10
XML_NODE_LIMIT = 5_000_000  # elements and comments, of which a tree takes up to 200 bytes each
YAML_NODE_LIMIT = 1_000_000  # counting repeated aliases

LINE = re.compile(r"([^\r\n]*)(?:\r\n?|\n|\Z)")
XML_VERSION = re.compile(rb"(\A(?:\xef\xbb\xbf)?<\?xml\s+version\s*=\s*[\"'])([0-9.]{1,16})(?=[\"'])")
XML_ENCODING = re.compile(rb"<\?xml[^>]*\sencoding\s*=")

LINE_END = re.compile(r"\r\n?|\n")
YAML_ENDS = re.compile("[\x85\u2028\u2029]")
YAML_LINE = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml, where the wheel has it, is far faster

Element = etree._Element


def quiet_arithmetic() -> AbstractContextManager[Any]:
    """Suppress numpy's warnings of results that are not finite, which readers check themselves."""
    numpy = sys.modules.get("numpy")
    return nullcontext() if numpy is None else numpy.errstate(all="ignore")


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one file, with its path.

    Attributes
    ----------
    path : str
        The file, as the user named it.
    text : str
        Its whole text; a byte order mark is dropped.
    data : bytes
        The bytes as they are.
    """

    path: str
    text: str
    data: bytes

    @classmethod
    def decode(cls, path: str | Path, data: bytes) -> Source:
        """Decode bytes as UTF-8 (or UTF-16 with its mark), else as Latin-1, which cannot fail."""
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return cls(str(path), data.decode("utf-16", errors="replace"), data)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
        return cls(str(path), text, data)

    def at(self, line: int | None, inside: str = "") -> Location:
        """Locate a 1-based line of this source."""
        return Location(self.path, line, None, inside)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield each line with its 1-based number; LF, CR LF and CR end a line. Nothing is copied in advance."""
        return enumerate((match[1] for match in LINE.finditer(self.text)), 1)

    @property
    def folder(self) -> Path:
        """Folder of relative names in this file."""
        return Path(self.path).parent


def read_xml(source: Source, problems: Problems) -> Element | None:
    """Parse XML without entities, network, external files or deep nesting.

    Returns
    -------
    Element or None
        The root; None if the text is not well-formed (every error is then in `problems`: E020 not well-formed,
        E021 entity declaration or external reference, E022 nested too deep, E023 too many elements). A version of
        XML that does not exist is read as 1.0, with a warning (W020): the robots that come with Bullet say 0.0. So
        is Latin-1 that says no encoding.
    """
    if source.data.count(b"<") - source.data.count(b"</") > XML_NODE_LIMIT:
        problems.error("E023", f"XML has more than {XML_NODE_LIMIT} elements", source.at(1))
        return None
    data = _versioned(source, problems)
    parser = _parser()
    try:
        root = _well_formed(data, parser)
        if root is None:
            root = _read_as_latin(source, problems)
    except (ValueError, LookupError) as reason:
        problems.error("E020", f"not well-formed XML: {reason}", source.at(1))
        return None
    if root is None:
        errors = parser.error_log.filter_from_errors()
        for entry in errors:
            message = f"not well-formed XML: {entry.message.strip()[:300]}"
            problems.error("E020", message, source.at(max(entry.line, 1)))
        if not errors:
            problems.error("E020", "not well-formed XML: the document is empty", source.at(1))
        return None
    return root if _is_harmless(root, source, problems) else None


def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=False,
        recover=False,
    )


def _well_formed(data: bytes, parser: etree.XMLParser) -> Element | None:
    """Parse bytes; None if there is any error: lxml overlooks an undeclared prefix that a mere warning follows."""
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return None
    return None if parser.error_log.filter_from_errors() else root


def _read_as_latin(source: Source, problems: Problems) -> Element | None:
    """Decode a file without a declared encoding as Latin-1 if it is not UTF-8, as old programs write it; else None."""
    data = source.data
    if data.isascii() or XML_ENCODING.match(data) or source.text.encode("latin-1", errors="replace") != data:
        return None
    try:
        root = _well_formed(source.text.encode(), _parser())
    except ValueError:
        return None
    if root is None:
        return None
    problems.warning("W020", "the text is not UTF-8, and says no encoding; it is read as Latin-1", source.at(1))
    return root


def _versioned(source: Source, problems: Problems) -> bytes:
    """Return the bytes, declared to be XML 1.0 where they claim another major version."""
    declared = XML_VERSION.match(source.data)
    if declared is None or declared[2].startswith(b"1."):
        return source.data
    version = declared[2].decode()
    problems.warning("W020", f"there is no XML of version {version}; read as 1.0", source.at(1))
    return declared[1] + b"1.0" + source.data[declared.end() :]


def _is_harmless(root: Element, source: Source, problems: Problems) -> bool:
    """Refuse entity declarations, external references and deep nesting; a bare DOCTYPE is fine."""
    doctype = root.getroottree().docinfo
    internal = doctype.internalDTD
    entities = list(internal.iterentities()) if internal is not None else []  # type: ignore[attr-defined]
    if entities or doctype.system_url or doctype.public_id:  # type: ignore[attr-defined]
        problems.error("E021", "entity declarations and external references are not accepted", source.at(1))
        return False
    level = [root]
    for _ in range(DEPTH_LIMIT):
        level = [child for element in level for child in element]
    if level:
        place = source.at(level[0].sourceline)  # type: ignore[arg-type]
        problems.error("E022", f"elements are nested deeper than {DEPTH_LIMIT}", place)
    return not level


def yaml_lines(text: str) -> Callable[[int], int]:
    """Make the function from lines as YAML 1.1 counts them, which end at three more letters, to those of editors."""
    if not YAML_ENDS.search(text):
        return lambda line: line
    true = list(accumulate((end[0] in ("\r\n", "\r", "\n") for end in YAML_LINE.finditer(text)), initial=1))
    return lambda line: true[min(line, len(true)) - 1]


def read_yaml(source: Source, problems: Problems) -> yaml.Node | None:
    """Parse one YAML document to its node graph, whose nodes know their lines.

    Returns
    -------
    Node or None
        None if it is not well-formed (E020), too deep (E022) or, its aliases expanded, too large (E023).
    """
    line_of = yaml_lines(source.text)
    try:
        depth, aliases = 0, False
        for count, event in enumerate(_yaml_events(source.text), 1):
            depth += DEEPER.get(type(event), 0)
            aliases = aliases or type(event) is yaml.AliasEvent
            if depth > DEPTH_LIMIT:
                place = source.at(line_of(_line(event)))
                problems.error("E022", f"YAML is nested deeper than {DEPTH_LIMIT}", place)
                return None
            if count > YAML_NODE_LIMIT:
                place = source.at(line_of(_line(event)))
                problems.error("E023", f"YAML has more than {YAML_NODE_LIMIT} nodes", place)
                return None
        node = yaml.compose(source.text, Loader=YAML_LOADER)
    except yaml.YAMLError as reason:
        mark = getattr(reason, "problem_mark", None) or getattr(reason, "context_mark", None)
        what = getattr(reason, "problem", None) or str(reason).splitlines()[0]
        problems.error("E020", f"not well-formed YAML: {what}", source.at(_line_there(line_of, mark, source)))
        return None
    except ValueError as reason:  # a character that cannot be encoded, an impossible date
        problems.error("E020", f"not well-formed YAML: {reason}", source.at(1))
        return None
    if node is not None and aliases and _expanded_size(node, {}) > YAML_NODE_LIMIT:
        problems.error("E023", f"YAML aliases expand to more than {YAML_NODE_LIMIT} nodes", source.at(1))
        return None
    return node


def _line_there(line_of: Callable[[int], int], mark: Any, source: Source) -> int:
    """Find the line of an error; parts missing at the end of a file are reported at its last line."""
    return 1 if mark is None else min(line_of(mark.line + 1), 1 + len(LINE_END.findall(source.text)))


def _line(event: yaml.Event) -> int:
    return 1 if event.start_mark is None else event.start_mark.line + 1


DEEPER = {
    yaml.SequenceStartEvent: 1,
    yaml.MappingStartEvent: 1,
    yaml.SequenceEndEvent: -1,
    yaml.MappingEndEvent: -1,
}


def _yaml_events(text: str) -> Iterator[yaml.Event]:
    loader = YAML_LOADER(text)
    try:
        while (event := loader.get_event()) is not None:
            yield event
            if type(event) is yaml.StreamEndEvent:
                return
    finally:
        loader.dispose()


def _expanded_size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """Count nodes with every alias expanded; a node inside itself counts as infinitely many."""
    if id(node) in sizes:
        return sizes[id(node)]
    sizes[id(node)] = YAML_NODE_LIMIT + 1  # for cycles
    children: list[yaml.Node] = []
    if isinstance(node, yaml.MappingNode):
        children = [child for pair in node.value for child in pair]
    elif isinstance(node, yaml.SequenceNode):
        children = list(node.value)
    sizes[id(node)] = 1 + sum(_expanded_size(child, sizes) for child in children)
    return sizes[id(node)]
