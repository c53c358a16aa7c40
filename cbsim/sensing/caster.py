"""Ray casting of a single laser for given poses of all bodies, with little overhead."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.sensing.kernels.fan import fan_of
from cbsim.sensing.kernels.still import cast_into, scratch_for
from cbsim.world.world import Sensor, World

__all__ = ["Caster"]


class Caster:
    """Ray caster of one laser, all beams at the same instant: true distances, without noise or range limits.

    Parameters
    ----------
    world : World
        World whose bodies are cast against.
    sensor : Sensor
        One of its lasers; the body that carries it is ignored.
    """

    def __init__(self, world: World, sensor: Sensor) -> None:
        shapes = world.shapes
        self._fan = fan = fan_of(sensor.azimuths, sensor.directions, np.asarray(sensor.conf.layer_pitches, float))
        self._ranges = np.empty(fan.layers * fan.width)
        self._view = self._ranges.reshape(fan.layers, fan.width)[:, : fan.beams]
        grid = np.array([fan.beams, fan.first, fan.step, fan.slack])
        rays = np.stack([fan.east, fan.north, fan.up])
        for table in (rays, fan.slopes, fan.order):  # as in the tables of `sense`: one overload
            table.setflags(write=False)
        self._head = (grid, rays, fan.slopes, fan.order), sensor.body, float(sensor.conf.max_range)
        outlines = shapes.kind, shapes.size, shapes.radius, shapes.root
        trees = shapes.triangles, shapes.node_box, shapes.node_link
        self._tail = (*outlines, *trees), scratch_for(len(world)), self._ranges

    def cast(self, pose: Floats, positions: Floats, orientations: Floats) -> Floats:
        """Distance to the first surface of every beam (layers, beams) [m], infinity where there is none.

        Parameters
        ----------
        pose : (7,) [m], 1
            Position and orientation of the sensor in the world.
        positions, orientations : (bodies, 3) [m], (bodies, 4)
            Poses of all bodies.

        Returns
        -------
        ndarray
            Overwritten by the next call; surfaces beyond the sensor's maximum range may be missing.
        """
        cast_into(pose, *self._head, positions, orientations, *self._tail)
        return self._view
