"""Keys of sensor conf files, and parsers of their values (docs/formats/sensor_conf.md).

Each row of `KEYS` parses a text to a value or an error message. Lengths are in metres, returned angles in radians.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from cbsim.errors import did_you_mean
from cbsim.formats.values import Complaint, Quantity, parse_number, parse_whole, quote
from cbsim.spec.objects import Triple
from cbsim.spec.sensor import SIMULATED
from cbsim.units import DEGREE

__all__ = ["BEAM_LIMIT", "KEYS", "LAYER_LIMIT", "ONLY", "REPEATED", "TYPES", "Convert"]

BEAM_LIMIT = 100_000  # beams of one layer
LAYER_LIMIT = 1024
FARTHEST = 1e5  # [m] largest range of a sensor on a vehicle; ten times its horizon

TYPES = (*SIMULATED, "camera")
SYNONYMS = {"lidar": "ladar", "laser": "ladar", "gnss": "gps", "imu": "ins", "object_list": "objects"}
LONGEST = 1e6  # [s] largest duration of a run
FROZEN = 60.0  # [s] largest time of a frozen scan: every Snapshot keeps the motion of vehicles for as long
FLAGS = {"1": True, "true": True, "on": True, "yes": True, "0": False, "false": False, "off": False, "no": False}

Convert = Callable[[str], Any]


def _parts(text: str) -> list[str]:
    """Split a list at commas and blanks; Player's brackets around it are dropped."""
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


def _window(quantity: Quantity, widest: float) -> Convert:
    """Read from and to; the second must be greater than the first, by at most `widest` (in the file's unit)."""
    pair = _numbers(quantity, 2)

    def convert(text: str) -> Any:
        values = pair(text)
        if isinstance(values, Complaint):
            return values
        start, end = values
        if 0.0 < end - start <= widest * quantity.factor + 1e-9:
            return start, end
        bound = "" if widest >= LONGEST else f", by at most {widest:g} {quantity.unit}"
        return Complaint(f"{quantity.name} must end after it begins{bound}, not {quote(text.strip())}", "", True)

    return convert


def _rising(quantity: Quantity) -> Convert:
    """Read numbers, each greater than the one before."""
    several = _numbers(quantity, None)

    def convert(text: str) -> Any:
        values = several(text)
        if isinstance(values, Complaint) or all(a < b for a, b in pairwise(values)):
            return values
        return Complaint(f"{quantity.name} must rise from each number to the next, not {quote(text.strip())}", "", True)

    return convert


def _text(text: str) -> str:
    stripped = text.strip()
    return stripped[1:-1] if len(stripped) > 1 and stripped[0] == stripped[-1] == '"' else stripped


def _name_of(text: str) -> str:
    """Read the name of a type or model: case, quotes, blanks and hyphens do not matter."""
    word = _text(text).lower().replace("-", "_").replace(" ", "_")
    return SYNONYMS.get(word, word)


def _angle(name: str, *, least: float, most: float) -> Convert:
    return _quantity(Quantity(name, "deg", DEGREE, least=least, most=most))


def _share(name: str) -> Convert:
    return _quantity(Quantity(name, "", least=0.0, most=1.0))


def _size(name: str, unit: str, most: float = 1e3) -> Convert:
    """Read a non-negative number, such as a standard deviation."""
    return _quantity(Quantity(name, unit, least=0.0, most=most))


def _signed(name: str, unit: str, most: float = 1e3) -> Convert:
    return _quantity(Quantity(name, unit, least=-most, most=most))


def _turn(name: str, unit: str = "deg") -> Convert:
    """Read a non-negative angle or angular rate, in degrees."""
    return _quantity(Quantity(name, unit, DEGREE, least=0.0, most=180.0))


def _turned(name: str, unit: str = "deg") -> Convert:
    return _quantity(Quantity(name, unit, DEGREE, least=-180.0, most=180.0))


