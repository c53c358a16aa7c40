"""Reader of URDF: from elements to a `Robot`, collecting all problems."""

from __future__ import annotations

import math

from cbsim.errors import Severity, did_you_mean
from cbsim.formats.urdf.elements import Part
from cbsim.formats.urdf.frames import angles_of
from cbsim.formats.urdf.grammar import FOREIGN_SHAPES, GRAMMAR, QUANTITIES, SHAPES
from cbsim.formats.values import LIMIT, quote
from cbsim.spec.number import Written
from cbsim.spec.objects import UNIT, ZERO, Triple
from cbsim.spec.urdf import (
    JOINT_TYPES,
    Collision,
    Frame,
    Geometry,
    Inertial,
    Joint,
    Limit,
    Link,
    LoopJoint,
    Material,
    Mimic,
    Robot,
    Visual,
)

__all__ = ["read_robot"]

MOMENTS = ("ixx", "iyy", "izz")  # products of inertia that are missing are zero
PRODUCTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
SHAPE_NAMES = GRAMMAR["geometry"].children
RESERVED = ("acceleration", "deceleration", "jerk")


def read_robot(part: Part) -> Robot:
    """Read a ``robot`` element."""
    found, strangers = part.sort_in()
    name = part.get("name") or ""
    if not name:
        part.warning("W902", "the robot has no name")
    version = part.get("version")
    if version not in (None, "1", "1.0", "1.1", "1.2"):
        part.warning("W915", f"version {quote(version or '')} of URDF is not known; it is read as 1.0")
    return Robot(
        name,
        tuple(_link(child) for child in found["link"]),
        tuple(map(_joint, found["joint"])),
        tuple(map(_loop, found["loop_joint"])),
        tuple(one for child in found["material"] if (one := _material(child)) is not None),
        _texts(strangers),
        part.place,
    )


def _texts(strangers: tuple[Part, ...]) -> tuple[str, ...]:
    """Give what is kept as it is written back."""
    return tuple(stranger.text for stranger in strangers)


def _named(part: Part) -> tuple[Part, str]:
    """Give an element its name, by which its parts are located too."""
    name = part.required("name") or ""
    return Part(part.element, part.source, f"{part.tag} {quote(name)}", part.problems), name


# --- links ------------------------------------------------------------------------------------------------------------
def _link(part: Part) -> Link:
    before = part.problems.count(Severity.ERROR)
    part, name = _named(part)
    found, strangers = part.sort_in()
    inertial = _inertial(found["inertial"][0]) if found["inertial"] else None
    visuals = tuple(look for child in found["visual"] if (look := _visual(child)) is not None)
    collisions = tuple(solid for child in found["collision"] if (solid := _collision(child)) is not None)
    broken = part.problems.count(Severity.ERROR) > before
    return Link(name, inertial, visuals, collisions, _texts(strangers), part.place, broken)


def _inertial(part: Part) -> Inertial | None:
    found, _ = part.sort_in()
    origin = _frame(found["origin"])
    mass, inertia = _first(found, part, "mass"), _first(found, part, "inertia")
    told = part.problems.count(Severity.ERROR)
    weight = None if mass is None else mass.leaf().number("value", QUANTITIES["mass"])
    values: list[float | None] = []
    if inertia is not None:
        inertia.leaf()
        values += (inertia.number(name, QUANTITIES["inertia"], needed=name in MOMENTS) for name in PRODUCTS)
    if weight is None or inertia is None or part.problems.count(Severity.ERROR) > told:
        return None
    return Inertial(weight, tuple(0.0 if v is None else v for v in values), origin, part.place)


def _first(found: dict[str, list[Part]], part: Part, tag: str) -> Part | None:
    """Return the child that counts; E919 if there is none."""
    if not found[tag]:
        part.error("E919", f"'{part.tag}' has no element '{tag}'")
        return None
    return found[tag][0]


def _frame(parts: list[Part]) -> Frame:
    """Read an ``origin``; without one the frames coincide."""
    return _pose(parts[0].leaf()) if parts else Frame()


def _pose(part: Part) -> Frame:
    xyz = part.numbers("xyz", 3, QUANTITIES["length"])
    rpy = part.numbers("rpy", 3, QUANTITIES["angle"])
    turned = part.numbers("quat_xyzw", 4, QUANTITIES["plain"]) if part.tag == "origin" else None
    if turned is not None and rpy is not None:
        part.error("E918", "'origin' has both 'rpy' and 'quat_xyzw'")
    elif turned is not None:
        rpy = _angles(part, turned)
    return Frame(ZERO if xyz is None else Triple(*xyz), ZERO if rpy is None else Triple(*rpy))


