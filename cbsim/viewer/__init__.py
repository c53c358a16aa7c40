"""Top-down viewer for scenarios, networks, models and recordings, in a window or rendered off screen.

`scene` provides the data by its sources, and `layers` draw it by the means of `drawing`: a camera, which is the visible
region, and a canvas. `session` handles user input through the table of `keys`. `window`, `screenshot` and `video` are
the outputs.
All of them step a run exactly as `cbsim.run` does, so results do not depend on who watches.
"""

from __future__ import annotations

import os

os.environ.setdefault(
    "PYGAME_HIDE_SUPPORT_PROMPT", "1"
)  # pygame prints a greeting to standard output, which is reserved for results
