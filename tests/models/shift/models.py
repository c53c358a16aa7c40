"""What tests of Shift models share: a model followed through time, read as the coordinates of its joints."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cbsim.coupling.instance_steps import follow
from cbsim.errors import Problems
from cbsim.formats.reader import Source
from cbsim.models import read_file
from cbsim.models.shift.assembly import assemble
from cbsim.models.shift.behaviour import JointForces, matrices
from cbsim.models.shift.build import build
from cbsim.models.shift.description import description_of
from cbsim.models.shift.drivers import Binder
from cbsim.models.shift.fiala import TyreNumbers
from cbsim.models.shift.laws import Laws
from cbsim.models.shift.upright import upright
from cbsim.paths import Files
from cbsim.world.model_instances import instance_of
from cbsim.world.scene import Model
from tests.models.reading import read_model


def read(source, problems):
    return read_model("shift", source, problems)


def model_of(text):
    problems = Problems()
    model = read(Source("model.json", text, text.encode()), problems)
    return model, problems


def file_of(path):
    reading = read_file(path)
    reading.problems.raise_if_any()
    return reading.spec


class Run:
    """A model in its World, with steps that may be shorter than those asked for."""

    def __init__(self, model, step=0.01, path="model.json", **options):
        self.problems = Problems()
        folder = Path(path).parent
        self.description = description_of(model, step, folder, Files([path]), self.problems, **options)
        count = round(step / self.description.spec.timestep)
        self.instance = instance_of(Model("model", self.description, count, {}), 0, 0)
        self.step = step
        assembled = assemble(model, Problems())
        turn = upright(model.gravity) if options.get("upright", True) else np.eye(3)
        everything = range(len(assembled.network.links)), range(len(assembled.tree.ties))
        built = build(assembled, turn, {}, {}, everything)
        row = {body.name: place for place, body in enumerate(self.description.spec.bodies)}
        binder = Binder(assembled, built, turn, Problems(), lambda *_: TyreNumbers())
        names = {n: body.name for n, body in built.bodies.items()}
        kept = {n for n in names if names[n] in row} | {-1}
        binder.rows = {n: row[names[n]] for n in names if n in kept}
        ties = [
            n for n, tie in enumerate(assembled.tree.ties)
            if tie.joint.freedoms == 1 and {tie.parent, tie.child} <= kept
        ]  # fmt: skip
        self.names = [assembled.tree.ties[n].joint.name for n in ties]
        self.reader = JointForces([binder.line(n, Laws()) for n in ties])
        self.start = assembled.posture.numbers[ties]
        self.state, self.mind, self.steps = self.instance.start.copy(), self.instance.memory.copy(), 0

    def until(self, time):
        """Go on to a time, and return the states on the way, the first one too."""
        count = round(time / self.step) - self.steps
        before = self.state
        states, minds = follow(self.instance, self.state, self.mind, self.steps, count)
        assert len(states) == count
        self.state, self.mind, self.steps = states[-1], minds[-1], self.steps + count
        return np.concatenate([before[None], states])

    def coordinates(self, states):
        """Coordinates (n, joints) of a path, angles continuous from those of the file if it begins at the start."""
        found = []
        for state in states:
            ground = np.zeros((1, 13))
            ground[0, 6] = 1.0
            rows = np.concatenate([state, ground])
            found.append(self.reader.coordinates(rows[:, :3], matrices(rows[:, 6:10])))
        way = np.array([self.start, *found])
        for k in np.flatnonzero(self.reader.turning):
            way[:, k] = np.unwrap(way[:, k])
        return dict(zip(self.names, way[1:].T, strict=True))

    def gap(self, states):
        """Largest violation of any joint on a path."""
        from cbsim.dynamics.loop_closure import violations

        return max(float(np.abs(violations(self.instance.compiled, state)).max()) for state in states)


def at_times(model, times, step, path="model.json", **options):
    """Coordinates of joints at some times: name → array."""
    run = Run(model, step, path, **options)
    found = run.coordinates(run.until(max(times)))
    return {name: values[[round(time / step) for time in times]] for name, values in found.items()}


def extrapolated(model, times, step, path="model.json", **options):
    """Richardson's extrapolation of steps h, h/2 and h/4 of a method with an error in even powers: also h/2's order."""
    coarse, middle, fine = (at_times(model, times, step / k, path, **options) for k in (1, 2, 4))
    found, order = {}, {}
    for name in coarse:
        first = (4.0 * middle[name] - coarse[name]) / 3.0
        second = (4.0 * fine[name] - middle[name]) / 3.0
        found[name] = (16.0 * second - first) / 15.0
        with np.errstate(divide="ignore", invalid="ignore"):
            order[name] = np.log2(np.abs(coarse[name] - middle[name]) / np.abs(middle[name] - fine[name]))
    return found, order