def _angles(part: Part, turned: tuple[float, ...]) -> tuple[float, float, float] | None:
    """Roll, pitch and yaw [rad] of a quaternion x, y, z, w."""
    length = math.hypot(*turned)
    if abs(length - 1.0) > 1e-3:
        part.error("E905", f"quat_xyzw has the length {length:.6g}, expected a unit quaternion")
        return None
    x, y, z, w = (value / length for value in turned)
    return angles_of((w, x, y, z))


def _visual(part: Part) -> Visual | None:
    """Read the visual geometry of a link; problems are warnings, since the motion does not depend on it."""
    with part.softened() as soft:
        found, _ = soft.sort_in()
        geometry, origin = _geometry(soft, found), _frame(found["origin"])
        material = _material(found["material"][0]) if found["material"] else None
    return None if geometry is None else Visual(geometry, origin, material, part.get("name") or "", part.place)


def _collision(part: Part) -> Collision | None:
    found, _ = part.sort_in()
    geometry, origin = _geometry(part, found), _frame(found["origin"])
    return None if geometry is None else Collision(geometry, origin, part.get("name") or "", part.place)


def _geometry(part: Part, found: dict[str, list[Part]]) -> Geometry | None:
    holder = _first(found, part, "geometry")
    if holder is None:
        return None
    shapes, strangers = holder.sort_in(tell_unknown=False)
    parts = [one for group in shapes.values() for one in group]
    if len(parts) > 1:
        holder.warning("W914", f"'geometry' has {len(parts)} shapes; the first one counts", also=parts[1].place)
    for stranger in strangers:
        _tell_stranger(stranger, alone=not parts)
    if not parts:
        if not strangers:
            holder.error("E919", f"'geometry' is empty, expected one of {', '.join(shapes)}")
        return None
    parts.sort(key=lambda one: one.place.line or 0)
    return _mesh(parts[0].leaf()) if parts[0].tag == "mesh" else _solid(parts[0].leaf())


def _tell_stranger(part: Part, *, alone: bool) -> None:
    """Report a shape that URDF lacks: an error if it is the only one, unless a known dialect has it."""
    owner = FOREIGN_SHAPES.get(part.tag)
    if owner is not None:
        part.warning("W928", f"URDF has no shape {quote(part.tag)}, which is of {owner}; it is left out")
    elif alone:
        hint = did_you_mean(part.tag, SHAPE_NAMES) or f"there is {', '.join(SHAPE_NAMES)}"
        part.error("E927", f"unknown shape {quote(part.tag)}", hint)
    else:
        part.tell_unknown("geometry")


def _solid(part: Part) -> Geometry | None:
    """Read a simple shape; some files have dummies without extent, which are as good as none."""
    if part.tag == "box":
        size = part.numbers("size", 3, QUANTITIES["size"], needed=True) or ()
    else:
        values = [part.number(name, QUANTITIES["size"]) for name in SHAPES[part.tag]]
        size = tuple(value for value in values if value is not None)
        size = size if len(size) == len(values) else ()
    if not size:
        return None
    if part.tag == "capsule" and not size[1]:
        return Geometry("sphere", size[:1], location=part.place)
    if 0.0 in size:
        part.warning("W925", f"the {part.tag} has no extent; it is left out")
        return None
    return Geometry(part.tag, size, location=part.place)


def _mesh(part: Part) -> Geometry | None:
    filename = part.required("filename")
    scale = part.numbers("scale", 3, QUANTITIES["plain"])
    if scale is not None and 0.0 in scale:
        part.error("E905", "scale of 'mesh' must not be 0")
    return None if filename is None else Geometry("mesh", (), filename, Triple(*(scale or UNIT)), part.place)


def _material(part: Part) -> Material | None:
    with part.softened() as soft:
        found, _ = soft.sort_in()
        name, rgba = soft.get("name") or "", QUANTITIES["share"]
        color = found["color"][0].leaf().numbers("rgba", 4, rgba, needed=True) if found["color"] else None
        texture = (found["texture"][0].leaf().get("filename") or None) if found["texture"] else None
    if not name and color is None and texture is None:
        return None
    return Material(name, color, texture, part.place)


