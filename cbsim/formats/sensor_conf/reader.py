"""Sensor conf files: ``key = value`` lines that the simulator and a real driver share (docs/formats/sensor_conf.md).

Unknown keys belong to the driver and are kept. Files of other systems are read as far as they have this form; their
problems are then warnings, never errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from cbsim.errors import Problems, Severity, did_you_mean
from cbsim.formats.reader import Source
from cbsim.formats.sensor_conf.build import Values, build
from cbsim.formats.sensor_conf.keys import KEYS, REPEATED
from cbsim.formats.values import Complaint, quote
from cbsim.spec.number import number_text
from cbsim.spec.sensor import BINNED, SensorConf
from cbsim.units import DEGREE

__all__ = ["count", "read", "write"]

SETTING_LIMIT = 100_000  # records of one file; real ones have about twenty

COMMENT = re.compile(r"(?:^|(?<=\s))(?:#|//|;).*")
ASSIGNMENT = re.compile(r"(?P<key>[A-Za-z][A-Za-z0-9_.]*)(?P<sign>\s*[=:]\s*|\s+|$)(?P<value>.*)")
SECTION = re.compile(r"\[[^\[\]]*\]")
BLOCK = re.compile(r"[()]|(?i:define)\b.*|.*\($|\).*")  # Player and Stage put records into parentheses
FILE_NUMBER = re.compile(r"([0-9]{1,9})$")


def read(source: Source, problems: Problems) -> SensorConf | None:
    """Read a sensor conf file.

    Parameters
    ----------
    source : Source
        The text.
    problems : Problems
        Collects all problems, with their lines.

    Returns
    -------
    SensorConf or None
        With the defaults of its model, which also replace invalid values.
    """
    own = Problems()
    records, foreign = _records(source, own)
    settings = tuple((record.key, record.value) for record in records)
    values = _values(records, source, own)
    if not records:
        own.warning("W718", "the file has no settings; all values are defaults", source.at(1))
    elif not values.values and not values.refused:
        message = "none of the file's keys is one that a simulated sensor has; all values are defaults"
        own.warning("W718", message, source.at(1))
    conf = build(values, settings, _file_number(source.path), own)
    _pass_on(own, problems, foreign=foreign)
    return _without_errors(records, source, own) if foreign else conf


def _without_errors(records: list[_Setting], source: Source, found: Problems) -> SensorConf:
    """Make a conf of those of another system's settings that are not errors in one of ours."""
    wrong = {problem.location.line for problem in found.errors}
    while wrong:
        keys = {record.key for record in records if record.line in wrong}  # of repeated keys, no value is used
        records, found = [record for record in records if record.key not in keys], Problems()
        build(_values(records, source, found), (), None, found)
        wrong = {problem.location.line for problem in found.errors} & {record.line for record in records}
    settings = tuple((record.key, record.value) for record in records)
    return build(_values(records, source, Problems()), settings, _file_number(source.path), Problems())


def count(spec: SensorConf) -> dict[str, float]:
    """Return numbers of beams and layers, rate [Hz] and largest range [m]."""
    layers = len(spec.layer_pitches)
    return {"beams": spec.beams, "layers": layers, "rate": float(spec.rate), "max_range": float(spec.max_range)}


def write(spec: SensorConf) -> str:
    """Write a conf: its settings unchanged, then a key for every field without a setting.

    Keys that contradict a changed field are dropped.
    """
    return "".join(f"{_line(key, text)}\n" for key, text in _settings(spec)) or "# every value is the default\n"


def _settings(spec: SensorConf) -> list[tuple[str, str]]:
    settings = list(spec.settings)
    said = _conf_of(settings, spec)
    for row in FIELDS:
        if any(getattr(said, name) != getattr(spec, name) for name in row.names):
            settings = [pair for pair in settings if pair[0] not in row.keys]
            settings += row.texts(spec)
            said = _conf_of(settings, spec)
    return settings


