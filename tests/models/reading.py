"""How tests read the text of a model: as its format does, with the checks that only building makes."""

from __future__ import annotations

from cbsim import models
from cbsim.formats import FORMATS
from cbsim.paths import Files


def read_model(name, source, problems):
    """Read a source of a format that is named."""
    form = next(form for form in FORMATS if form.name == name)
    return models.parse(source, form, problems, Files([source.path]))
