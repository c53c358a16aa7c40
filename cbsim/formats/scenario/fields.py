"""Types of values in a scenario YAML, and the base class of its models: validation and schema."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError

from cbsim.errors import nearest
from cbsim.formats.objects.values import HEIGHT, SIZE
from cbsim.formats.yaml_tree import shown
from cbsim.spec.number import Written
from cbsim.spec.objects import Triple
from cbsim.spec.road import PointId
from cbsim.units import DEGREE

__all__ = [
    "LIMIT",
    "Angle",
    "Axes",
    "Contradiction",
    "FileName",
    "LaneName",
    "Length",
    "Model",
    "Name",
    "Number",
    "Offset",
    "ParameterField",
    "ParameterName",
    "PlannerName",
    "Positive",
    "SettingField",
    "SettingName",
    "ShortForm",
    "Size",
    "Speed",
    "Time",
    "Turn",
    "ValueModel",
    "Waypoint",
    "about",
    "as_list",
    "as_point",
    "degrees_of",
    "wrong",
]

Contradiction = tuple[tuple[str, ...], str]

POINT = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})")
LANE = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})")
SCALAR_TYPES = ["string", "number", "boolean", "null"]
LIMIT = 1e9  # as for all numbers of files: sums of squares stay finite


def about(
    text: str, default: Any = ..., *, unit: str = "", example: Any = None, alias: str | None = None, **limits: Any
) -> Any:
    """Describe a field: its meaning, its unit, its default and an example, all of which the schema shows."""
    notes = [text, f"[{unit}]" if unit else ""]
    if default not in (..., None, "") and not isinstance(default, list | dict):
        notes.append(f"(default {default})")
    examples = None if example is None else [example]
    description = " ".join(note for note in notes if note)
    if isinstance(default, list | dict):
        return Field(default_factory=type(default), description=description, examples=examples, alias=alias, **limits)
    return Field(default, description=description, examples=examples, alias=alias, **limits)


class ShortForm:
    """Schema of a value that has a short form."""

    def __init__(self, **short: Any) -> None:
        self.short = short

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [self.short, handler(core)]}


class Model(BaseModel):
    """Base of every mapping in a scenario: frozen, strict about types, closed to unknown keys.

    A model may have a `short` form: the field that a bare scalar stands for. `contradictions` looks at the raw mapping,
    so that what its fields say against each other is reported together with what is wrong in each.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, validate_default=False)

    short: ClassVar[str] = ""

    @classmethod
    def expanded(cls, data: Any) -> Any:
        """Expand the short form to a mapping."""
        return data if not cls.short or isinstance(data, dict | list) else {cls.short: data}

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:  # noqa: ARG003
        """Return (path, message) for every pair of keys that cannot stand together."""
        return iter(())

    @classmethod
    def spellings(cls) -> list[str]:
        """Spellings of the fields."""
        return [info.alias or name for name, info in cls.model_fields.items()]

    @classmethod
    def _as_meant(cls, data: dict[str, Any]) -> tuple[dict[int | str, str], dict[str, Any]]:
        """Correct misspelt keys, which are told as such; returns known key → as it is written, and the mapping."""
        known, written = cls.spellings(), dict[int | str, str]()
        corrected = dict(data)
        for key in [key for key in data if isinstance(key, str) and key not in known]:
            near = nearest(key, known)
            if near is not None and near not in corrected:
                written[near], corrected[near] = key, corrected.pop(key)
        return written, corrected

    @model_validator(mode="wrap")
    @classmethod
    def _collect(cls, data: Any, handler: Any) -> Any:
        data = cls.expanded(data)
        errors: list[InitErrorDetails] = []
        result = None
        try:
            result = handler(data)
        except ValidationError as found:
            errors += [_again(error, cls.spellings()) for error in found.errors(include_url=False)]
        if isinstance(data, dict):
            known = {
                (error["loc"], str(error["type"])) for error in errors
            }  # pydantic calls it twice in a recursive model
            written, meant = cls._as_meant(data)
            found_here = (
                _custom("contradiction", tuple(written.get(part, part) for part in path), data, text=text)
                for path, text in cls.contradictions(meant)
            )
            errors += [error for error in found_here if (error["loc"], str(error["type"])) not in known]
        if errors:
            raise ValidationError.from_exception_data(cls.__name__, errors)
        return result


class ValueModel(Model):
    """Base of mappings that stand for one value."""

    def value(self) -> Any:
        """Return the value."""
        raise NotImplementedError


def _again(error: Any, keys: list[str]) -> InitErrorDetails:
    """Raise a collected error again; errors of unknown keys of this mapping list the known keys."""
    context = dict(error.get("ctx", {}))
    if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
        context["known"] = keys
    return _custom(error["type"], error["loc"], error["input"], **{"text": error["msg"], **context})


def _custom(kind: str, path: tuple[int | str, ...], value: Any, **context: Any) -> InitErrorDetails:
    return InitErrorDetails(type=PydanticCustomError(kind, "{text}", context), loc=path, input=value)


def wrong(text: str) -> PydanticCustomError:
    """Return the error of an invalid value."""
    return PydanticCustomError("wrong_value", "{text}", {"text": text})


def as_list(value: Any) -> Any:
    """Convert a single value to a list of one."""
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    return value.text if isinstance(value, Written) else str(value)


