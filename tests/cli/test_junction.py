"""``cbsim info --junction``: the table of who yields; ``cbsim convert`` of a network to GeoJSON."""

from __future__ import annotations

import json

from tests.common import ROOT

PARKING = ROOT / "rndf" / "parking.rndf"


def test_info_prints_who_yields_at_a_junction(cli):
    said = cli("info", PARKING, "--junction", "2.1.4")
    assert said.code == 0
    assert "junction with 6 conflicts, stop lines: 2.1.4" in said.out
    assert any(line.split()[::2][:2] == ["2.1.4-1.1.8", "1.1.7-1.1.8"] for line in said.out.splitlines())
    assert "has a stop line" in said.out


def test_info_gives_the_junction_as_json(cli):
    data = json.loads(cli("info", PARKING, "--junction", "3.1.4", "--json", "-").out)
    assert data["junction"]["stops"] == ["3.1.4"]
    assert {row["rule"] for row in data["junction"]["conflicts"]} == {"stop"}


def test_points_without_a_junction_and_other_files_are_refused(cli):
    for arguments, words in (
        ((PARKING, "--junction", "2.1.2"), "nothing conflicts at '2.1.2'"),
        ((PARKING, "--junction", "2.1.99"), "did you mean '2.1.4'"),
        ((PARKING, "--junction", "corner"), "is not a point id"),
        ((PARKING.with_suffix(".mdf"), "--junction", "2.1.4"), "--junction is for road networks"),
    ):
        said = cli("info", *arguments)
        assert said.code == 2
        assert words in said.err


def test_a_network_is_converted_to_geojson_by_its_suffix(cli, tmp_path):
    said = cli("convert", PARKING, tmp_path / "parking.geojson")
    assert said.code == 0
    assert json.loads((tmp_path / "parking.geojson").read_text())["name"] == "parking"
