"""``cbsim report``: a page of one recording or two; what is none is refused in words."""

from __future__ import annotations

import pytest

import cbsim


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "crash.mcap"
    with pytest.MonkeyPatch.context() as patch:  # batches of a step each, so that a file may be truncated between them
        patch.setattr("cbsim.simulation.loop.BATCH_NUMBERS", 1)
        cbsim.run(cbsim.load("crash"), duration=3.0).save(path)
    return path


def test_a_failed_run_gives_a_page_all_the_same(cli, recording, tmp_path):
    said = cli("report", recording, "-o", tmp_path / "page.html")
    assert said.code == 0
    assert said.out.startswith(f"{tmp_path / 'page.html'}: 0.")
    text = (tmp_path / "page.html").read_text()
    assert "✗ fail" in text
    assert "cbsim replay crash.mcap" in text


def test_two_recordings_are_compared(cli, recording, tmp_path):
    assert cli("report", recording, recording, "-o", tmp_path / "page.html", "-q", "--title", "Twins") == (0, "", "")
    text = (tmp_path / "page.html").read_text()
    assert "<h1>Twins</h1>" in text
    assert "How far B is from A" in text


def test_without_a_name_the_page_stands_here_under_the_recordings_name(cli, recording, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli("report", recording).code == 0
    assert (tmp_path / "crash.html").exists()


def test_a_recording_that_breaks_off_is_a_warning(cli, recording, tmp_path, monkeypatch):
    monkeypatch.setattr("cbsim.recording.recorder.CHUNK", 4096)
    cbsim.Recording.open(recording).save(tmp_path / "whole.mcap")
    raw = (tmp_path / "whole.mcap").read_bytes()
    (tmp_path / "cut.mcap").write_bytes(raw[: int(0.8 * len(raw))])
    said = cli("report", tmp_path / "cut.mcap", "-o", tmp_path / "page.html")
    assert said.code == 0
    assert "cut.mcap: warning: the recording is truncated after step" in said.err
    assert "[W031]" in said.err
    assert "is truncated after step" in (tmp_path / "page.html").read_text()


def test_a_damaged_recording_is_told_up_to_the_damage(cli, recording, tmp_path, monkeypatch):
    monkeypatch.setattr("cbsim.recording.recorder.CHUNK", 4096)
    cbsim.Recording.open(recording).save(tmp_path / "whole.mcap")
    raw = bytearray((tmp_path / "whole.mcap").read_bytes())
    raw[int(0.7 * len(raw))] ^= 0xFF
    (tmp_path / "spoilt.mcap").write_bytes(raw)
    said = cli("report", tmp_path / "spoilt.mcap", "-o", tmp_path / "page.html")
    assert said.code == 2
    assert "[E030]" in said.err
    assert "is damaged after step" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("replay", []),
        ("judge", []),
        ("plot", ["-o", "plot.png"]),
        ("view", ["--screenshot", "view.png", "--size", "200x150"]),
        ("diff", ["spoilt.mcap"]),
    ],
)
def test_every_command_does_what_it_can_of_a_damaged_recording_and_leaves_with_2(
    cli, recording, tmp_path, monkeypatch, command, options
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cbsim.recording.recorder.CHUNK", 4096)
    cbsim.Recording.open(recording).save("whole.mcap")
    raw = bytearray((tmp_path / "whole.mcap").read_bytes())
    raw[int(0.7 * len(raw))] ^= 0xFF
    (tmp_path / "spoilt.mcap").write_bytes(raw)
    said = cli(command, "spoilt.mcap", *options)
    assert said.code == 2
    assert "spoilt.mcap: error: the recording is damaged after step" in said.err
    for made in options[1:2]:
        assert (tmp_path / made).stat().st_size > 1000


@pytest.mark.parametrize(("content", "code"), [(None, "E011"), (b"name: none", "E030")])
def test_what_is_no_recording_is_refused_at_its_place(cli, tmp_path, content, code):
    path = tmp_path / "none.mcap"
    if content is not None:
        path.write_bytes(content)
    said = cli("report", path, "-o", tmp_path / "page.html")
    assert said.code == 2
    assert f"{path}: error: " in said.err
    assert f"[{code}]" in said.err
    assert not (tmp_path / "page.html").exists()


def test_a_recording_that_lost_its_network_is_refused_with_the_line_that_names_it(cli, tmp_path):
    recording = cbsim.run(cbsim.load("merge"), duration=1.0)
    recording.sources = {name: data for name, data in recording.sources.items() if not name.endswith(".rndf")}
    recording._memory.sources = recording.sources
    recording.save(tmp_path / "bare.mcap")
    said = cli("report", tmp_path / "bare.mcap", "-o", tmp_path / "page.html")
    assert said.code == 2
    assert "merge" in said.err
    assert "[E011]" in said.err


def test_a_page_that_cannot_be_written_is_told(cli, recording, tmp_path):
    said = cli("report", recording, "-o", tmp_path / "none" / "page.html")
    assert said.code == 2
    assert "cannot write" in said.err