def _line(key: str, text: str) -> str:
    """Write one setting; a blank before a comment sign would make it a comment."""
    return f"{key} ={text}" if not text or COMMENT.match(text) else f"{key} = {text}"


def _conf_of(settings: list[tuple[str, str]], spec: SensorConf) -> SensorConf:
    """Read settings back, as if they were in the file of the spec."""
    path = spec.location.path
    records = [_Setting(key, text, 1) for key, text in settings]
    values = _values(records, Source(path, "", b""), Problems())
    return build(values, tuple(settings), _file_number(path), Problems())


class _Field(NamedTuple):
    """Fields of a spec that are written together, their keys, and the function that writes them."""

    names: tuple[str, ...]
    keys: tuple[str, ...]
    texts: Callable[[SensorConf], list[tuple[str, str]]]


def _number(name: str, unit: float = 1.0) -> _Field:
    return _Field((name,), (name,), lambda spec: [(name, number_text(getattr(spec, name), unit))])


def _text(name: str) -> _Field:
    return _Field((name,), (name,), lambda spec: [(name, " ".join(getattr(spec, name).split()))])


def _flag(name: str) -> _Field:
    return _Field((name,), (name,), lambda spec: [(name, str(int(getattr(spec, name))))])


def _identifier(spec: SensorConf) -> list[tuple[str, str]]:
    return [] if spec.identifier is None else [("id", str(spec.identifier))]


def _view(spec: SensorConf) -> list[tuple[str, str]]:
    start, end = number_text(spec.start_angle, DEGREE), number_text(spec.end_angle, DEGREE)
    return [("start_angle", start), ("end_angle", end), ("samples", str(spec.beams))]


def _layers(spec: SensorConf) -> list[tuple[str, str]]:
    return [("layer_pitch", " ".join(number_text(pitch, DEGREE) for pitch in spec.layer_pitches))]


def _list(name: str, unit: float = 1.0) -> _Field:
    return _Field((name,), (name,), lambda spec: _listed(name, getattr(spec, name), unit))


def _listed(key: str, values: tuple[float, ...], unit: float) -> list[tuple[str, str]]:
    return [(key, " ".join(number_text(value, unit) for value in values))] if values else []


def _windows(name: str, key: str, unit: float = 1.0) -> _Field:
    return _Field(
        (name,), (key,), lambda spec: [row for pair in getattr(spec, name) for row in _listed(key, pair, unit)]
    )


VIEW_KEYS = ("start_angle", "end_angle", "fov", "center_angle", "angle_zero", "resolution", "samples")

FIELDS = (
    _text("model"), _text("type"), _Field(("identifier",), ("id",), _identifier), _text("name"), _flag("enabled"),
    _Field(("start_angle", "end_angle", "beams"), VIEW_KEYS, _view), _number("rate"),
    _Field(("layer_pitches",), ("layers", "vertical_fov", "layer_pitch"), _layers),
    _number("min_range"), _number("max_range"), _number("range_resolution"),
    _list("position"), _text("origin"),
    _number("roll", DEGREE), _number("pitch", DEGREE), _number("yaw", DEGREE), _flag("upside_down"),
    _number("range_sigma"), _number("angle_sigma", DEGREE), _number("dropout"), _text("no_return"),
    _number("latency"), _number("scan_time"), _windows("outages", "outage"), _windows("freezes", "freeze"),
    _windows("blind", "blind", DEGREE), _number("range_sigma_slope"), _number("range_bias"), _number("false_returns"),
    _list("bins"), _number("bin_ratio"), *(_list(name, DEGREE if name.startswith("yaw") else 1.0) for name in BINNED),
    _number("correlation_time"), _number("detection_time"), _number("flip_rate"), _number("flip_speed"),
    _number("false_positives"), _number("min_visible"), _number("position_sigma"), _number("altitude_sigma"),
    _list("position_bias"), _number("position_drift"), _number("heading_drift", DEGREE),
    _number("yaw_rate_drift", DEGREE), _number("drift_time"), _number("position_resolution"),
    _number("velocity_sigma"), _number("heading_sigma", DEGREE), _number("yaw_rate_sigma", DEGREE),
    _number("heading_bias", DEGREE), _number("yaw_rate_bias", DEGREE), _number("outage_drift"),
    _number("wheel_radius"), _number("speed_scale"), _number("ticks"),
)  # fmt: skip
"""The model comes first, because it decides what the others need not say."""


