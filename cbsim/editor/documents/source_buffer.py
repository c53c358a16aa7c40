"""Source buffer: file contents as patchable text that encodes back to the same bytes."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cbsim.errors import UsageError

__all__ = ["Patch", "SourceBuffer", "inverse"]

DECLARED = re.compile(rb"""\A\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z][\w.-]*)["']""")
MAX_CONTACTS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
ENDS = re.compile(r"\r\n|\r|\n")


class Patch(NamedTuple):
    """A text replacement at a character position."""

    start: int
    before: str
    after: str

    @property
    def end(self) -> int:
        """End of the replaced text."""
        return self.start + len(self.before)


def inverse(patches: Sequence[Patch]) -> tuple[Patch, ...]:
    """Invert non-overlapping patches, all relative to the text before them."""
    shift, undone = 0, list[Patch]()
    for patch in sorted(patches, key=lambda one: (one.start, one.end)):
        undone.append(Patch(patch.start + shift, patch.after, patch.before))
        shift += len(patch.after) - len(patch.before)
    return tuple(undone)


@dataclass(frozen=True, slots=True)
class SourceBuffer:
    """Text of a file and its encoding.

    Attributes
    ----------
    text : str
        Text with its original line endings.
    codec : str
        Python codec.
    mark : bytes
        Byte order mark.
    """

    text: str
    codec: str = "utf-8"
    mark: bytes = b""

    @classmethod
    def decode(cls, data: bytes) -> SourceBuffer:
        """Decode bytes as `cbsim.formats.reader.Source` does; XML also by its declared encoding.

        Raises
        ------
        UsageError
            If the bytes do not match their byte order mark, so that they could not be restored.
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
        """Encoded bytes."""
        return self.mark + self.text.encode(self.codec)

    @property
    def newline(self) -> str:
        """Most common line ending; a line feed by default."""
        ends = ENDS.findall(self.text)
        return max(("\n", "\r\n", "\r"), key=ends.count) if ends else "\n"

    def patched(self, patches: Iterable[Patch]) -> SourceBuffer:
        """Apply non-overlapping patches relative to this text.

        Raises
        ------
        UsageError
            If the file's encoding cannot represent a character.
        ValueError
            If patches overlap.
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
