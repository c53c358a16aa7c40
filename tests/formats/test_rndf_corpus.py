"""Bad files of our own: each carries in its last comment exactly what is to be said of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cbsim.errors import Problems
from cbsim.formats import mdf, rndf
from cbsim.formats.reader import Source
from tests.formats.rndf_texts import CORPUS

FILES = [*sorted((CORPUS / "rndf").iterdir()), *sorted((CORPUS / "mdf").iterdir())]
FORMATS = {".rndf": rndf, ".mdf": mdf}


def expected(path: Path) -> list[tuple[str, int, str]]:
    """File, line and code of each expectation."""
    text = path.read_bytes().decode()
    rows = re.findall(r"(\S+):(\d+): ([EWI]\d{3})", text[text.index("/* EXPECT") :])
    return sorted((name, int(line), code) for name, line, code in rows)


def read(path: Path) -> tuple[object, Problems]:
    problems = Problems()
    spec = FORMATS[path.suffix].read(Source.decode(path.name, path.read_bytes()), problems)
    return spec, problems


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_bad_file_gives_exactly_the_problems_it_names(path):
    _, problems = read(path)
    assert sorted((p.location.path, p.location.line, p.code) for p in problems) == expected(path), "\n".join(
        map(str, problems)
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_bad_file_reads_the_same_once_it_is_written(path):
    spec, _ = read(path)
    module = FORMATS[path.suffix]
    if spec is not None:
        text = module.write(spec)
        assert module.read(Source(path.name, text, text.encode()), Problems()) == spec


def test_corpus_covers_every_code_of_the_readers():
    codes = {code for path in FILES for *_, code in expected(path)}
    assert {code[1:] for code in codes} >= {
        *(f"{number:03d}" for number in range(1, 10)),
        *(str(number) for number in range(101, 118)),
    }
