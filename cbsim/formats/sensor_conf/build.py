"""Construction of a `SensorConf` from values: defaults of the model, angles, beams, layers, consistency.

Explicit keys override the model, whatever their order. A contradiction is an error at the later of its lines, and is
replaced by the model's value, so that the next one is found as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from cbsim.errors import Location, Problems, did_you_mean
from cbsim.formats.sensor_conf.keys import BEAM_LIMIT, ONLY, TYPES
from cbsim.spec.sensor import BINNED, SIMULATED, SensorConf
from cbsim.spec.sensor_models import SENSOR_MODELS, Mode, SensorModel
from cbsim.units import DEGREE

__all__ = ["Values", "build"]

RAY_LIMIT = 4_000_000  # beams times layers
RAY_RATE_LIMIT = 20_000_000  # beams times layers times rate [1/s]; the largest real devices have about 5 million
SAME = 1e-6  # [rad] tolerance of equal angles
FULL_TURN = 2.0 * math.pi - 1e-9

PLAIN = (
    "name", "enabled", "range_resolution", "position", "origin", "roll", "pitch", "yaw", "upside_down", "angle_sigma",
    "dropout", "no_return", "latency", "scan_time", "blind", "range_sigma_slope", "range_bias", "false_returns", "bins",
    "bin_ratio", *BINNED, "correlation_time", "detection_time", "flip_rate", "flip_speed", "false_positives",
    "min_visible", "position_sigma", "altitude_sigma", "position_bias", "position_drift", "heading_drift",
    "yaw_rate_drift", "drift_time", "position_resolution", "velocity_sigma", "heading_sigma", "yaw_rate_sigma",
    "heading_bias", "yaw_rate_bias", "outage_drift", "wheel_radius", "speed_scale", "ticks",
)  # fmt: skip
"""Keys that go as they are into the field of the same name."""

VIEW = ("start_angle", "end_angle", "fov", "center_angle", "angle_zero")


SPELLINGS = {name.replace("_", ""): name for name in SENSOR_MODELS}  # LMS-291 and lms_291 equal lms291


@dataclass
class Values:
    """Values by key, their lines, the location of the file, and the keys with invalid values."""

    values: dict[str, Any]
    places: dict[str, Location]
    file: Location
    refused: set[str] = field(default_factory=set)

    def place(self, *keys: str) -> Location:
        """Locate the last of some keys; the file if there is none."""
        found = [self.places[key] for key in keys if key in self.places]
        return max(found, key=lambda place: place.line or 0, default=self.file)

    def has(self, *keys: str) -> bool:
        """Return whether all of some keys are given."""
        return all(key in self.values for key in keys)

    def unless_refused(self, problems: Problems, *keys: str) -> Problems:
        """Where problems about some keys together go: nowhere if one has been refused and a guess stands in."""
        return Problems() if self.refused.intersection(keys) else problems


def build(given: Values, settings: tuple[tuple[str, str], ...], file_id: int | None, problems: Problems) -> SensorConf:
    """Build the conf.

    Parameters
    ----------
    given : Values
        Converted values of the file.
    settings : tuple of (str, str)
        Every record as written.
    file_id : int or None
        Number at the end of the file's name.
    problems : Problems
        Collects contradictions and invalid values.
    """
    name, model = _model(given, problems)
    kind, known = _type(given, model, problems)
    mode = _mode(given, name, model, problems)
    start, end = _view(given, mode, model, given.unless_refused(problems, *VIEW))
    beams = _beams(given, end - start, mode, given.unless_refused(problems, *VIEW, "resolution", "samples"))
    low, high = _ranges(given, model, given.unless_refused(problems, "min_range", "max_range"))
    _bins(given, given.unless_refused(problems, "bins"))
    _scan_time(given, given.values.get("rate", mode.rate), given.unless_refused(problems, "rate"))
    plain = dict(model.others) | {key: given.values[key] for key in PLAIN if key in given.values}
    conf = SensorConf(
        type=kind,
        model=name,
        identifier=given.values.get("id", file_id),
        start_angle=start,
        end_angle=end,
        beams=beams,
        layer_pitches=_layers(given, model, given.unless_refused(problems, "layers", "layer_pitch", "vertical_fov")),
        min_range=low,
        max_range=high,
        rate=given.values.get("rate", mode.rate),
        range_sigma=given.values.get("range_sigma", model.range_sigma),
        outages=given.values.get("outage", ()),
        freezes=given.values.get("freeze", ()),
        settings=settings,
        location=given.file,
        **plain | ({} if known else {"enabled": False}),
    )
    _check(conf, given, problems)
    return conf


def _model(given: Values, problems: Problems) -> tuple[str, SensorModel]:
    written = given.values.get("model", "generic")
    name = SPELLINGS.get(written.replace("_", ""), written)
    if name not in SENSOR_MODELS:
        hint = did_you_mean(name, SENSOR_MODELS) or f"one of {', '.join(SENSOR_MODELS)}"
        message = f"unknown model '{name[:60]}'; the defaults are those of 'generic'"
        problems.warning("W705", message, given.place("model"), hint)
        name = "generic"
    return name, SENSOR_MODELS[name]


def _type(given: Values, model: SensorModel, problems: Problems) -> tuple[str, bool]:
    kind = given.values.get("type", model.type)
    if kind in TYPES:
        return kind, True
    hint = did_you_mean(kind, TYPES) or f"one of {', '.join(TYPES)}"
    problems.warning("W704", f"unknown sensor type '{kind[:60]}'; the sensor is disabled", given.place("type"), hint)
    return model.type, False


def _mode(given: Values, name: str, model: SensorModel, problems: Problems) -> Mode:
    """Choose the mode by its resolution, or by the resolution that the number of samples implies."""
    resolution = given.values.get("resolution")
    if resolution is None and given.values.get("samples", 1) > 1:
        span = given.values.get("fov", model.modes[0].span)
        if given.has("start_angle", "end_angle"):
            span = given.values["end_angle"] - given.values["start_angle"]
        resolution = span / (given.values["samples"] - (0 if span >= FULL_TURN else 1))
    if resolution is None:
        return model.modes[0]
    near = [mode for mode in model.modes if abs(mode.resolution - resolution) < SAME]
    if not near and name != "generic" and given.has("resolution"):
        choice = ", ".join(f"{mode.resolution / DEGREE:g}" for mode in model.modes)
        message = f"a {name} has no resolution of {resolution / DEGREE:g} deg, but {choice}"
        problems.info("I720", message, given.place("resolution"))
    return near[0] if near else model.modes[0]


def _view(given: Values, mode: Mode, model: SensorModel, problems: Problems) -> tuple[float, float]:
    """Field of view from any two of start, end, fov and centre, completed by the model's."""
    place = given.place("start_angle", "end_angle", "fov", "center_angle")
    start, end, fov, center = _view_keys(given)
    if start is not None and end is not None:
        pass
    elif fov is not None and (start is not None or end is not None):
        start, end = (start, start + fov) if start is not None else ((end or 0.0) - fov, end)
    elif center is not None and (start is not None or end is not None):
        start, end = (start, 2 * center - start) if start is not None else (2 * center - (end or 0.0), end)
    elif start is None and end is None:
        half, middle = 0.5 * (mode.span if fov is None else fov), center or 0.0
        start, end = middle - half, middle + half
    start = -0.5 * mode.span if start is None else start
    end = 0.5 * mode.span if end is None else end
    if not 0.0 < end - start <= 2.0 * math.pi + SAME:
        message = (
            f"the field of view goes from {start / DEGREE:g} to {end / DEGREE:g} deg; "
            "the end must lie after the start, by at most 360 deg"
        )
        problems.error("E711", message, place)
        return -0.5 * mode.span, 0.5 * mode.span
    _check_view(given, start, end, (fov, center), model, problems)
    return start, end


