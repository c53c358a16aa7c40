"""Result of a script, as objects of the data grammar."""

from __future__ import annotations

from cbsim.errors import Problems
from cbsim.formats.irit.script.functions import FUNCTIONS
from cbsim.formats.irit.script.machine import Machine
from cbsim.formats.irit.script.values import Shape, Trouble, Value, object_of
from cbsim.formats.reader import Source
from cbsim.paths import Files
from cbsim.spec.irit.objects import IritObject

__all__ = ["run_script"]

MEMBER = 4  # steps that making an object takes


def run_script(source: Source, problems: Problems, files: Files) -> tuple[IritObject, ...]:
    """Run a script, and return what it saves; where it saves nothing, what it shows last, else its variables."""
    machine = Machine(problems, files, FUNCTIONS)
    machine.run(source)
    try:
        return _made(machine)
    except Trouble as trouble:
        problems.error(trouble.code, trouble.message, trouble.place or source.at(1), trouble.hint)
        return ()


def _made(machine: Machine) -> tuple[IritObject, ...]:
    if machine.saved:
        return tuple(_object(machine, value, name) for name, value in machine.saved)
    if machine.shown is not None:
        return (_object(machine, machine.shown, "NONE"),)
    found = []
    for name, value in machine.variables.items():
        if value is not None and name not in machine.builtin and isinstance(value.data, (Shape, list)):
            found.append(_object(machine, value, name.upper()))
    return tuple(found)


def _object(machine: Machine, value: Value, name: str) -> IritObject:
    """Make an object; each member of a list becomes one as well, as often as the list is used."""
    waiting = [value]
    while waiting:
        data = waiting.pop().data
        machine.work(MEMBER)
        waiting += data if isinstance(data, list) else []
    return object_of(value, name)
