"""``python -m tests.golden [--update] [NAME…]``: which golden results changed, and by how much.

Without names, every case whose files are here. ``--update`` writes the golden file anew for the cases that ran.
"""

from __future__ import annotations

import argparse
import sys

from tests.golden.cases import CASES
from tests.golden.store import Golden, movement, target


def main() -> int:
    """Run the cases and print a line for each that changed; exit code 1 if any did and the file was left alone."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases, or beginnings of their names; all by default")
    parser.add_argument("--update", action="store_true", help="write the golden file anew for the cases that ran")
    options = parser.parse_args()
    golden, changed = Golden.read(), 0
    beginnings = tuple(options.names) or ("",)
    for name, case in CASES.items():
        if not name.startswith(beginnings) or (case.needs is not None and not case.needs.exists()):
            continue
        made, kept = case.make(), golden.traces.get(name)
        if kept is None:
            print(f"new      {name}")
        elif kept.digest != made.digest:
            changed += 1
            print(f"changed  {name}  numbers moved by up to {movement(kept, made):.3g}")
        golden.traces[name] = made
    if options.update:
        golden.target = target()
        golden.traces = {name: trace for name, trace in golden.traces.items() if name in CASES}
        golden.write()
    print(f"{changed} of {len(CASES)} changed")
    return int(bool(changed) and not options.update)


sys.exit(main())
