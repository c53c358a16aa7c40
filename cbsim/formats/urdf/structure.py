"""Checks of a whole robot: names, the tree of links, masses, bounds."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from cbsim.errors import Location, Problems, did_you_mean
from cbsim.formats.urdf.tree import Tree, can_be_a_body, moments_of, sound
from cbsim.formats.values import quote
from cbsim.spec.mechanism.joints import PROTOTYPES
from cbsim.spec.urdf import JOINT_TYPES, Joint, Link, LoopJoint, Material, Robot

__all__ = ["check_structure"]

AnyJoint = Joint | LoopJoint
MANY = 500  # names beyond which none is suggested


def check_structure(robot: Robot, problems: Problems) -> None:
    """Report all problems of the whole robot."""
    joints: list[AnyJoint] = [*robot.joints, *robot.loops]
    if not robot.links:
        problems.error("E926", "the robot has no links", robot.location)
        return
    _check_names("link", robot.links, problems)
    _check_names("joint", joints, problems)
    _check_materials(robot, problems)
    for joint in joints:
        _check_bounds(joint, problems)
    names = {joint.name for joint in robot.joints}
    for one in robot.joints:
        _check_mimic(one, names, problems)
    for link in robot.links:
        _check_inertia(link, problems)
    if _check_ends(robot, problems) and _check_tree(robot, problems):
        _check_masses(Tree(robot), problems)


def _check_names(kind: str, parts: Iterable[Link | AnyJoint], problems: Problems) -> None:
    first: dict[str, Location] = {}
    for part in parts:
        if part.name in first:
            text = f"two {kind}s are called {quote(part.name)}"
            problems.error("E908", text, part.location, also=first[part.name])
        elif part.name:
            first[part.name] = part.location


def _check_materials(robot: Robot, problems: Problems) -> None:
    first: dict[str, Material] = {}
    inside = [v.material for link in robot.links for v in link.visuals if v.material is not None]
    for material in [*robot.materials, *inside]:
        told = material.color is not None or material.texture is not None
        known = first.get(material.name)
        if told and material.name and known is not None:
            if (known.color, known.texture) != (material.color, material.texture):
                text = f"two materials are called {quote(material.name)}; the first one counts where it is named"
                problems.warning("W908", text, material.location, also=known.location)
        elif told:
            first[material.name] = material
    for material in inside:
        if material.color is None and material.texture is None and material.name not in first:
            text = f"no material {quote(material.name)}"
            problems.warning("W907", text, material.location, _near(material.name, first))


def _near(name: str, names: Collection[str]) -> str:
    """Suggest the nearest name, with bounded work: thousands of names for thousands of errors would take hours."""
    return did_you_mean(name, names) if len(names) <= MANY else ""


# --- joints -----------------------------------------------------------------------------------------------------------
def _check_bounds(joint: AnyJoint, problems: Problems) -> None:
    limit, who = joint.limit, f"joint {quote(joint.name)}"
    bounded = joint.type in ("revolute", "prismatic")
    dof = sum(PROTOTYPES[JOINT_TYPES[joint.type]])
    for what in ("damping", "friction"):
        if isinstance(joint, LoopJoint) and getattr(joint, what):
            text = f"{what} of {who} is not simulated, since the joint closes a loop"
            problems.warning("W922", text, joint.location)
    if joint.friction and PROTOTYPES[JOINT_TYPES[joint.type]][1] > 1:
        problems.warning("W922", f"rotations of {who} have no friction, since there are several", joint.location)
    if limit is None:
        if joint.type in ("revolute", "prismatic") and isinstance(joint, Joint):
            problems.info("I923", f"{who} has no 'limit': it has no bounds", joint.location)
        return
    lower, upper = limit.lower, limit.upper
    if (lower is not None or upper is not None) and dof > 1:
        text = f"{who} has {dof} freedoms, and 'lower' and 'upper' bound one: it has no bounds"
        problems.warning("W922", text, limit.location)
    elif isinstance(joint, LoopJoint) and bounded and (lower is not None or upper is not None):
        problems.warning("W922", f"{who} closes a loop, so it has no bounds", limit.location)
    elif bounded and lower is None and upper is None:
        text = f"'limit' of {who} has neither 'lower' nor 'upper': it has no bounds"
        problems.info("I923", text, limit.location)
    elif bounded and (lower or 0.0) == (upper or 0.0):
        problems.info("I923", f"'lower' and 'upper' of {who} are the same: it is locked", limit.location)
    elif bounded and (lower or 0.0) > (upper or 0.0):
        text = f"'lower' of {who}, {lower or 0.0:g}, is above 'upper', {upper or 0.0:g}: it has no bounds"
        problems.warning("W922", text, limit.location)


def _check_mimic(joint: Joint, names: Collection[str], problems: Problems) -> None:
    if joint.mimic is None:
        return
    if joint.mimic.joint not in names:
        text = f"joint {quote(joint.name)} mimics {quote(joint.mimic.joint)}, which is no joint"
        problems.warning("W907", text, joint.location, _near(joint.mimic.joint, names))
        return
    text = f"joint {quote(joint.name)} does not follow {quote(joint.mimic.joint)}: 'mimic' is kept, but not simulated"
    problems.warning("W918", text, joint.location)


def _check_ends(robot: Robot, problems: Problems) -> bool:
    """Whether every joint is between links that are there."""
    names, sound = dict.fromkeys(link.name for link in robot.links), True
    joints: list[AnyJoint] = [*robot.joints, *robot.loops]
    for joint in joints:
        ends = (joint.parent, joint.child) if isinstance(joint, Joint) else (joint.link1, joint.link2)
        if not all(ends):  # which has been reported
            sound = False
            continue
        for end in ends:
            if end not in names:
                text = f"joint {quote(joint.name)} names the link {quote(end)}, which is not there"
                problems.error("E907", text, joint.location, _near(end, names))
                sound = False
        if ends[0] == ends[1]:
            problems.error("E909", f"joint {quote(joint.name)} joins {quote(ends[0])} to itself", joint.location)
            sound = False
    return sound


# --- the tree ---------------------------------------------------------------------------------------------------------
def _check_tree(robot: Robot, problems: Problems) -> bool:
    """Whether the joints form one tree; loops are for ``loop_joint``."""
    carrier: dict[str, Joint] = {}
    sound = len({link.name for link in robot.links}) == len(robot.links)
    for joint in robot.joints:
        known = carrier.setdefault(joint.child, joint)
        if known is not joint:
            text = f"two joints lead to the link {quote(joint.child)}: {quote(known.name)} and {quote(joint.name)}"
            problems.error("E909", text, joint.location, "'loop_joint' closes a loop", known.location)
            sound = False
    if not sound:
        return False
    if not _check_circles(robot, carrier, problems):
        return False
    roots = [link for link in robot.links if link.name not in carrier]
    for other in roots[1:]:
        text = f"the link {quote(other.name)} has no parent: {quote(roots[0].name)} is the root already"
        problems.error("E910", text, other.location, "a fixed joint ties it to the rest", roots[0].location)
    return len(roots) == 1


def _check_circles(robot: Robot, carrier: dict[str, Joint], problems: Problems) -> bool:
    clear: set[str] = set()
    sound = True
    for link in robot.links:
        way: dict[str, None] = {}
        at = link.name
        while at in carrier and at not in clear and at not in way:
            way[at] = None
            at = carrier[at].parent
        if at in way:
            circle = list(way)[list(way).index(at) :]
            text = f"joints go round in a circle: {' to '.join(map(quote, reversed([*circle, at][:6])))}"
            problems.error("E909", text, carrier[at].location, "'loop_joint' closes a loop")
            sound = False
        clear.update(way)
    return sound


# --- masses -----------------------------------------------------------------------------------------------------------
def _check_inertia(link: Link, problems: Problems) -> None:
    """Report an unphysical inertia tensor."""
    inertial = link.inertial
    if inertial is None or not inertial.mass > 0.0 or link.broken:
        return
    moments = moments_of(inertial)
    text = f"the inertia of {quote(link.name)} has the principal moments {', '.join(f'{m:.6g}' for m in moments)} kg m²"
    if not can_be_a_body(link):
        if moments.any():
            problems.warning("W912", f"{text}, expected all above 0", inertial.location)
    elif moments[0] <= 1e-9 * moments[2]:
        problems.warning("W912", f"{text}: those near 0 are raised to 1/1000 of the largest", inertial.location)
    elif moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-6):
        text += ", and no body has one above the sum of the others"
        problems.warning("W912", f"{text}; it is taken as it is", inertial.location)


def _check_masses(tree: Tree, problems: Problems) -> None:
    """Report moving links without mass or inertia; a root without mass represents the world."""
    if not any(link.mass > 0.0 for link in tree.links.values()):
        if not any(link.broken for link in tree.links.values()):
            problems.error("E926", "no link of the robot has a mass", tree.robot.location)
        return
    for top, members in tree.members.items():
        if any(tree.links[name].broken for name in members):
            continue
        carrier, homes = tree.carrier.get(top), tree.home_of(top, merged=False)
        for home in dict.fromkeys(homes.values()):
            total = tree.mass_of(home, homes)
            held = carrier is None and (total is None or tree.is_grounded)
            if not held and (total is None or sound(total.mass, total.inertia) is None):
                _tell_massless(tree.links[home], total is not None, len(members) - 1, carrier, problems)


def _tell_massless(link: Link, has_mass: bool, tied: int, carrier: Joint | None, problems: Problems) -> None:
    moved = "is free to move" if carrier is None else f"is moved by the joint {quote(carrier.name)} ({carrier.type})"
    others = "" if not tied else f", and neither has what fixed joints tie to it ({tied} link{'s' * (tied > 1)})"
    if has_mass:
        text = f"the link {quote(link.name)} has a mass, but no inertia, and {moved}{others}"
        problems.error("E912", text, link.location, "give its 'inertia' moments above 0")
    else:
        text = f"the link {quote(link.name)} has no mass and {moved}{others}"
        problems.error("E911", text, link.location, "give it an 'inertial', or make the joint fixed")