def as_point(value: Any) -> PointId:
    """Read the name of a waypoint."""
    match = POINT.fullmatch(_text(value))
    if match is None or match[1].strip("0") == "" or match[3].strip("0") == "":
        raise wrong(f"{shown(value)} is not a waypoint: expected segment.lane.waypoint, such as 1.2.3")
    return PointId(*map(int, match.groups()))


def _lane(value: Any) -> tuple[int, int]:
    match = LANE.fullmatch(_text(value))
    if match is None or 0 in (numbers := tuple(map(int, match.groups()))):
        raise wrong(f"{shown(value)} is not a lane: expected segment.lane, such as 1.2")
    return numbers[0], numbers[1]


def _file(value: Any) -> str:
    if not isinstance(value, str):
        raise wrong(f"{shown(value)} is not a file name")
    parts = value.replace("\\", "/").split("/")
    usable = value.strip() and value.isprintable() and len(value) <= 1024
    if not usable or any(len(part.encode("utf-8", "replace")) > 255 for part in parts):
        raise wrong(f"{shown(value)} is not a file name")
    return value


def _parameter(value: Any) -> Any:
    nested = [part for part in as_list(value) if isinstance(part, list | dict)]
    if nested:
        raise wrong("a parameter is one value or a list of values")
    return value


def _setting(value: Any) -> str:
    if value is None or isinstance(value, list | dict):
        raise wrong(f"{shown(value)} is not a setting: expected a number, a word, true or false")
    return str(value).lower() if isinstance(value, bool) else _text(value)


def _name(value: str) -> str:
    if not value.strip() or not value.isprintable():
        raise wrong(f"{shown(value)} is not a name: expected printable text")
    return value


Number = Annotated[float, Field(ge=-LIMIT, le=LIMIT, allow_inf_nan=False)]
Height = Annotated[float, Field(ge=HEIGHT.least, le=LIMIT, allow_inf_nan=False)]
Length = Annotated[float, Field(ge=0.0, le=LIMIT, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0.0, le=LIMIT, allow_inf_nan=False)]
Extent = Annotated[float, Field(ge=SIZE.least, le=SIZE.most, allow_inf_nan=False)]
Time = Length
Speed = Length
Angle = Annotated[Number, AfterValidator(lambda degrees: degrees * DEGREE)]
Waypoint = Annotated[
    PointId,
    PlainValidator(as_point),
    WithJsonSchema({"type": "string", "pattern": r"^\d+\.\d+\.\d+$|^\$\{.*\}", "examples": ["1.1.2"]}),
]
LaneName = Annotated[
    tuple[int, int],
    PlainValidator(_lane),
    WithJsonSchema({"type": ["string", "number"], "examples": ["1.2"]}),
]
FileName = Annotated[str, PlainValidator(_file), WithJsonSchema({"type": "string", "minLength": 1})]
Name = Annotated[str, Field(min_length=1, max_length=128), AfterValidator(_name)]
SettingName = Annotated[str, Field(min_length=1, max_length=128), AfterValidator(_name)]
SettingField = Annotated[str, PlainValidator(_setting), WithJsonSchema({"type": SCALAR_TYPES})]
ParameterName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=128)]
ParameterField = Annotated[
    Any,
    PlainValidator(_parameter),
    WithJsonSchema({"type": [*SCALAR_TYPES, "array"], "items": {"type": SCALAR_TYPES}}),
]
PlannerName = Annotated[
    str, Field(pattern=r"^([A-Za-z_][\w.]*:[A-Za-z_]\w*|(tcp|ipc)://\S+|cmd:.*\S.*)$", max_length=1024)
]


class Axes(ValueModel):
    """Three numbers along x, y and z; also as a list of three."""

    @classmethod
    def expanded(cls, data: Any) -> Any:
        """Spread a list of three over the axes."""
        if isinstance(data, list) and len(data) == 3:
            return dict(zip("xyz", data, strict=True))
        if not isinstance(data, dict):
            raise wrong(f"{shown(data)} is not a triple: expected [x, y, z] or a mapping with x, y and z")
        return data

    def value(self) -> Triple:
        """Return the three numbers, angles in radians."""
        values = dict(self)
        return Triple(values["x"], values["y"], values["z"])


class Lengths(Axes):
    """Lengths along x, y and z [m]."""

    x: Number
    y: Number
    z: Height


class PositiveLengths(Axes):
    """Extents along x, y and z [m]."""

    x: Extent
    y: Extent
    z: Extent


class Angles(Axes):
    """Angles about x (pitch, nose up), y (roll, right side down) and z (yaw, counter-clockwise) [deg]."""

    x: Angle
    y: Angle
    z: Angle


LIST_OF_THREE = ShortForm(type="array", items={"type": "number"}, minItems=3, maxItems=3)

Offset = Annotated[Lengths, LIST_OF_THREE]
Size = Annotated[PositiveLengths, LIST_OF_THREE]
Turn = Annotated[Angles, LIST_OF_THREE]


def degrees_of(angle: float) -> float:
    """Find the shortest number of degrees that reads back as the same angle."""
    exact = angle / DEGREE
    near = (exact, math.nextafter(exact, math.inf), math.nextafter(exact, -math.inf))
    candidates = (*(round(exact, digits) for digits in range(16)), *near)
    return next((one for one in candidates if one * DEGREE == angle), exact)
