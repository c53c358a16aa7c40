"""Reader of tyre property files (.tir): ``NAME = value $comment`` in the units of the file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from cbsim.errors import FileError, Location, Problems
from cbsim.formats.reader import Source
from cbsim.formats.shift.units import UNITS
from cbsim.formats.values import NUMBER, quote
from cbsim.geometry.elementary import whole_power
from cbsim.paths import Files
from cbsim.spec.shift.tyres import TyreNumbers

__all__ = ["parse_tyre", "read_tyre"]

ROW = re.compile(r"\s*([A-Za-z_][A-Za-z_0-9]*)\s*=\s*('[^']*'|[^$!\s]+)")
FORCE = {"newton": 1.0, "n": 1.0, "kilo_newton": 1e3, "knewton": 1e3, "kn": 1e3, "pound_force": 4.4482216152605}
POWERS: Mapping[str, tuple[str, int, int, int]] = {  # field → name in the file, powers of force, length, time, angle
    "unloaded_radius": ("UNLOADED_RADIUS", 0, 1, 0),
    "width": ("WIDTH", 0, 1, 0),
    "vertical_stiffness": ("VERTICAL_STIFFNESS", 1, -1, 0),
    "vertical_damping": ("VERTICAL_DAMPING", 1, -1, 1),
    "rolling_resistance": ("ROLLING_RESISTANCE", 0, 1, 0),
    "cslip": ("CSLIP", 1, 0, 0),
    "calpha": ("CALPHA", 1, 0, 0),
    "umin": ("UMIN", 0, 0, 0),
    "umax": ("UMAX", 0, 0, 0),
}


def read_tyre(path: Path, files: Files, place: Location, problems: Problems) -> TyreNumbers:
    """Read a property file; missing numbers are those of a passenger car's tyre."""
    try:
        data = files.read(path, asked_at=place)
    except FileError as error:
        problems.extend(error.problems)
        return TyreNumbers()
    return parse_tyre(Source.decode(path, data), problems)


def parse_tyre(source: Source, problems: Problems) -> TyreNumbers:
    r"""Read the text of a property file.

    >>> text = "[UNITS]\nLENGTH = 'mm'\nFORCE = 'newton'\n[DIMENSION]\nUNLOADED_RADIUS = 344.0 $free\n"
    >>> round(parse_tyre(Source("t.tir", text, text.encode()), Problems()).unloaded_radius, 6)
    0.344
    """
    values: dict[str, tuple[str, int]] = {}
    for number, line in source.lines():
        match = ROW.match(line)
        if match:
            values.setdefault(match[1].upper(), (match[2].strip("'").strip(), number))
    sizes = {"length": 1.0, "time": 1.0, "angle": 1.0, "force": 1.0}
    for quantity in sizes:
        name, number = values.get(quantity.upper(), ("", 0))
        table = FORCE if quantity == "force" else UNITS[quantity]
        if name and name.lower() in table:
            sizes[quantity] = table[name.lower()]
        elif name:
            problems.warning("W994", f"there is no unit {quote(name)} of {quantity}; SI is taken", source.at(number))
    found: dict[str, float] = {}
    for field, (name, force, length, time) in POWERS.items():
        text, number = values.get(name, ("", 0))
        if not text:
            continue
        if len(text) > 64 or not NUMBER.fullmatch(text):
            problems.error("E994", f"{name} is {quote(text)}, expected a number", source.at(number))
            continue
        scale = (
            whole_power(sizes["force"], force) * whole_power(sizes["length"], length) * whole_power(sizes["time"], time)
        )
        found[field] = float(text) * scale / (sizes["angle"] if field == "calpha" else 1.0)
    return replace(TyreNumbers(), **found)
