"""Recognition of the 2N-legged walker among the objects of a file, by the structure of its lists.

Source: the description of the model format; lists are (body, legs, coefStepRotate, coefStepWalk, minStepAngle,
stepType), legs left 1 … N, right 1 … N, and each leg (hip, shin, coorLeg, coorKnee, coorFoot).
"""

from __future__ import annotations

from collections.abc import Sequence

from cbsim.errors import Location, Problems, did_you_mean
from cbsim.formats.values import quote
from cbsim.spec.irit.objects import ControlPoint, Instance, IritFile, IritObject, Number, Point, Text, Vector
from cbsim.spec.irit.walker import GAITS, Leg, Walker
from cbsim.spec.objects import Triple

__all__ = ["VIEWS", "check_instances", "find_walker"]

VIEWS = frozenset({"MATRICES", "VIEW_MAT", "PRSP_MAT"})
"""Names of objects that define the view."""

PARTS = ("objBody", "objLegs", "coefStepRotate", "coefStepWalk", "minStepAngle", "stepType")
LEG = ("objHip", "objShin", "coorLeg", "coorKnee", "coorFoot")
STEEP = 45.0  # [degrees] largest turn in one step in the original
MANY = 1000  # number of names from which no hints are searched
FEW = 8  # largest list that is recognised as a walker by its numbers and its text alone


def check_instances(spec: IritFile, problems: Problems) -> None:
    """Report instances of missing objects (E051), or with infinite recursion."""
    known = {item.name: item for top in spec.objects for item in top.walk()}
    uses = {name: [part for one in item.walk() for part in _instances(one)] for name, item in known.items()}
    endless = _endless(uses)
    for name, item in known.items():
        for instance in _instances(item):
            if instance.of not in known:
                hint = did_you_mean(instance.of, known) if len(known) < MANY else ""
                problems.error(
                    "E051", f"no object {quote(instance.of)} to make an instance of", instance.location, hint
                )
            elif instance.of in endless and name in endless:
                text = f"the instance of {quote(instance.of)} leads to itself, or to one that does"
                problems.error("E051", text, instance.location)


def _instances(item: IritObject) -> list[Instance]:
    return [part for part in item.items if isinstance(part, Instance)]


def _endless(uses: dict[str, list[Instance]]) -> set[str]:
    """Names whose instances lead to a cycle: those that remain when all that end are removed."""
    users: dict[str, list[str]] = {name: [] for name in uses}
    left = {}
    for name, instances in uses.items():
        targets = {instance.of for instance in instances} & uses.keys()
        left[name] = len(targets)
        for target in targets:
            users[target].append(name)
    ended = [name for name, count in left.items() if not count]
    while ended:
        for user in users[ended.pop()]:
            left[user] -= 1
            if not left[user]:
                ended.append(user)
    return {name for name, count in left.items() if count}


def find_walker(spec: IritFile, problems: Problems) -> Walker | None:
    """Find the walker of a file, and report its problems.

    Returns
    -------
    Walker or None
        None for plain geometry, and for a walker with errors.
    """
    tops = [item for item in spec.objects if item.name not in VIEWS and item.items]
    waiting = [item for item in reversed(tops) if item.is_list]
    while waiting:
        item = waiting.pop()
        if _looks_like_one(item.members):
            return _walker(item.members, item.location, problems)
        waiting += [member for member in reversed(item.members) if member.is_list]
    if len(tops) > 1 and _looks_like_one(tops):  # objects at the top form one list
        return _walker(tops, tops[0].location, problems)
    return None


def _looks_like_one(members: Sequence[IritObject]) -> bool:
    if any(_looks_like_legs(member) for member in members):
        return True
    values = [type(member.value) for member in members]
    others = [value for value in values if value not in (Number, Text)]
    return len(members) <= FEW and values.count(Number) >= 2 and Text in values and bool(others)


def _looks_like_legs(item: IritObject) -> bool:
    legs = [member for member in item.members if member.is_list and _points(member) >= 2]
    return bool(legs) and 2 * len(legs) >= len(item.members)


def _points(item: IritObject) -> int:
    return sum(_place(member) is not None for member in item.members)


def _place(item: IritObject) -> Triple | None:
    value = item.value
    if isinstance(value, (Point, Vector)):
        return value.xyz
    return value.xyz if isinstance(value, ControlPoint) and value.kind in ("E3", "P3") else None