# --- reading ---------------------------------------------------------------------------------------------------------
class _Setting(NamedTuple):
    key: str
    value: str
    line: int


def _records(source: Source, problems: Problems) -> tuple[list[_Setting], bool]:
    """Collect the assignments (W708 for other lines, E719 beyond the limit), and recognise files of other systems."""
    records: list[_Setting] = []
    foreign = False
    for line, raw in source.lines():
        text = COMMENT.sub("", raw, count=1).strip()
        if not text or SECTION.fullmatch(text):
            continue
        if len(records) == SETTING_LIMIT:
            problems.error("E719", f"more than {SETTING_LIMIT} settings; the rest is not read", source.at(line))
            break
        match = ASSIGNMENT.fullmatch(text)
        block = BLOCK.fullmatch(text) is not None
        foreign = foreign or block
        if match is None or block or not _assigns(match):
            problems.warning("W708", f"{quote(text)} is no setting and is ignored", source.at(line), "key = value")
            continue
        records.append(_Setting(match["key"].lower(), match["value"], line))
    return records, foreign


def _assigns(match: re.Match[str]) -> bool:
    """Return whether a line assigns something; a lone word does not, but for a known key, whose value is missing."""
    return bool(match["value"] or match["sign"] or match["key"].lower() in KEYS)


def _values(records: list[_Setting], source: Source, problems: Problems) -> Values:
    """Convert the values of known keys; the last one is used, unknown ones are the driver's."""
    found = Values({}, {}, source.at(1))
    lines: dict[str, int] = {}
    for key, text, line in records:
        place = source.at(line)
        if key in lines and key not in REPEATED:
            message = f"'{key[:60]}' is given twice; the last one counts"
            problems.warning("W707", message, place, also=source.at(lines[key]))
        lines[key] = line
        if key not in KEYS:
            message = f"{quote(key)} is not a setting of a simulated sensor; it is kept for the driver"
            problems.info("I706", message, place, _misspelt(key))
            continue
        before = found.values.pop(key, ()) if key in REPEATED else ()
        if key not in REPEATED:
            found.values.pop(key, None)
            found.refused.discard(key)
        value = KEYS[key](text) if text else Complaint(f"'{key}' has no value")
        if not isinstance(value, Complaint):
            found.values[key], found.places[key] = (*before, value) if key in REPEATED else value, place
        else:
            if before:
                found.values[key] = before
            found.refused.add(key)
            code = "E709" if not text else "E702" if value.out_of_range else "E701"
            problems.error(code, value.message, place, value.hint)
    return found


def _misspelt(key: str) -> str:
    """Suggest a known key only if it is very similar, because most unknown keys are a driver's own."""
    return did_you_mean(key[:60], KEYS, near=0.8)


def _file_number(path: str) -> int | None:
    match = FILE_NUMBER.search(Path(path).stem)
    return None if match is None else int(match[1])


def _pass_on(own: Problems, problems: Problems, *, foreign: bool) -> None:
    """Pass problems on; in a file of another system errors are warnings, but for the bounds that protect memory."""
    for problem in own:
        lenient = foreign and problem.severity is Severity.ERROR and problem.code not in BOUNDS
        problems.add(replace(problem, severity=Severity.WARNING, code=f"W{problem.code[1:]}") if lenient else problem)


BOUNDS = ("E717", "E719")
