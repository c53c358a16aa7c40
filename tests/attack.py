"""``python -m tests.attack [NAME…]``: mutated files of every format, and accepted extremes, for as long as one likes.

Names are formats, ``traffic`` and ``models`` (extremes of which a part is refused), and ``ranges`` (values at, near and
between the ends of what is accepted of each number, found by bisection); all by default. Of extremes, those that are
refused do not count, and those at which a step fails are printed. Each kind of failure is printed once, with an input
kept in a folder, and counted. CI runs a few of the same cases as slow tests.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp

from cbsim.formats import FORMATS
from tests import accepted_ranges, extremes, extremes_reactive, mutations

MOST_MEMORY = 1 << 20  # KiB, of the whole process
TOLD_EVERY = 60.0  # [s] CPU time from one account to the next
EXTREMES = {
    "traffic": (*extremes.TRAFFIC, *extremes_reactive.REACTIVE),
    "models": extremes.MODELS,
    "ranges": (*extremes.TRAFFIC, *extremes_reactive.REACTIVE, *extremes.MODELS),
}


def mutated_files(name: str, seed: int, folder: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    """Give inputs without end, and what tries each and says what became of it."""
    dice, form = random.Random(seed), mutations.form_named(name)
    stock = mutations.seeds(form)
    number = 0
    while True:
        data, lints = mutations.mutated(dice, stock), number % 4 == 0
        number += 1

        def attempt(data: bytes = data, lints: bool = lints) -> str:
            try:
                return "rejected" if mutations.check(form, data, lints=lints) is None else "accepted"
            except BaseException:
                (folder / "input").write_bytes(data)
                raise

        yield str(number), attempt


def accepted_extremes(name: str, seed: int, folder: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    """Give scenarios with extremes in them without end, and what runs each."""
    bases = [make() for make in EXTREMES[name]]
    cases = extremes.cases(bases, seed)
    if name == "ranges":
        probes = folder / "probes"
        probes.mkdir()
        cases = accepted_ranges.cases_in_range(bases, seed, probes)
    for case in cases:
        told = f"{case.base.name}: {'; '.join(case.changes)}"

        def attempt(case: extremes.Case = case, told: str = told) -> str:
            result = extremes.attempt(case, folder)
            if result.kind == "failed":
                print(f"{name} {told}: {result.message}", flush=True)
            return result.kind

        yield told, attempt


def attack(name: str, seed: int, count: int, seconds: float) -> int:
    """Try inputs of one kind until so many were tried or so much CPU time was spent; return the number of failures."""
    folder = Path(mkdtemp(prefix=f"attack-{name}-"))
    inputs = (accepted_extremes if name in EXTREMES else mutated_files)(name, seed, folder)
    results, failures, slowest, begin = Counter[str](), Counter[str](), (0.0, ""), time.process_time()
    memory, told_at = peak(), begin

    def tell(rest: str = "") -> None:
        counts = ", ".join(f"{number} {kind}" for kind, number in sorted(results.items()))
        text = f"{name}: {results.total()} inputs in {time.process_time() - begin:.0f} CPU s ({counts}), slowest"
        print(f"{text} {slowest[0]:.2f} s (input {slowest[1]}), {peak() >> 10} MiB{rest}", flush=True)

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what it puts in the background deaf to it
    refused = {"rejected"} if name in EXTREMES else set[str]()
    try:
        while (
            results.total() - sum(results[kind] for kind in refused) < count and time.process_time() - begin < seconds
        ):
            told, attempt = next(inputs)
            before, known = time.process_time(), memory
            try:
                results[attempt()] += 1
                memory = peak()
                assert memory <= max(known, MOST_MEMORY), "more than 1 GiB of memory"
            except Exception as error:
                results["failure"] += 1
                where = traceback.extract_tb(error.__traceback__)[-1]
                kind = f"{type(error).__name__} at {where.filename}:{where.lineno}: {str(error)[:300]}"
                if not failures[kind]:
                    print(f"{name} {told}: {kind}", flush=True)
                    for path in [path for path in folder.iterdir() if path.is_file()]:
                        path.replace(folder / f"failure{len(failures)}-{path.name}")
                failures[kind] += 1
            slowest = max(slowest, (time.process_time() - before, told))
            if time.process_time() - told_at > TOLD_EVERY:
                told_at = time.process_time()
                tell()
    except KeyboardInterrupt:
        print(f"{name}: interrupted", flush=True)
    tell(f"; inputs in {folder}" if failures else "")
    if not failures:
        shutil.rmtree(folder)
    return failures.total()


def peak() -> int:
    """Largest memory of this process so far [KiB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> int:
    """Attack what is named; exit code 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    names = [*(form.name for form in FORMATS), *EXTREMES]
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*names, []], help=", ".join(names))
    parser.add_argument("--seed", type=int, default=1, help="of the inputs, which are the same for the same seed")
    parser.add_argument("--count", type=int, default=100_000, help="inputs of each kind at most")
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU time for each kind at most")
    chosen = parser.parse_args()
    failures = [attack(name, chosen.seed, chosen.count, chosen.seconds) for name in chosen.names or names]
    return int(any(failures))


if __name__ == "__main__":
    sys.exit(main())
