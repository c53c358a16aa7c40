from __future__ import annotations

import importlib
import json
import subprocess
import sys

import pytest

from cbsim.errors import UsageError
from cbsim.sweep import rare, run
from cbsim.sweep.engine import planned
from cbsim.sweep.runs.identity import versions
from cbsim.sweep.runs.ray_pool import RayPool
from cbsim.sweep.runs.task import Chunk, ForeignWorkerError, forget, run_chunk
from tests.common import ROOT
from tests.sweep.gap import nearest, write_gap
from tests.sweep.small import PLANNER
from tests.sweep.test_engine import rows

pytest.importorskip("pyarrow")

TWO_NODES = """
import json, os, pathlib, signal, sys, threading, time
sys.path.insert(0, ROOT)
from ray.cluster_utils import Cluster
from cbsim.sweep import run
from cbsim.sweep.runs.ray_pool import RayPool

limits = {"num_cpus": 1, "object_store_memory": 100 << 20}
cluster = Cluster(initialize_head=True, head_node_args={**limits, "include_dashboard": False})
cluster.add_node(**limits)
killed = []

def kill_one():
    while len(list(pathlib.Path("pids").iterdir())) < 2:
        time.sleep(0.01)
    killed.append(int(next(pathlib.Path("pids").iterdir()).name))
    os.kill(killed[0], signal.SIGKILL)

killer = threading.Thread(target=kill_one)
killer.start()
pool = RayPool(cluster.address)
import ray
nodes = len(ray.nodes())
run("small.yaml", {"wall": "3:6:1", "seed": "count:8"}, folder="ray", pool=pool, record="none")
killer.join()
print(json.dumps({"nodes": nodes, "killed": killed, "pids": len(list(pathlib.Path("pids").iterdir()))}))
cluster.shutdown()
"""

RARE = """
import json, sys
sys.path.insert(0, ROOT)
from ray.cluster_utils import Cluster
from cbsim.errors import UsageError
from cbsim.sweep import rare
from cbsim.sweep.runs.ray_pool import RayPool

limits = {"num_cpus": 1, "object_store_memory": 100 << 20}
cluster = Cluster(initialize_head=True, head_node_args={**limits, "include_dashboard": False})
cluster.add_node(**limits)
pool = RayPool(cluster.address)
made = rare("gap.yaml", "standoff.clearance", folder="ray", pool=pool, **json.loads(OPTIONS))

import ray
ray.__version__, found = "0.1.2", ray.__version__
try:
    RayPool(cluster.address)
    refused = ""
except UsageError as reason:
    refused = str(reason)
print(json.dumps({"estimates": made.estimate.repetitions, "version": found, "refused": refused}))
cluster.shutdown()
"""

COUNTING = PLANNER.replace(
    "        self.vehicle = vehicle\n", ""
).replace("    def start(self, mission, network, vehicle):\n", """    def start(self, mission, network, vehicle):
        open(f"pids/{os.getpid()}", "w").close()
""")  # fmt: skip


@pytest.mark.slow
def test_two_nodes_of_which_a_worker_is_killed_make_the_rows_of_local_runs(small):
    pytest.importorskip("ray", reason="Ray is not installed")
    (small / "pids").mkdir()
    (small / "small_planner.py").write_text(COUNTING)
    run("small.yaml", {"wall": "3:6:1", "seed": "count:8"}, folder="local", jobs=0, record="none")
    for path in (small / "pids").iterdir():
        path.unlink()
    script = TWO_NODES.replace("ROOT", repr(str(ROOT)))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["nodes"] == 2
    assert len(told["killed"]) == 1
    assert told["pids"] >= 2
    assert rows("ray") == rows("local")


@pytest.mark.slow
def test_rare_event_on_two_nodes_has_the_rows_of_a_local_one_and_another_ray_is_refused(gap):
    pytest.importorskip("ray", reason="Ray is not installed")
    write_gap(gap, seconds=2, rate=0.5)
    options = {"at_most": nearest(2), "particles": 20, "repeats": 2}
    made = rare("gap.yaml", "standoff.clearance", folder="local", jobs=0, **options)
    script = RARE.replace("ROOT", repr(str(ROOT))).replace("OPTIONS", repr(json.dumps(options)))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["estimates"] == list(made.estimate.repetitions)
    assert rows("ray") == rows("local")
    assert f"Ray: {told['version']}" in told["refused"]
    assert "Ray: 0.1.2" in told["refused"]


def test_node_with_other_versions_is_refused_by_name(small):
    plan = planned("small.yaml", {"wall": "3,5"})
    here = versions()
    chunk = Chunk(0, (plan.space()[0],), versions={**here, "numba": "0.1", "machine": "riscv64"})
    with pytest.raises(ForeignWorkerError, match=r"the node '.*' is refused: .*numba is .*, the sweep has 0.1"):
        run_chunk(plan, chunk)
    assert run_chunk(plan, chunk._replace(versions=here))[0]["verdict"] == "fail"
    forget()


def test_missing_ray_names_the_extra(monkeypatch):
    found = importlib.import_module

    def without(name, *rest):
        if name == "ray":
            raise ImportError(name)
        return found(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(UsageError, match=r"pip install 'cbsim\[ray\]'"):
        RayPool("auto")
