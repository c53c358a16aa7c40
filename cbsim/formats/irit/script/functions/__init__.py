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
from cbsim.formats.irit.script.functions.solids import SOLIDS
from cbsim.formats.irit.script.functions.transforms import TRANSFORMS

__all__ = ["FUNCTIONS", "IGNORED", "UNSUPPORTED"]

FUNCTIONS: Mapping[str, Function] = {
    function.name: function for family in (BASIC, LISTS, TRANSFORMS, SOLIDS, CURVES, EFFECTS) for function in family
}
"""Name in lower case → function."""

SILENT = """
    adwidth animate attrprop awidth beep chdir clntclose clntpictr clntwrite echosrc help helpshow iritstate logfile
    milisleep pause printf setcover setname system varlist viewanim viewclear viewdclear viewdisc viewexit viewremove
    viewsave viewset viewstate
"""
IGNORED = frozenset(SILENT.split())
"""Functions that only show, time or remember something: their arguments are worked out, and nothing else is done."""

REFUSED = """
    boolone boolsum cderive cdivide chelix cinteg cmesh cmoebius cnormal cnrmlcrv cnvrtcrvtopolygon cnvrtpolytocrv
    cnvrtpolytoptlist conicsec crefine cregion csine cspiral csurface ctangent ctrimsrf ffkntvec ffmesh ffmsize
    fforder ffsplit getname matposdir moment nref offset outlinechar pattrib ppropftch pts2plln ruledtv saccess sderive
    sdivide sinteg smerge snormal snrmlsrf sraise srefine sregion sshell stangent strimsrf subdivtodepth surfprev
    surfrev2 surfrevax2 surfrevaxs sweepsrf swpcircsrf swpsclsrf tfromsrfs trimsrf trmsrfs uvpoly
"""
UNSUPPORTED = frozenset(REFUSED.split())
"""Functions of IRIT that are refused by name."""
