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

IGNORED = frozenset(
    "pause printf echosrc iritstate viewstate viewanim viewclear viewremove viewset viewdclear viewdisc viewexit "
    "viewsave help helpshow varlist beep chdir logfile milisleep system attrprop awidth adwidth aresolution "
    "setcover setname freeobj comment clntwrite clntclose clntpictr animate ffcompat errorstate".split()
)
"""Functions that only show, time or remember something: their arguments are worked out, and nothing else is done."""

UNSUPPORTED = frozenset(
    "adapiso afdcurve agdcurve algprod algsum aoffset asnrmlmap bfzero blhermite blndcrvs blndsrfs boolone boolsum "
    "bsp2bzr c2contact cangmap canimate cbisector2d cbisector3d ccintegral cconvexhull ccrvtr cderive cdivide ceditpt "
    "cenvoff cextremes cflecns cinflect cinteg cintersec cinter2 clntcread cmat2d cmesh cmoebius cmorph cmulpoly "
    "cnrmlcrv cnvrtcrvtopolygon coffset compose conicsec contour convexhull coterminal covers cpattr cpinclude cpower "
    "cprealiz cprevdur craise crefine creduce cregion creparam crc2crvtan cserialize csine csolve csubdiv cspiral "
    "chelix csurface ctangent ctlptbis ctrimsrf cusp cvisible cviewmap cvzero cx cxprod czeros diameter dupattr "
    "duality edfminmax elliptic2 ellipse3 enctangents enrmlsrf evolute ffexpand ffextend ffextreme ffgtype ffktlin "
    "ffmatch ffmerge ffmesh ffptdist ffsplit fitpmodel ffcmpcrvs flatten fmodel gboolean gbezier getline "
    "gpolygon2 hermite hodograph implicit instance irit_info kinematic lofft lntcrv marchcube maxedgelen mboxsrf "
    "mbezier mbisect mbspline mcoerce mdivide meval mfrom2img mfromimg mfrommesh mfromtv mhermite mmerge moffset "
    "moment mpower mraise mreduce mrefine mregion mreverse msolve mtv mzero nurbs offset orthotomc outlinechar pdomain2 "
    "pattrib pclosed plight pln3pts ploft pointset poly2crv ppinter pporient ppropftch pprints pptree printer "
    "prisa ptpolydist ptreg ptslnln ptlnlt ptptln pts2plln putrgbonvertices raytrap rflctln rrintcr ruledtv sacc saccess "
    "sasymeval scatter scgauss scinter scmpcrvs scrvtr sdivcrv sderive sdivide sdvlp sedit sfocal sfxprod sgauss "
    "sinteg sinter skel2dint smean smerge smesh smoments smoebius smorph snormal snrmlsrf sparabolc spheresrf2 spower "
    "sprincrvtr sraise srefine sregion sreparam srf2tans srffff srinter sshell ssint ssintr2 stangent "
    "strimsrf stripsrf subdivsrf sumbel surfprev surfrev2 surfrevax2 surfrevaxs sweepsrf swpcircsrf swpsclsrf swungasum "
    "symbcprod symbdiff symbdprod symbiprod symbprod symbsum sytrans tan2crvs tboolone tbezier tbspline tderive "
    "tdivide teditpt textgeom tfromsrfs tinteg tinterp tmorph tnsrcr tnscrvtr toffset torsion traise trefine tregion "
    "treparam trimsrf trmsrfs tsrfinter tvloft tvrev tvzeros tvzrjacob tweptcs uvpoly visible vistrim zcollide".split()
)
"""Functions of IRIT that are refused by name."""
