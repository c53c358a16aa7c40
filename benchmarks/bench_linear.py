"""Time and memory of every reader against the size of its file: honest files up to 100 MB, and small hostile ones.

    python benchmarks/bench_linear.py [LARGEST]     # [MiB], 100 by default

Each file is read in a process of its own. For honest files, CPU seconds per MiB at the largest size are divided by
those at the smallest: a reader that takes linear time stays near 1. A reader may refuse what is beyond its bounds; it
then says so in the line. Hostile files have at most 2 MB and should take less than 5 s and 1 GiB.
"""

from __future__ import annotations

import gzip
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

LANE = """segment {0}
num_lanes 1
lane {0}.1
num_waypoints 3
{0}.1.1 38.{0:06d} -77.000000
{0}.1.2 38.{0:06d} -77.000500
{0}.1.3 38.{0:06d} -77.001000
end_lane
end_segment
"""
BOX = "<object type='static'><name>Box {0}</name><size x='1' y='1' z='1'/></object>\n"
JOINT = (
    "<joint name='j{0}' type='revolute'><parent link='l0'/><child link='l{0}'/><limit lower='-1' upper='1'/></joint>\n"
)
LINK = "<link name='l{0}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>\n"


def repeated(head: str, unit: str, tail: str = "") -> Callable[[int], bytes]:
    """Make a text of about so many bytes; ``{0}`` is the number of the unit, from 1."""

    def make(size: int) -> bytes:
        parts, length, number = [head], len(head), 0
        while length < size:
            number += 1
            parts.append(unit.format(number))
            length += len(parts[-1])
        return "".join([*parts, tail]).encode()

    return make


HONEST: dict[str, Callable[[int], bytes]] = {
    "network.rndf": repeated("RNDF_name a\nnum_segments 1\nnum_zones 0\n", LANE, "end_file\n"),
    "mission.mdf": repeated(
        "MDF_name a\nRNDF a\ncheckpoints\nnum_checkpoints 1\n", "{0}\n", "end_checkpoints\nend_file\n"
    ),
    "objects.obj": repeated("1\n", "2\n1 1 1\n{0} 0 0\n0 0 0\n"),
    "objects.xml": repeated("<object_file><name>a</name>\n", BOX, "</object_file>\n"),
    "robot.urdf": repeated("<robot name='r'><link name='l0'/>\n", LINK + JOINT, "</robot>\n"),
    "walker.jm": repeated("<Model>\n", "<Box Name='b{0}'><Mass>1</Mass></Box>\n", "</Model>\n"),
    "car.json": repeated('{{"assemblies":[\n'.replace("{{", "{"), '{{"name":"a{0}","bodies":[]}},\n', '{"name":"z"}]}'),
    "city.yaml": repeated(
        "network: loop\nadd:\n", "- {{kind: static, name: B{0}, position: [{0}, 0, 0], size: [1, 1, 1]}}\n"
    ),
    "laser.conf": repeated("", "key{0} = {0}\n"),
    "shape.itd": repeated("", "[OBJECT A{0} [POLYGON 3 [{0} 0 0] [1 {0} 0] [0 1 {0}]]]\n"),
    "shape.irt": repeated("", "a{0} = box(vector({0}, 0, 0), 1, 1, 1);\n"),
}

HOSTILE: dict[str, Callable[[], bytes]] = {
    "newlines.txt": lambda: b"\n" * 65536,
    "list_parameters.yaml": lambda: repeated(
        f"network: loop\nparameters:\n  a: [{'1,' * 5000}1]\nadd:\n", "- ${{a}}\n"
    )(900_000),
    "merge_keys.yaml": lambda: repeated("network: loop\nparameters:\n  <<: [{k0: 1}", ", {{k{0}: 1}}", "]\n")(
        1_800_000
    ),
    "misspelt.yaml": lambda: repeated("network: loop\n", "netwrok{0}: 1\n")(1_000_000),
    "misspelt.irt": lambda: repeated("", "a{0} = 1;\nb = aa{0};\n")(500_000),
    "attrprop.irt": lambda: b'l=nil();for(k=1,1,99999,snoc(k,l));for(k=1,1,1e6,attrprop(l,"a",k));',
    "brackets.itd.gz": lambda: gzip.compress(b"[" * (1 << 26)),
    "quotes.itd.gz": lambda: gzip.compress(b'[OBJECT A "' + b"\\a" * (1 << 25)),
    "stacked.rndf": lambda: repeated("RNDF_name a\n", LANE.replace("38.{0:06d}", "38.000000"))(2_000_000),
}


def read_here(path: str) -> None:
    """Read a file and print CPU seconds, MiB of memory that reading took, and how it ended."""
    from cbsim.errors import FileError
    from cbsim.formats import FORMATS
    from cbsim.models import read_file

    for form in FORMATS:
        form.load()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    try:
        errors = read_file(path).problems.errors
        ending = f"{errors[0].code}" if errors else "read"
    except FileError as error:
        ending = error.problems.errors[0].code
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(time.process_time() - began, memory, ending)


def measured(name: str, data: bytes) -> tuple[float, float, str]:
    """Read data in another process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        done = subprocess.run(
            [sys.executable, __file__, "--read", str(path)], capture_output=True, text=True, check=True
        )
    seconds, memory, ending = done.stdout.split()
    return float(seconds), float(memory), ending


def main(largest: int) -> None:
    for name, make in HONEST.items():
        rates = []
        for mebibytes in sorted({1, max(1, largest // 10), largest}):
            data = make(mebibytes << 20)
            seconds, memory, ending = measured(name, data)
            rates.append(seconds / (len(data) / 2**20))
            spent = f"{seconds:8.2f} s {rates[-1]:7.3f} s/MiB {memory:7.0f} MiB of memory"
            print(f"{name:22} {mebibytes:4d} MiB {spent}  {ending}", flush=True)
        print(f"{name:22} growth of s/MiB: {rates[-1] / rates[0]:.2f}", flush=True)
    for name, make_small in HOSTILE.items():
        data = make_small()
        seconds, memory, ending = measured(name, data)
        print(f"{name:22} {len(data) / 1e6:6.3f} MB {seconds:6.2f} s {memory:7.0f} MiB of memory  {ending}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read_here(sys.argv[2])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
