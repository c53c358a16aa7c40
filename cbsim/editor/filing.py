"""`Filing`: opening, saving, closing and rescuing a session's document, so that no work is ever lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cbsim.editor.document import version_of
from cbsim.editor.prompt import Answer, Prompt, Question
from cbsim.editor.safe import Rescue, replace_file
from cbsim.errors import CbsimError, FileError, Problems, UsageError

if TYPE_CHECKING:
    from cbsim.editor.session import Session

__all__ = ["Filing"]


class Filing:
    """Keeps a session's work: what is saved, what is not, and a copy of that.

    Parameters
    ----------
    session : Session
    saved : bytes or None
        What the file holds; None where there is none yet.
    """

    def __init__(self, session: Session, saved: bytes | None, state: Path | None = None) -> None:
        self.session, self.saved, self.state = session, saved, state
        self._begun = session.document.data
        self._kept = b""
        self.rescue = Rescue(session.document.path, state)
        self._offer()

    @property
    def dirty(self) -> bool:
        """Whether there is work that is not saved."""
        return self.session.document.data != (self._begun if self.saved is None else self.saved)

    def _offer(self) -> None:
        """Ask about work that was found unsaved."""
        found = self.rescue.find(self._begun)
        if found is None:
            return
        text = f"unsaved work of {found.when} was found" + ("" if found.same_base else "; the file has changed since")

        def recover() -> None:
            try:
                self.session.document.replaced(found.data)
            except CbsimError as error:
                self.session.told = f"it cannot be read: {error}".splitlines()[0]
                return
            self.session.refresh()
            self.session.told = "recovered; ctrl+s saves it, ctrl+z goes back to the file"

        answers = {"r": Answer("recover it", recover), "d": Answer("discard it", self.rescue.forget)}
        self.session.question = Question(text, answers)

    def keep(self) -> None:
        """Keep a copy of unsaved work; called whenever there may be some."""
        data = self.session.document.data
        if self.session.question is not None or data == self._kept:
            return
        if self.dirty:
            trouble = self.rescue.keep(data, self.saved or b"")
            self.session.told = trouble or self.session.told
        elif self._kept:
            self.rescue.forget()
        self._kept = data

    def save(self) -> bool:
        """Save; False where that has to be asked about, or cannot be done."""
        document = self.session.document
        try:
            there = document.path.read_bytes() if document.path.exists() else None
        except OSError as reason:
            self.session.told = f"cannot look at '{document.path}': {reason.strerror}"
            return False
        if there not in (None, self.saved, document.data):
            answers = {"o": Answer("overwrite it", self._write), "esc": Answer("leave it", lambda: None)}
            self.session.question = Question(f"'{document.path.name}' has been changed by another program", answers)
            return False
        return self._write()

    def _write(self) -> bool:
        document = self.session.document
        try:
            replace_file(document.path, document.data)
        except UsageError as error:
            self.session.told = str(error)
            return False
        self.saved = self._begun = self._kept = document.data
        self.rescue.forget()
        self.session.told = f"saved {document.path.name}"
        return True

    def ask_where(self) -> None:
        """Ask for another name to save under; its ending chooses the version."""
        path = self.session.document.path
        self.session.prompt = Prompt("save as (.xml version 2, .obj version 1)", str(path), self._save_as)
        self.session.prompt.fresh = False

    def _save_as(self, text: str) -> None:
        path = Path(text.strip()).expanduser()
        if not text.strip() or path.is_dir():
            raise UsageError("that is no file's name")
        old = self.session.document
        if path.exists() and not (old.path.exists() and path.samefile(old.path)):
            answers = {
                "o": Answer("overwrite it", lambda: self._save_at(path)),
                "esc": Answer("leave it", lambda: None),
            }
            self.session.question = Question(f"'{path.name}' exists", answers)
            return
        self._save_at(path)

    def _save_at(self, path: Path) -> None:
        session, old, problems = self.session, self.session.document, Problems()
        network = None if session.roadmap is None else session.roadmap.network
        try:
            document = old.converted(path, version_of(path, old.version), network, problems)
        except FileError as error:
            session.told = f"not saved: {error}".splitlines()[0]
            return
        try:
            replace_file(path, document.data)
        except UsageError as error:
            session.told = str(error)
            return
        self.rescue.forget()
        session.take(document)
        self.saved = self._begun = self._kept = document.data
        self.rescue = Rescue(path, self.state)
        lost = len(problems.warnings)
        session.told = f"saved {path.name} as version {document.version}" + (
            f"; {lost} things were lost: {problems.warnings[0].message}" if lost else ""
        )

    def close(self) -> None:
        """Close, once unsaved work is saved or given up."""
        session = self.session
        if session.question is not None and not self.dirty:
            session.running = False  # what was found unsaved stays where it is
        elif not self.dirty:
            self.rescue.forget()
            session.running = False
        else:
            answers = {
                "s": Answer("save it", self._save_and_leave),
                "d": Answer("discard it", self._leave),
                "esc": Answer("go on", lambda: None),
            }
            session.question = Question("there is unsaved work", answers)

    def _save_and_leave(self) -> None:
        if self.save():
            self.session.running = False

    def _leave(self) -> None:
        self.rescue.forget()
        self.session.running = False