# --- joints -----------------------------------------------------------------------------------------------------------
def _joint(part: Part) -> Joint:
    """Read a joint; what it does not say, which is an error, is empty."""
    part, name = _named(part)
    found, strangers = part.sort_in()
    kind = _type(part)
    ends = [_link_of(part, found, tag) for tag in ("parent", "child")]
    origin, axis = _frame(found["origin"]), _axis(found["axis"], kind)
    limit = _limit(found["limit"])
    damping, friction = _dynamics(found["dynamics"])
    mimic = _mimic(found["mimic"])
    parent, child = ends
    kept = _texts(strangers)
    return Joint(name, kind, parent, child, origin, axis, limit, damping, friction, mimic, kept, part.place)


def _loop(part: Part) -> LoopJoint:
    part, name = _named(part)
    found, strangers = part.sort_in()
    kind = _type(part)
    ends = [_link_of(part, found, tag) for tag in ("link1", "link2")]
    here, there = (_pose(found[tag][0]) if found[tag] else Frame() for tag in ("link1", "link2"))
    axis, limit = _axis(found["axis"], kind), _limit(found["limit"])
    damping, friction = _dynamics(found["dynamics"])
    one, other = ends
    kept = _texts(strangers)
    return LoopJoint(name, kind, one, other, here, there, axis, limit, damping, friction, kept, part.place)


def _type(part: Part) -> str:
    """Return the type of a joint; one that has none counts as fixed, so that nothing else is wrong with it."""
    kind = part.required("type")
    if kind in JOINT_TYPES:
        return kind
    if kind is not None:
        hint = did_you_mean(kind.lower(), JOINT_TYPES) or f"there is {', '.join(JOINT_TYPES)}"
        part.error("E906", f"unknown joint type {quote(kind)}", hint)
    return "fixed"


def _link_of(part: Part, found: dict[str, list[Part]], tag: str) -> str:
    holder = _first(found, part, tag)
    return "" if holder is None else holder.leaf().required("link") or ""


def _axis(parts: list[Part], kind: str) -> Triple:
    if not parts:
        return Triple(1.0, 0.0, 0.0)
    axis = parts[0].leaf().numbers("xyz", 3, QUANTITIES["plain"], needed=True)
    if axis is None:
        return Triple(1.0, 0.0, 0.0)
    if math.hypot(*axis) < 1e-6:
        if kind not in ("fixed", "floating", "ball", "spherical", "fixedorientation"):  # which have no use for one
            parts[0].error("E905", "xyz of 'axis' is 0 0 0, expected a direction")
        return Triple(1.0, 0.0, 0.0)
    return Triple(*axis)


def _limit(parts: list[Part]) -> Limit | None:
    if not parts:
        return None
    part = parts[0].leaf()
    for name in RESERVED:
        if part.get(name) is not None:
            part.problems.info("I917", f"'{name}' of 'limit' is not simulated", part.place)
    lower, upper, effort, velocity = (_bound(part, name) for name in ("lower", "upper", "effort", "velocity"))
    return Limit(lower, upper, effort, velocity, part.place)


def _bound(part: Part, name: str) -> float | None:
    """Read a bound; what is beyond every length and angle, or infinite, stands for none and is an infinity.

    A lower bound above everything, and an upper one below, would leave no place at all, and are refused as numbers.
    """
    text = part.get(name)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    outward = -1.0 if name == "lower" else 1.0
    if "_" not in text and value * outward > LIMIT and len(text) < 64:
        return math.copysign(math.inf, outward)
    if name in ("lower", "upper"):
        return part.number(name, QUANTITIES["plain"])
    with part.softened() as soft:  # they bound motors, of which a file tells nothing else
        return soft.number(name, QUANTITIES["coefficient"])


def _dynamics(parts: list[Part]) -> tuple[float, float]:
    if not parts:
        return 0.0, 0.0
    part = parts[0].leaf()
    damping, friction = (part.number(n, QUANTITIES["coefficient"], needed=False) for n in ("damping", "friction"))
    return damping or Written("0"), friction or Written("0")


def _mimic(parts: list[Part]) -> Mimic | None:
    if not parts:
        return None
    part = parts[0].leaf()
    joint = part.required("joint")
    multiplier, offset = (part.number(n, QUANTITIES["plain"], needed=False) for n in ("multiplier", "offset"))
    return None if joint is None else Mimic(joint, 1.0 if multiplier is None else multiplier, offset or 0.0)
