"""`run --foxglove`, `run --foxglove-serve` and `convert --to foxglove`: files, exit codes, and what is refused."""

from __future__ import annotations

import sys

from cbsim.recording.recording import Recording


def test_run_with_foxglove_and_converting_afterwards_write_the_same_file(cli, tmp_path):
    for name, more in (("plain", []), ("shown", ["--foxglove"])):
        cli("run", "crash", "--duration", 1, "--record", tmp_path / f"{name}.mcap", "-q", *more)
    said = cli("convert", tmp_path / "plain.mcap", tmp_path / "converted.mcap", "--to", "foxglove")
    assert said.code == 0
    assert "(foxglove)" in said.err
    assert (tmp_path / "converted.mcap").read_bytes() == (tmp_path / "shown.mcap").read_bytes()
    assert cli("replay", tmp_path / "shown.mcap").code == 0
    assert cli("diff", tmp_path / "shown.mcap", tmp_path / "plain.mcap").code == 0
    assert cli("judge", tmp_path / "shown.mcap").out == cli("judge", tmp_path / "plain.mcap").out
    assert cli("convert", tmp_path / "plain.mcap", tmp_path / "plain.mcap", "--to", "foxglove", "-q").code == 0
    assert (tmp_path / "plain.mcap").read_bytes() == (tmp_path / "shown.mcap").read_bytes()


def test_foxglove_without_a_recording_is_refused(cli):
    said = cli("run", "crash", "--foxglove")
    assert said.code == 2
    assert "--record" in said.err


def test_only_recordings_become_foxglove(cli, tmp_path):
    (tmp_path / "a.yaml").write_text("duration: 1\n")
    said = cli("convert", tmp_path / "a.yaml", tmp_path / "b.mcap", "--to", "foxglove")
    assert said.code == 2
    assert "E030" in said.err
    assert not (tmp_path / "b.mcap").exists()


def test_recording_that_breaks_off_is_converted_up_to_there_with_a_warning(cli, tmp_path):
    cli("run", "crash", "--duration", 1, "--record", tmp_path / "run.mcap", "-q")
    (tmp_path / "cut.mcap").write_bytes((tmp_path / "run.mcap").read_bytes()[:-40])
    said = cli("convert", tmp_path / "cut.mcap", tmp_path / "out.mcap", "--to", "foxglove")
    assert said.code == 0
    assert "W031" in said.err
    converted = Recording.open(tmp_path / "out.mcap")
    assert converted.complete
    assert (converted.hashes == Recording.open(tmp_path / "cut.mcap").hashes).all()


def test_serving_without_the_extra_ends_with_2_and_says_how_to_get_it(cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "foxglove", None)
    said = cli("run", "--foxglove-serve", "crash")
    assert said.code == 2
    assert "pip install 'cbsim[foxglove]'" in said.err
