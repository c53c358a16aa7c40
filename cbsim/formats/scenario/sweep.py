"""Model of the `sweep` of a scenario: what is varied, how many points, and constraints between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from cbsim.formats.scenario.fields import Contradiction, Model, Number, ShortForm, about, as_list, wrong
from cbsim.formats.yaml_tree import shown
from cbsim.spec.number import Written
from cbsim.spec.sweep import METHODS, NO_SWEEP, Choice, Count, Normal, Range, SweepSpec, Variation

__all__ = ["SweepModel", "VariationModel", "sweep_of", "sweep_text"]

KINDS = ("range", "choice", "normal", "count")


def _numbers(value: Any) -> Any:
    if not isinstance(value, list) or not 2 <= len(value) <= 3:
        raise wrong(f"{shown(value)} is not a range: expected [first, last, step], or [first, last] to be sampled")
    return value


def _plain(value: Any) -> Any:
    """Values of a choice without the spelling of their numbers."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return float(value) if isinstance(value, Written) else value


class VariationModel(Model):
    """Values of one key: exactly one kind of them. A list is short for a choice, whatever is in it."""

    @classmethod
    def expanded(cls, data: Any) -> Any:
        """Expand a list; a scalar is no choice."""
        if not isinstance(data, list | dict):
            raise wrong(f"{shown(data)} is no variation: expected a list of values, or one of {', '.join(KINDS)}")
        return {"choice": data} if isinstance(data, list) else data

    range: Annotated[list[Number], BeforeValidator(_numbers)] | None = about(
        "first, last and step, both ends included; without a step, continuous values to be sampled", None,
        example=[4, 20, 1],
    )  # fmt: skip
    choice: list[Any] | None = about("values to choose from", None, example=["car", "truck"], min_length=1)
    normal: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = about(
        "mean and standard deviation, to be sampled", None, example=[10, 2]
    )
    count: int | None = about("how many consecutive whole numbers: seeds", None, example=100, ge=1, le=10**9)
    first: int | None = about("the first of them, by default 1", None, ge=0, le=2**62)

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Exactly one kind."""
        given = [key for key in KINDS if data.get(key) is not None]
        if not given:
            yield (), f"one of {', '.join(map(repr, KINDS))} is needed"
        elif len(given) > 1:
            yield (given[1],), f"'{given[0]}' and '{given[1]}' exclude each other"
        if data.get("first") is not None and data.get("count") is None:
            yield ("first",), "'first' belongs to 'count'"

    @property
    def values(self) -> Range | Choice | Normal | Count:
        """What the key takes."""
        if self.range is not None:
            return Range(*map(float, self.range))
        if self.normal is not None:
            return Normal(*map(float, self.normal))
        if self.count is not None:
            return Count(self.count, 1 if self.first is None else self.first)
        return Choice(tuple(_plain(self.choice)))


class SweepModel(Model):
    """What `cbsim sweep` varies: parameters and key paths, each with its values."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Annotated[VariationModel, ShortForm(type="array", minItems=1)]]

    where: Annotated[list[str], BeforeValidator(as_list)] = about(
        "constraints between parameters, such as 'gap > 2 * speed'", []
    )
    sample: int | None = about("number of points to draw; by default the whole grid", None, ge=1, le=10**7)
    method: Literal["grid", "latin", "sobol", "pairwise"] | None = about(
        "how points are chosen: by default the grid, or a Latin hypercube where 'sample' is given", None
    )


def sweep_of(model: SweepModel | None) -> SweepSpec:
    """Make the spec of a validated sweep."""
    if model is None:
        return NO_SWEEP
    extra = model.__pydantic_extra__ or {}
    variations = tuple(Variation(key, one.values) for key, one in extra.items())
    return SweepSpec(variations, tuple(model.where), model.sample, model.method or "")


def sweep_text(spec: SweepSpec) -> dict[str, Any]:
    """Write a sweep as the mapping that it was read from."""
    assert spec.method in ("", *METHODS)
    whole: dict[str, Any] = {one.key: _text(one.values) for one in spec.variations}
    options = {"where": list(spec.where), "sample": spec.sample, "method": spec.method}
    return whole | {key: value for key, value in options.items() if value}


def _text(values: Range | Choice | Normal | Count) -> dict[str, Any]:
    if isinstance(values, Choice):
        return {"choice": list(values.values)}
    if isinstance(values, Count):
        return {"count": values.number} | ({} if values.first == 1 else {"first": values.first})
    kind = "range" if isinstance(values, Range) else "normal"
    return {kind: [number for number in values if number is not None]}