def _view_keys(given: Values) -> tuple[float | None, float | None, float | None, float | None]:
    """Return start, end, field and centre [rad], angles from forward."""
    turn = -0.5 * math.pi if given.values.get("angle_zero") == "right" else 0.0
    start, end, center = (given.values.get(key) for key in ("start_angle", "end_angle", "center_angle"))
    if turn:
        start, end, center = (None if angle is None else angle + turn for angle in (start, end, center))
    return start, end, given.values.get("fov"), center


def _check_view(
    given: Values,
    start: float,
    end: float,
    redundant: tuple[float | None, float | None],
    model: SensorModel,
    problems: Problems,
) -> None:
    fov, center = redundant
    place = given.place("start_angle", "end_angle", "fov", "center_angle")
    if (fov is not None and abs(end - start - fov) > SAME) or (
        center is not None and abs(0.5 * (start + end) - center) > SAME
    ):
        message = (
            f"start_angle and end_angle give {(end - start) / DEGREE:g} deg around {(start + end) / 2 / DEGREE:g} deg, "
            "fov and center_angle say otherwise"
        )
        problems.error("E710", message, place, "give one or the other")
    raw = (given.values.get("start_angle"), given.values.get("end_angle"))
    if model.native_zero_right and raw == (0.0, math.pi) and given.values.get("angle_zero") != "right":
        message = "0 to 180 deg looks to the left half; are these the maker's own angles?"
        problems.warning("W712", message, place, "if so, add 'angle_zero right'")


