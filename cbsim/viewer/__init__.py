"""The top-down viewer: a window on a scenario, a network, a model or a recording, and pictures of it without a screen.

`source` says what there is to see, `camera` which part of it, `layers` draw it on a `canvas`, one after another;
`session` is what a user does with it, by the table of `actions`; `window`, `picture` and `video` are where it goes to.
None of them steps a run in any other way than `cbsim.run` does, so that the bits do not depend on who looks.
"""

from __future__ import annotations

import os

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # pygame greets on standard output, where results go
