"""Reader of freeform geometry in IRIT's data files: curves, surfaces, more parameters, trimmed surfaces, models."""

from __future__ import annotations

import itertools
import math
import re

from cbsim.errors import did_you_mean
from cbsim.formats.irit.records import numbers, open_or_close, whole
from cbsim.formats.irit.tokens import CLOSE, END, OPEN, STRING, WORD, Token, Tokens
from cbsim.formats.values import quote
from cbsim.spec.irit.objects import Attribute, Curves, Freeform, Knots, ModelSegment, ModelSurface, SolidModel, Trimmed

__all__ = ["FREEFORMS", "freeform", "model", "space", "trimmed"]

FREEFORMS = {"CURVE": 1, "SURFACE": 2, "TRISRF": 1, "TRIVAR": 3, "MULTIVAR": 0}
"""Kind → number of lengths; 0 if it is in the file."""

SPACE = re.compile(r"[EP][1-9]")
DIMENSIONS = 9  # parameters of a MULTIVAR
HIGHEST = 128  # order; evaluation takes quadratic time, and loses digits with each order
BASES = ("BEZIER", "BSPLINE")
REFUSED = ("POWER", "GREGORY")


def space(tokens: Tokens) -> tuple[str, int]:
    """Take the kind of control points, such as ``P3``, and return the numbers of each."""
    token = tokens.take()
    kind = token.text.upper()
    if token.kind != WORD or not SPACE.fullmatch(kind):
        raise tokens.stop("E047", f"{quote(token.text)} is no kind of control points", token, "E1 … E9, P1 … P9")
    return kind, int(kind[1]) + (kind[0] == "P")


def freeform(tokens: Tokens, keyword: Token) -> Freeform:
    """Read a curve, surface … after its bracket and keyword."""
    kind, basis = keyword.text.upper(), _basis(tokens)
    attributes = _plain_attributes(tokens)
    dimensions = FREEFORMS[kind] or whole(tokens, "number of parameters", 1)
    if dimensions > DIMENSIONS:
        raise tokens.stop("E049", f"a {kind} of {dimensions} parameters; at most {DIMENSIONS} are read", keyword)
    lengths = tuple(whole(tokens, "number of control points", 1) for _ in range(dimensions))
    orders = lengths
    if basis == "BSPLINE":
        orders = tuple(whole(tokens, "order", 1) for _ in range(dimensions))
    for length, order in zip(lengths, orders, strict=True):
        if order > length:
            raise tokens.stop("E047", f"the order is {order}, above the {length} control points", keyword)
        if order > HIGHEST:
            raise tokens.stop("E049", f"the order is {order}; at most {HIGHEST} is supported", keyword)
    where, size = space(tokens)
    knots = tuple(_knots(tokens, *pair) for pair in zip(lengths, orders, strict=True)) if basis == "BSPLINE" else ()
    points, marks = _points(tokens, keyword, size, rational=where[0] == "P")
    expected = lengths[0] * (lengths[0] + 1) // 2 if kind == "TRISRF" else math.prod(lengths)
    if len(points) != expected:
        raise tokens.stop("E043", f"the {kind} has {len(points)} control points, expected {expected}", keyword)
    place = tokens.source.at(tokens.line(keyword))
    return Freeform(kind, basis, lengths, orders, where, knots, points, attributes, place, marks)


def _basis(tokens: Tokens) -> str:
    token = tokens.take()
    basis = token.text.upper()
    if basis in REFUSED:
        raise tokens.stop("E049", f"geometry in the basis {basis} is not supported", token, "BEZIER or BSPLINE")
    if token.kind != WORD or basis not in BASES:
        hint = did_you_mean(basis, BASES)
        raise tokens.stop("E041", f"expected BEZIER or BSPLINE, not {quote(token.text)}", token, hint)
    return basis


def _plain_attributes(tokens: Tokens) -> tuple[Attribute, ...]:
    """Read attributes of freeform geometry, with words as values."""
    found = []
    while tokens.ahead.kind == OPEN:
        tokens.take()
        found.append(_plain_attribute(tokens))
    return tuple(found)


def _plain_attribute(tokens: Tokens) -> Attribute:
    name = tokens.take()
    words: list[Token] = []
    while tokens.ahead.kind in (WORD, STRING):
        words.append(tokens.take())
    if name.kind != WORD or tokens.take().kind != CLOSE:
        raise tokens.stop("E041", f"{quote(name.text)} is no attribute of a name and words", name)
    quoted = len(words) == 1 and words[0].kind == STRING
    return Attribute(name.text.upper(), tuple(word.text for word in words), quoted)


def _knots(tokens: Tokens, length: int, order: int) -> Knots:
    if tokens.ahead.kind == OPEN:
        tokens.take()
    keyword = tokens.take()
    name = keyword.text.upper()
    if keyword.kind != WORD or name not in ("KV", "KVP"):
        raise tokens.stop("E041", f"expected a knot vector [KV …] or [KVP …], not {quote(keyword.text)}", keyword)
    values = numbers(tokens, keyword, -1)
    periodic = name == "KVP"
    expected = length + 2 * order - 1 if periodic else length + order
    if len(values) != expected:
        raise tokens.stop("E046", f"{len(values)} knots, expected {expected}", keyword)
    if any(b < a for a, b in itertools.pairwise(values)):
        raise tokens.stop("E046", "the knots decrease", keyword)
    last = length + (order - 1 if periodic else 0)
    if not values[order - 1] < values[last]:
        raise tokens.stop("E046", f"knot {order} is not below knot {last + 1}: nothing is between them", keyword)
    return Knots(values, periodic)