def _per_bin(name: str, unit: str = "m", factor: float = 1.0, least: float = 0.0, most: float = 1e3) -> Convert:
    return _numbers(Quantity(name, unit, factor, least=least, most=most), None)


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
    # faults
    "outage": _window(Quantity("outage", "s", least=0.0, most=LONGEST), LONGEST),
    "freeze": _window(Quantity("freeze", "s", least=0.0, most=LONGEST), FROZEN),
    "blind": _window(Quantity("blind", "deg", DEGREE, least=-720.0, most=720.0), 360.0),
    # lasers
    "range_sigma_slope": _share("range_sigma_slope"),
    "range_bias": _signed("range_bias", "m"),
    "false_returns": _share("false_returns"),
    # lasers and lists of objects, by elliptical bins
    "bins": _rising(Quantity("bins", "m", above=0.0, most=FARTHEST)),
    "bin_ratio": _quantity(Quantity("bin_ratio", "", least=1e-3, most=1e3)),
    "detection_rate": _per_bin("detection_rate", "", most=1.0),
    "radial_sigma": _per_bin("radial_sigma"),
    "radial_bias": _per_bin("radial_bias", least=-1e3),
    "tangential_sigma": _per_bin("tangential_sigma"),
    "tangential_bias": _per_bin("tangential_bias", least=-1e3),
    "yaw_sigma": _per_bin("yaw_sigma", "deg", DEGREE, most=180.0),
    "yaw_bias": _per_bin("yaw_bias", "deg", DEGREE, -180.0, 180.0),
    "correlation_time": _size("correlation_time", "s", 1e5),
    "detection_time": _size("detection_time", "s", 60.0),
    "flip_rate": _share("flip_rate"),
    "flip_speed": _size("flip_speed", "m/s"),
    "false_positives": _size("false_positives", "", 100.0),
    "min_visible": _share("min_visible"),
    # satellites, inertial units, wheels
    "position_sigma": _size("position_sigma", "m"),
    "altitude_sigma": _size("altitude_sigma", "m"),
    "position_bias": _numbers(Quantity("position_bias", "m", least=-1e4, most=1e4), 3),
    "position_drift": _size("position_drift", "m"),
    "heading_drift": _turn("heading_drift"),
    "yaw_rate_drift": _turn("yaw_rate_drift", "deg/s"),
    "drift_time": _quantity(Quantity("drift_time", "s", least=1e-3, most=1e5)),
    "position_resolution": _zero_or(Quantity("position_resolution", "m", least=1e-6, most=1e3)),
    "velocity_sigma": _size("velocity_sigma", "m/s"),
    "heading_sigma": _turn("heading_sigma"),
    "yaw_rate_sigma": _turn("yaw_rate_sigma", "deg/s"),
    "heading_bias": _turned("heading_bias"),
    "yaw_rate_bias": _turned("yaw_rate_bias", "deg/s"),
    "outage_drift": _size("outage_drift", "m/s"),
    "wheel_radius": _zero_or(Quantity("wheel_radius", "m", least=1e-2, most=10.0)),
    "speed_scale": _quantity(Quantity("speed_scale", "", least=1e-2, most=1e2)),
    "ticks": _whole("ticks", 0, 1_000_000),
}
"""Key → how its value is read; every other key belongs to the real driver and is kept."""

REPEATED = ("outage", "freeze", "blind")
"""Keys that may stand more than once: every one counts."""

LASERS, LISTS, PLACES = ("ladar",), ("objects", "radar"), ("gps", "ins")
ONLY: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("freeze", "blind", "range_sigma_slope", "range_bias", "false_returns", "range_sigma"), LASERS),
    **dict.fromkeys(("angle_sigma", "dropout", "no_return", "scan_time", "range_resolution"), LASERS),
    **dict.fromkeys(("bins", "bin_ratio", "detection_rate", "radial_sigma", "radial_bias"), LASERS + LISTS),
    **dict.fromkeys(("tangential_sigma", "tangential_bias", "yaw_sigma", "yaw_bias", "correlation_time"), LISTS),
    **dict.fromkeys(("detection_time", "flip_rate", "flip_speed", "false_positives", "min_visible"), LISTS),
    **dict.fromkeys(("position_sigma", "altitude_sigma", "position_bias", "position_drift"), PLACES),
    **dict.fromkeys(("heading_drift", "heading_sigma", "heading_bias"), ("ins",)),
    **dict.fromkeys(("yaw_rate_drift", "yaw_rate_sigma", "yaw_rate_bias"), ("ins", "odometry")),
    "position_resolution": PLACES,
    "drift_time": (*PLACES, "odometry"),
    "velocity_sigma": (*LISTS, *PLACES, "odometry"),
    "outage_drift": ("ins",),
    **dict.fromkeys(("wheel_radius", "speed_scale", "ticks"), ("odometry",)),
}
"""Key → the types of sensors that it means anything to, where these are not all."""
