"""The glossary: public names are made of words that everybody in the field knows, or that the glossary explains."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import BaseModel

import cbsim
import cbsim.multibody
from cbsim.evaluation.rules import RULES
from cbsim.formats.scenario import models as scenario_models
from cbsim.formats.sensor_conf.keys import KEYS
from cbsim.spec.drives import DRIVES
from cbsim.spec.sensor import SIMULATED
from tests.common import ROOT

PAGE = (ROOT / "docs" / "vocabulary.md").read_text(encoding="utf-8")
TERMS = [row.split("|")[1].strip() for row in PAGE.splitlines() if row.startswith("| ") and "|---" not in row]
COMMON = set(
    re.findall(
        r"\w+",
        """
acceleration add altitude arrow at axis axles background base batch bias bin blind box build camera capsule center
cg close collision combined constraint convex correlation cylinder cylindrical damper data deceleration delayed
description detection diagnosis dimension distance down drag drivable dry duration dynamic empty enabled
end energy error expect export external false field file fixed flip floating floor force fov frame free freeze front
full generate get gps gradients grip ground half height html hull id impact indices inertia initial input ins
jacobian kind kinetic latitude leaves light limits linear load longitude matrix max mechanical min mission mode most
momentum
method multibody name network next no nonlinear normal nullspace odometry on options ordering orientation path pause
pitch place planar point position positives potential prismatic pyramid radar radial radius range rate ratio reach
read rear reduce resistance resolution restitution return revolute robot roll rolling rollout root rotational
sample save scale sdf seed sense sensors set settings shape sigma simulate size slope solver space sphere spherical
split stability start steering stiffness string surface tangent tangential throttle ticks to translational
type upside urdf velocities velocity vertical vertices visible visualize visualizer warning wheel wheelbase where width
with write yaw zero
""",
    )
)
"""Words that need no entry: those of English, and of geometry, mechanics, statistics and programming."""


def words_of(text: str) -> list[str]:
    """Words of a name or a term, in snake or camel case; lower case."""
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", text)]


def are_in(words: set[str], word: str) -> bool:
    """Whether a word is among some, itself or its singular."""
    return word in words or word.removesuffix("s") in words


def scenario_keys() -> Iterator[str]:
    for model in vars(scenario_models).values():
        if isinstance(model, type) and issubclass(model, BaseModel):
            yield from model.model_fields


def public_names() -> set[str]:
    tables = (cbsim.__all__, cbsim.multibody.__all__, scenario_keys(), RULES, KEYS, SIMULATED, DRIVES)
    return {name for table in tables for name in table}


EXPLAINED = {word for term in TERMS for word in words_of(term)}


def test_public_names_are_made_of_words_of_the_field_or_of_the_glossary():
    unknown = {
        name: new
        for name in public_names()
        if (new := [w for w in words_of(name) if not are_in(COMMON | EXPLAINED, w)])
    }
    assert not unknown, "use the field's term (docs/vocabulary.md has many), or give the new word a row there"


def test_words_that_need_no_entry_are_used_and_have_none():
    used = {word for name in public_names() for word in words_of(name)}
    assert not COMMON - used
    assert not {word for word in COMMON if are_in(EXPLAINED, word)}


def test_a_name_in_the_glossary_is_a_public_name():
    named = {name for term in TERMS for name in re.findall(r"`(\w+)`", term)}
    assert len(named) > 10
    assert named <= public_names() | {"Shape"}


def test_terms_stand_once():
    assert len(TERMS) > 60
    assert len(TERMS) == len(set(TERMS)) + TERMS.count("term") - 1
