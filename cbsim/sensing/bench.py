"""What casting wants of a World, put together once: the table of its lasers, and how much scratch a call takes."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from cbsim.sensing.kernels.fan import fan_of
from cbsim.sensing.kernels.noise import Noise
from cbsim.sensing.kernels.scans import Lasers
from cbsim.sensing.noise import noise_of
from cbsim.world.tables import Floats
from cbsim.world.world import World

__all__ = ["Bench", "bench_of"]


@dataclass(frozen=True, slots=True)
class Bench:
    """Lasers of a World for the kernels.

    Attributes
    ----------
    table : Lasers
        One row each.
    rows : dict
        Key → row of the table.
    sizes : list of int
        Directions of each, rows filled up.
    noises : list of Noise
        Errors of each.
    """

    table: Lasers
    rows: dict[str, int]
    sizes: list[int]
    noises: list[Noise]


_benches: WeakKeyDictionary[World, Bench] = WeakKeyDictionary()


def bench_of(world: World) -> Bench:
    """Look up the bench of a World, or make it."""
    found = _benches.get(world)
    if found is None:
        found = _benches[world] = _bench(world)
    return found


def _bench(world: World) -> Bench:
    sensors = [sensor for sensor in world.sensors if sensor.conf.type == "ladar"]
    fans = [fan_of(s.azimuths, s.directions, np.asarray(s.conf.layer_pitches, float)) for s in sensors]
    azimuths = [
        np.tile(np.pad(s.azimuths, (0, fan.width - fan.beams), mode="edge"), fan.layers)
        for s, fan in zip(sensors, fans, strict=True)
    ]
    sizes = [fan.layers * fan.width for fan in fans]
    layers = [fan.layers for fan in fans]
    table = Lasers(
        body=np.array([s.body for s in sensors], np.int64),
        layers=np.array(layers, np.int64),
        beams=np.array([fan.beams for fan in fans], np.int64),
        width=np.array([fan.width for fan in fans], np.int64),
        mount=np.array([[*s.mount.position, *s.mount.orientation] for s in sensors], float).reshape(-1, 7),
        reach=np.array([s.conf.max_range for s in sensors], float),
        scan_time=np.array([s.conf.scan_time for s in sensors], float),
        first=np.array([fan.first for fan in fans], float),
        step=np.array([fan.step for fan in fans], float),
        slack=np.array([fan.slack for fan in fans], float),
        at=np.cumsum([0, *sizes], dtype=np.int64)[:-1],
        row=np.cumsum([0, *layers], dtype=np.int64)[:-1],
        azimuths=_chain(azimuths),
        east=_chain([fan.east for fan in fans]),
        north=_chain([fan.north for fan in fans]),
        up=_chain([fan.up for fan in fans]),
        slopes=_chain([fan.slopes for fan in fans]),
        order=np.concatenate([np.zeros(0, np.int64), *(fan.order for fan in fans)]),
    )
    return Bench(table, {s.key: row for row, s in enumerate(sensors)}, sizes, [noise_of(s) for s in sensors])


def _chain(parts: list[Floats]) -> Floats:
    return np.concatenate([np.zeros(0), *parts])
