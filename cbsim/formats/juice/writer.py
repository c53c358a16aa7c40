"""Writer of Juice files: a `JuiceModel` as text, in Juice's own order; numbers keep the text they were read from."""

from __future__ import annotations

from typing import Any

from cbsim.formats.juice.grammar import CONSTANTS, ELEMENTS, Item
from cbsim.formats.xml_text import text_of
from cbsim.spec.juice import FUNCTIONS, Clockwork, FunctionNode, JointKind, JuiceModel, Network
from cbsim.spec.number import number_text

__all__ = ["write"]

Lines = list[str]
BOUNCE = ELEMENTS["ODE.Standard"][-1]


def write(spec: JuiceModel) -> str:
    """Write a Juice file: the first version, or the third where contacts bounce, which only that one can say."""
    model = ['<Model FileVersion="1">', *_inner(_items(ELEMENTS["Model"], spec)), *_inner(_parts(spec)), "</Model>"]
    if not spec.bounce:
        return "\n".join([*model, ""])
    constants = _element("ODE.Standard", _items((*CONSTANTS, BOUNCE), spec))
    head = '<JuiceFile FileVersion="1" SerializationVersion="2">'
    return "\n".join([head, *_inner(_element("DynamicsConstants", constants)), *_inner(model), "</JuiceFile>", ""])


def _parts(spec: JuiceModel) -> Lines:
    lines = _list("Bodies", [_element("Body", _items(ELEMENTS["Body"], body)) for body in spec.bodies])
    for kind in JointKind:
        joints = [joint for joint in spec.joints if joint.kind == kind]
        lines += _list(f"{kind}s", [_element(kind, _items(ELEMENTS[kind], joint)) for joint in joints])
    return lines + _list("Behaviors", [_behaviour(one) for one in spec.behaviours])


def _behaviour(one: Clockwork | Network) -> Lines:
    if isinstance(one, Clockwork):
        items = _items(ELEMENTS["Clockwork"], one)
        motors = [_element("ClockworkMotor", _items(ELEMENTS["ClockworkMotor"], motor)) for motor in one.motors]
        return _element("Clockwork", [*items[:3], *_list("ClockworkMotors", motors), *items[3:]])
    lines = _items(ELEMENTS["NetworkBehavior"], one)
    lines += _list("MotorNodes", [_element("MotorNode", _items(ELEMENTS["MotorNode"], node)) for node in one.motors])
    lines += _list("FunctionNodes", [_function(node) for node in one.functions])
    sources = [_element("MotionSourceNode", _items(ELEMENTS["MotionSourceNode"], node)) for node in one.sources]
    lines += _list("MotionSourceNodes", sources)
    lines += _list("Edges", [_element("Edge", _items(ELEMENTS["Edge"], edge)) for edge in one.edges])
    return _element("NetworkBehavior", lines)


def _function(node: FunctionNode) -> Lines:
    names = [name for name, _ in FUNCTIONS[node.kind]]
    items = ELEMENTS[node.kind]
    numbers = dict(zip(names, node.numbers, strict=True))
    lines: Lines = []
    for item in items:
        lines += _item(item, numbers[item.field] if item.field in numbers else getattr(node, item.field))
    return _element(node.kind, lines)


def _items(items: tuple[Item, ...], part: object) -> Lines:
    return [line for item in items for line in _item(item, getattr(part, item.field))]


def _item(item: Item, value: Any) -> Lines:
    match item.kind:
        case "text":
            return [f"<{item.tag}>{text_of(value)}</{item.tag}>"]
        case "number":
            return [f"<{item.tag}>{number_text(value)}</{item.tag}>"]
        case "triple" | "attitude":
            tags = "XYZ" if item.kind == "triple" else "YPR"
            return _element(item.tag, [f"<{tag}>{number_text(v)}</{tag}>" for tag, v in zip(tags, value, strict=True)])
    return [f"<{item.tag}>{int(value)}</{item.tag}>"]


def _element(tag: str, lines: Lines) -> Lines:
    return [f"<{tag}>", *_inner(lines), f"</{tag}>"]


def _list(tag: str, parts: list[Lines]) -> Lines:
    return _element(tag, [line for part in parts for line in part])


def _inner(lines: Lines) -> Lines:
    return [f"\t{line}" for line in lines]
