"""Bad and good files of our own: each carries the problems that it must give, as ``EXPECT line code``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cbsim.errors import Problems
from cbsim.formats import read_file, sensor_conf
from cbsim.formats.mesh import read_mesh
from cbsim.formats.reader import Source
from tests.formats.object_texts import codes

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
EXPECT = re.compile(r"EXPECT (\d+) (\w+)")


def files(folder, pattern="*"):
    return sorted((CORPUS / folder).glob(pattern))


def expected(path):
    return sorted((int(line), code) for line, code in EXPECT.findall(path.read_text()))


@pytest.mark.parametrize("path", [*files("objects"), *files("conf")], ids=lambda p: p.name)
def test_file_gives_exactly_the_problems_that_it_says(path):
    reading = read_file(path)
    assert codes(reading.problems) == expected(path)
    assert all(p.location.path == str(path) for p in reading.problems)


@pytest.mark.parametrize("path", files("mesh", "*.vertices.txt"), ids=lambda p: p.name)
def test_mesh_gives_exactly_the_problems_that_its_files_say(path):
    other = path.with_name(path.name.replace("vertices", "indices"))
    problems = Problems()
    read_mesh(*(Source.decode(p, p.read_bytes()) for p in (path, other)), problems)
    for part in (path, other):
        assert codes(p for p in problems if p.location.path == str(part)) == expected(part)


@pytest.mark.parametrize("path", [p for p in files("objects") if "EXPECT" not in p.read_text()], ids=lambda p: p.name)
def test_good_file_survives_the_round_trip(path):
    reading = read_file(path)
    problems = Problems()
    text = reading.format.load().write(reading.spec)
    assert reading.format.load().read(Source.decode(path, text.encode()), problems) == reading.spec
    assert codes(problems) == []


def test_roof_unit_of_the_corpus_is_what_it_says():
    conf = read_file(CORPUS / "conf" / "roof_2.conf").spec
    assert (conf.model, conf.identifier, conf.beams, conf.rate) == ("lms291", 2, 401, 18.75)
    assert sensor_conf.count(conf) == {"beams": 401, "layers": 1, "rate": 18.75, "max_range": 80.0}
