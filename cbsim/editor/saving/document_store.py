"""Document store: opening, saving, closing and recovery of a session's document without loss of work."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from cbsim.editor.documents.text_document import TextDocument
from cbsim.editor.prompt import Answer, Prompt, Question
from cbsim.editor.saving.atomic_write import atomic_write
from cbsim.editor.saving.autosave import Autosave, RecoveredWork, digest
from cbsim.editor.session_state import SessionState
from cbsim.errors import CbsimError, FileError, Problems, UsageError

__all__ = ["DocumentStore"]

RETRY = 5.0  # [s] delay before a failed autosave is retried
LISTED = 12  # losses listed at most
STAY = Answer("leave it", lambda: None)


class DocumentStore:
    """Tracks what is saved and what is not, and autosaves the latter.

    Parameters
    ----------
    session : SessionState
    saved : bytes or None
        Contents of the file; None if it does not exist yet.

    Attributes
    ----------
    error : str
        Why unsaved work cannot be autosaved; empty if it can.
    """

    def __init__(self, session: SessionState, saved: bytes | None) -> None:
        self.session, self.saved = session, saved
        self.error = ""
        self._begun = session.document.data
        self._base = digest(
            saved
        )  # digest of the file that the work started from; a different file is not overwritten without confirmation
        self._kept, self._again, self._left = b"", 0.0, False
        self._taken: bytes | None = (
            None  # contents taken from another program, while the user's own work is one undo step away
        )
        self.autosave = Autosave(session.document.path)
        self._offer()

    @property
    def dirty(self) -> bool:
        """Whether there are unsaved changes."""
        return self.session.document.data != (self._begun if self.saved is None else self.saved)

    # --- work that was not saved -------------------------------------------------------------------------------------
    def _offer(self) -> None:
        """Offer unsaved work that was found."""
        work, held = self.autosave.find(self._begun)
        if held:
            self.session.message = "another editor has unsaved work on this file"
        self._ask(work)

    def _ask(self, work: list[RecoveredWork]) -> None:
        """Offer the first recovered copy, then the remaining ones."""
        if not work:
            return
        found, rest = work[0], work[1:]

        def discard() -> None:
            found.discard()
            self._ask(rest)

        text = f"unsaved work of {found.when} was found"
        text += "" if found.base == self._base else "; the file has changed since"
        text += f"; {len(rest)} more" if rest else ""
        answers = {
            "r": Answer("recover it", lambda: self._recover(found, rest)),
            "d": Answer("discard it", discard),
            "esc": Answer("leave it for later", lambda: self._ask(rest)),
        }
        self.session.question = Question(text, answers)

    def _recover(self, found: RecoveredWork, rest: list[RecoveredWork]) -> None:
        session = self.session
        try:
            if found.version == session.document.version:
                session.document.replace(found.data)
                session.refresh()
            else:
                session.replace_document(session.document.with_data(found.data, found.version))
        except CbsimError as error:
            session.message = f"it cannot be read: {error}".splitlines()[0] + f"; it stays in '{found.place.name}'"
            self._ask(rest)
            return
        self._base = found.base
        self.keep()
        if not self.error:
            found.discard()
        more = f"; {len(rest)} more are kept" if rest else ""
        back = ", ctrl+z goes back to the file" if session.document.undoable else ""
        session.message = f"recovered{more}; ctrl+s saves it{back}"

    def keep(self) -> None:
        """Autosave unsaved work; called whenever there may be some."""
        if self._left or self.session.document.data == self._taken:
            return
        self._taken = None
        if not self.dirty:
            self.autosave.forget()
            self._kept, self.error = b"", ""
            return
        data = self.session.document.data
        if data == self._kept and (time.monotonic() < self._again if self.error else self.autosave.is_there()):
            return
        self.error = self.autosave.keep(data, self._base, self.session.document.version)
        self._kept, self._again = data, time.monotonic() + RETRY

    # --- saving ------------------------------------------------------------------------------------------------------
    def save(self) -> bool:
        """Save the document; returns False if that failed or needs confirmation."""
        document = self.session.document
        try:
            there = document.path.read_bytes() if document.path.exists() else None
        except OSError as reason:
            self.session.message = f"cannot look at '{document.path}': {reason.strerror}"
            return False
        if there is not None and there != document.data and digest(there) != self._base:
            answers = {"o": Answer("overwrite it", self._write), "t": Answer("take it", self._take), "esc": STAY}
            self.session.question = Question(f"'{document.path.name}' has been changed by another program", answers)
            return False
        return self._write()

    def _write(self) -> bool:
        document = self.session.document
        try:
            atomic_write(document.path, document.data)
        except UsageError as error:
            self.session.question = Question(str(error), {"a": Answer("save as", self.ask_where), "esc": STAY})
            return False
        self._saved()
        self.session.message = f"saved {document.path.name}"
        return True

    def _saved(self) -> None:
        """Record that the file holds the current contents."""
        self.saved = self._begun = self.session.document.data
        self._base, self._taken = digest(self.saved), None
        self.keep()

    def _take(self) -> None:
        """Continue with the file as another program left it; undo restores the user's own work.

        The autosave of the user's work is kept until there is newer work or it is saved: the history is not
        persistent.
        """
        session = self.session
        self.keep()
        try:
            found = session.document.reopened()
            if found.version == session.document.version:
                session.document.replace(found.data)
        except CbsimError as error:
            session.message = f"it cannot be read: {error}".splitlines()[0]
            return
        if found.version != session.document.version:  # no step of the history leads to another version and back
            session.message = (
                f"it is a file of {found.format_name} now: save yours under another name, and open it again"
            )
            return
        session.refresh()
        self.saved = self._begun = self._taken = found.data
        self._base = digest(found.data)
        session.message = "taken as it is now; ctrl+z gives your own back"

    def ask_where(self) -> None:
        """Prompt for another file name; its suffix selects the version."""
        path = self.session.document.path
        self.session.prompt = Prompt(f"save as ({self.session.document.save_as_hint})", str(path), self._save_as)
        self.session.prompt.put_caret(len(str(path)))

    def _save_as(self, text: str) -> None:
        old = self.session.document
        try:
            path = Path(text.strip()).expanduser()
            if not text.strip() or path.is_dir():
                raise UsageError("that is no file's name")
            there = path.exists()
            same = there and old.path.exists() and path.samefile(old.path)
        except (OSError, ValueError, RuntimeError) as reason:
            raise UsageError(f"that is no file's name: {getattr(reason, 'strerror', None) or reason}") from None
        if same and old.version_at(path) == old.version:
            self.save()
        else:
            self._save_at(path, there=there)

    def _save_at(self, path: Path, *, there: bool) -> None:
        """Save under another name or version, after confirmation of overwriting and losses."""
        session, old, problems = self.session, self.session.document, Problems()
        network = None if session.roadmap is None else session.roadmap.network
        try:
            document = old.converted(path, old.version_at(path), network, problems)
        except FileError as error:
            session.message = f"not saved: {error}".splitlines()[0]
            return
        lost = [problem.message for problem in problems.warnings]
        reasons = list[str]()
        if there:
            found = Autosave(path).find(b"")
            more = ", and there is unsaved work on it" if found.work or found.held else ""
            reasons.append(f"'{path.name}' exists{more}")
        if lost and (there or self.dirty):  # this may be the only copy of the work
            reasons.append(f"in {document.format_name}, {_losses(lost, 'will be', LISTED)}")
        said = _losses(lost, "were", 1)
        if not reasons:
            self._move(document, said)
            return
        go_on = Answer("overwrite it" if there else "go on", lambda: self._move(document, said))
        session.question = Question("; ".join(reasons), {"o": go_on, "esc": STAY})

    def _move(self, document: TextDocument[Any], said: str) -> None:
        """Save a document under another name and continue with it."""
        session = self.session
        try:
            atomic_write(document.path, document.data)
        except UsageError as error:
            session.message = str(error)
            return
        self.autosave.forget()
        self.autosave = Autosave(document.path)
        session.replace_document(document)
        self._saved()
        session.message = f"saved {document.path.name} as {document.format_name}" + (f"; {said}" if said else "")

    # --- leaving -----------------------------------------------------------------------------------------------------
    def close(self) -> None:
        """Close the session, after confirmation if there is unsaved work; recovered copies are kept."""
        session = self.session
        gone = self.saved is not None and not os.path.exists(session.document.path)  # noqa: PTH110 - it never raises
        if not self.dirty and not gone:
            self._leave()
            return
        answers = {
            "s": Answer("save it again" if gone else "save it", self._save_and_leave),
            "d": Answer("leave it so" if gone and not self.dirty else "discard it", self._leave),
            "esc": Answer("go on", lambda: None),
        }
        text = f"'{session.document.path.name}' is no longer there" if gone else "there is unsaved work"
        session.question = Question(text, answers)

    def _save_and_leave(self) -> None:
        if self.save():
            self._leave()

    def _leave(self) -> None:
        if self.session.document.data == self._taken:
            self.autosave.release()
        else:
            self.autosave.forget()
        self._left = True
        self.session.running = False


def _losses(lost: list[str], verb: str, most: int) -> str:
    """Describe the losses of a conversion, one per line; empty if there are none."""
    if not lost:
        return ""
    more = [f"and {len(lost) - most} more"] if len(lost) > most else []
    things = f"{len(lost)} thing{'s' * (len(lost) > 1)} {verb} lost:"
    return ("\n" if most > 1 else " ").join([things, *lost[:most], *more])
