"""Reader of IRIT's data grammar: objects, attributes and polygons.

A record with an error is reported and skipped. `freeform` reads freeform geometry.
"""

from __future__ import annotations

from collections.abc import Callable

from cbsim.errors import Problems, did_you_mean
from cbsim.formats.irit.freeform import FREEFORMS, freeform, model, trimmed
from cbsim.formats.irit.planes import newell
from cbsim.formats.irit.records import number, numbers, open_or_close, whole
from cbsim.formats.irit.tokens import CLOSE, END, OPEN, STRING, WORD, Stopped, Token, Tokens
from cbsim.formats.reader import Source
from cbsim.formats.values import quote
from cbsim.spec.irit.objects import (
    VALUES,
    Attribute,
    ControlPoint,
    Instance,
    IritObject,
    Item,
    Matrix,
    Number,
    Plane,
    Point,
    Poly,
    Text,
    Vector,
    family_of,
)
from cbsim.spec.objects import Triple

__all__ = ["DEPTH", "POLYS", "RECORDS", "read_objects"]

DEPTH = 100  # largest nesting of brackets; Python's own stack allows about three times as many
POLYS = {"POLYGON": 3, "POLYLINE": 1, "POINTLIST": 1, "POLYSTRIP": 3}
"""Kind of polygon → least number of vertices."""


def read_objects(source: Source, problems: Problems) -> tuple[IritObject, ...]:
    """Read all objects of a data file, collecting all problems."""
    tokens, found, is_told = Tokens(source, problems), [], False
    while tokens.ahead.kind != END:
        token = tokens.take(comment=True)
        if token.kind == CLOSE:
            tokens.depth = 0
            if not is_told:  # those behind it follow from the same error
                tokens.error("E040", "']' closes nothing", token)
            is_told = True
        elif token.kind == OPEN:
            keyword, is_told = tokens.ahead, False
            try:
                if keyword.text.upper() != "OBJECT":
                    hint = did_you_mean(keyword.text.upper(), ("OBJECT",))
                    raise tokens.stop("E041", f"expected an OBJECT, not {quote(keyword.text)}", keyword, hint)
                found.append(_object(tokens, tokens.take()))
            except Stopped:
                tokens.recover(0)
                is_told = True
    if not found and not problems.errors:
        problems.warning("W042", "no OBJECT stands in the file", source.at(1))
    return tuple(found)


def _object(tokens: Tokens, keyword: Token) -> IritObject:
    """Read an object after its bracket and keyword."""
    if tokens.depth > DEPTH:
        raise tokens.stop("E052", f"objects are nested more than {DEPTH} deep", keyword)
    depth, location = tokens.depth - 1, tokens.source.at(tokens.line(keyword))
    attributes, opened = _attributes(tokens, _is_record)
    name = "NONE"
    if opened or tokens.ahead.kind not in (WORD, STRING):
        tokens.error("E042", "the object has no NAME", keyword, "NONE stands for none")
    else:
        name = tokens.take().text.upper()
    items: list[IritObject | Item] = []
    while opened or _next_record(tokens, keyword):
        opened = False
        try:
            _item(tokens, items)
        except Stopped:
            tokens.recover(depth + 1)
            if tokens.depth <= depth:  # the error took the object's own bracket
                break
    return IritObject(name, tuple(items), attributes, location)


def _next_record(tokens: Tokens, keyword: Token) -> bool:
    """Take the bracket of an object's next record, after comments, or that of its end."""
    while tokens.ahead.kind in (WORD, STRING):
        tokens.take(comment=True)
    if tokens.ahead.kind == END:
        raise tokens.stop("E040", "the object that begins here is never closed", keyword)
    return tokens.take().kind == OPEN


def _item(tokens: Tokens, items: list[IritObject | Item]) -> None:
    """Read a record after its bracket."""
    keyword = tokens.take()
    name = keyword.text.upper()
    if keyword.kind != WORD or (name != "OBJECT" and name not in RECORDS):
        hint = did_you_mean(name, ("OBJECT", *RECORDS))
        raise tokens.stop("E041", f"{quote(keyword.text)} is no kind of object", keyword, hint)
    if items:
        _check_siblings(tokens, keyword, items[0])
    items.append(_object(tokens, keyword) if name == "OBJECT" else RECORDS[name](tokens, keyword))


def _check_siblings(tokens: Tokens, keyword: Token, first: IritObject | Item) -> None:
    """Refuse items that may not follow the first item of an object."""
    name = keyword.text.upper()
    before = "OBJECT" if isinstance(first, IritObject) else family_of(first)
    if before != ("POLYGON" if name in POLYS else name):
        expected = "an object holds objects, or polygons, or other geometry of one kind, or one value"
        raise tokens.stop("E041", f"a {name} does not belong beside a {before}: {expected}", keyword)
    if name in VALUES.values():
        raise tokens.stop("E041", f"an object holds one {name}", keyword, "put each into an OBJECT of its own")


def _nothing_else(_token: Token) -> bool:
    return False


def _is_record(token: Token) -> bool:
    return token.kind == WORD and (token.text.upper() in RECORDS or token.text.upper() == "OBJECT")


def _attributes(tokens: Tokens, is_other: Callable[[Token], bool]) -> tuple[tuple[Attribute, ...], bool]:
    """Read attributes; return whether the bracket of another record has been taken after them."""
    found: list[Attribute] = []
    while tokens.ahead.kind == OPEN:
        tokens.take()
        if is_other(tokens.ahead):
            return tuple(found), True
        found.append(_attribute(tokens))
    return tuple(found), False


