"""Top-down viewer for scenarios, networks, models and recordings, in a window or rendered off screen.

`source` provides the data, `camera` the visible region, and `layers` draw it on a `canvas`. `session` handles user
input through the table of `actions`. `window`, `screenshot` and `video` are the outputs.
All of them step a run exactly as `cbsim.run` does, so results do not depend on who watches.
"""

from __future__ import annotations

import os

os.environ.setdefault(
    "PYGAME_HIDE_SUPPORT_PROMPT", "1"
)  # pygame prints a greeting to standard output, which is reserved for results