def _points(
    tokens: Tokens, keyword: Token, size: int, *, rational: bool
) -> tuple[tuple[tuple[float, ...], ...], tuple[tuple[Attribute, ...], ...]]:
    """Take control points, and the attributes of each."""
    found, marks = [], []
    while True:
        start, values = tokens.ahead, tokens.row()
        mark: tuple[Attribute, ...] = ()
        if values is None:
            if not open_or_close(tokens, keyword):
                break
            mark = _plain_attributes(tokens)
            start = tokens.ahead
            values = numbers(tokens, start, size)
        if len(values) != size:
            raise tokens.stop("E044", f"{len(values)} numbers stand here, expected {size}", start)
        if rational and values[0] <= 0.0:
            raise tokens.stop("E048", f"the weight is {values[0]:g}, expected more than 0", start)
        found.append(values)
        marks.append(mark)
    return tuple(found), tuple(marks) if any(marks) else ()


# --- trimmed surfaces and models --------------------------------------------------------------------------------------
def trimmed(tokens: Tokens, keyword: Token) -> Trimmed:
    """Read a trimmed surface after its bracket and keyword."""
    place = tokens.source.at(tokens.line(keyword))
    attributes, surface = _surface(tokens, keyword)
    loops = []
    while open_or_close(tokens, keyword):
        loop = _word(tokens, "TRIMCRV")
        segments = []
        while open_or_close(tokens, loop):
            segments.append(_curves(tokens, _word(tokens, "TRIMCRVSEG")))
        if not segments:
            raise tokens.stop("E043", "the TRIMCRV has no segment", loop)
        loops.append(tuple(segments))
    return Trimmed(surface, tuple(loops), attributes, place)


def model(tokens: Tokens, keyword: Token) -> SolidModel:
    """Read a model, ``[MODEL surfaces segments …]``, after its bracket and keyword."""
    attributes = _plain_attributes(tokens)
    counts = whole(tokens, "number of surfaces"), whole(tokens, "number of segments")
    surfaces: list[ModelSurface] = []
    segments: list[ModelSegment] = []
    while open_or_close(tokens, keyword):
        part = _word(tokens, "MDLTSRF", "MDLTSEG")
        if part.text.upper() == "MDLTSRF":
            surfaces.append(_model_surface(tokens, part, counts[1]))
        else:
            three = tuple(whole(tokens, "number of a surface") for _ in range(3))
            if max(three[1:]) > counts[0]:
                raise tokens.stop("E043", f"surface {max(three[1:])} of {counts[0]}", part)
            segments.append(ModelSegment(three, _curves(tokens, part)))
    if (len(surfaces), len(segments)) != counts:
        found = f"{len(surfaces)} surfaces and {len(segments)} segments"
        raise tokens.stop("E043", f"the MODEL has {found}, but says {counts[0]} and {counts[1]}", keyword)
    place = tokens.source.at(tokens.line(keyword))
    return SolidModel(tuple(surfaces), tuple(segments), attributes, place)


def _model_surface(tokens: Tokens, part: Token, segments: int) -> ModelSurface:
    number = whole(tokens, "number of the surface")
    _, surface = _surface(tokens, part)
    loops = []
    while open_or_close(tokens, part):
        loop = _word(tokens, "MDLLOOP")
        values = numbers(tokens, loop, -1)
        if not values or any(v != round(v) or not 1 <= abs(v) <= segments for v in values):
            raise tokens.stop("E043", f"an MDLLOOP names segments 1 to {segments}, a minus before those reversed", loop)
        loops.append(tuple(round(v) for v in values))
    return ModelSurface(number, surface, tuple(loops))


def _surface(tokens: Tokens, keyword: Token) -> tuple[tuple[Attribute, ...], Freeform]:
    """Read attributes and the surface that follows."""
    attributes = []
    while True:
        open_or_close(tokens, keyword, OPEN)
        if tokens.ahead.text.upper() == "SURFACE":
            break
        attributes.append(_plain_attribute(tokens))
    return tuple(attributes), freeform(tokens, tokens.take())


def _curves(tokens: Tokens, keyword: Token) -> Curves:
    curves = []
    while open_or_close(tokens, keyword):
        if tokens.ahead.text.upper() == "CURVE":
            curves.append(freeform(tokens, tokens.take()))
        else:
            _plain_attribute(tokens)
    if not curves:
        raise tokens.stop("E043", f"the {keyword.text.upper()} has no curve", keyword)
    return tuple(curves)


def _word(tokens: Tokens, *expected: str) -> Token:
    token = tokens.take()
    if token.kind == END or token.text.upper() not in expected:
        hint = did_you_mean(token.text.upper(), expected)
        raise tokens.stop("E041", f"expected {' or '.join(expected)}, not {quote(token.text)}", token, hint)
    return token
