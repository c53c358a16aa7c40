"""``check``, ``info``, ``convert``, ``new`` on real and wrong files."""

from __future__ import annotations

import json
import re

import pytest

from tests.common import shared, shared_files

LOCATED = re.compile(r"^(.+?)(:\d+)?: (error|warning|info): .+ \[[EWI]\d{3}\]")
COUNTS = {
    "rndf": {
        "segments",
        "lanes",
        "waypoints",
        "zones",
        "perimeter_points",
        "spots",
        "checkpoints",
        "stops",
        "exits",
        "lane_km",
    },
    "mdf": {"checkpoints", "speed_limits"},
    "objects-v1": {"objects", "autonomous", "dynamic", "static", "mesh", "sensors"},
    "objects-v2": {"objects", "autonomous", "dynamic", "static", "mesh", "sensors"},
    "sensor-conf": {"beams", "layers", "rate", "max_range"},
}
REAL = shared_files("rndf", "mdf", "cajunbot", "examples_cajunbot", "scenario_other", "sensor_conf_other")


@pytest.mark.parametrize("path", REAL, ids=lambda p: p.name)
def test_every_real_file_is_read_or_refused_with_located_lines(cli, path):
    said = cli("check", path)
    assert said.code in (0, 2)
    for line in said.out.splitlines():
        assert LOCATED.match(line) or line.startswith("…"), line


@pytest.mark.parametrize("path", REAL, ids=lambda p: p.name)
def test_info_prints_its_object_for_every_real_file(cli, path):
    said = cli("info", path, "--json")
    data = json.loads(said.out)
    assert said.code == (2 if data["errors"] else 0)
    assert {"format", "errors", "warnings"} <= set(data)
    if data["format"] in COUNTS and len(data) > 3:
        assert COUNTS[data["format"]] <= set(data)


def test_darpa_sample_counts(cli):
    said = cli("info", shared("rndf", "terminus", "gazebo8__darpa.rndf"), "--json")
    data = json.loads(said.out)
    assert (data["segments"], data["lanes"], data["waypoints"], data["stops"], data["exits"]) == (13, 21, 146, 21, 49)
    assert data["lane_km"] == pytest.approx(8.789, abs=6e-4)


def test_objects_go_to_v1_and_back(cli, tmp_path):
    source = shared("cajunbot", "Objects.xml")
    network = shared("rndf", "terminus", "gazebo8__darpa.rndf")
    assert cli("convert", source, tmp_path / "a.obj", "--rndf", network).code == 0
    assert cli("convert", tmp_path / "a.obj", tmp_path / "b.xml").code == 0
    assert cli("convert", tmp_path / "b.xml", tmp_path / "c.obj", "--rndf", network).code == 0
    assert (tmp_path / "a.obj").read_text() == (tmp_path / "c.obj").read_text()
    said = cli("convert", source, tmp_path / "d.obj")
    assert said.code == 2
    assert "--rndf" in said.err


def test_schema_is_json_and_says_units(cli):
    said = cli("check", "--schema")
    schema = json.loads(said.out)
    assert said.code == 0
    assert "[s]" in said.out
    assert schema["properties"]["network"]["description"]


def test_check_prints_problems_as_json(cli):
    said = cli("check", shared("rndf", "terminus", "wrong__duplicate_waypoint_id.rndf"), "--json")
    rows = json.loads(said.out)
    assert said.code == 2
    duplicate = next(row for row in rows if row["code"] == "E103")
    assert duplicate["location"]["line"] > duplicate["also"]["line"]


def test_new_city_runs_and_is_clean(cli, tmp_path):
    said = cli("new", "city", tmp_path, "--columns", 3, "--rows", 3)
    assert said.code == 0
    made = sorted(p.suffix for p in map(type(tmp_path), said.out.split()))
    assert made == [".mdf", ".rndf", ".xml", ".yaml"]
    checked = cli("check", *said.out.split())
    assert checked.code == 0
    assert "warning" not in checked.out
    scenario = next(name for name in said.out.split() if name.endswith(".yaml"))
    assert cli("run", scenario, "--duration", 5).code in (0, 1)


def test_unknown_format_names_the_known_ones(cli, tmp_path):
    (tmp_path / "x.bin").write_bytes(bytes(range(256)))
    said = cli("check", tmp_path / "x.bin")
    assert said.code == 2
    assert "rndf" in said.out


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("four_way_stop", "scenario"),
        ("hexapod.irt", "irit"),
        ("models/cart.jm", "juice"),
        ("loop.rndf", "rndf"),
        ("gps", "sensor-conf"),
    ],
)
def test_shipped_files_are_found_by_name_as_by_run_unless_one_of_that_name_is_here(
    cli, tmp_path, monkeypatch, name, found
):
    monkeypatch.chdir(tmp_path)
    assert json.loads(cli("info", name, "--json").out)["format"] == found
    assert cli("check", name).code == 0
    here = tmp_path / name
    here.parent.mkdir(exist_ok=True)
    here.write_text("RNDF_name mine\n")
    assert json.loads(cli("info", name, "--json").out)["format"] == "rndf"


PAGE = "<!DOCTYPE html>\n<html><head><script>\n model = 3\nnetwork: loop\n</script></head></html>\n"


@pytest.mark.parametrize("name", ["page.html", "page", "site.rndf", "site.yaml", "scan.conf", "model.json"])
@pytest.mark.parametrize("command", ["info", "check", "run"])
def test_a_web_page_is_told_as_one_whatever_it_is_called(cli, tmp_path, command, name):
    path = tmp_path / name
    path.write_text(f"<!-- saved -->\n{PAGE}" if name == "page" else PAGE)
    said = cli(command, path)
    assert said.code == 2
    (told,) = [line for line in (said.out + said.err).splitlines() if "error:" in line]
    assert told.startswith(f"{path}:1: error: this is a web page (HTML), which is not read here [E001]")


def test_what_has_no_keys_is_no_scenario_to_run_and_what_has_them_is_one_whatever_its_name(cli, tmp_path):
    picture, odd = tmp_path / "a.png", tmp_path / "odd.text"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    said = cli("run", picture)
    assert (said.code, said.err.count("error:")) == (2, 1)
    assert f"{picture}:1: error: the format of this file is not known [E001]" in said.err
    odd.write_text("add:\n  - {name: Box, position: [0, 0, 0]}\n")
    assert cli("run", odd, "--duration", "0.1").code == 0


def test_a_shipped_model_is_converted_by_its_name(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli("convert", "hexapod.irt", "hexapod.itd").code == 0
    assert json.loads(cli("info", "hexapod.itd", "--json").out)["bodies"] == 13
    said = cli("check", "hexapot.irt")
    assert said.code == 2
    assert "hexapot.irt: error: no such file 'hexapot.irt' [E011] (did you mean 'hexapod.itd'?)" in said.out
