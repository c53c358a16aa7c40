"""Table of the functions of scripts: names, numbers of arguments and implementations.

Functions that only display or measure time are ignored (`IGNORED`); IRIT's others are refused by name (`UNSUPPORTED`).
"""

from __future__ import annotations

from collections.abc import Mapping

from cbsim.formats.irit.script.functions.basic import BASIC
from cbsim.formats.irit.script.functions.curves import CURVES
from cbsim.formats.irit.script.functions.effects import EFFECTS
from cbsim.formats.irit.script.functions.function import Function
from cbsim.formats.irit.script.functions.lists import LISTS
from cbsim.formats.irit.script.functions.names import IGNORED, UNDONE, UNSUPPORTED
from cbsim.formats.irit.script.functions.solids import SOLIDS
from cbsim.formats.irit.script.functions.transforms import TRANSFORMS

__all__ = ["FUNCTIONS", "IGNORED", "UNDONE", "UNSUPPORTED"]

FUNCTIONS: Mapping[str, Function] = {
    function.name: function for family in (BASIC, LISTS, TRANSFORMS, SOLIDS, CURVES, EFFECTS) for function in family
}
"""Name in lower case → function."""
