"""Interpreter of scripts, with limits of steps, depth and memory, and located errors.

A statement that fails is skipped, and the variables that it would have set are unknown from then on, so that errors
that follow from them are not reported. A line within a function that fails repeatedly is reported once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from cbsim.errors import FileError, Location, Problem, Problems, Severity, did_you_mean
from cbsim.formats.irit.script.constants import AXES, constants
from cbsim.formats.irit.script.functions.names import IGNORED, UNDONE, UNSUPPORTED
from cbsim.formats.irit.script.grammar import Call, Literal, Name, Node, Operation, Routine, Sequence, parse, within
from cbsim.formats.irit.script.operators import LOGIC, binary, unary
from cbsim.formats.irit.script.values import Trouble, Value, kind_of, weigh
from cbsim.formats.reader import Source
from cbsim.formats.values import quote
from cbsim.paths import Files

__all__ = ["Machine"]

STEPS = 2_000_000  # values computed by a script
AT_ONCE = 64  # members of a list, or letters of a text, that are copied or compared in the time of a step
NUMBERS = 5_000_000  # numbers in all values that it makes
CALLS = 60  # functions in one another
INCLUDES = 10


class NativeFunction(Protocol):
    """A function of the interpreter, as `cbsim.formats.irit.script.functions.function.Function`."""

    @property
    def call(self) -> Callable[[Any, list[Value]], Value | None]: ...
    @property
    def counts(self) -> tuple[int, int]: ...
    @property
    def usage(self) -> str: ...


class _ExitError(Exception):
    """The script has ended, of itself, with an error or not, or by a limit."""


class Machine:
    """Runs scripts.

    Parameters
    ----------
    problems : Problems
        Collects all problems.
    files : Files
        What may be included and loaded.
    functions : mapping
        Name → function of the interpreter.

    Attributes
    ----------
    saved : list of (str, Value)
        What scripts save, by the name of the file.
    shown : Value or None
        What they look at last.
    variables : dict
        Global variables; None is one whose statement failed.
    """

    def __init__(self, problems: Problems, files: Files, functions: Mapping[str, NativeFunction]) -> None:
        self.problems, self.files, self.functions = problems, files, functions
        self.variables = _beginning()
        self.builtin = frozenset(self.variables)
        self.frames: list[dict[str, Value | None]] = []
        self.saved: list[tuple[str, Value]] = []
        self.shown: Value | None = None
        self.place = Location("")
        self.folder = Path()
        self._steps = self._numbers = self._depth = 0
        self._told: set[tuple[str, str]] = set()

    @property
    def routines(self) -> list[str]:
        """Names of the functions and procedures that the script has made."""
        return [name for name, value in self.variables.items() if value is not None and isinstance(value.data, Routine)]

    def reset(self) -> None:
        """Forget all variables but functions and procedures, as when the script begins."""
        self.work(len(self.variables))
        kept = {name: self.variables[name] for name in self.routines}
        self.variables = _beginning() | kept

    def forget_routines(self, names: Iterable[str]) -> None:
        """Forget functions and procedures of the script."""
        self.work(len(self.variables))
        known = dict.fromkeys(self.routines)
        for name in map(str.lower, names):
            if name not in known:
                raise Trouble("E062", f"no function {quote(name)} of the script", did_you_mean(name, known))
            del self.variables[name], known[name]

    # --- running ------------------------------------------------------------------------------------------------------
    def run(self, source: Source) -> None:
        """Run a script, or one that it includes."""
        outer, self.folder = self.folder, source.folder
        try:
            for node in _parsed(source, self.problems):
                self._statement(node)
        except _ExitError:
            if self._depth:
                raise
        finally:
            self.folder = outer

    def include(self, name: str) -> None:
        """Run another script from within this one."""
        if self._depth >= INCLUDES:
            raise Trouble("E065", f"scripts include one another more than {INCLUDES} deep")
        source, frames = self.open(name, ".irt"), self.frames
        place = self.place
        self._depth += 1
        self.frames = []
        try:
            self.run(source)
        finally:
            self._depth -= 1
            self.frames, self.place = frames, place

    def open(self, name: str, suffix: str) -> Source:
        """Open a file that the script names, relative to its own folder."""
        if not name or "\0" in name:
            raise Trouble("E066", "a file needs a name")
        path = self.folder / (name if Path(name).suffix else name + suffix)
        try:
            return Source.decode(str(path), self.files.read(path, asked_at=self.place))
        except FileError as error:
            self.problems.extend(error.problems)
            raise Trouble("", "") from None

    def _statement(self, node: Node) -> None:
        try:
            self.evaluate(node)
        except Trouble as trouble:
            self.frames.clear()
            if trouble.code:
                self._tell(Severity.ERROR, trouble.code, trouble.message, trouble.place or self.place, trouble.hint)
            self._forget(node)
            if trouble.code in ("E065", "E067"):
                raise _ExitError from None
        except RecursionError:
            self.frames.clear()
            self._tell(Severity.ERROR, "E065", "the expression is nested too deep", node.place)
            raise _ExitError from None
        except (OverflowError, ZeroDivisionError, ValueError) as reason:
            self.frames.clear()
            self._tell(Severity.ERROR, "E063", f"cannot be worked out: {reason}", self.place)
            self._forget(node)

    def _tell(self, severity: Severity, code: str, message: str, place: Location, hint: str = "") -> None:
        if (str(place), message) not in self._told:
            self._told.add((str(place), message))
            self.problems.add(Problem(severity, code, message, place, hint))

    def _forget(self, node: Node) -> None:
        for part in within(node):
            if isinstance(part, Operation) and part.sign == "=" and isinstance(part.values[0], Name):
                self.variables[part.values[0].name] = None

    # --- evaluating ---------------------------------------------------------------------------------------------------
    def evaluate(self, node: Node) -> Value | None:
        """Work a tree out; None of what has no value."""
        self.place = node.place
        self.work()
        if isinstance(node, Literal):
            return Value(node.value, {}, node.place)
        if isinstance(node, Name):
            return self._variable(node)
        if isinstance(node, Operation):
            return self._operation(node)
        if isinstance(node, Sequence):
            value = None
            for part in node.parts:
                value = self.evaluate(part)
            return value
        if isinstance(node, Routine):
            return Value(node, {}, node.place)
        return self._call(node)

    def value(self, node: Node) -> Value:
        """Compute a tree that must have a value."""
        value = self.evaluate(node)
        if value is None:
            raise Trouble("E063", "this has no value", place=node.place)
        return value

    def number(self, node: Node, what: str) -> float:
        """Compute a tree that must be a number."""
        data = self.value(node).data
        if not isinstance(data, float):
            raise Trouble("E063", f"{what} is a {kind_of(data)}, expected a number", place=node.place)
        return data

    def work(self, steps: int = 1) -> None:
        """Count steps: values computed, or visited within a function."""
        self._steps += steps
        if self._steps > STEPS:
            raise Trouble("E065", f"the script takes more than {STEPS} steps", "does a loop never end?")

    def copy(self, value: Value) -> Value:
        """Copy a value as `Value.copied` does; a long list is work."""
        if isinstance(value.data, list):
            self.work(len(value.data) // AT_ONCE)
        return value.copied()

    def spend(self, value: Value) -> Value:
        """Count the numbers of a new value."""
        value.weight = max(value.weight, weigh(value))
        self._numbers += value.weight
        if self._numbers > NUMBERS:
            raise Trouble("E065", f"the script makes values of more than {NUMBERS} numbers")
        return value

    def constant(self, name: str, default: float) -> float:
        """Look a number up that steers functions, such as ``resolution``."""
        found = self._find(name)
        value = found.get(name)
        return value.data if value is not None and isinstance(value.data, float) else default

    def _find(self, name: str) -> dict[str, Value | None]:
        return self.frames[-1] if self.frames and name in self.frames[-1] else self.variables

    def _variable(self, node: Name) -> Value:
        found = self._find(node.name)
        if node.name not in found:
            hint = did_you_mean(node.name, chain(self.frames[-1] if self.frames else (), self.variables))
            raise Trouble("E062", f"no variable {quote(node.name)}", hint)
        value = found[node.name]
        if value is None:
            raise Trouble("", "")
        return value

    def _operation(self, node: Operation) -> Value:
        if node.sign == "=":
            return self._assignment(node)
        values = [self.value(part) for part in node.values]
        self.place = node.place
        if node.sign in LOGIC:
            self.work(min(map(_size, values)) // AT_ONCE)
        made = unary(node.sign, *values) if len(values) == 1 else binary(node.sign, *values)
        return self.spend(made)

    def _assignment(self, node: Operation) -> Value:
        target, given = node.values
        if not isinstance(target, Name):
            raise Trouble("E060", "only a name can be given a value")
        value = self.copy(self.value(given))
        value.place = node.place
        self._find(target.name)[target.name] = self.spend(value)
        return value

    # --- calls --------------------------------------------------------------------------------------------------------
    def _call(self, node: Call) -> Value | None:
        control = CONTROL.get(node.name)
        if control is not None:
            return control(self, node)
        routine = self._find(node.name).get(node.name)
        if routine is not None and isinstance(routine.data, Routine):
            return self._routine(node, routine.data)
        function = self.functions.get(node.name)
        if function is None:
            return self._unknown(node)
        least, most = function.counts
        if not least <= len(node.arguments) <= most:
            expected = f"{least}" if least == most else f"{least} to {most}" if most < 100 else f"at least {least}"
            text = f"{node.name} has {len(node.arguments)} arguments, expected {expected}: {function.usage}"
            raise Trouble("E063", text)
        arguments = [self.value(part) for part in node.arguments]
        self.place = node.place
        made = function.call(self, arguments)
        if made is not None:
            made.place = node.place
            self.spend(made)
        return made

    def _unknown(self, node: Call) -> Value | None:
        if node.name in IGNORED:
            for part in node.arguments:
                self.evaluate(part)
            if node.name in UNDONE:
                text = f"{quote(node.name)} does nothing here: {UNDONE[node.name]}"
                self._tell(Severity.WARNING, "W061", text, node.place)
            return Value(0.0, {}, node.place)
        if node.name in self.variables and self.variables[node.name] is None:
            raise Trouble("", "")
        if node.name in UNSUPPORTED:
            raise Trouble("E061", f"the function {quote(node.name)} of IRIT is not supported")
        hint = did_you_mean(node.name, (*self.functions, *CONTROL))
        raise Trouble("E061", f"no function {quote(node.name)}", hint)

    def _routine(self, node: Call, routine: Routine) -> Value | None:
        if len(node.arguments) != len(routine.parameters):
            text = f"{node.name} has {len(node.arguments)} arguments, expected {len(routine.parameters)}"
            raise Trouble("E063", text, place=node.place)
        if len(self.frames) >= CALLS:
            raise Trouble("E065", f"functions call one another more than {CALLS} deep", place=node.place)
        frame: dict[str, Value | None] = {"return": Value(0.0, {}, node.place)}
        for name, part in zip(routine.parameters, node.arguments, strict=True):
            frame[name] = self.copy(self.value(part))
        frame |= {name: Value(0.0, {}, node.place) for name in routine.own}
        self.frames.append(frame)
        self.evaluate(routine.body)
        self.frames.pop()
        return frame["return"] if routine.returns else None


def _size(value: Value) -> int:
    """Members, letters or numbers that comparing a value may have to look at."""
    return len(value.data) if isinstance(value.data, (str, list)) else value.weight


def _beginning() -> dict[str, Value | None]:
    """Variables that there are when a script begins."""
    return {**{name: Value(data) for name, data in constants().items()}, "axes": Value(AXES)}


def _parsed(source: Source, problems: Problems) -> list[Node]:
    try:
        return parse(source, problems)
    except RecursionError:
        problems.error("E065", "an expression is nested too deep", source.at(1))
        return []


# --- control ----------------------------------------------------------------------------------------------------------
def _counted(node: Call, least: int, most: int, usage: str) -> None:
    if not least <= len(node.arguments) <= most:
        raise Trouble("E060", f"{node.name} has {len(node.arguments)} arguments, expected {usage}", place=node.place)


def _for(machine: Machine, node: Call) -> None:
    _counted(node, 3, 4, "for(start, step, end, body)")
    start, step, end, *body = node.arguments
    first = machine.value(start)
    name = start.values[0] if isinstance(start, Operation) and start.sign == "=" else None
    if not isinstance(first.data, float):
        raise Trouble("E063", f"the start of the loop is a {kind_of(first.data)}, expected a number", place=node.place)
    by, last = machine.number(step, "the step of the loop"), machine.number(end, "the end of the loop")
    if by == 0.0:
        raise Trouble("E065", "the step of the loop is 0: it would never end", place=step.place)
    at, count = first.data, 0
    while at <= last + 1e-9 * abs(by) if by > 0.0 else at >= last - 1e-9 * abs(by):
        if isinstance(name, Name):
            machine._find(name.name)[name.name] = Value(at, {}, node.place)
        if not body:
            machine.evaluate(Literal(0.0, node.place))
        for part in body:
            machine.evaluate(part)
        count += 1
        at = first.data + count * by


def _while(machine: Machine, node: Call) -> None:
    _counted(node, 2, 2, "while(condition, body)")
    condition, body = node.arguments
    while machine.number(condition, "the condition"):
        machine.evaluate(body)


def _if(machine: Machine, node: Call) -> Value | None:
    _counted(node, 2, 3, "if(condition, then, else)")
    condition, *branches = node.arguments
    if machine.number(condition, "the condition"):
        return machine.evaluate(branches[0])
    return machine.evaluate(branches[1]) if len(branches) > 1 else None


def _free(machine: Machine, node: Call) -> None:
    _counted(node, 1, 1, "free(variable)")
    (variable,) = node.arguments
    if isinstance(variable, Name) and variable.name not in machine.builtin:
        machine._find(variable.name).pop(variable.name, None)


def _exit(_machine: Machine, _node: Call) -> None:
    raise _ExitError


CONTROL: dict[str, Callable[[Machine, Call], Value | None]] = {
    "for": _for,
    "while": _while,
    "if": _if,
    "free": _free,
    "exit": _exit,
}
"""Name of a control structure → what runs it."""
