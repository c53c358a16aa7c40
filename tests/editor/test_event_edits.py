"""Events of scenarios as text: steps say what was asked for, keep what stands around, and undo to the very bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cbsim.editor.documents import event_edits
from cbsim.editor.documents.event_edits import ArgumentPath, place_paths
from cbsim.editor.documents.scenario_document import ScenarioDocument
from cbsim.editor.documents.yaml_spans import quoted
from cbsim.editor.event_state import clock_of, in_steps
from cbsim.errors import FileError, UsageError
from cbsim.formats.yaml_tree import typed
from cbsim.spec.event_order import earliest_times, known_times
from cbsim.spec.events import Place
from cbsim.spec.road import PointId
from tests.common import ROOT

BLOCK = """\
# by hand
events:   # what happens
# first comment
- name: 'first'   # its name
  when:
    time: 5.50    # late enough
  do:
  - stop:
      object: Car # the car
      rate: 2.0
- when:
    after: {delay: 3, when: {event: first}}

  # a comment inside
  name: "second"
-
  when: {region: {object: Car, polygon: [[0, 0], [10, 0], 1.1.2]}}

# the end of the events
expect:
- event: {name: second, before: 30}
duration: 60
"""
NUMBERED = (
    BLOCK.replace('  name: "second"\n', "").replace("event: first", "event: event 3").replace("second", "event 2")
)
FLOW = """\
{duration: 30, events: [
    {name: a, when: {time: {at: 1}}},   # one
    {name: b, when: {any: [{event: a}, {time: 7}]}, do: [{leave: {object: Car}}]},
  ], expect: [{event: {name: a, after: 1}}]}
"""
SHARED = """\
parameters: {t: 4}
events:
  - &e {name: first, when: {time: "${t}"}, do: {appear: {object: Car}}}
  - {name: second, when: {time: &late 9}}
  - {name: third, when: {time: *late}}
