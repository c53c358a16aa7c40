"""``cbsim plot``: figures of recordings; what cannot be drawn is refused in words."""

from __future__ import annotations

import pytest

import cbsim


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("plot") / "crash.mcap"
    with pytest.MonkeyPatch.context() as patch:  # batches of a step each, so that a file may be truncated between them
        patch.setattr("cbsim.simulation.loop.BATCH_NUMBERS", 1)
        patch.setattr("cbsim.recording.recorder.CHUNK", 4096)
        cbsim.run(cbsim.load("crash"), duration=3.0).save(path)
    return path


@pytest.mark.parametrize("words", [(), ("--kind", "speed", "--style", "bw"), ("--at", "1", "--at", "2", "--to", "2.5")])
def test_a_plot_is_written_and_named(cli, recording, tmp_path, words):
    pytest.importorskip("matplotlib")
    said = cli("plot", recording, "-o", tmp_path / "x.pdf", *words)
    assert (said.code, said.out) == (0, f"{tmp_path / 'x.pdf'}\n")
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF-")


def test_without_a_name_it_stands_here_under_the_recordings_name(cli, recording, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    assert cli("plot", recording, recording, "-q", "--size", "180x140") == (0, "", "")
    assert "<svg" in (tmp_path / "crash.svg").read_text()


def test_a_recording_that_breaks_off_is_drawn_up_to_there(cli, recording, tmp_path):
    pytest.importorskip("matplotlib")
    raw = recording.read_bytes()
    (tmp_path / "cut.mcap").write_bytes(raw[: int(0.8 * len(raw))])
    said = cli("plot", tmp_path / "cut.mcap", "-o", tmp_path / "x.png")
    assert said.code == 0
    assert "cut.mcap: warning: the recording is truncated after step" in said.err
    assert "[W031]" in said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--size", "large"), "not of the form 160x100"),
        (("-o", "x.gif"), "ends in .svg, .pdf, .png"),
        (("--kind", "scans"), "did you mean 'scan'?"),
        (("--from", "nan"), "there is no time"),
    ],
)
def test_misuse_is_refused_with_what_there_is(cli, recording, tmp_path, monkeypatch, words, said):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    found = cli("plot", recording, *words)
    assert (found.code, found.out) == (2, "")
    assert said in found.err
    assert not list(tmp_path.iterdir())


def test_what_is_no_recording_is_located(cli, tmp_path):
    (tmp_path / "x.mcap").write_text("no recording")
    found = cli("plot", tmp_path / "x.mcap", "-o", tmp_path / "x.svg")
    assert found.code == 2
    assert f"{tmp_path / 'x.mcap'}: error: not an MCAP recording [E030]" in found.err
