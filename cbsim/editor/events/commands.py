"""Commands on the events of a scenario: place, move, rename, remove, and prompts for their texts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cbsim.editor.documents import event_edits
from cbsim.editor.documents.event_edits import ArgumentPath
from cbsim.editor.documents.scenario_document import Change, ScenarioDocument
from cbsim.editor.documents.yaml_spans import YamlSpans, flow_text
from cbsim.editor.event_state import clock_of, in_steps
from cbsim.editor.objects.placement import place_of
from cbsim.editor.prompt import Prompt
from cbsim.errors import UsageError
from cbsim.formats.scenario.actions import ActionModel
from cbsim.formats.scenario.events import condition_text, event_text
from cbsim.lint.scenario_events import reason_against
from cbsim.spec.events import Event, Place
from cbsim.spec.number import number_text

if TYPE_CHECKING:
    from cbsim.editor.session_state import SessionState

__all__ = [
    "actions_of",
    "ask_action",
    "ask_event_name",
    "ask_text",
    "change",
    "drag_to",
    "move_place",
    "nudge_event",
    "remove_event",
    "select_event",
    "text_of",
]  # fmt: skip


def _document(session: SessionState) -> ScenarioDocument | None:
    """Return the scenario of a session, or tell that there is none."""
    if isinstance(session.document, ScenarioDocument):
        return session.document
    session.message = "events are those of scenarios: open one"
    return None


def change(session: SessionState, make: Change) -> bool:
    """Take a step of work on events; if it fails, show why."""
    document = _document(session)
    if document is None:
        return False
    try:
        document.change(make)
    except UsageError as error:
        session.message = str(error)
        return False
    finally:
        session.events.time = session.events.place = None
    session.refresh()
    return True


def select_event(session: SessionState, ahead: int) -> None:
    """Select the next or previous event."""
    document = _document(session)
    if document is not None and document.spec.events:
        here, count = session.events.row, len(document.spec.events)
        session.events.row = (here + ahead) % count if here is not None else (0 if ahead > 0 else count - 1)


# --- times and places ------------------------------------------------------------------------------------------------
def drag_to(session: SessionState, row: int, time: float) -> None:
    """Move an event to a time [s], rounded to the steps of the run."""
    document = _document(session)
    clock = None if document is None else clock_of(document.spec.events, row)
    if document is None or clock is None:
        session.message = "only a 'time', and the delay of an 'after', can be moved: click its 'when' to type another"
        return
    path, begin = clock
    value = in_steps(time - begin, document.spec.step)
    if value != dict(_arguments(document.spec.events[row])).get(path.name):
        change(session, lambda spans, spec: event_edits.put_number(spans, spec, path, value, "move event"))
    session.events.time = None


def _arguments(event: Event) -> tuple[tuple[str, Any], ...]:
    return event.when.arguments


def nudge_event(session: SessionState, seconds: float) -> bool:
    """Move the selected event by a time [s], at least by a step of the run; False if none is selected."""
    row, document = session.events.row, session.document
    if row is None or not isinstance(document, ScenarioDocument):
        return False
    clock = clock_of(document.spec.events, row)
    here = 0.0 if clock is None else clock[1] + dict(_arguments(document.spec.events[row]))[clock[0].name]
    least = math.copysign(document.spec.step, seconds) if seconds else 0.0
    drag_to(session, row, here + (seconds if abs(seconds) > abs(least) else least))
    return True


def move_place(session: SessionState, path: ArgumentPath, place: Place) -> None:
    """Move a place of an event."""
    change(session, lambda spans, spec: event_edits.put_place(spans, spec, path, place))


def remove_event(session: SessionState) -> bool:
    """Remove the selected event; False if none is selected."""
    row = session.events.row
    if row is None:
        return False
    if change(session, lambda spans, spec: event_edits.remove(spans, spec, row)):
        session.events.row = None
    return True


# --- lines that are typed --------------------------------------------------------------------------------------------
def ask_event_name(session: SessionState) -> None:
    """Prompt for the name of the selected event."""
    document, row = _document(session), session.events.row
    if document is None or row is None:
        session.message = session.message or "names are those of events: select one"
        return

    def act(text: str) -> None:
        if not text.strip():
            raise UsageError("a name is not empty")
        _insist(session, lambda spans, spec: event_edits.rename(spans, spec, row, text.strip()))

    session.prompt = Prompt("name of the event", document.spec.events[row].name, act)


def _insist(session: SessionState, make: Change) -> None:
    """Take a step, or raise what hinders it, so that the prompt stays open."""
    if not change(session, make):
        raise UsageError(session.message)


def text_of(event: Event, key: str) -> str:
    """Write the condition (``when``) or the actions (``do``) of an event in a line."""
    if key == "when":
        return flow_text(condition_text(event.when))
    return flow_text(event_text(event, 0).get("do", []))


def ask_text(session: SessionState, key: str) -> None:
    """Prompt for the condition (``when``) or the actions (``do``) of the selected event, as YAML in flow style."""
    document, row = _document(session), session.events.row
    if document is None or row is None:
        return

    def act(text: str) -> None:
        _insist(session, lambda spans, spec: event_edits.put_text(spans, spec, row, key, text))

    spans = YamlSpans(document.buffer.text)
    node = spans.find(spans.root, "events", row, key)
    written = "" if node is None else spans.text[spans.start(node) : spans.end(node)]
    text = text_of(document.spec.events[row], key) if not written or set(written) & set("\r\n") else written
    session.prompt = Prompt(f"{key}: of '{document.spec.events[row].name}'", text, act)
    session.prompt.put_caret(len(session.prompt.text))


def actions_of(session: SessionState) -> dict[str, str]:
    """Actions that the selected object can do, or that need none, with texts of them to begin with."""
    item = session.leading
    found = {}
    for kind, info in ActionModel.model_fields.items():
        model = next(one for one in info.annotation.__args__ if one is not type(None))  # type: ignore[union-attr]
        of_object = "object" in model.model_fields
        if not of_object or (item is not None and not reason_against(kind, item)):
            found[kind] = flow_text({kind: _template(session, model)})
    return found


def _template(session: SessionState, model: Any) -> dict[str, Any]:
    """Return the required arguments of an action: its examples, the selected object, and places beside it."""
    item, values = session.leading, {}
    others = [one.name for one in session.document.objects if item is not None and one.name != item.name]
    for name, info in model.model_fields.items():
        key = info.alias or name
        if not info.is_required():
            continue
        value = info.examples[0] if info.examples else ""
        if key in ("object", "with"):
            value = item.name if key == "object" and item is not None else (others or [value])[0]
        elif item is not None and key.endswith("place"):
            value = [round(one, 2) for one in place_of(item, session.roadmap)[0].tolist()]
        values[key] = value
    return values


def ask_action(session: SessionState, time: float) -> None:
    """Place an event at a time [s]: prompt for the kind of its action, then for the action."""
    document = _document(session)
    if document is None:
        return
    at = in_steps(time, document.spec.step)
    kinds = actions_of(session)
    who = "" if session.leading is None else f" of '{session.leading.name}'"

    def choose(text: str) -> None:
        kind = text.strip()
        if kind and kind not in kinds:
            hint = "" if session.leading is not None else "; select the object that does it first"
            raise UsageError(f"no such action here: {', '.join(kinds)}{hint}")
        session.prompt = Prompt(f"do: at {number_text(at)} s", kinds.get(kind, "[]"), place)
        session.prompt.put_caret(len(session.prompt.text) - 2)

    def place(text: str) -> None:
        names = {event.name for event in document.spec.events}
        kind = text.strip(" {[").partition(":")[0].replace("_", " ").strip("\"'") or "event"
        name = next(one for k in range(1, len(names) + 3) if (one := kind if k == 1 else f"{kind} {k}") not in names)
        do = "" if text.strip() in ("", "[]") else text.strip()
        when = flow_text({"time": at})
        _insist(session, lambda spans, spec: event_edits.add(spans, spec, name, when, do))
        session.events.row = len(document.spec.events) - 1

    session.prompt = Prompt(f"action{who} at {number_text(at)} s; tab: others", "", choose, tuple(kinds))
