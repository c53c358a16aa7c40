"""Keys of sensor conf files: how each value is read (`reference: cajunbot.md` §6, the key table).

Each row of `KEYS` turns a value's text into a value, or says why it cannot. Lengths are metres, angles leave here in
radians.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cbsim.errors import did_you_mean
from cbsim.formats.values import Complaint, Quantity, parse_number, parse_whole, quote
from cbsim.spec.objects import Triple
from cbsim.units import DEGREE

__all__ = ["BEAM_LIMIT", "KEYS", "LAYER_LIMIT", "TYPES", "Convert"]

BEAM_LIMIT = 100_000  # beams of one layer
LAYER_LIMIT = 1024
FARTHEST = 1e5  # [m] that any sensor on a vehicle sees; ten times its horizon

TYPES = ("ladar", "radar", "gps", "ins", "camera")
SYNONYMS = {"lidar": "ladar", "laser": "ladar"}
FLAGS = {"1": True, "true": True, "on": True, "yes": True, "0": False, "false": False, "off": False, "no": False}

Convert = Callable[[str], Any]


def _parts(text: str) -> list[str]:
    """Split a list at commas and blanks; brackets around it, as Player writes them, are dropped."""
    return [part for part in re.split(r"[,\s]+", text.strip("[]() \t")) if part]


def _single(text: str, name: str) -> str | Complaint:
    parts = _parts(text)
    return parts[0] if len(parts) == 1 else Complaint(f"{name} must be one value, not {quote(text)}")


def _quantity(quantity: Quantity, zero: tuple[str, ...] = ()) -> Convert:
    """Read one number; the words of `zero` stand for 0."""

    def convert(text: str) -> Any:
        part = _single(text, quantity.name)
        if isinstance(part, Complaint):
            return part
        return 0.0 if part.lower() in zero else parse_number(part, quantity)

    return convert


def _zero_or(quantity: Quantity) -> Convert:
    """Read 0, or a number in a range that begins above it."""

    def convert(text: str) -> Any:
        part = _single(text, quantity.name)
        if isinstance(part, Complaint):
            return part
        value, zero = parse_number(part, quantity), parse_number(part, quantity._replace(least=0.0, most=0.0))
        if not isinstance(zero, Complaint):
            return zero
        if isinstance(value, Complaint) and value.out_of_range:
            return value._replace(message=f"{quantity.name} must be 0, or {quantity.range}, not {quote(part)}")
        return value

    return convert


def _whole(name: str, least: int, most: int) -> Convert:
    def convert(text: str) -> Any:
        part = _single(text, name)
        return part if isinstance(part, Complaint) else parse_whole(part, name, least, most)

    return convert


def _word(name: str, words: tuple[str, ...]) -> Convert:
    def convert(text: str) -> Any:
        word = text.strip().strip('"').lower()
        hint = did_you_mean(word, words) or f"one of {', '.join(words)}"
        return word if word in words else Complaint(f"unknown {name} {quote(text)}", hint)

    return convert


def _flag(name: str) -> Convert:
    def convert(text: str) -> Any:
        return FLAGS.get(text.strip().lower(), Complaint(f"{name} must be 0 or 1, not {quote(text)}"))

    return convert


def _numbers(quantity: Quantity, count: int | None) -> Convert:
    """Read several numbers; as a Triple where there must be three."""

    def convert(text: str) -> Any:
        parts = _parts(text)
        if not parts or (count is not None and len(parts) != count) or len(parts) > LAYER_LIMIT:
            wanted = f"{count} numbers" if count is not None else f"1 to {LAYER_LIMIT} numbers"
            return Complaint(f"{quantity.name} must be {wanted}, not {len(parts)}: {quote(text)}")
        values = [parse_number(part, quantity) for part in parts]
        wrong = next((value for value in values if isinstance(value, Complaint)), None)
        if wrong is not None:
            return wrong
        return Triple(*values) if count == 3 else tuple(values)  # type: ignore[arg-type]

    return convert


def _text(text: str) -> str:
    stripped = text.strip()
    return stripped[1:-1] if len(stripped) > 1 and stripped[0] == stripped[-1] == '"' else stripped


def _name_of(text: str) -> str:
    """Read the name of a type or model: case, quotes, blanks and hyphens do not matter."""
    word = _text(text).lower().replace("-", "_").replace(" ", "_")
    return SYNONYMS.get(word, word)


def _angle(name: str, **bounds: float) -> Convert:
    return _quantity(Quantity(name, "deg", DEGREE, **bounds))


KEYS: dict[str, Convert] = {
    "type": _name_of,
    "model": _name_of,
    "id": _whole("id", 0, 2**31 - 1),
    "name": _text,
    "enabled": _flag("enabled"),
    "start_angle": _angle("start_angle", least=-720.0, most=720.0),
    "end_angle": _angle("end_angle", least=-720.0, most=720.0),
    "fov": _angle("fov", least=1e-4, most=360.0),
    "center_angle": _angle("center_angle", least=-360.0, most=360.0),
    "angle_zero": _word("angle_zero", ("forward", "right")),
    "resolution": _angle("resolution", least=1e-4, most=360.0),
    "samples": _whole("samples", 1, BEAM_LIMIT),
    "min_range": _quantity(Quantity("min_range", "m", least=0.0, most=FARTHEST)),
    "max_range": _quantity(Quantity("max_range", "m", least=1e-3, most=FARTHEST)),
    "range_resolution": _zero_or(Quantity("range_resolution", "m", least=1e-6, most=1e3)),
    "rate": _quantity(Quantity("rate", "Hz", least=1e-3, most=1e4)),
    "layers": _whole("layers", 1, LAYER_LIMIT),
    "vertical_fov": _angle("vertical_fov", least=0.0, most=180.0),
    "layer_pitch": _numbers(Quantity("layer_pitch", "deg", DEGREE, least=-90.0, most=90.0), None),
    "position": _numbers(Quantity("position", "m", least=-1e3, most=1e3), 3),
    "origin": _word("origin", ("footprint", "rear_axle", "center")),
    "roll": _angle("roll", least=-360.0, most=360.0),
    "pitch": _angle("pitch", least=-360.0, most=360.0),
    "yaw": _angle("yaw", least=-360.0, most=360.0),
    "upside_down": _flag("upside_down"),
    "range_sigma": _quantity(Quantity("range_sigma", "m", least=0.0, most=1e3)),
    "angle_sigma": _angle("angle_sigma", least=0.0, most=180.0),
    "dropout": _quantity(Quantity("dropout", "", least=0.0, most=1.0)),
    "no_return": _word("no_return", ("max", "inf", "nan")),
    "latency": _quantity(Quantity("latency", "s", least=0.0, most=60.0)),
    "scan_time": _quantity(Quantity("scan_time", "s", least=0.0, most=1e3), zero=("off",)),
}
"""Key → how its value is read; every other key belongs to the real driver and is kept."""
