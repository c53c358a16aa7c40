"""Traffic editor: edits object files over a road network and saves them with minimal changes to their text.

The text of a file is authoritative. `documents` hold it with its history and problems, locate the values of objects and
events in it, and turn a change into minimal patches, independent of any window. `objects` says where objects stand and
what can be typed of them, `events` how those of a scenario are shown and changed. `session` handles user input through
the table of `keys` and the `mouse`, and draws with the viewer's canvas and layers. `saving` writes the document, and
keeps unsaved work.
"""

from __future__ import annotations

import os

os.environ.setdefault(
    "PYGAME_HIDE_SUPPORT_PROMPT", "1"
)  # pygame prints a greeting to standard output, which is reserved for results