def _walker(members: Sequence[IritObject], place: Location, problems: Problems) -> Walker | None:
    before = len(problems.errors)
    if len(members) != len(PARTS):
        text = f"the model is a list of {len(members)}, expected {len(PARTS)}: {', '.join(PARTS)}"
        problems.error("E070", text, place)
        return None
    body, legs, *numbers, step = members
    rotate, walk = (_share(item, name, problems) for item, name in zip(numbers[:2], PARTS[2:4], strict=True))
    angle = _angle(numbers[2], problems)
    gait = _gait(step, problems)
    made = _legs(legs, problems)
    if made is not None and gait == "parallel" and len(made) == 2:
        text = "a parallel gait of one pair of legs would lift both of them at once"
        problems.error("E075", text, step.location, "write 'cross'")
    if rotate is not None and walk is not None and rotate > walk:
        text = f"coefStepRotate {rotate:g} is above coefStepWalk {walk:g}: it strides more while it turns"
        problems.warning("W076", text, numbers[0].location)
    if rotate is None or walk is None or angle is None or gait is None or made is None:
        return None
    return Walker(body, made, rotate, walk, angle, gait, place) if len(problems.errors) == before else None


def _number(item: IritObject, name: str, code: str, problems: Problems) -> float | None:
    value = item.value
    if isinstance(value, Number):
        return value.value
    problems.error(code, f"{name} is no NUMBER", item.location)
    return None


def _share(item: IritObject, name: str, problems: Problems) -> float | None:
    value = _number(item, name, "E073", problems)
    if value is not None and not 0.0 <= value <= 1.0:
        problems.error("E073", f"{name} is {value:g}, expected 0 to 1", item.location)
        return None
    return value


def _angle(item: IritObject, problems: Problems) -> float | None:
    value = _number(item, "minStepAngle", "E074", problems)
    if value is None:
        return None
    if not 0.0 < value <= 180.0:
        text = f"minStepAngle is {value:g}, expected more than 0 degrees, and {STEEP:g} at most"
        problems.error("E074", text, item.location)
        return None
    if value > STEEP:
        text = f"minStepAngle is {value:g} degrees, the largest turn in a step: more than {STEEP:g} is no gait"
        problems.warning("W074", text, item.location)
    return value


def _gait(item: IritObject, problems: Problems) -> str | None:
    if not isinstance(item.value, Text):
        problems.error("E075", "stepType is no STRING", item.location, f"write {' or '.join(map(repr, GAITS))}")
        return None
    gait = item.value.value.strip().lower()
    if gait not in GAITS:
        hint = did_you_mean(gait, GAITS)
        text = f"stepType is {quote(item.value.value)}, expected {' or '.join(map(repr, GAITS))}"
        problems.error("E075", text, item.location, hint)
        return None
    return gait


def _legs(item: IritObject, problems: Problems) -> tuple[Leg, ...] | None:
    found, count = [], len(item.members)
    if not count or count % 2 or not item.is_list:
        text = f"objLegs has {count} legs, expected an even number: those of the left side, then those of the right"
        problems.error("E071", text, item.location)
    for k, member in enumerate(item.members):
        side, number = ("left", k + 1) if 2 * k < count else ("right", k + 1 - count // 2)
        leg = _leg(member, f"{side} {number}", problems)
        if leg is not None:
            found.append(leg)
    return tuple(found) if found and len(found) == count and not count % 2 else None


def _leg(item: IritObject, name: str, problems: Problems) -> Leg | None:
    members = item.members
    if len(members) != len(LEG):
        text = f"the leg '{name}' is a list of {len(members)}, expected {len(LEG)}: {', '.join(LEG)}"
        problems.error("E072", text, item.location)
        return None
    points = [_place(member) for member in members[2:]]
    for what, point in zip(LEG[2:], points, strict=True):
        if point is None:
            text = f"{what} of the leg '{name}' is no POINT, VECTOR or CTLPT of three coordinates"
            problems.error("E072", text, members[LEG.index(what)].location)
    root, knee, foot = points
    if root is None or knee is None or foot is None:
        return None
    left = name.startswith("left")
    if not (root[1] > 0.0 if left else root[1] < 0.0):
        text = f"the leg '{name}' begins at y = {root[1]:g}, on the other side: the head is at +x, so left is +y"
        problems.warning("W071", text, item.location)
    return Leg(name, members[0], members[1], root, knee, foot, item.location)
