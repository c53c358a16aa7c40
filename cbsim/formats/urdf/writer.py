"""Writer of URDF: a `Robot` as text; numbers keep the text they were read from."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cbsim.formats.urdf.grammar import SHAPES
from cbsim.formats.xml_text import quoted
from cbsim.spec.number import number_text
from cbsim.spec.objects import UNIT, ZERO
from cbsim.spec.urdf import Collision, Frame, Geometry, Inertial, Joint, Limit, Link, LoopJoint, Material, Robot, Visual

__all__ = ["write"]

Attributes = dict[str, str | None]
Lines = list[str]
PRODUCTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def write(spec: Robot) -> str:
    """Write a URDF file."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<robot{_attributes({'name': spec.name})}>"]
    for material in spec.materials:
        lines += _inner(_material(material))
    for link in spec.links:
        lines += _inner(_link(link))
    for joint in spec.joints:
        lines += _inner(_joint(joint))
    for loop in spec.loops:
        lines += _inner(_loop(loop))
    lines += _inner(list(spec.extensions))
    return "\n".join([*lines, "</robot>", ""])


def _inner(lines: Sequence[str]) -> Lines:
    return [f"  {line}" for line in lines]


def _attributes(attributes: Attributes) -> str:
    return "".join(f" {name}={quoted(text)}" for name, text in attributes.items() if text is not None)


def _element(tag: str, attributes: Attributes, children: Sequence[str] = ()) -> Lines:
    if not children:
        return [f"<{tag}{_attributes(attributes)}/>"]
    return [f"<{tag}{_attributes(attributes)}>", *_inner(children), f"</{tag}>"]


def _number(value: float) -> str:
    """Write a number; bounds beyond all lengths as what they were read as."""
    return number_text(value) if math.isfinite(value) else "inf" if value > 0 else "-inf"


def _numbers(values: Sequence[float]) -> str:
    return " ".join(map(_number, values))


def _frame(frame: Frame) -> Attributes:
    xyz = None if frame.xyz == ZERO else _numbers(frame.xyz)
    return {"xyz": xyz, "rpy": None if frame.rpy == ZERO else _numbers(frame.rpy)}


def _origin(frame: Frame) -> Lines:
    return [] if frame == Frame() else _element("origin", _frame(frame))


# --- links ------------------------------------------------------------------------------------------------------------
def _link(link: Link) -> Lines:
    children: Lines = [] if link.inertial is None else _inertial(link.inertial)
    for visual in link.visuals:
        material = [] if visual.material is None else _material(visual.material)
        children += _looks("visual", visual, material)
    for collision in link.collisions:
        children += _looks("collision", collision, [])
    return _element("link", {"name": link.name}, [*children, *link.extensions])


def _inertial(inertial: Inertial) -> Lines:
    tensor = dict(zip(PRODUCTS, map(_number, inertial.inertia), strict=True))
    mass = _element("mass", {"value": _number(inertial.mass)})
    return _element("inertial", {}, [*_origin(inertial.origin), *mass, *_element("inertia", dict(tensor))])


def _looks(tag: str, look: Visual | Collision, material: Lines) -> Lines:
    geometry = _element("geometry", {}, _geometry(look.geometry))
    return _element(tag, {"name": look.name or None}, [*_origin(look.origin), *geometry, *material])


def _geometry(geometry: Geometry) -> Lines:
    if geometry.kind == "mesh":
        scale = None if geometry.scale == UNIT else _numbers(geometry.scale)
        return _element("mesh", {"filename": geometry.filename, "scale": scale})
    if geometry.kind == "box":
        return _element("box", {"size": _numbers(geometry.size)})
    return _element(geometry.kind, dict(zip(SHAPES[geometry.kind], map(_number, geometry.size), strict=True)))


def _material(material: Material) -> Lines:
    children: Lines = []
    if material.color is not None:
        children += _element("color", {"rgba": _numbers(material.color)})
    if material.texture is not None:
        children += _element("texture", {"filename": material.texture})
    return _element("material", {"name": material.name}, children)


# --- joints -----------------------------------------------------------------------------------------------------------
def _joint(joint: Joint) -> Lines:
    children = [*_origin(joint.origin)]
    children += _element("parent", {"link": joint.parent}) + _element("child", {"link": joint.child})
    children += _motion(joint)
    if joint.mimic is not None:
        multiplier, offset = map(_number, joint.mimic[1:])
        children += _element("mimic", {"joint": joint.mimic.joint, "multiplier": multiplier, "offset": offset})
    return _element("joint", {"name": joint.name, "type": joint.type}, [*children, *joint.extensions])


def _loop(loop: LoopJoint) -> Lines:
    children = _element("link1", {"link": loop.link1, **_frame(loop.origin1)})
    children += _element("link2", {"link": loop.link2, **_frame(loop.origin2)}) + _motion(loop)
    return _element("loop_joint", {"name": loop.name, "type": loop.type}, [*children, *loop.extensions])


def _motion(joint: Joint | LoopJoint) -> Lines:
    lines = [] if tuple(joint.axis) == (1.0, 0.0, 0.0) else _element("axis", {"xyz": _numbers(joint.axis)})
    lines += [] if joint.limit is None else _limit(joint.limit)
    if joint.damping or joint.friction:
        lines += _element("dynamics", {"damping": _number(joint.damping), "friction": _number(joint.friction)})
    return lines


def _limit(limit: Limit) -> Lines:
    names = ("lower", "upper", "effort", "velocity")
    values = (limit.lower, limit.upper, limit.effort, limit.velocity)
    return _element("limit", {n: None if v is None else _number(v) for n, v in zip(names, values, strict=True)})
