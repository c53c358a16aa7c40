"""Contents of a sensor conf file, with the defaults of its model (docs/formats/sensor_conf.md)."""

from __future__ import annotations

from dataclasses import dataclass, field

from cbsim.errors import Location
from cbsim.spec.objects import ZERO, Triple

__all__ = ["BINNED", "SIMULATED", "SensorConf", "Window", "stand_in_conf"]

Window = tuple[float, float]

SIMULATED = ("ladar", "radar", "objects", "gps", "ins", "odometry")
"""Types of sensors that give readings."""

BINNED = (
    "detection_rate", "radial_sigma", "radial_bias", "tangential_sigma", "tangential_bias", "yaw_sigma", "yaw_bias",
)  # fmt: skip
"""Fields of a `SensorConf` that have one value per bin."""


@dataclass(frozen=True, slots=True)
class SensorConf:
    """One physical device on a bot.

    Attributes
    ----------
    type : str
        ``ladar``, ``radar``, ``objects``, ``gps``, ``ins``, ``odometry`` or ``camera``.
    model : str
        Which row of the default table the unset keys came from.
    identifier : int or None
        ``id``, else the digits at the end of the file's name.
    name : str
        Free text.
    enabled : bool
        False silences the device.
    start_angle, end_angle : float
        Field of view [rad], 0 = sensor forward, counter-clockwise positive, start < end.
    beams : int
        Directions per layer, the first at `start_angle`; a full turn does not repeat its first beam.
    layer_pitches : tuple of float
        Pitch of each layer in the sensor frame [rad], nose up positive, in file order.
    min_range, max_range : float
        [m]; returns outside are none.
    range_resolution : float
        Quantum of a range [m]; 0 for none.
    rate : float
        Scans or readings per second [Hz].
    position : Triple
        [m] in the body frame (x right, y forward, z up), relative to `origin`.
    origin : str
        ``footprint`` (its centre on the ground), ``rear_axle`` (ground under it) or ``center`` (of the box).
    roll, pitch, yaw : float
        [rad] right side down, nose up, counter-clockwise positive; R = Rz(yaw)·Rx(pitch)·Ry(roll).
    upside_down : bool
        Beam order reversed and roll turned by π.
    range_sigma, angle_sigma : float
        Standard deviations of noise [m], [rad].
    dropout : float
        Probability that a return is lost.
    no_return : str
        What a beam without return reads: ``max``, ``inf`` or ``nan``.
    latency, scan_time : float
        Delay of a scan and time it takes [s]; 0 = at once.
    outages, freezes : tuple of (float, float)
        Times from, to [s] in which the device is silent, or repeats its last scan.
    blind : tuple of (float, float)
        Azimuths from, to [rad] in the sensor frame, counter-clockwise, in which a laser sees nothing.
    range_sigma_slope, range_bias : float
        Growth of `range_sigma` with range [m per m]; what is added to every range [m].
    false_returns : float
        Probability that a beam returns from dust or rain before it meets anything.
    bins : tuple of float
        Outer radii [m] of elliptical bins, rising; the last value of a list holds beyond the last radius.
    bin_ratio : float
        Half-axis of the ellipses forward, over that to the side.
    detection_rate, radial_sigma, radial_bias, tangential_sigma, tangential_bias, yaw_sigma, yaw_bias : tuple of float
        One value per bin, or none: probability that an object (or a return) is seen; noise and bias along the line of
        sight and across it [m], and of an object's heading [rad].
    correlation_time, detection_time : float
        Time constant [s] of that noise, and of being seen or not; 0: every reading on its own.
    flip_rate, flip_speed : float
        Probability that an object slower than this [m/s] is seen the wrong way round.
    false_positives : float
        Objects per reading that are not there, on average.
    min_visible : float
        Share of an object that must be visible.
    position_sigma, altitude_sigma : float
        White noise east and north, and up [m].
    position_bias : Triple
        East, north, up [m].
    position_drift, heading_drift, yaw_rate_drift : float
        Standard deviation of biases that wander with `drift_time` [m], [rad], [rad/s].
    drift_time : float
        Their time constant [s].
    position_resolution : float
        Quantum of a coordinate [m]; 0 for none.
    velocity_sigma, heading_sigma, yaw_rate_sigma : float
        White noise [m/s], [rad], [rad/s].
    heading_bias, yaw_rate_bias : float
        [rad], [rad/s].
    outage_drift : float
        How fast the position of an inertial unit gets lost without satellites, standard deviation [m/s].
    wheel_radius : float
        What the odometer takes a wheel's radius for [m]; 0: what it is.
    speed_scale : float
        Measured over true speed of the wheels.
    ticks : int
        Of the wheel sensor per turn; 0: no quantisation.
    settings : tuple of (str, str)
        Every record as written, keys in lower case, for writing back and for the real driver's own keys.
    """

    type: str = "ladar"
    model: str = "generic"
    identifier: int | None = None
    name: str = ""
    enabled: bool = True
    start_angle: float = -1.5707963267948966
    end_angle: float = 1.5707963267948966
    beams: int = 181
    layer_pitches: tuple[float, ...] = (0.0,)
    min_range: float = 0.0
    max_range: float = 80.0
    range_resolution: float = 0.0
    rate: float = 10.0
    position: Triple = ZERO
    origin: str = "footprint"
    roll: float = 0.0
    pitch: float = 0.0
    yaw: float = 0.0
    upside_down: bool = False
    range_sigma: float = 0.0
    angle_sigma: float = 0.0
    dropout: float = 0.0
    no_return: str = "inf"
    latency: float = 0.0
    scan_time: float = 0.0
    outages: tuple[Window, ...] = ()
    freezes: tuple[Window, ...] = ()
    blind: tuple[Window, ...] = ()
    range_sigma_slope: float = 0.0
    range_bias: float = 0.0
    false_returns: float = 0.0
    bins: tuple[float, ...] = ()
    bin_ratio: float = 1.0
    detection_rate: tuple[float, ...] = ()
    radial_sigma: tuple[float, ...] = ()
    radial_bias: tuple[float, ...] = ()
    tangential_sigma: tuple[float, ...] = ()
    tangential_bias: tuple[float, ...] = ()
    yaw_sigma: tuple[float, ...] = ()
    yaw_bias: tuple[float, ...] = ()
    correlation_time: float = 0.0
    detection_time: float = 0.0
    flip_rate: float = 0.0
    flip_speed: float = 0.1
    false_positives: float = 0.0
    min_visible: float = 0.1
    position_sigma: float = 0.0
    altitude_sigma: float = 0.0
    position_bias: Triple = ZERO
    position_drift: float = 0.0
    heading_drift: float = 0.0
    yaw_rate_drift: float = 0.0
    drift_time: float = 300.0
    position_resolution: float = 0.0
    velocity_sigma: float = 0.0
    heading_sigma: float = 0.0
    yaw_rate_sigma: float = 0.0
    heading_bias: float = 0.0
    yaw_rate_bias: float = 0.0
    outage_drift: float = 0.0
    wheel_radius: float = 0.0
    speed_scale: float = 1.0
    ticks: int = 0
    settings: tuple[tuple[str, str], ...] = ()
    location: Location = field(default=Location(""), compare=False)


STAND_IN_HEIGHT, STAND_IN_GAP = 0.6, 0.05  # [m] above the ground, and before the bumper, where a beam meets no own body


def stand_in_conf(length: float, location: Location | None = None) -> SensorConf:
    """Return the generic laser that takes the place of a conf that is missing or unreadable.

    It sits on the front bumper, 0.6 m above the ground: at the origin of the body it would see little but the ground.

    Parameters
    ----------
    length : float
        Of the bot [m].
    location : Location, optional
        Of the line that names the conf.
    """
    position = Triple(0.0, 0.5 * length + STAND_IN_GAP, STAND_IN_HEIGHT)
    return SensorConf(position=position, location=location or Location(""))
