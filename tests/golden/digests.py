"""Digests of golden results as they are here: ``python -m tests.golden.digests NAME…``."""

from __future__ import annotations

import sys

from tests.golden.cases import CASES

if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name, CASES[name].make().digest, flush=True)
