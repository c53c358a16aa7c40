"""Traffic editor: edits object files over a road network and saves them with minimal changes to their text.

The text of a file is authoritative. `source_buffer` holds it, `markup` and `record_spans` locate the values of objects
in it, and `xml_edits` and `record_edits` turn a changed object into minimal patches. `document` is the file with its
history and problems, independent of any window. `session` handles user input through the table of `keys` and the
`mouse`, and draws with the viewer's canvas and layers. `document_store` saves the document through `atomic_write`, and
keeps unsaved work through `autosave`.
"""

from __future__ import annotations

import os

os.environ.setdefault(
    "PYGAME_HIDE_SUPPORT_PROMPT", "1"
)  # pygame prints a greeting to standard output, which is reserved for results
