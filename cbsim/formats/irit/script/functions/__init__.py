"""Functions of scripts: one table of what they are called, what they take and who works them out.

What only shows or times something is read over (`IGNORED`); what IRIT has besides is refused by name (`UNSUPPORTED`).
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