def _beams(given: Values, span: float, mode: Mode, problems: Problems) -> int:
    resolution, samples = given.values.get("resolution", mode.resolution), given.values.get("samples")
    steps = span / resolution
    beams: int = round(steps) + (0 if span >= FULL_TURN else 1)
    if isinstance(samples, int):
        if given.has("resolution") and samples != beams:
            message = f"samples '{samples}' counts, although resolution and field of view give {beams}"
            problems.warning("W713", message, given.place("resolution", "samples"))
        return samples
    if abs(steps - round(steps)) > 1e-3:
        message = (
            f"{span / DEGREE:g} deg are not a multiple of the resolution of {resolution / DEGREE:g} deg; "
            f"{beams} beams are spread evenly"
        )
        problems.warning("W714", message, given.place("resolution", "fov", "start_angle", "end_angle"))
    if beams > BEAM_LIMIT:
        message = f"the resolution gives {beams} beams, more than {BEAM_LIMIT}"
        problems.error("E717", message, given.place("resolution"))
        return round(mode.span / mode.resolution) + 1
    return beams


def _ranges(given: Values, model: SensorModel, problems: Problems) -> tuple[float, float]:
    low, high = given.values.get("min_range", model.min_range), given.values.get("max_range", model.max_range)
    if low < high:
        return low, high
    message = f"min_range '{low:g}' m must be less than max_range '{high:g}' m"
    problems.error("E715", message, given.place("min_range", "max_range"))
    return model.min_range, model.max_range


def _layers(given: Values, model: SensorModel, problems: Problems) -> tuple[float, ...]:
    """Pitches of the layers [rad]: as listed, else evenly spaced from the lowest to the highest."""
    listed, count = given.values.get("layer_pitch"), given.values.get("layers", model.layers)
    place = given.place("layers", "layer_pitch", "vertical_fov")
    if listed is not None:
        if given.has("layers") and count != len(listed):
            message = f"layer_pitch lists {len(listed)} layers, which counts, although layers says '{count}'"
            problems.warning("W716", message, place)
        return tuple(listed)
    spread = given.values.get("vertical_fov")
    low, high = (model.lowest, model.highest) if spread is None else (-0.5 * spread, 0.5 * spread)
    if count == 1:
        return (0.0,)
    if low == high:
        message = f"{count} layers without vertical_fov or layer_pitch all look the same way"
        problems.warning("W716", message, place)
    return tuple(low + (high - low) * k / (count - 1) for k in range(count))


def _check(conf: SensorConf, given: Values, problems: Problems) -> None:
    rays = conf.beams * len(conf.layer_pitches)
    if rays > RAY_LIMIT:
        message = f"{conf.beams} beams in {len(conf.layer_pitches)} layers are {rays} rays, more than {RAY_LIMIT}"
        problems.error("E717", message, given.place("resolution", "samples", "layers", "layer_pitch"))
    elif rays * conf.rate > RAY_RATE_LIMIT:
        message = f"{rays} rays at {conf.rate:g} Hz are {rays * conf.rate:.3g} rays per second, more than "
        message += str(RAY_RATE_LIMIT)
        place = given.place("resolution", "samples", "layers", "layer_pitch", "rate", "model")
        problems.error("E717", message, place)
    if conf.enabled and conf.type not in SIMULATED:
        message = f"a sensor of type '{conf.type}' is not simulated in this version: it gives nothing"
        problems.warning("W723", message, given.place("type", "model"), f"simulated: {', '.join(SIMULATED)}")
    strange = [key for key in given.values if conf.type not in ONLY.get(key, TYPES)]
    for key in strange if conf.enabled else ():
        message = f"'{key}' means nothing to a sensor of type '{conf.type}'"
        problems.warning("W728", message, given.place(key), f"it is for {', '.join(ONLY[key])}")


def _bins(given: Values, problems: Problems) -> None:
    """Check the lengths of the lists of noise by distance; others are dropped."""
    count = len(given.values.get("bins", ()))
    for key in BINNED:
        listed = given.values.get(key)
        if listed is None or len(listed) in (1, count):
            continue
        wanted = f"{count} values, one per bin, or one" if count else "one value, because there are no bins,"
        problems.error("E726", f"{key} must have {wanted} not {len(listed)}", given.place(key, "bins"))
        del given.values[key]


def _scan_time(given: Values, rate: float, problems: Problems) -> None:
    """Refuse a scan that ends after the next one begins."""
    asked = given.values.get("scan_time", 0.0)
    if asked > 1.0 / rate + 1e-9:
        message = f"a scan of '{asked:g}' s takes longer than the {1.0 / rate:g} s between scans"
        problems.error("E721", message, given.place("scan_time", "rate"))
        del given.values["scan_time"]
