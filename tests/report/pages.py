"""What tests of reports share: a run with a collision in it, and a page read back without a browser."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

import cbsim

SCENARIO = """
network: four_way_stop
mission: four_way_stop
duration: 12
planner: cbsim.planner.pilot:Pilot
add:
  - {{name: CajunBot, kind: autonomous, size: [1.7, 3.68, 2.16], at: {{waypoint: 3.2.1, station: {station}}}}}
  - name: Truck
    kind: dynamic
    size: [2.5, 8, 3]
    at: {{waypoint: 3.2.1}}
    position_offset: [0, -24, 0]
    script: [{{speed: 12, distance: 60, angle: 4}}]
  - {{name: Barrel, shape: cylinder, size: [0.6, 0.6, 1], at: {{waypoint: 3.2.3, offset: -3}}}}
expect:
  - collision: {{object: CajunBot}}
  - lane: {{object: CajunBot}}
  - speed: {{object: CajunBot}}
  - reach: {{object: Truck, waypoint: 3.2.2, radius: 9, before: 12}}
"""
VOID = {"meta", "link", "input", "br"}


def recorded(folder, station=3, **options):
    """Run a bot that a truck hits from behind, and keep its recording."""
    path = folder / f"hit_{station}.yaml"
    path.write_text(SCENARIO.format(station=station))
    with pytest.MonkeyPatch.context() as patch:  # batches of a step each, so that a file may be truncated between them
        patch.setattr("cbsim.simulation.loop.BATCH_NUMBERS", 1)
        cbsim.run(cbsim.load(path, **options)).save(folder / f"hit_{station}.mcap")
    return folder / f"hit_{station}.mcap"


def data_of(text):
    """What is in the page's element `data`, and its bytes."""
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL).group(1))
    return data, zlib.decompress(base64.b64decode(data["data"]))


def unpacked(data, where):
    """Undo `cbsim.page.Packer` for whole numbers."""
    count, at = where["count"], where["at"]
    planes = np.frombuffer(data, np.uint8, 4 * count, at).reshape(4, count)
    bits = np.ascontiguousarray(planes.T).view("<i4").reshape(-1, where["row"] or count)
    return bits.cumsum(axis=0, dtype=np.int32) if where["row"] else bits


def column(data, grain):
    counts = unpacked(data, grain["counts"]).ravel().astype(float)
    counts[counts == -(2.0**31)] = np.nan
    return counts * grain["unit"]


class Outline(HTMLParser):
    """Elements of a page in order, with what is wrong in how they are nested."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.wrong = [], [], []
        self.feed(text)
        self.wrong += [f"<{tag}> is left open" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        self.wrong += [f"<{tag}> has {name} twice" for name in set(names) if names.count(name) > 1]
        self.elements.append((tag, dict(attributes), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()} in {self.open[-3:]}")
        else:
            self.open.pop()

    def all(self, tag):
        return [attributes for name, attributes, _ in self.elements if name == tag]
