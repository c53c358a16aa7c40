"""What is printed can be printed: in any encoding, to closed streams, and whatever names of files hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from cbsim.cli.output import json_text
from cbsim.errors import Location, Problem, Severity, printable

WRONG = "network: lööp\nüü: 1\n"


def cbsim(*arguments: str | bytes, **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "cbsim", *arguments]
    return subprocess.run(command, check=False, stdout=-1, stderr=-1, **options)  # type: ignore[call-overload]


def test_a_stream_that_knows_only_ascii_gets_escapes(tmp_path):
    (tmp_path / "ä.yaml").write_text(WRONG, encoding="utf-8")
    done = cbsim("check", "ä.yaml", cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 2
    assert rb"\xe4.yaml:2: error: no key '\xfc\xfc' here" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_change_nothing_but_what_is_seen(tmp_path, closed):
    (tmp_path / "x.yaml").write_text(WRONG, encoding="utf-8")
    command = f"'{sys.executable}' -m cbsim check x.yaml {closed}"
    done = subprocess.run(["sh", "-c", command], check=False, cwd=tmp_path, capture_output=True)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_names_of_files_command_no_terminal_and_end_no_line(tmp_path):
    name = "a\x1b[31m\nb.yaml"
    (tmp_path / name).write_text(WRONG, encoding="utf-8")
    for arguments in (("check", name), ("info", name), ("check", f"no{name}"), ("info", "--json", name)):
        done = cbsim(*arguments, cwd=tmp_path)
        assert b"\x1b" not in done.stdout + done.stderr
        assert b"\nb.yaml" not in done.stdout + done.stderr
    done = cbsim("check", "--json", name, cwd=tmp_path)
    assert json.loads(done.stdout)[0]["location"]["path"] == name


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux only")
def test_a_name_that_is_no_text_is_printed_with_escapes(tmp_path):
    done = cbsim("check", b"\xff.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert rb"\udcff.yaml: error: no such file" in done.stdout


def test_problems_are_one_line_each():
    problem = Problem(Severity.ERROR, "E001", "no 'a\nb'", Location("x\r\n.yaml", 3), "\u202egnp.x")
    assert str(problem) == r"x\r\n.yaml:3: error: no 'a\nb' [E001] (\u202egnp.x)"
    assert printable("Ωmega – 東京.rndf") == "Ωmega – 東京.rndf"


def test_json_keeps_letters_and_escapes_what_no_file_takes():
    data = {"name": "ä\x9b\udcff\u2028", "rows": [1, 2]}
    assert json.loads(json_text(data)) == data
    assert "ä" in json_text(data)
    json_text(data).encode()