def _attribute(tokens: Tokens) -> Attribute:
    """Read an attribute after its bracket."""
    name = tokens.take()
    if name.kind != WORD:
        raise tokens.stop("E041", f"expected the name of an attribute, not {quote(name.text)}", name)
    words: list[Token] = []
    objects: list[IritObject] = []
    while tokens.ahead.kind not in (CLOSE, END):
        token = tokens.take()
        if token.kind != OPEN:
            words.append(token)
        elif (keyword := tokens.take()).text.upper() == "OBJECT":
            objects.append(_object(tokens, keyword))
        else:
            text = f"{quote(keyword.text)} is no value of an attribute"
            raise tokens.stop("E041", text, keyword, "only an OBJECT stands in brackets; other texts need quotes")
    if tokens.take().kind == END:
        raise tokens.stop("E040", f"the attribute {quote(name.text)} is never closed", name)
    quoted = len(words) == 1 and words[0].kind == STRING
    return Attribute(name.text.upper(), tuple(word.text for word in words), quoted, tuple(objects))


# --- values -----------------------------------------------------------------------------------------------------------
def _number(tokens: Tokens, keyword: Token) -> Item:
    return Number(numbers(tokens, keyword, 1)[0])


def _text(tokens: Tokens, keyword: Token) -> Item:
    if tokens.ahead.kind not in (STRING, WORD):
        raise tokens.stop("E041", "a STRING needs a text in quotes", keyword)
    text = tokens.take().text
    open_or_close(tokens, keyword, CLOSE)
    return Text(text)


def _point(tokens: Tokens, keyword: Token) -> Item:
    return Point(_triple(tokens, keyword))


def _vector(tokens: Tokens, keyword: Token) -> Item:
    return Vector(_triple(tokens, keyword))


def _plane(tokens: Tokens, keyword: Token) -> Item:
    return Plane(numbers(tokens, keyword, 4))


def _control_point(tokens: Tokens, keyword: Token) -> Item:
    from cbsim.formats.irit.freeform import space

    kind, size = space(tokens)
    values = numbers(tokens, keyword, size)
    if kind[0] == "P" and values[0] <= 0.0:
        raise tokens.stop("E048", f"the weight is {values[0]:g}, expected more than 0", keyword)
    return ControlPoint(kind, values)


def _matrix(tokens: Tokens, keyword: Token) -> Item:
    return Matrix(numbers(tokens, keyword, 16))


def _instance(tokens: Tokens, keyword: Token) -> Item:
    if tokens.ahead.kind != WORD:
        raise tokens.stop("E042", "the instance names no object", keyword)
    name = tokens.take().text.upper()
    return Instance(name, numbers(tokens, keyword, 16), tokens.source.at(tokens.line(keyword)))


def _triple(tokens: Tokens, keyword: Token) -> Triple:
    return Triple(*numbers(tokens, keyword, 3))


# --- polygons ---------------------------------------------------------------------------------------------------------
def _poly(tokens: Tokens, keyword: Token) -> Item:
    kind = keyword.text.upper()
    attributes, _ = _attributes(tokens, _nothing_else)
    if tokens.ahead.kind != WORD:
        raise tokens.stop("E043", f"the {kind} does not say how many vertices it has", keyword, f"{kind} 4 [x y z] …")
    size = whole(tokens, "number of vertices")
    points: list[Triple] = []
    marks: list[tuple[Attribute, ...]] = []
    while True:
        start, row = tokens.ahead, tokens.row()
        mark: tuple[Attribute, ...] = ()
        if row is None:
            if not open_or_close(tokens, keyword):
                break
            start = tokens.ahead
            mark = _vertex_attributes(tokens)
            row = numbers(tokens, start, 3)
        if len(row) != 3:
            raise tokens.stop("E044", f"{len(row)} numbers stand here, expected 3", start)
        points.append(Triple(*row))
        marks.append(mark)
    if len(points) != size:
        raise tokens.stop("E043", f"the {kind} has {len(points)} vertices, but says {size}", keyword)
    if size < POLYS[kind]:
        raise tokens.stop("E045", f"a {kind} has at least {POLYS[kind]} vertices, not {size}", keyword)
    place = tokens.source.at(tokens.line(keyword))
    made = Poly(kind, tuple(points), attributes, tuple(marks) if any(marks) else (), place)
    if kind == "POLYGON":
        _check_plane(tokens, keyword, made)
    return made


def _vertex_attributes(tokens: Tokens) -> tuple[Attribute, ...]:
    found, _ = _attributes(tokens, _nothing_else)
    return found


def _check_plane(tokens: Tokens, keyword: Token, poly: Poly) -> None:
    """Refuse an invalid plane, or vertices that span none if there is no plane."""
    for attribute in poly.attributes:
        if attribute.name == "PLANE":
            values = [number(tokens, Token(WORD, word, keyword.at)) for word in attribute.words]
            if len(values) != 4:
                raise tokens.stop("E044", f"a PLANE has 4 numbers, not {len(values)}", keyword)
            if not any(values[:3]):
                raise tokens.stop("E045", "the normal of the PLANE is zero", keyword)
            return
    if not newell(poly.points).any():
        raise tokens.stop("E045", "the vertices of the polygon span no plane, and it has no PLANE", keyword)


RECORDS: dict[str, Callable[[Tokens, Token], Item]] = {
    "NUMBER": _number,
    "STRING": _text,
    "POINT": _point,
    "VECTOR": _vector,
    "PLANE": _plane,
    "CTLPT": _control_point,
    "MATRIX": _matrix,
    "INSTANCE": _instance,
    **dict.fromkeys(POLYS, _poly),
    **dict.fromkeys(FREEFORMS, freeform),
    "TRIMSRF": trimmed,
    "MODEL": model,
}
"""Keyword of a record → its reader."""
