"""Names of IRIT's functions that are not computed here: those that only show something, and those that are refused.

Source: the interpreter's tables of functions, and the procedures that it defines at its start.
"""

from __future__ import annotations

__all__ = ["IGNORED", "UNDONE", "UNSUPPORTED"]

SILENT = """
    animate beep chdir clntanim clntclear clntclose clntcrsr clntdclear clntdisc clntexec
    clntexit clnthigh1 clnthigh2 clntimgsave clntmsave clntpictr clntremove clntstate clntunhigh clntview clntwrite
    echosrc help helpshow idynmem iritstate logfile milisleep
    msleep pause printer printf printfile setname system varlist viewanim viewclear viewdclear
    viewdisc viewexit viewimgsave viewmsave viewremove viewsave viewset viewstate
"""
IGNORED = frozenset(SILENT.split())
"""Functions that only show, time or remember something: their arguments are computed, and nothing else is done."""

UNDONE = {
    "chdir": "files are looked for in the folder of the script",
    "system": "no other program is run",
    "setname": "names of parts of a list are not kept",
}
"""Those of them that would change what comes after → why they do not."""

REFUSED = """
    adapiso algsum analyfit animeval antipodal aoffset arc360 arrow3d attrvprop bbox beltcurve bfrom2img bfrom3img
    bivariate2bezier blhermite blossom blshermite boolone boolsum boundary boxsrf bsctconcn2 bsctconcon bsctconcyl
    bsctconln bsctconpl bsctconpt bsctconspr bsctcylcyl bsctcylpl bsctcylpt bsctcylspr bsctplnln bsctplnpt bsctsprln
    bsctsprpl bsctsprpt bsctsprspr bscttrspt bscttrsspr bsp2bzr bzr2bsp c2rectrgn calphasector canglemap carclen
    carea carngmnt2 carrangmnt cbiarcs cbisector2d cbisector3d cbsp_fit ccinter ccrvtr ccrvtr1pt ccrvtreval cderive
    cdivide ceditpt cenvoff cextremes cfncrvtr chelix ciextreme cinflect cinteg cinterp clntcloneobj clnteditcrv
    clnteditobj clnteditsrf clntgetobj clntpickcrsr clntpickdone clntpickname clntpickobj clntread cmesh cmoebius
    cmorph cmultires cnc2quad cnormal cnrmlcrv cntrintr cnvrtcrvtopolygon cnvrtpolytocrv cnvrtpolytoptlist
    cnvrtpolytotube cnvxhull compose cone2srf conesrf conicsec contour coveriso coverpt cpattr cpinclude cpoly
    cpower craise crc2crvtan createbboxbox creduce crefine cregion creparam crossec crv2tans crvdiamtr crvkernel
    crvlndst crvptdst crvpttan csine cspiral csrfproj csurface ctangent ctrimsrf cubiccrvs curvearrowend cviewmap
    cvisible cvoronoicell cylinsrf czeros decompose dist2ff dstlnln dstptln dstptpln dstptpt duality edge2d edge3d
    ellipse3pt evolute ffcmpcrvs ffcompat ffextreme ffgtype ffkntvec ffmatch ffmerge ffmesh ffmsize fforder ffpoles
    ffptdist ffpttype ffrigidsim ffsplit fitpmodel fixplgeom fixplnrml flatsrf genplgonstopllns genpllnstoplgons
    genrandomcolor getctlmesh getctlmeshpts getctlpoints getctlpolygon getisocurves getisocurvetubes getline getname
    gginter gpointlist gridxy gridxyz hausdorff hermite iloffset implctrans insertpoly instance interppoint iquery
    iseven isgeom isocline knotclean knotremove linterp loffset makekvmarkers makepolynsides map3pt2eql matdecomp
    matdecomp2 matposdir matrecomp maxedgelen mbezier mbisector mbspline mderive mdivide mergeplln meshsize meval
    mfrom2img mfrom3img mfrommesh mfrommv midpoint mindist2ff mmerge mod moffset moment mpower mpromote mraise
    mrchcube mrefine mregion mreparam mreverse mscirc mscone mssphere mtrisector munivzero mvcontact mvexplicit
    mvinter mzero nccntrpath ncpcktpath nref nrmlcone offset orthotomc outlinechar pattrib pcrvtr pdecimate pimprtnc
    pinterp pktri3crcs pktri6crcs planeclip pln3pts pmorph pnormal polarsil polyholes ppinclude ppinter ppropftch
    prisa processobjsmaxedgelen projmat pt3bary pthmspr ptlnpln ptptln ptregister pts2plln pts2plys ptscrcr ptslnln
    putcrvmarkers quadcrvs quadric random raytraps rflctln rflctmat rotline rotv2v rotvec2z rotz2v2 rotz2vec rrinter
    ruledfit ruledtv saccess saspctgrph sasympeval sbisector scrvtr scrvtreval sddmmap sderive sdivide seditpt setcover
    selfinter setnormalsinobjlist setnormalsinpoly setnormalsinpolyobj sflecnodal sfocal sgauss silhouette sinteg
    sinterp sintpcrvs skel2dint skelndint smean smerge smesh smoebius smoments smoothnrml smorph snormal snrmlsrf
    sparabolc spheresrf splitlst spower sprbisect sradcrvtr sraise srayclip srefine sregion sreparam sreverse
    srf2tans srf3tans srffform srfkernel srflndst srfptdst srinter sshell ssilinfl ssinter ssintr2 stangent strimsrf
    strivar subdivtodepth sumbilic surfprev surfrev2 surfrevax2 surfrevaxs svisible svolume sweepsrf swpcircsrf
    swpsclsrf swungasum symbcprod symbdiff symbdprod symbiprod symbprod symbsum tbezier tboolone tboolsum tbspline
    tcrvtr tderive tdivide teditpt teval textgeom textwarp tfromsrfs tinterp tintpsrfs tmorph tnscrcr toffset
    torussrf traise transpgrid transpgridaux transpgridticks trefine tregion treparam trimsrf trmsrfs tsbezier
    tsbspline tsderive tseval tsgregory tsnormal tvload tvprev tvrev tvzrjacob univariate2bezier uvecsonspr uvpoly
    viewcloneobj vieweditcrv vieweditobj vieweditsrf zcollide
"""
UNSUPPORTED = frozenset(REFUSED.split())
"""Functions of IRIT that are refused by name."""
