r"""MDF, DARPA's mission data file, and its dialects: text ↔ `Mission`.

As tolerant as the reader of networks, whose line handling it shares: sections and header records are recognised by
keyword, counts are advisory, sections may be missing, unknown records are kept and written back.
See ``docs/formats/mdf.md``.

>>> from cbsim.formats.reader import Source
>>> text = "MDF_name\tm\nRNDF\tr\ncheckpoints\nnum_checkpoints\t2\n4\n7\nend_checkpoints\nend_file\n"
>>> mission = read(Source("m.mdf", text, text.encode()), Problems())
>>> [checkpoint.number for checkpoint in mission.checkpoints], mission.speed_limits
([4, 7], None)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cbsim.errors import Problems
from cbsim.formats.reader import Source
from cbsim.formats.rndf.cursor import Cursor
from cbsim.formats.rndf.lexical import COLUMNS, WHOLE_MOST, Parser, mph, name_faults, read_lines, whole
from cbsim.formats.rndf.writer import given, phrase, record
from cbsim.formats.values import Complaint, quote
from cbsim.spec.mission import Mission, MissionCheckpoint, SpeedLimit
from cbsim.spec.number import number_text
from cbsim.spec.road import Extension
from cbsim.units import MPH

__all__ = ["count", "read", "write"]


@dataclass(frozen=True, slots=True)
class Section:
    """A list of rows: keyword, columns, and the spec's record of a row."""

    name: str
    columns: Mapping[str, Parser]
    make: Callable[..., Any]

    @property
    def count(self) -> str:
        """Keyword of its advisory count."""
        return f"num_{self.name}"


SECTIONS: Mapping[str, Section] = {
    section.name: section
    for section in (
        Section("checkpoints", {"a checkpoint number": whole}, MissionCheckpoint),
        Section(
            "speed_limits",
            {"a segment or zone": whole, "a minimum speed": mph("the minimum"), "a maximum speed": mph("the maximum")},
            SpeedLimit,
        ),
    )
}
ALIASES: Mapping[str, Sequence[str]] = dict.fromkeys(("RNDF", "RNDF_name"), ("RNDF", "RNDF_name"))
NAMES = ("MDF_name", "RNDF", "RNDF_name")
HEADER = (*NAMES, "format_version", "creation_date")
COUNTS: Mapping[str, Section] = {section.count: section for section in SECTIONS.values()}
ENDS: Mapping[str, Section] = {f"end_{name}": section for name, section in SECTIONS.items()}
KEYWORDS = {word.lower(): word for word in (*HEADER, *SECTIONS, *COUNTS, *ENDS, "end_file")}


def read(source: Source, problems: Problems) -> Mission | None:
    """Read a mission, collecting all problems.

    Parameters
    ----------
    source : Source
        The file.
    problems : Problems
        Collects problems; with an error among them the mission is as far as it could be understood.

    Returns
    -------
    Mission or None
        None if there is not a single record of the format.
    """
    lines = read_lines(source, problems)
    if lines is None:
        return None
    reading = Reading(source.path, lines, problems)
    read_records(reading)
    if reading.is_empty:
        problems.error("E116", "no record of a mission was found", source.at(1))
        return None
    check(reading)
    return build(reading)


def count(mission: Mission) -> dict[str, int | float]:
    """Count the records of a mission, including repeated checkpoints."""
    return {"checkpoints": len(mission.checkpoints), "speed_limits": len(mission.speed_limits or ())}


def write(mission: Mission) -> str:
    """Write a mission as MDF, in DARPA's order, with counts that equal the records."""
    return "".join(f"{line}\n" for line in _lines(mission))


def _lines(mission: Mission) -> Iterator[str]:
    yield record("MDF_name", phrase(mission.name))
    yield record(mission.network_key, phrase(mission.network_name))
    yield from given("format_version", phrase(mission.format_version))
    yield from given("creation_date", phrase(mission.creation_date))
    yield from (phrase(extension.text) for extension in mission.extensions)
    yield "checkpoints"
    yield record("num_checkpoints", len(mission.checkpoints))
    yield from (record(checkpoint.number) for checkpoint in mission.checkpoints)
    yield "end_checkpoints"
    if mission.speed_limits is not None:
        yield "speed_limits"
        yield record("num_speed_limits", len(mission.speed_limits))
        for limit in mission.speed_limits:
            yield record(limit.segment, number_text(limit.minimum, MPH), number_text(limit.maximum, MPH))
        yield "end_speed_limits"
    yield "end_file"


