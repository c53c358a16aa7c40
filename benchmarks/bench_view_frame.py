"""Times of pictures: a city of 9 000 waypoints with 1 000 cars at 1280 x 800, as a window would show it.

    python benchmarks/bench_view_frame.py [cars]

No peer runs in the same process: SUMO-gui, esmini and CARLA draw by a graphics card, of which this needs none. The goal
is 60 pictures per second: 16.7 ms. Times are those that the processor works, because machines are shared. A picture
counts only if it shows what it should: the gate counts cars and their colours.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from common import show

from cbsim.export.city import city
from cbsim.formats import write
from cbsim.loading.load import load
from cbsim.spec.objects import Controller, Goal, Kind, ObjectFile, TrafficObject, Triple
from cbsim.spec.road import PointId, RoadNetwork

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
import pygame

from cbsim.palette import KINDS
from cbsim.viewer.scene.source import LiveSource
from cbsim.viewer.screenshot import pixels_of
from cbsim.viewer.session import Session
from cbsim.world.world import World

GOAL = 1000.0 / 60.0  # [ms]
SIZE = (1280, 800)
PICTURES = 150


def traffic(network: RoadNetwork, count: int) -> ObjectFile:
    """Cars on every lane, one after another, that follow the exits."""
    lanes = [lane for lane in network.lanes if len(lane.points) > 3]
    table = {(lane.segment, lane.number): lane for lane in network.lanes}
    cars = []
    for k in range(count):
        lane, way = lanes[k % len(lanes)], []
        for _ in range(12):
            way.append(lane)
            following = [one.target for one in lane.exits if (one.target.segment, one.target.lane) in table]
            if not following:
                break
            target = following[k % len(following)]
            lane = table[(target.segment, target.lane)]
        goals = tuple(Goal(5.0 + k % 8, 0.0, one.segment, one.number, None) for one in way)
        first = way[0].points.numbers[1 + (k // len(lanes)) % (len(way[0].points) - 2)]
        cars.append(
            TrafficObject(
                Kind.AUTONOMOUS if k == 0 else Kind.DYNAMIC,
                f"Car {k}",
                anchor=PointId(way[0].segment, way[0].number, first),
                size=Triple(1.8, 4.5, 1.5),
                controller=Controller.WAYPOINT,
                goals=goals,
            )
        )
    return ObjectFile("traffic", tuple(cars))


def timed(session: Session, surface: pygame.Surface, before: Callable[[int], None]) -> list[float]:
    """Times of pictures [ms]; `before` moves the camera or the clock."""
    times = []
    for k in range(PICTURES + 10):
        before(k)
        began = time.thread_time()
        session.draw(surface)
        times.append(1e3 * (time.thread_time() - began))
    return sorted(times[10:])


def told(what: str, times: list[float]) -> None:
    """Print median and the slowest of a hundred."""
    slow = times[int(0.99 * len(times))]
    show(
        what,
        [times[0], times[len(times) // 2], slow],
        "ms",
        f"{GOAL / times[len(times) // 2]:.1f} x 60 Hz; min/median/p99",
    )


def check(session: Session, surface: pygame.Surface, cars: int) -> None:
    """Refuse pictures that do not show the cars."""
    seen = len(session.view().visible)
    colours = pixels_of(surface).reshape(-1, 3)
    orange = int((colours == KINDS["dynamic"].fill).all(axis=1).sum())
    assert seen == cars, f"{seen} of {cars} cars are in the picture"
    assert orange > 3 * cars, f"{orange} pixels of cars"


def made(count: int) -> World:
    """Make the city with some cars."""
    network, _, _ = city(columns=15, rows=14, lanes=2)
    print(f"{sum(len(lane.points) for lane in network.lanes)} waypoints, {count} cars, {SIZE[0]} x {SIZE[1]}")
    with tempfile.TemporaryDirectory() as folder:
        rndf, objects = Path(folder, "city.rndf"), Path(folder, "traffic.xml")
        write(network, rndf)
        write(traffic(network, count), objects)
        return load(rndf=rndf, objects=objects, duration=120.0)


def watch(session: Session, surface: pygame.Surface) -> None:
    """Look at it from afar and from near, and follow a car."""
    whole, play = session.camera, playing(session)
    told("the whole city, playing", timed(session, surface, play))
    for scale in (1.0, 4.0, 15.0):
        session.camera = replace(whole, scale=scale)
        told(f"{scale:g} pixels per metre, playing, {len(session.view().visible)} cars", timed(session, surface, play))
    session.camera = replace(whole, scale=6.0)
    session.options.selected, session.following, session.heading_up = 0, True, True
    told("6 pixels per metre, followed, its heading up", timed(session, surface, play))
    session.following, session.camera = False, whole


def playing(session: Session) -> Callable[[int], None]:
    """Let time go on from picture to picture."""

    def play(k: int) -> None:
        session.time = 10.0 + k / 60.0

    return play


def move(session: Session, surface: pygame.Surface) -> None:
    """Drag, turn the wheel, turn the picture."""
    whole, play = session.camera, playing(session)

    def pan(k: int) -> None:
        play(k)
        session.camera = session.camera.panned(9.0 * np.sin(0.05 * k), 6.0)

    def zoom(k: int) -> None:
        play(k)
        session.camera = replace(whole, scale=whole.scale * 1.1 ** (30 - abs(k % 60 - 30)))

    def turn(k: int) -> None:
        play(k)
        session.camera = replace(whole, angle=0.02 * k)

    session.camera = replace(whole, scale=4.0)
    told("4 pixels per metre, dragged", timed(session, surface, pan))
    for what, act in (("wheel turned all the time", zoom), ("the whole city, turned all the time", turn)):
        for session.draw_fully in (True, False):
            drawn = "drawn in full" if session.draw_fully else "as in a window"
            told(f"{what}, {drawn}", timed(session, surface, act))
    session.camera = whole


def simulate(session: Session, surface: pygame.Surface, live: LiveSource) -> None:
    """Simulate what is shown at the same time."""
    stepping: list[float] = []

    def advance(k: int) -> None:
        session.time = 31.0 + k / 60.0
        began = time.thread_time()
        live.advance_to(session.time)
        stepping.append(1e3 * (time.thread_time() - began))

    told("the whole city, simulated at the same time", timed(session, surface, advance))
    told("  of which the simulation, beside the picture", sorted(stepping))


def main() -> None:
    gc.set_threshold(200_000, 50, 50)  # as the program `cbsim` has it
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    surface = pygame.Surface(SIZE, depth=32)
    with LiveSource(made(count)) as live:
        began = time.thread_time()
        session = Session(live)
        session.draw(surface)
        show("from a World to the first picture", [1e3 * (time.thread_time() - began)] * 3, "ms")
        live.advance_to(30.0)
        session.time = 30.0
        session.draw(surface)
        session.draw_fully = False  # as in a window
        session.draw(surface)
        check(session, surface, count)
        watch(session, surface)
        move(session, surface)
        simulate(session, surface, live)


if __name__ == "__main__":
    main()
