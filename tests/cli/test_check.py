"""``check`` tells what a run would refuse: of the network that is given, of confs and meshes, of recordings."""

from __future__ import annotations

import json
import shutil

import pytest

import cbsim
from cbsim.errors import FileError, Location, Problems, UsageError
from cbsim.loading.load import find_scenario
from cbsim.paths import StoredFiles
from tests.formats.object_texts import STEERING, WHEELS, element, v2

SCENARIO = "add:\n  - name: Box\n    kind: static\n    position: [1, 2, 0]\nduration: 1\n"


@pytest.fixture
def city(cli, tmp_path):
    cli("new", "city", tmp_path / "made", "--columns", 2, "--rows", 2)
    return tmp_path / "made"


@pytest.fixture
def recording(cli, tmp_path):
    (tmp_path / "box.yaml").write_text(SCENARIO)
    assert cli("run", tmp_path / "box.yaml", "--record", tmp_path / "run.mcap", "-q").code == 0
    return tmp_path / "run.mcap"


def test_network_that_is_not_there_is_told(cli, city):
    said = cli("check", "--rndf", city / "nosuch.rndf", city / "city.xml")
    assert said.code == 2
    assert said.out.count("E011") == 1


def test_errors_of_the_given_network_are_told_once(cli, city):
    text = (city / "city.rndf").read_text()
    (city / "broken.rndf").write_text(text.replace("end_segment", "end_sogment", 1))
    said = cli("check", "--rndf", city / "broken.rndf", city / "city.xml")
    assert said.code == 2
    assert "broken.rndf:" in said.out
    named = cli("check", "--rndf", city / "broken.rndf", city / "broken.rndf")
    lines = [line for line in named.out.splitlines() if ": error: " in line]
    assert lines
    assert len(set(lines)) == len(lines)


def test_network_of_another_format_is_refused(cli, city):
    for command in (["check", city / "city.xml"], ["convert", city / "city.xml", city / "x.obj"]):
        said = cli(*command, "--rndf", city / "city.xml")
        assert said.code == 2
        assert "E002" in said.out + said.err


def test_sound_network_is_fine(cli, city):
    assert cli("check", "--rndf", city / "city.rndf", city / "city.xml").code == 0


@pytest.fixture
def faulty(tmp_path):
    """An object file and a scenario that names it; two bots share a conf, two rocks share a mesh, all wrong."""
    (tmp_path / "laser.conf").write_text("model sick_lms291\nfov -7\n")
    (tmp_path / "points.txt").write_text("0 0 0\n1 0 0\n0 1 0\n")
    (tmp_path / "corners.txt").write_text("0 1 2\n0 1 7\n")
    drive = (WHEELS, STEERING, '<sensor conf="laser.conf"/>')
    mesh = ('<vertices path="base">points.txt</vertices>', '<indices path="base">corners.txt</indices>')
    bots = [element("autonomous", *drive, name=name) for name in ("One", "Two")]
    objects = v2(*bots, *(element("mesh", *mesh, name=name) for name in ("Rock", "Stone")))
    (tmp_path / "objects.xml").write_text(objects)
    (tmp_path / "run.yaml").write_text("objects: [objects.xml]\nduration: 1\n")
    return tmp_path


@pytest.mark.parametrize("name", ["objects.xml", "run.yaml"])
def test_mistakes_of_confs_and_meshes_are_told_once_by_check_and_by_run(cli, faulty, name):
    said = cli("check", faulty / name)
    assert said.code == 2
    option = ["--objects"] if name == "objects.xml" else []
    ran = cli("run", *option, faulty / name)
    assert ran.code == 2
    for text in (said.out, ran.err):
        assert len([line for line in text.splitlines() if "laser.conf:2: error: " in line]) == 1, text
        assert len([line for line in text.splitlines() if "corners.txt:2: error: " in line]) == 1, text


def test_conf_that_is_named_itself_too_is_told_once(cli, faulty):
    said = cli("check", faulty / "laser.conf", faulty / "objects.xml", faulty / "run.yaml")
    assert len([line for line in said.out.splitlines() if "laser.conf:2: error: " in line]) == 1, said.out


def test_problems_come_in_the_order_of_lines():
    problems = Problems()
    for path, line in (("b", 2), ("a", 9), ("b", 1)):
        problems.error("E999", "wrong", Location(path, line))
    with pytest.raises(FileError) as caught:
        problems.raise_if_any()
    assert [line.split(": ")[0] for line in str(caught.value).splitlines()] == ["a:9", "b:1", "b:2"]


def test_recording_is_recognised_by_content(cli, recording, tmp_path):
    hidden = tmp_path / "hidden.bin"
    shutil.copy(recording, hidden)
    for name in (recording, hidden):
        assert cli("check", name).code == 0
        data = json.loads(cli("info", name, "--json").out)
        assert data["format"] == "recording"
        assert data["steps"] == 20


def test_recording_that_breaks_off_is_a_warning(cli, recording):
    recording.write_bytes(recording.read_bytes()[:-20])
    said = cli("check", recording)
    assert said.code == 0
    assert "W031" in said.out


def test_other_readers_refuse_a_recording(cli, recording, tmp_path, city):
    hidden = tmp_path / "hidden.xml"
    shutil.copy(recording, hidden)
    commands = (
        ["run", hidden],
        ["run", "--rndf", hidden, "--objects", city / "city.xml"],
        ["run", "--rndf", city / "city.rndf", "--objects", hidden],
        ["convert", hidden, tmp_path / "x.obj"],
        ["check", city / "city.xml", "--rndf", hidden],
    )
    for command in commands:
        said = cli(*command)
        assert said.code == 2
        assert "E002" in said.out + said.err


def test_file_named_mcap_that_is_none_is_read_as_what_it_is(cli, city):
    (city / "city.rndf").rename(city / "city.mcap")
    assert json.loads(cli("info", city / "city.mcap", "--json").out)["format"] == "rndf"
    said = cli("replay", city / "city.mcap")
    assert said.code == 2
    assert "E030" in said.err


def test_bare_name_is_shadowed_by_a_file_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shipped = find_scenario("four_way_stop")
    (tmp_path / "four_way_stop").mkdir()
    assert find_scenario("four_way_stop") == shipped
    (tmp_path / "four_way_stop").rmdir()
    (tmp_path / "four_way_stop").write_text(SCENARIO)
    assert str(find_scenario("four_way_stop")) == "four_way_stop"


def test_replay_finds_its_own_scenario_whatever_lies_about(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "four_way_stop").write_text("duration: wrong")
    stored = StoredFiles({}, {})
    assert find_scenario("four_way_stop", stored) == find_scenario("four_way_stop", StoredFiles({}, {}))
    assert find_scenario("four_way_stop", stored).suffix == ".yaml"
    gone = StoredFiles({"shipped:scenarios/old/once_shipped.yaml": b""}, {})
    assert find_scenario("once_shipped", gone).name == "once_shipped.yaml"


def test_settings_may_be_numbers(tmp_path):
    (tmp_path / "box.yaml").write_text(SCENARIO)
    world = cbsim.load(tmp_path / "box.yaml", settings={"seed": 3, "duration": 2.5})
    assert (world.settings.seed, world.settings.duration) == (3, 2.5)


def test_writing_to_a_missing_folder_is_misuse(city):
    network = cbsim.read(city / "city.rndf")
    with pytest.raises(UsageError, match="cannot write"):
        cbsim.write(network, city / "missing" / "x.rndf")
