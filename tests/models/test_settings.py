"""Settings as texts: each is what it says, or refused in words that say what it may be."""

from __future__ import annotations

import pytest

from cbsim.errors import UsageError
from cbsim.models.settings import Settings

OPTIONS = {"lift": "how high feet are lifted", "tilt": "whether the body tilts: true, false", "flag": "x,y [m]"}


def given(**texts):
    return Settings(texts, OPTIONS, "a walker")


def test_texts_are_what_they_say_and_defaults_stand_in_for_what_is_not_given():
    settings = given(lift=" 0.5 ", tilt="No", flag="1, -2e1")
    assert settings.number("lift", 0.0) == 0.5
    assert settings.flag("tilt", default=True) is False
    assert settings.numbers("flag") == [1.0, -20.0]
    assert given().number("lift", 0.25) == 0.25
    assert given().flag("tilt", default=True) is True
    assert "lift" in settings
    assert "lift" not in given()


@pytest.mark.parametrize("text", ["", "high", "nan", "inf", "1,2", "-1", "2"])
def test_a_text_that_is_no_number_in_range_is_refused_with_what_it_means(text):
    with pytest.raises(UsageError, match=r"lift is '.*'; how high feet are lifted"):
        given(lift=text).number("lift", 0.0, least=0.0, most=1.5)


def test_misspelt_keys_and_words_get_the_nearest():
    with pytest.raises(UsageError, match=r"a walker has no setting 'lft'; there is lift.*did you mean 'lift'\?"):
        given(lft="1")
    with pytest.raises(UsageError, match=r"tilt is 'flase'; whether .*did you mean 'false'\?"):
        given(tilt="flase").flag("tilt", default=True)
