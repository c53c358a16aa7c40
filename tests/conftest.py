"""Property-based tests take the same examples in every run, so that a change is what makes one fail.

``pytest --hypothesis-profile explore`` draws new ones; what it finds belongs into a test of its own.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repeat", deadline=None, derandomize=True)  # the machine is shared: slowness is no failure
settings.register_profile("explore", deadline=None)
settings.load_profile("repeat")