class Reading(Cursor):
    """State of a pass over a mission.

    Attributes
    ----------
    values, places : dict
        Values and locations of header records and counts by keyword; sections have locations only.
    rows : dict of str to list
        The rows of each section.
    broken : dict of str to int
        Numbers of rows of each section that could not be parsed.
    extensions : list of Extension
        Unknown records.
    open : Section or None
        The open section.
    """

    def __init__(self, path: str, lines: list[str], problems: Problems) -> None:
        super().__init__(path, lines, problems)
        self.values: dict[str, Any] = {}
        self.places: dict[str, int] = {}
        self.rows: dict[str, list[Any]] = {}
        self.broken = dict.fromkeys(SECTIONS, 0)
        self.extensions: list[Extension] = []
        self.open: Section | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no record of the format has been read yet."""
        return not (self.values or self.rows)

    def begin(self, section: Section, line: int) -> None:
        """Begin a section, and end one that is still open."""
        if self.open is not None and self.open is not section:
            self.unclosed(self.open, line, f" before '{section.name}'")
        self.open = section
        self.places.setdefault(section.name, line)
        self.rows.setdefault(section.name, [])

    def unclosed(self, section: Section, line: int, where: str = "") -> None:
        """Report a section without end."""
        message = f"'{section.name}' is not closed: expected 'end_{section.name}'{where}"
        self.problems.error("E101", message, self.at(line), also=self.at(self.places[section.name]))

    def is_repeated(self, keyword: str, line: int) -> bool:
        """Report a repeated record, by any of its keywords."""
        first = next((self.places[name] for name in ALIASES.get(keyword, (keyword,)) if name in self.places), None)
        if first is None:
            self.places[keyword] = line
            return False
        message = f"'{keyword}' is given twice; the first holds"
        self.problems.warning("W112", message, self.at(line), also=self.at(first))
        return True

    def found(self, section: Section) -> int:
        """Count the rows of a section, including malformed ones."""
        return len(self.rows.get(section.name, ())) + self.broken[section.name]


def read_records(reading: Reading) -> None:
    """Read every line up to ``end_file``."""
    for line, text in enumerate(reading.lines, 1):
        words = text.split(None, COLUMNS)
        if words:
            ACTIONS.get(words[0], take_other)(reading, words, line)
        if reading.end:
            break
    reading.remark_ends()
    section = reading.open
    if section is not None and not reading.end and reading.values.get(section.count) != reading.found(section):
        reading.unclosed(section, reading.last_line)  # a file that ends after its last row is complete


def take_header(reading: Reading, words: list[str], line: int) -> None:
    """Take a header record, the rest of its line; the first one is valid."""
    if not reading.is_repeated(words[0], line):
        reading.values[words[0]] = reading.rest(words, line)


def take_section(reading: Reading, words: list[str], line: int) -> None:
    """Begin a section."""
    section = SECTIONS[words[0]]
    reading.remark_rest(words, line, 1)
    if section.name in reading.places:
        also = reading.at(reading.places[section.name])
        reading.problems.error("E101", f"'{section.name}' begins a second time", reading.at(line), also=also)
    reading.begin(section, line)


def take_count(reading: Reading, words: list[str], line: int) -> None:
    """Take an advisory count, which also begins its section."""
    keyword = words[0]
    section = COUNTS[keyword]
    if reading.open is not section:
        reading.problems.error("E101", f"'{keyword}' stands outside '{section.name}'", reading.at(line))
        reading.begin(section, line)
    if reading.is_repeated(keyword, line):
        return
    value = whole(words[1]) if len(words) > 1 else Complaint("expected a value, found nothing")
    reading.values[keyword] = None if isinstance(value, Complaint) else value
    if isinstance(value, Complaint):
        reading.problems.error("E007", f"{keyword}: {value.message}", reading.at(line))
    reading.remark_rest(words, line, 2)


def take_end(reading: Reading, words: list[str], line: int) -> None:
    """End a section."""
    section = ENDS[words[0]]
    reading.remark_rest(words, line, 1)
    if reading.open is section:
        reading.open = None
    else:
        message = f"'{words[0]}' closes nothing: '{section.name}' is not open"
        reading.problems.error("E101", message, reading.at(line))


def take_end_file(reading: Reading, words: list[str], line: int) -> None:
    """End the file."""
    reading.end = line
    reading.remark_rest(words, line, 1)
    if reading.open is not None:
        reading.unclosed(reading.open, line, " before 'end_file'")


def take_other(reading: Reading, words: list[str], line: int) -> None:
    """Take a row, or an unknown record."""
    word = words[0]
    known = KEYWORDS.get(word.lower())
    if word[0] in "0123456789+-.":
        take_row(reading, words, line)
    elif known:
        reading.remark_spelling(word, known, line)
        ACTIONS[known](reading, [known, *words[1:]], line)
    elif reading.is_empty:
        reading.stray.append(line)
    else:
        hint = reading.hint(word, KEYWORDS.values())
        reading.problems.warning("W001", f"unknown keyword {quote(word)}; it is kept as it is", reading.at(line), hint)
        reading.extensions.append(Extension(reading.text(line), reading.at(line)))


def take_row(reading: Reading, words: Sequence[str], line: int) -> None:
    """Take a row; outside a section, the number of columns determines its section."""
    section = reading.open
    if section is None:
        section = SECTIONS["checkpoints" if len(words) == 1 else "speed_limits"]
        message = f"{quote(' '.join(words))} stands outside a section; it is taken into '{section.name}'"
        reading.problems.error("E101", message, reading.at(line))
        reading.begin(section, line)
        reading.open = None
    values = [parse(word) for parse, word in zip(section.columns.values(), words, strict=False)]
    faults = [value.message for value in values if isinstance(value, Complaint)]
    faults += [f"expected {what}, found nothing" for what in [*section.columns][len(values) :]]
    for fault in faults:
        reading.problems.error("E007", f"{section.name}: {fault}", reading.at(line))
    reading.remark_rest(words, line, len(section.columns))
    if faults:
        reading.broken[section.name] += 1
    else:
        reading.rows[section.name].append(section.make(*values, reading.at(line)))


def check(reading: Reading) -> None:
    """Report names, counts, and repeated or impossible numbers."""
    _check_names(reading)
    for section in SECTIONS.values():
        _check_count(reading, section)
    _check_checkpoints(reading)
    _check_limits(reading)


def _check_names(reading: Reading) -> None:
    for keyword in ("MDF_name", "RNDF"):
        if not any(name in reading.values for name in ALIASES.get(keyword, (keyword,))):
            reading.problems.warning("W115", f"'{keyword}' is missing", reading.at(1))
    for keyword in NAMES:
        if keyword in reading.values:
            name = reading.values[keyword]
            faults = name_faults(name) if name else "nothing"
            if faults:
                place = reading.at(reading.places[keyword])
                reading.problems.warning(
                    "W009", f"'{keyword}' {quote(name)} holds {faults}", place, "expected one word"
                )


def _check_count(reading: Reading, section: Section) -> None:
    found, name = reading.found(section), section.name
    place = reading.at(reading.places.get(section.count, reading.places.get(name, 1)))
    said = reading.values.get(section.count, found)
    if section.count not in reading.values and name in reading.rows:
        reading.problems.warning("W102", f"'{section.count}' is missing; there are {found}", place)
    elif said not in (None, found):
        reading.problems.warning("W102", f"'{section.count}' is {said}, but there are {found}", place)
    if name == "checkpoints" and not found:
        reading.problems.error("E116", "the mission has no checkpoint", place)


def _check_checkpoints(reading: Reading) -> None:
    wrong = [row for row in reading.rows.get("checkpoints", ()) if not 1 <= row.number <= WHOLE_MOST]
    if wrong:
        message = f"checkpoints not between 1 and {WHOLE_MOST}: {len(wrong)}; here is the first, '{wrong[0].number}'"
        reading.problems.warning("W007", message, wrong[0].location)


def _check_limits(reading: Reading) -> None:
    first: dict[int, SpeedLimit] = {}
    for limit in reading.rows.get("speed_limits", ()):
        other = first.setdefault(limit.segment, limit)
        if other is not limit:
            lines = f"on lines {other.location.line} and {limit.location.line}"
            message = f"segment or zone '{limit.segment}' has two speed limits, {lines}"
            reading.problems.error("E103", message, limit.location, also=other.location)


def build(reading: Reading) -> Mission:
    """Build the spec."""
    values = reading.values
    key = next((keyword for keyword in ALIASES["RNDF"] if keyword in values), "RNDF")
    limits = reading.rows.get("speed_limits")
    return Mission(
        name=values.get("MDF_name", ""),
        network_name=values.get(key, ""),
        checkpoints=tuple(reading.rows.get("checkpoints", ())),
        speed_limits=None if limits is None else tuple(limits),
        format_version=values.get("format_version", ""),
        creation_date=values.get("creation_date", ""),
        network_key=key,
        checkpoint_count=values.get("num_checkpoints"),
        speed_limit_count=values.get("num_speed_limits"),
        extensions=tuple(reading.extensions),
        location=reading.at(1),
    )


Action = Callable[[Reading, list[str], int], None]

ACTIONS: Mapping[str, Action] = {
    **dict.fromkeys(HEADER, take_header),
    **dict.fromkeys(SECTIONS, take_section),
    **dict.fromkeys(COUNTS, take_count),
    **dict.fromkeys(ENDS, take_end),
    "end_file": take_end_file,
}
