"""Small files that would take minutes or gigabytes, did any reader take more than linear time: these tests just end."""

from __future__ import annotations

import gc
import gzip
import zlib
from contextlib import suppress

import pytest

from cbsim import models
from cbsim.errors import FileError, Problems, bounded_hints, did_you_mean, nearest
from cbsim.formats import FORMATS, recognise
from cbsim.formats.irit import read as read_irit
from cbsim.formats.irit.script import machine
from cbsim.formats.reader import Source
from cbsim.formats.scenario import read as read_scenario
from cbsim.paths import Files

SIZE = 65536


def codes(problems: Problems) -> set[str]:
    return {problem.code for problem in problems}


def read(name: str, text: str | bytes) -> Problems:
    """Read a text in the format of a name; gives what was found."""
    data = text.encode() if isinstance(text, str) else text
    source, problems = Source.decode(name, data), Problems()
    form = next(form for form in FORMATS if name.endswith(form.suffixes))
    with bounded_hints():
        models.parse(source, form, problems, Files([name]))
    return problems


@pytest.mark.parametrize(
    "unit",
    ["\n", "\n-", "//\n", " ", "\r", "model ", "\nmodel ", "[ ", "{ ", '{"', "<!--", "<!---->", "a", "a=\n", "0\n"],
)
def test_a_head_of_anything_repeated_is_recognised_in_linear_time(unit):
    text = unit * (SIZE // len(unit))
    with suppress(FileError):
        recognise(Source("x.txt", text, text.encode()))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("model = sick\n", "sensor-conf"),
        ("\n\n  fov: 180\n", "sensor-conf"),
        ("max_range\t80\n", "sensor-conf"),
        ("\n \t RNDF_name x\n", "rndf"),
        ("/* num_segments 3\n", "rndf"),
        ("\r\n MDF_name x\r\n", "mdf"),
    ],
)
def test_blanks_before_the_keyword_of_a_line_do_not_hide_a_format(text, name):
    assert recognise(Source("x.txt", text, text.encode())).name == name


def test_a_list_parameter_cannot_multiply_what_a_scenario_holds():
    text = f"network: loop\nparameters:\n  a: [{','.join(['1'] * 5000)}]\nadd:\n" + "- ${a}\n" * 5000
    problems = Problems()
    assert read_scenario(Source.decode("x.yaml", text.encode()), problems) is None
    assert "E023" in codes(problems)


def test_a_text_parameter_cannot_multiply_the_length_of_a_scenario():
    text = f'network: loop\nparameters:\n  a: "{"x" * 100_000}"\nadd:\n' + '- "${a}${a}"\n' * 5000
    problems = Problems()
    assert read_scenario(Source.decode("x.yaml", text.encode()), problems) is None
    assert codes(problems) == {"E810"}


def test_a_long_text_parameter_is_put_in_whole():
    text = f'network: loop\nparameters:\n  a: "{"x" * 100}"\nobjects: "${{a}}-${{a}}"\n'
    spec = read_scenario(Source.decode("x.yaml", text.encode()), Problems())
    assert spec is not None
    assert spec.objects == (f"{'x' * 100}-{'x' * 100}",)


def test_merging_thousands_of_mappings_takes_linear_time():
    bases = ", ".join(f"{{k{k}: 1}}" for k in range(20_000))
    assert codes(read("x.yaml", f"network: loop\nparameters:\n  <<: [{bases}]\n")) == {"I811"}


def test_own_keys_win_over_merged_ones_and_the_first_base_over_the_next():
    text = "network: loop\nparameters:\n  <<: [{a: 1, b: 1}, {a: 2, b: 2, c: 2}]\n  a: 0\nobjects: ${a}${b}${c}\n"
    spec = read_scenario(Source.decode("x.yaml", text.replace("objects: ", "objects: x").encode()), Problems())
    assert spec is not None
    assert spec.objects == ("x012",)


def test_objects_of_a_file_are_bounded_in_number(monkeypatch):
    monkeypatch.setattr("cbsim.formats.objects.reader.OBJECT_LIMIT", 20)
    problems = read("x.xml", "<object_file><name>a</name>\n" + "<object type='static'/>\n" * 50 + "</object_file>")
    (told,) = [problem for problem in problems if problem.code == "E620"]
    assert told.location.line == 22
    assert max(problem.location.line for problem in problems) == 22


@pytest.mark.parametrize("name", ["x.xml", "x.urdf", "x.jm"])
def test_elements_of_xml_are_bounded_in_number_before_a_tree_is_made(name, monkeypatch):
    monkeypatch.setattr("cbsim.formats.reader.XML_NODE_LIMIT", 1000)
    assert codes(read(name, "<a>" + "<b/>" * 1000 + "</a>")) == {"E023"}
    assert "E023" not in codes(read(name, "<a>" + "<b></b>" * 999 + "</a>"))


