"""The traffic editor: object files over a road network, changed by hand and saved as their authors wrote them.

A file's text is the truth. `manuscript` holds it, `markup` and `records` find where in it each value of an object
stands, `xml_edits` and `record_edits` turn a changed object into the fewest changes of text; `document` is the file
with its history, its problems and its saving, and knows no window. `session` is what a user does with a document, by
the table of `keys` and with the `mouse`; it draws with the viewer's canvas and layers. `filing` saves it, whole or not
at all by `safe`, and keeps copies of what is not saved by `rescue`.
"""

from __future__ import annotations

import os

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # pygame greets on standard output, where results go