"""
BARE = "duration: 10\nnetwork: four_way_stop"

SHIPPED = sorted(path for path in (ROOT / "scenarios").glob("*.yaml") if "\nevents:" in path.read_text("utf-8"))
TEXTS = {
    "block": BLOCK.encode(), "dos": BLOCK.replace("\n", "\r\n").encode("utf-8-sig"), "flow": FLOW.encode(),
    "utf-16": BLOCK.replace("second", "zwölf").encode("utf-16"), "shared": SHARED.encode(), "bare": BARE.encode(),
    "empty": b"events: []\n", "no end": BLOCK.rstrip("\n").replace("duration: 60", "").rstrip("\n").encode(),
    **{path.stem: path.read_bytes() for path in SHIPPED},
}  # fmt: skip
PATH = Path("site.yaml")

names = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), min_size=1, max_size=9)
names = names.map(str.strip).filter(lambda text: bool(text) and all(c.isprintable() for c in text))
times = st.integers(0, 1200).map(lambda k: in_steps(k * 0.05, 0.05))
places = st.one_of(
    st.builds(lambda x, y: Place(None, x / 100, y / 100), st.integers(-9999, 9999), st.integers(-9999, 9999)),
    st.builds(lambda a, b: Place(PointId(a, 1, b)), st.integers(1, 9), st.integers(1, 9)),
)
DO = ["", "{stop: {object: Car}}", "[{speed: {object: Car, to: 3}}, {leave: {object: 'Car'}}]"]


def steps(document):
    """Any step of work on a document: a function that makes the edit."""
    events = document.spec.events
    found = [st.builds(lambda n, t, d: lambda s, x: event_edits.add(s, x, n, f"{{time: {t}}}", d), names, times,
                       st.sampled_from(DO))]  # fmt: skip
    for row, event in enumerate(events):
        found.append(st.just(lambda s, x, row=row: event_edits.remove(s, x, row)))
        found.append(names.map(lambda n, row=row: lambda s, x: event_edits.rename(s, x, row, n)))
        found.append(times.map(
            lambda t, row=row: lambda s, x: event_edits.put_text(s, x, row, "when", f"{{time: {t}}}")
        ))  # fmt: skip
        clock = clock_of(events, row)
        if clock is not None:
            found.append(times.map(lambda t, c=clock[0]: lambda s, x: event_edits.put_number(s, x, c, t, "move")))
        for path, _ in place_paths(row, event):
            found.append(places.map(lambda p, path=path: lambda s, x: event_edits.put_place(s, x, path, p)))
    return st.one_of(found)


def attempt(document, make):
    """Take a step; returns the edit, or None and why it was refused."""
    made = []

    def note(spans, spec):
        made.append(make(spans, spec))
        return made[0]

    try:
        document.change(note)
    except UsageError as error:
        return None, str(error)
    return made[0], ""


@pytest.mark.parametrize("data", TEXTS.values(), ids=TEXTS)
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(data_=st.data())
def test_any_steps_keep_comments_and_all_of_them_undone_give_the_very_bytes(data, data_):
    document = ScenarioDocument(PATH, data)
    states = [(document.data, document.spec)]
    for _ in range(data_.draw(st.integers(1, 4))):
        before, spec = document.buffer.text, document.spec
        make = data_.draw(steps(document))
        edit, reason = attempt(document, make)
        if edit is None:
            assert reason
            assert (document.buffer.text, document.spec) == (before, spec)
            continue
        assert document.spec == edit.wanted
        assert ScenarioDocument(PATH, document.data).spec == document.spec
        own = [patch.before for patch in edit.patches]
        for comment in ("# by hand", "# first comment", "# the end of the events", "# what happens"):
            kept = comment in before and not any(comment in text for text in own)
            assert kept == (comment in document.buffer.text)
        if document.data != states[-1][0]:
            states.append((document.data, document.spec))
    for old, spec in reversed(states[:-1]):
        document.undo()
        assert (document.data, document.spec) == (old, spec)
    assert document.data == data
    while document.redo():
        pass
    assert document.data == states[-1][0]


def changed(text: str, make) -> str:
    document = ScenarioDocument(PATH, text.encode())
    document.change(make)
    return document.data.decode()


@pytest.mark.parametrize(
    ("make", "old", "new"),
    [
        (lambda s, x: event_edits.put_number(s, x, ArgumentPath(0, "at"), 6.0, ""), "5.50 ", "6 "),
        (lambda s, x: event_edits.put_number(s, x, ArgumentPath(1, "delay"), 4.5, ""), "delay: 3", "delay: 4.5"),
        (lambda s, x: event_edits.remove(s, x, 2), BLOCK[BLOCK.index("-\n  when") : BLOCK.index("\n# the end")], ""),
        (lambda s, x: event_edits.rename(s, x, 2, "third"), "-\n  when", "-\n  name: third\n  when"),
        (
            lambda s, x: event_edits.put_place(s, x, ArgumentPath(2, "polygon", corner=1), Place(None, 12.5, 3.0)),
            "[10, 0]",
            "[12.5, 3]",
        ),
        (lambda s, x: event_edits.put_text(s, x, 1, "do", "{stop: {object: Car}}"), '"second"\n',
         '"second"\n  do: {stop: {object: Car}}\n'),
        (lambda s, x: event_edits.add(s, x, "new", "{time: 9}", ""), "1.1.2]}}\n",
         "1.1.2]}}\n- name: new\n  when: {time: 9}\n"),
    ],
    ids=["time", "delay", "remove", "name", "corner", "action", "add"],
)  # fmt: skip
def test_block_style_changes_in_these_places_only(make, old, new):
    assert changed(BLOCK, make) == BLOCK.replace(old, new, 1)


def test_a_name_changes_wherever_it_is_named_in_the_quotes_that_it_has():
    text = changed(BLOCK, lambda s, x: event_edits.rename(s, x, 0, "it's"))
    assert text == BLOCK.replace("'first'", "'it''s'").replace("{event: first}", '{event: "it\'s"}')
    text = changed(BLOCK, lambda s, x: event_edits.rename(s, x, 1, "last"))
    assert text == BLOCK.replace('"second"', '"last"').replace("{name: second,", "{name: last,")


def test_flow_style_stays_flow_style():
    text = changed(FLOW, lambda s, x: event_edits.add(s, x, "c", "{time: 3}", ""))
    assert text == FLOW.replace("Car}}]},\n", "Car}}]},\n    {name: c, when: {time: 3}},\n")
    text = changed(FLOW, lambda s, x: event_edits.put_number(s, x, ArgumentPath(0, "at"), 2.0, ""))
    assert text == FLOW.replace("{at: 1}", "{at: 2}")
    document = ScenarioDocument(PATH, FLOW.encode())
    for _ in range(2):
        document.change(lambda s, x: event_edits.remove(s, x, len(x.events) - 1))
    assert document.spec.events == ()


def test_a_scenario_without_events_gets_some():
    text = changed(BARE, lambda s, x: event_edits.add(s, x, "go", "{time: 3}", "{appear: {object: Car}}"))
    assert text == BARE + "\nevents:\n  - name: go\n    when: {time: 3}\n    do: {appear: {object: Car}}"
    text = changed("events: []  # none\n", lambda s, x: event_edits.add(s, x, "go", "{time: 3}", ""))
    assert text == "events: [{name: go, when: {time: 3}}]  # none\n"


@pytest.mark.parametrize(
    ("text", "make", "reason"),
    [
        (SHARED, lambda s, x: event_edits.put_number(s, x, ArgumentPath(0, "at"), 6.0, ""), "parameter ${t}"),
        (SHARED, lambda s, x: event_edits.put_number(s, x, ArgumentPath(1, "at"), 6.0, ""), "anchor"),
        (SHARED, lambda s, x: event_edits.put_number(s, x, ArgumentPath(2, "at"), 6.0, ""), "anchor"),
        (BLOCK, lambda s, x: event_edits.put_text(s, x, 0, "do", "[]"), "comments there"),
        (BLOCK, lambda s, x: event_edits.put_text(s, x, 1, "when", "{tme: 3}"), "did you mean 'time'"),
        (BLOCK, lambda s, x: event_edits.put_text(s, x, 1, "when", "{time: -3}"), "at least 0"),
        (BLOCK, lambda s, x: event_edits.put_text(s, x, 1, "when", "{time: 3}}, {when: {time: 3}"), "not one event"),
        (BLOCK, lambda s, x: event_edits.rename(s, x, 0, "second"), "another event is called"),
        (NUMBERED,
         lambda s, x: event_edits.remove(s, x, 0), "name it first"),
    ],
)  # fmt: skip
def test_what_the_text_cannot_say_is_refused_and_changes_nothing(text, make, reason):
    document = ScenarioDocument(PATH, text.encode())
    with pytest.raises(UsageError, match=reason.replace("$", r"\$").replace("{", r"\{")):
        document.change(make)
    assert document.data == text.encode()
    assert not document.undoable


def test_a_scenario_with_mistakes_is_refused_with_their_lines():
    with pytest.raises(FileError, match=r"site\.yaml:2: error: 'events' is 'null'"):
        ScenarioDocument(PATH, b"duration: 5\nevents:\n")


@given(names)
def test_names_are_quoted_where_they_have_to_be(name):
    from cbsim.formats.reader import Source
    from cbsim.formats.scenario import read

    for style in (None, "'", '"'):
        spec = read(Source("", f"events: [{{name: {quoted(name, style)}, when: {{time: 1}}}}]", b""), [])
        assert spec.events[0].name == name
    assert quoted(name) == name or typed(name) != name or not name.isalpha()


def test_times_are_known_where_only_times_are_waited_for():
    events = ScenarioDocument(PATH, BLOCK.encode()).spec.events
    assert earliest_times(events) == {0: 5.5, 1: 8.5, 2: 0.0}
    assert known_times(events) == {0, 1}
    events = ScenarioDocument(PATH, FLOW.encode()).spec.events
    assert earliest_times(events) == {0: 1.0, 1: 1.0}
