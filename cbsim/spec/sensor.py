"""What a sensor conf file says, with the defaults of its model filled in (`reference: cajunbot.md` §6)."""

from __future__ import annotations

from dataclasses import dataclass, field

from cbsim.errors import Location
from cbsim.spec.objects import ZERO, Triple

__all__ = ["SensorConf"]


@dataclass(frozen=True, slots=True)
class SensorConf:
    """One physical device on a bot.

    Attributes
    ----------
    type : str
        ``ladar``, ``radar``, ``gps``, ``ins`` or ``camera``.
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
        Scans per second [Hz].
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
    settings: tuple[tuple[str, str], ...] = ()
    location: Location = field(default=Location(""), compare=False)
