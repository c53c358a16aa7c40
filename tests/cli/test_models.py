"""The commands on files of models."""

from __future__ import annotations

import json

import pytest

from tests.common import shared, shared_files
from tests.formats.test_urdf_corpus import CORPUS
from tests.simulation.test_models import PENDULUM

REAL = [path for path in shared_files("urdf") if path.suffix == ".urdf"]
KEYS = {"bodies", "joints", "loops", "degrees_of_freedom", "mass"}


@pytest.mark.parametrize("path", REAL, ids=lambda p: p.name)
def test_info_of_a_real_robot_has_its_keys(cli, path):
    said = cli("info", path, "--json")
    told = json.loads(said.out)
    assert said.code == 0
    assert set(told) == {"format", "errors", "warnings"} | KEYS
    assert told["format"] == "urdf"
    assert told["errors"] == 0


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("quadruped/gazebo_a1.urdf", (13, 12, 0, 18, 13.5)),
        ("fourbar/fourbar.urdf", (5, 5, 1, 2, 4.0)),
        ("halfcheetah/halfcheetah.urdf", (8, 7, 0, 9, 14.9997)),
        ("quadrotor/pelican_fixed_rotors.urdf", (5, 4, 0, 6, 1.04)),
    ],
)
def test_info_counts_links_joints_loops_freedoms_and_mass(cli, name, counts):
    told = json.loads(cli("info", shared("urdf", *name.split("/")), "--json").out)
    keys = ("bodies", "joints", "loops", "degrees_of_freedom", "mass")
    assert tuple(told[key] for key in keys) == pytest.approx(counts)


def test_info_prints_its_object_for_a_file_with_mistakes_too(cli):
    said = cli("info", CORPUS / "urdf" / "masses.urdf", "--json")
    told = json.loads(said.out)
    assert said.code == 2
    assert (told["bodies"], told["mass"], told["errors"]) == (8, 6.0, 3)


def test_check_tells_every_mistake_with_its_line_and_what_was_meant(cli, tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(PENDULUM.replace('link="upper"', 'link="uper"').replace('type="continuous"', 'type="continous"', 1))
    said = cli("check", path)
    assert said.code == 2
    assert f"{path}:5: error: unknown joint type 'continous' [E906] (did you mean 'continuous'?)" in said.out
    assert "[E907] (did you mean 'upper'?)" in said.out


PLACED = """network: loop
models:
  - file: robot.urdf
    at: 1.1.1
    settings: {contcts: false}
  - file: robot.urdf
    name: Other
    at: 1.1.2
step: 0.025
"""


def test_check_and_run_refuse_the_same_settings_of_a_placed_model(cli, tmp_path):
    (tmp_path / "robot.urdf").write_text(PENDULUM)
    path = tmp_path / "placed.yaml"
    path.write_text(PLACED)
    checked, ran = cli("check", path), cli("run", path)
    assert (checked.code, ran.code) == (2, 2)
    line = next(line for line in ran.err.splitlines() if "E892" in line)
    assert line.startswith(f"{path}:3: error: model 'robot': the model has no setting 'contcts'")
    assert [one for one in checked.out.splitlines() if "error:" in one] == [line]
    assert f"{path}:6: warning: model 'Other' takes steps of" in checked.out  # 0.01 s do not divide the scenario's


def test_check_and_run_refuse_a_joystick_beyond_its_end_at_the_place_that_sets_it(cli, tmp_path):
    path = tmp_path / "cart.yaml"
    path.write_text("models:\n  - file: models/cart.jm\n    position: [0, 0, 0]\n    settings: {joystick1.y: 5}\n")
    wanted = f"{path}:2: error: model 'cart': control 'joystick1.y' is '5', expected a number from -1 to 1 [E892]"
    checked, ran = cli("check", path), cli("run", path)
    assert (checked.code, ran.code) == (2, 2)
    assert wanted in checked.out.splitlines()
    assert wanted in ran.err.splitlines()


def test_a_model_is_known_by_its_content_whatever_its_name(cli, tmp_path):
    path = tmp_path / "robot.txt"
    path.write_text(PENDULUM)
    assert json.loads(cli("info", path, "--json").out)["format"] == "urdf"
    assert cli("run", path, "--duration", "0.1").code == 0


def test_run_records_and_tells_of_every_body_energy_and_constraint_error(cli, tmp_path):
    path, record = tmp_path / "pendulum.urdf", tmp_path / "run.mcap"
    path.write_text(PENDULUM)
    said = cli("run", path, "--duration", "0.5", "--step", "0.005", "--record", record, "--json", "-")
    told = json.loads(said.out)
    assert said.code == 0
    assert (told["verdict"], told["steps"], told["scenario"]) == ("pass", 100, "pendulum")
    assert [item["name"] for item in told["objects"]] == ["upper", "lower"]
    assert {"energy", "constraint_error"} <= set(told)
    assert cli("replay", record).code == 0
    assert cli("diff", record, record).code == 0
    info = json.loads(cli("info", record, "--json").out)
    assert (info["steps"], info["objects"]) == (100, 2)
    assert cli("judge", record).code == 0


def test_settings_of_a_model_come_by_set(cli, tmp_path):
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM)
    said = cli("run", path, "--duration", "1", "--set", "gravity=0", "--json", "-")
    assert json.loads(said.out)["energy"] == pytest.approx(0.0, abs=1e-12)
    wrong = cli("run", path, "--set", "gravty=0")
    assert wrong.code == 2
    assert "did you mean 'gravity'?" in wrong.err


def test_a_step_that_fails_is_the_simulators_fault_and_told_so(cli, tmp_path):
    path = tmp_path / "spinner.urdf"
    path.write_text(PENDULUM.replace('ixx="0.08" iyy="0.08" izz="0.01"', 'ixx="1e-9" iyy="1e-9" izz="1e-9"'))
    said = cli("run", path, "--duration", "1", "--step", "0.9", "--set", "gravity=-9e8")
    assert said.code == 3
    assert "the simulation failed: t=" in said.err


def test_convert_writes_a_robot_that_is_the_same(cli, tmp_path):
    source, target = CORPUS / "urdf" / "every_element.urdf", tmp_path / "again.urdf"
    assert cli("convert", source, target).code == 0
    assert cli("convert", target, tmp_path / "twice.urdf").code == 0
    assert (tmp_path / "twice.urdf").read_text() == target.read_text()
    refused = cli("convert", source, tmp_path / "x.xml")
    assert refused.code == 2
    assert "no conversion from urdf to objects-v2" in refused.err
