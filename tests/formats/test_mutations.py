"""Whatever is done to a file, its reader gives a spec that survives writing, or errors at their lines; and soon."""

from __future__ import annotations

import random

import pytest

from cbsim.formats import FORMATS
from tests import attack
from tests.mutations import check, mutated, seeds

NAMES = {form.name: form for form in FORMATS}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_mutated_files_give_specs_or_located_errors(name):
    dice, stock, good = random.Random(20_261_123), seeds(NAMES[name]), 0
    assert stock
    for number in range(300):
        data = mutated(dice, stock)
        try:
            good += check(NAMES[name], data, lints=number % 4 == 0) is not None
        except Exception as error:
            error.add_note(f"input {number}: {data[:2000]!r}")
            raise
    assert good > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_few_mutated_files_give_specs_or_located_errors(name):
    dice, stock = random.Random(7), seeds(NAMES[name])[:5]
    for _ in range(10):
        check(NAMES[name], mutated(dice, stock))


def test_an_attack_counts_what_it_tries_and_keeps_an_input_of_each_kind_of_failure(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert attack.attack("mdf", seed=3, count=5, seconds=60.0) == 0
    assert capsys.readouterr().out.startswith("mdf: 5 inputs in ")

    def fail(form, data, *, lints):
        raise ValueError("wrong")

    monkeypatch.setattr(attack.mutations, "check", fail)
    assert attack.attack("mdf", seed=3, count=5, seconds=60.0) == 5
    told, summary = capsys.readouterr().out.splitlines()
    assert told.startswith("mdf 1: ValueError at ")
    assert summary.startswith("mdf: 5 inputs in ")
    assert len(list(tmp_path.glob("attack-mdf-*/failure*"))) == 1


def test_an_interrupted_attack_tells_what_it_has_tried(monkeypatch, capsys):
    tried = []

    def stop(form, data, *, lints):
        tried.append(data)
        if len(tried) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(attack.mutations, "check", stop)
    assert attack.attack("mdf", seed=3, count=50, seconds=60.0) == 0
    assert capsys.readouterr().out.startswith("mdf: interrupted\nmdf: 3 inputs in ")
