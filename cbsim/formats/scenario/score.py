"""Models of the score of a run: gates, and terms of a weighted mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from cbsim.formats.scenario.fields import Contradiction, Length, Model, Name, Number, about
from cbsim.formats.scenario.rule import one_of
from cbsim.formats.scenario.rules import ExpectationModel
from cbsim.spec.metrics import MEASURED

__all__ = ["ScoreModel", "TermModel"]

OF_METRICS = ("object", "worst", "best")
if TYPE_CHECKING:
    MetricName = str
else:
    MetricName = Literal[tuple(MEASURED)]


class TermModel(Model):
    """A term of the mean: a rule, which counts 1 if it holds and 0 if it does not, or a metric."""

    rule: ExpectationModel | None = about("one rule with its arguments", None, example={"comfort": {"object": "Bot"}})  # type: ignore[valid-type]
    metric: MetricName | None = about("or a metric", None, example="ttc")
    object: Name | None = about("name of the object that it measures", None)
    worst: Number | None = about("value of the metric that counts 0", None, example=0.0)
    best: Number | None = about("value that counts 1; between them it is interpolated", None, example=0.95)
    weight: Length = about("in the mean", 1.0)

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Either a rule, or a metric with all that it needs."""
        yield from one_of(data, "rule", "metric")
        given = [key for key in OF_METRICS if data.get(key) is not None]
        if data.get("metric") is not None and data.get("rule") is None:
            missing = [key for key in OF_METRICS if key not in given]
            if missing:
                yield (), f"the metric '{data['metric']}' needs {' and '.join(map(repr, missing))}"
            elif data["worst"] == data["best"]:
                yield ("best",), f"'worst' and 'best' are both {data['best']}"
        elif data.get("rule") is not None:
            yield from (((key,), f"'{key}' belongs to metrics, not to rules") for key in given)


class ScoreModel(Model):
    """A number for the whole run: the product of all gates, 0 or 1, times the weighted mean of all terms."""

    gates: list[ExpectationModel] = about(  # type: ignore[valid-type]
        "rules of which one that fails makes the score 0", [], example=[{"collision": {"object": "Bot"}}]
    )
    mean: list[TermModel] = about(
        "rules and metrics with their weights", [], example=[{"rule": {"comfort": {"object": "Bot"}}, "weight": 2.0}]
    )

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Something to count, with a weight."""
        gates, mean = data.get("gates"), data.get("mean")
        if not gates and not mean:
            yield (), "one of 'gates' and 'mean' is needed"
        if isinstance(mean, list) and mean:
            weights = [one.get("weight", 1.0) if isinstance(one, dict) else 1.0 for one in mean]
            if all(weight == 0 for weight in weights):
                yield ("mean",), "the weights sum to 0"
