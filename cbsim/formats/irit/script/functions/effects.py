"""Functions with side effects: attributes, files, and saved, shown and deleted variables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from cbsim.formats.irit.data import read_objects
from cbsim.formats.irit.packed import unpacked
from cbsim.formats.irit.script.functions.function import Arguments, Function, number, text
from cbsim.formats.irit.script.values import Shape, Trouble, Value, kind_of, object_of
from cbsim.formats.irit.structure import VIEWS
from cbsim.formats.values import quote
from cbsim.spec.irit.objects import (
    Attribute,
    ControlPoint,
    Freeform,
    Instance,
    IritObject,
    Matrix,
    Number,
    Plane,
    Point,
    Poly,
    SolidModel,
    Text,
    Trimmed,
    Vector,
)
from cbsim.spec.number import number_text

if TYPE_CHECKING:
    from cbsim.formats.irit.script.machine import Machine

__all__ = ["EFFECTS"]

MANY = 100  # attributes of a value, all of which are copied with it


def _attrib(machine: Machine, arguments: Arguments) -> None:
    """Give a value an attribute, in place."""
    _give(machine, arguments, arguments[0])


def _attrprop(machine: Machine, arguments: Arguments) -> None:
    """Give a value, and everything in it where it is a list, an attribute."""
    waiting, seen = [arguments[0]], set()
    while waiting:
        value = waiting.pop()
        machine.work(3)
        if id(value) not in seen:
            seen.add(id(value))
            _give(machine, arguments, value)
            waiting += value.data if isinstance(value.data, list) else []


def _give(machine: Machine, arguments: Arguments, owner: Value) -> None:
    name, value = text(arguments, 1).upper(), arguments[2].data
    if not name:
        raise Trouble("E063", "an attribute needs a name")
    if isinstance(value, str):
        made = Attribute(name, (value,), quoted=True)
    elif isinstance(value, float):
        made = Attribute(name, (number_text(value),))
    else:
        made = Attribute(name, objects=(object_of(arguments[2], "NONE"),))
        owner.weight += machine.spend(arguments[2]).weight
    _keep(owner, made)


def _keep(owner: Value, made: Attribute) -> None:
    owner.attributes[made.name] = made
    if len(owner.attributes) > MANY:
        raise Trouble("E065", f"a value has more than {MANY} attributes")


def _marker(name: str) -> Callable[[Machine, Arguments], None]:
    """Make a function that gives a value a number as an attribute."""

    def mark(_machine: Machine, arguments: Arguments) -> None:
        _keep(arguments[0], Attribute(name, (number_text(number(arguments, 1)),)))

    return mark


def _getattr(_machine: Machine, arguments: Arguments) -> Value:
    found = arguments[0].attributes.get(text(arguments, 1).upper())
    if found is None or not found.words:
        return Value(0.0)
    try:
        return Value(float(found.words[0]))
    except ValueError:
        return Value(found.words[0])


def _rmattr(_machine: Machine, arguments: Arguments) -> None:
    arguments[0].attributes.pop(text(arguments, 1).upper(), None)


def _inside(name: str) -> str:
    """Refuse names of files that lead out of the folder of the script."""
    parts = (*PurePosixPath(name).parts, *PureWindowsPath(name).parts)
    if not name or ".." in parts or PurePosixPath(name).is_absolute() or PureWindowsPath(name).drive:
        raise Trouble("E066", f"{quote(name)} is no file in the folder of the script")
    return name


def _save(machine: Machine, arguments: Arguments) -> None:
    """Keep a value as what the script makes; nothing is written."""
    name = PurePosixPath(_inside(text(arguments, 0))).name
    machine.saved.append((name.split(".")[0].upper() or "NONE", machine.spend(machine.copy(arguments[1]))))


def _show(machine: Machine, arguments: Arguments) -> None:
    machine.shown = machine.copy(arguments[0])


def _include(machine: Machine, arguments: Arguments) -> None:
    machine.include(_inside(text(arguments, 0)))


def _load(machine: Machine, arguments: Arguments) -> Value:
    """Read a data file: its only object, or a list of them."""
    source = machine.open(_inside(text(arguments, 0)), ".itd")
    plain = unpacked(source, machine.problems)
    before = len(machine.problems.errors)
    objects = () if plain is None else read_objects(plain, machine.problems)
    if plain is None or len(machine.problems.errors) > before:
        raise Trouble("", "")
    kept = [item for item in objects if item.name not in VIEWS]
    return _value_of(kept[0]) if len(kept) == 1 else Value([_value_of(item) for item in kept])


def _value_of(item: IritObject) -> Value:
    attributes = {attribute.name: attribute for attribute in item.attributes}
    if item.is_list:
        return Value([_value_of(member) for member in item.members], attributes, item.location)
    value = item.value
    if isinstance(value, (Number, Text)):
        return Value(value.value, attributes, item.location)
    if isinstance(value, (Point, Vector, Plane, ControlPoint, Matrix)):
        return Value(value, attributes, item.location)
    if isinstance(value, Instance):
        raise Trouble("E063", "a script cannot load instances")
    items = tuple(part for part in item.items if isinstance(part, (Poly, Freeform, Trimmed, SolidModel)))
    return Value(Shape(items), attributes, item.location)


def _error(_machine: Machine, arguments: Arguments) -> None:
    """End the script, which has found out itself that it cannot continue."""
    raise Trouble("E067", f"the script ends itself with an error: {quote(text(arguments, 0))}")


def _reset(machine: Machine, _arguments: Arguments) -> None:
    """Forget all variables but the functions of the script."""
    machine.reset()


def _fnfree(machine: Machine, arguments: Arguments) -> None:
    machine.forget_routines([text(arguments, 0)])


def _free_some(machine: Machine, arguments: Arguments) -> None:
    names = arguments[0].data
    if not isinstance(names, list):
        raise Trouble("E063", f"argument 1 is a {kind_of(names)}, expected a list of names")
    machine.forget_routines([text(names, k) for k in range(len(names))])


def _free_all(machine: Machine, _arguments: Arguments) -> None:
    machine.forget_routines(machine.routines)


def _time(_machine: Machine, _arguments: Arguments) -> Value:
    return Value(0.0)  # the same script gives the same values, whenever it runs


EFFECTS = (
    Function("attrib", _attrib, (3, 3), 'attrib(value, "name", value)'),
    Function("attrprop", _attrprop, (3, 3), 'attrprop(value, "name", value)'),
    Function("color", _marker("COLOR"), (2, 2), "color(value, number)"),
    Function("awidth", _marker("WIDTH"), (2, 2), "awidth(value, number)"),
    Function("adwidth", _marker("DWIDTH"), (2, 2), "adwidth(value, number)"),
    Function("getattr", _getattr, (2, 2), 'getattr(value, "name")'),
    Function("rmattr", _rmattr, (2, 2), 'rmattr(value, "name")'),
    Function("save", _save, (2, 2), 'save("file", value)'),
    Function("load", _load, (1, 1), 'load("file")'),
    Function("include", _include, (1, 1), 'include("file")'),
    Function("view", _show, (1, 2), "view(value, clear)"),
    Function("viewobj", _show, (1, 1), "viewobj(value)"),
    Function("interact", _show, (1, 1), "interact(value)"),
    Function("error", _error, (1, 1), 'error("message")'),
    Function("reset", _reset, (0, 0), "reset()"),
    Function("fnfree", _fnfree, (1, 1), 'fnfree("function")'),
    Function("freeuserdeffuncs", _free_some, (1, 1), "freeuserdeffuncs(list of names)"),
    Function("freealluserdeffuncs", _free_all, (0, 0), "freealluserdeffuncs()"),
    Function("time", _time, (1, 1), "time(reset)"),
)
