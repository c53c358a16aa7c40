"""``cbsim convert … --ros2``."""

from __future__ import annotations

import pytest

pytest.importorskip("mcap_ros2")
SCENARIO = "add: [{name: Bot, kind: autonomous}]\nduration: 0.5\n"


def test_recording_is_converted_to_a_bag(cli, tmp_path):
    path, record = tmp_path / "scenario.yaml", tmp_path / "run.mcap"
    path.write_text(SCENARIO)
    assert cli("run", path, "--record", record, "-q").code == 0
    for number, options in enumerate((["--ros2"], ["--to", "ros2"])):
        bag = tmp_path / f"bag{number}.mcap"
        said = cli("convert", record, bag, *options)
        assert said.code == 0, said.err
        assert bag.read_bytes().startswith(b"\x89MCAP")
    assert cli("convert", record, bag, "--ros2", "--to", "foxglove").code == 2
    assert cli("convert", path, bag, "--ros2").code == 2