def test_objects_that_fit_no_grammar_leave_no_cycles_for_the_collector():
    text = "9999\n" + "0\n" * 4000
    gc.collect()
    gc.disable()
    try:
        assert "E602" in codes(read("x.obj", text))
        assert gc.collect() < 500
    finally:
        gc.enable()


def test_hints_end_once_a_file_has_had_its_share_of_comparisons():
    many = [f"name{k}" for k in range(20_000)]
    with bounded_hints():
        found = [did_you_mean("nmae7", many) for _ in range(5)]
        assert nearest("nmae7", many) is None
    assert found[0]
    assert not found[-1]
    assert did_you_mean("nmae7", many[:10])
    assert not did_you_mean("x" * 100_000, ["x" * 100_000])


MISSPELT = {
    "x.yaml": "network: loop\n" + "".join(f"netwrok{k}: 1\n" for k in range(8000)),
    "x.irt": "".join(f"a{k} = 1;\n" for k in range(5000))
    + "".join(f"b = aa{k};\nc = sphreee{k}(1);\n" for k in range(5000)),
    "x.itd": "[OBJET A [POLYGONN 3 [0 0 0]]]\n" * 5000,
    "x.conf": "".join(f"modle{k} = sick\n" for k in range(8000)),
    "x.xml": "<object_file>" + '<object type="sttaic"><naem/></object>' * 5000 + "</object_file>",
}


@pytest.mark.parametrize("name", MISSPELT)
def test_thousands_of_misspelt_names_are_told_in_linear_time(name):
    problems = read(name, MISSPELT[name])
    assert len(problems) >= 1000


@pytest.mark.parametrize(
    "script",
    [
        'l=nil();for(k=1,1,9999,snoc(k,l));for(k=1,1,1e6,attrprop(l,"a",k));',
        "l=nil();for(k=1,1,9999,snoc(k,l));m=l+nil();for(k=1,1,1e6,a=l==m);",
        'l=nil();for(k=1,1,9999,snoc(k,l));for(k=1,1,1e6,save("x",l));',
        "f=procedure(x):x=1;l=nil();for(k=1,1,9999,snoc(k,l));for(k=1,1,1e6,f(l));",
        'a=1;for(k=1,1,1e6,attrib(a,"n"+k,k));',
        "for(k=1,1,1e9,reset());",
    ],
)
def test_work_within_functions_of_a_script_is_counted(script, monkeypatch):
    monkeypatch.setattr(machine, "STEPS", 100_000)
    problems = read("x.irt", script)
    assert codes(problems) == {"E065"}


def test_a_small_packed_file_cannot_hold_a_large_one():
    problems = Problems()
    data = gzip.compress(b"[" * (1 << 24))
    assert read_irit(Source.decode("x.itd.gz", data), problems) is None
    assert codes(problems) == {"E049"}


@pytest.mark.parametrize(
    "text", ['[OBJECT A "' + "\\a" * 300_000, "[OBJECT A " * 100_000, "[" * 300_000, '"\\' * 300_000]
)
def test_a_broken_data_file_is_passed_over_to_its_end(text):
    assert codes(read("x.itd", text)) <= {"E040", "E041", "E042", "E050", "E052", "W042"}


def test_separators_of_text_that_are_no_blanks_do_not_end_a_data_file():
    triangle = "[OBJECT A [POLYGON 3 [0 0 0] [1 0 0] [0 1 0]]]"
    spec = read_irit(Source.decode("x.itd", f"{triangle}\x1c\x85{triangle}".encode()), Problems())
    assert spec is not None
    assert len(spec.objects) == 2


def test_an_honest_packed_file_is_read():
    text = "".join(f"[OBJECT A{k} [POLYGON 3 [{k} 0 0] [1 {k} 0] [0 1 {k}]]]\n" for k in range(1, 5000))
    data = gzip.compress(text.encode())
    assert len(zlib.decompress(data, 31)) < 50 * len(data)
    spec = read_irit(Source.decode("x.itd.gz", data), Problems())
    assert spec is not None
    assert len(spec.objects) == 4999


@pytest.mark.parametrize("name", ["x.xml", "x.jm", "x.urdf"])
def test_a_prefix_without_a_namespace_is_an_error_also_before_a_mere_warning(name):
    root = {"x.xml": "object_file", "x.jm": "model", "x.urdf": "robot"}[name]
    problems = read(name, f'<{root}>\n<a:b/>\n<c xmlns="1"/></{root}>\n')
    told = [(p.code, p.location.line) for p in problems if "prefix" in p.message]
    assert told == [("W913" if root == "robot" else "E020", 2)]
    assert not any("absolute" in p.message for p in problems)
