"""`Manuscript`: a file's bytes as text that can be changed in places and given back, every other byte as it was."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cbsim.errors import UsageError

__all__ = ["Manuscript", "Patch", "inverse"]

DECLARED = re.compile(rb"""\A\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z][\w.-]*)["']""")
MAX_CONTACTS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
ENDS = re.compile(r"\r\n|\r|\n")


class Patch(NamedTuple):
    """A change of text: what stood at a place, counted in characters, and what stands there now."""

    start: int
    before: str
    after: str

    @property
    def end(self) -> int:
        """Where what stood there ended."""
        return self.start + len(self.before)


def inverse(patches: Sequence[Patch]) -> tuple[Patch, ...]:
    """Find the changes that undo some, which do not overlap and are all told in places of the text before them."""
    shift, undone = 0, list[Patch]()
    for patch in sorted(patches, key=lambda one: (one.start, one.end)):
        undone.append(Patch(patch.start + shift, patch.after, patch.before))
        shift += len(patch.after) - len(patch.before)
    return tuple(undone)


@dataclass(frozen=True, slots=True)
class Manuscript:
    """Text of a file, and how its bytes were made of it.

    Attributes
    ----------
    text : str
        All of it, ends of lines as they stand.
    codec : str
        Of Python, by which it is encoded.
    mark : bytes
        The byte order mark that stands before it.
    """

    text: str
    codec: str = "utf-8"
    mark: bytes = b""

    @classmethod
    def decode(cls, data: bytes) -> Manuscript:
        """Read bytes as `cbsim.formats.reader.Source` does; XML also in the encoding that it declares.

        Raises
        ------
        UsageError
            If the bytes are not what their byte order mark says, so that they could not be given back.
        """
        mark, codec = next(((mark, codec) for mark, codec in MAX_CONTACTS if data.startswith(mark)), (b"", ""))
        body = data[len(mark) :]
        if codec:
            try:
                return cls(body.decode(codec), codec, mark)
            except UnicodeDecodeError as reason:
                raise UsageError(f"the file begins as {codec}, but is damaged: {reason.reason}") from None
        declared = DECLARED.match(body)
        names = [declared[1].decode("ascii")] if declared else []
        for name in [*names, "utf-8", "latin-1"]:
            try:
                text = body.decode(name)
                if text.encode(name) == body:
                    return cls(text, codecs.lookup(name).name)
            except (UnicodeError, LookupError):
                continue
        raise AssertionError("latin-1 reads any bytes")

    @property
    def data(self) -> bytes:
        """The bytes."""
        return self.mark + self.text.encode(self.codec)

    @property
    def newline(self) -> str:
        """The end of most lines; that of the system of the format's time where there is none."""
        ends = ENDS.findall(self.text)
        return max(("\n", "\r\n", "\r"), key=ends.count) if ends else "\n"

    def patched(self, patches: Iterable[Patch]) -> Manuscript:
        """Apply changes, told in places of this text, which do not overlap.

        Raises
        ------
        UsageError
            If the encoding of the file has no place for a character.
        ValueError
            If changes overlap.
        """
        text, cursor, parts = self.text, 0, list[str]()
        for patch in sorted(patches, key=lambda one: (one.start, one.end)):
            if cursor > patch.start:
                raise ValueError("changes of text overlap")
            assert text.startswith(patch.before, patch.start), "a change is not of this text"
            parts += [text[cursor : patch.start], patch.after]
            cursor = patch.end
        changed = "".join([*parts, text[cursor:]])
        try:
            changed.encode(self.codec)
        except UnicodeEncodeError as reason:
            sign = changed[reason.start]
            raise UsageError(f"the file is written in {self.codec}, which has no '{sign}'") from None
        return replace(self, text=changed)
