"""Scenes of two cars in SUMO, measured by its SSM device, in an environment of its own."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from benchmarks.metric_scenes import LENGTH, MORE, MOVED, STEP, TIME, WIDTH, Scene, finite, judged

ARM, EARLIER = 600.0, 5.0  # [m] of the crossing's roads in SUMO; [s] by which its scenes begin earlier there


def sumo(every: list[Scene]) -> list[dict[str, float]]:
    """Worst values of SUMO's SSM device, in its environment; cut-ins change lanes at once when they are over."""
    return [sumo_scene(scene) for scene in every]


def sumo_road(folder: Path, crossing: bool) -> dict[str, str]:
    """Build a road of two lanes, or a crossing of two lanes as wide as the cars; returns the routes of both cars."""
    import sumolib

    nodes, edges = {"a": (0, 0), "b": (2000, 0)}, {"e": ("a", "b", "")}
    joins, routes = "", {"ego": "e", "other": "e"}
    if crossing:
        nodes = {"c": (0, 0), "w": (-ARM, 0), "e": (ARM, 0), "s": (0, -ARM), "n": (0, ARM)}
        narrow = f' width="{WIDTH}" spreadType="center"'
        edges = {one: (one[0], one[1], narrow) for one in ("wc", "ce", "sc", "cn")}
        joins = '<connection from="wc" to="ce"/><connection from="sc" to="cn"/>'
        routes = {"ego": "wc ce", "other": "sc cn"}
    places = "".join(f'<node id="{name}" x="{x}" y="{y}"/>' for name, (x, y) in nodes.items())
    lanes = 1 if crossing else 2
    ways = "".join(
        f'<edge id="{name}" from="{begin}" to="{end}" numLanes="{lanes}" speed="60"{more}/>'
        for name, (begin, end, more) in edges.items()
    )
    (folder / "n.nod.xml").write_text(f"<nodes>{places}</nodes>")
    (folder / "e.edg.xml").write_text(f"<edges>{ways}</edges>")
    (folder / "c.con.xml").write_text(f"<connections>{joins}</connections>")
    net = ["-n", folder / "n.nod.xml", "-e", folder / "e.edg.xml", "-o", folder / "net.xml"]
    net += ["-x", folder / "c.con.xml"] if crossing else []
    subprocess.run([sumolib.checkBinary("netconvert"), *map(str, net)], check=True, capture_output=True)
    return routes


def sumo_scene(scene: Scene) -> dict[str, float]:
    """Drive a scene in SUMO; crossings begin EARLIER, so that nobody starts within the junction."""
    import libsumo

    crossing = scene["kind"] == "crossing"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        routes = sumo_road(folder, crossing)
        measures, bounds, more = ("PET", "1000", "10") if crossing else ("TTC DRAC TGAP", "1000 0.0 1000", "0.5")
        device = "".join(
            f'<param key="device.ssm.{key}" value="{value}"/>'
            for key, value in (
                ("measures", measures), ("thresholds", bounds), ("extratime", more),
                ("range", "500"), ("trajectories", "true"), ("file", folder / "ssm.xml"),
            )
        )  # fmt: skip
        cars = []
        for who, lane in (("ego", 0), ("other", 1 if scene["kind"] == "cut-in" else 0)):
            x, y, _, speed = scene[who][0]
            params = '<param key="has.ssm.device" value="true"/>' + device if who == "ego" else ""
            along = (y if crossing and who == "other" else x) + LENGTH / 2
            along += ARM - EARLIER * speed if crossing else 100.0
            place = f'departLane="{lane}" departPos="{along}" departSpeed="{speed}"'
            route = f'<route edges="{routes[who]}"/>'
            cars.append(f'<vehicle id="{who}" type="car" depart="0" {place}>{route}{params}</vehicle>')
        kind = f'<vType id="car" length="{LENGTH}" width="{WIDTH}" maxSpeed="60" minGap="0" tau="0.1"/>'
        (folder / "r.rou.xml").write_text(f"<routes>{kind}{''.join(reversed(cars))}</routes>")
        options = ["-n", folder / "net.xml", "-r", folder / "r.rou.xml", "--step-length", STEP, "--no-step-log", "true"]
        options += [
            "--insertion-checks",
            "none",
            "--collision.action",
            "none",
            "--time-to-teleport",
            "-1",
            "--no-warnings",
        ]
        libsumo.start(["sumo", *map(str, options)])
        steps = round((EARLIER + TIME + MORE) / STEP) if crossing else judged(scene)[1] + 1
        for k in range(steps):
            libsumo.simulationStep()
            for who in libsumo.vehicle.getIDList():
                libsumo.vehicle.setSpeedMode(who, 0)
                libsumo.vehicle.setLaneChangeMode(who, 0)
                libsumo.vehicle.setSpeed(who, scene[who][0][3])
            if scene["kind"] == "cut-in" and k == round(MOVED / STEP):
                libsumo.vehicle.changeLane("other", 0, 100.0)
        libsumo.close()
        return ssm_worst(folder / "ssm.xml")


def ssm_worst(path: Path) -> dict[str, float]:
    """Worst values of an SSM file, with those on the way after the last step of the scene left out."""
    from xml.etree.ElementTree import parse

    found: dict[str, list[float]] = {"ttc": [], "drac": [], "thw": []}
    root = parse(path).getroot()
    times = [one for tag in ("conflict", "globalMeasures") for one in root.iter(tag)]
    for conflict in times:
        spans = {one.tag: one.get("values", "").split() for one in conflict}
        at = [float(value) for value in spans["timeSpan"]]
        for key, tag in (("ttc", "TTCSpan"), ("drac", "DRACSpan"), ("thw", "TGAPSpan")):
            values = zip(at, spans.get(tag, []), strict=False)
            found[key] += [float(value) for when, value in values if value != "NA" and when <= TIME + STEP]
    worst = {key: (max if key == "drac" else min)(values) for key, values in found.items() if values}
    gone = [float(one.get("value", "NA")) for one in root.iter("PET") if one.get("value", "NA") != "NA"]
    return finite(worst | ({"pet": min(gone)} if gone else {}))
