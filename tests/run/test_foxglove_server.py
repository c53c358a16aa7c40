"""Serving a run: the same bits, the same messages to who connects late, and a word to who lacks the extra."""

from __future__ import annotations

import json
import sys

import pytest

import cbsim
from cbsim.errors import UsageError
from cbsim.run.company import Pace
from cbsim.run.foxglove.server import Served, address_of
from cbsim.run.outcome import execute
from tests.run.test_simulation import lively


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("localhost:9000", ("localhost", 9000)),
        (":9000", ("127.0.0.1", 9000)),
        ("9000", ("127.0.0.1", 9000)),
        ("localhost", ("localhost", 8765)),
        ("[::1]:0", ("::1", 0)),
    ],
)
def test_address_may_leave_out_host_or_port(text, due):
    assert address_of(text) == due


@pytest.mark.parametrize("text", ["localhost:", "localhost:http", "localhost:65536", ":-1", "localhost:1²"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(UsageError, match="no address"):
        address_of(text)


def test_without_the_extra_the_way_to_get_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "foxglove", None)
    with pytest.raises(UsageError, match=r"pip install 'cbsim\[foxglove\]'"):
        Served(lively(), "127.0.0.1:0", Pace(1.0))


def test_run_that_is_served_has_the_same_bits():
    pytest.importorskip("foxglove", reason="the extra foxglove is not installed")
    alone = execute(lively(), steps=20)
    served = Served(lively(), "127.0.0.1:0", Pace(1e6))
    try:
        assert execute(served.listeners[-1]._world, steps=20, company=served).digest == alone.digest
    finally:
        served.leave()


def test_who_connects_late_is_told_what_stands():
    pytest.importorskip("foxglove", reason="the extra foxglove is not installed")
    client = pytest.importorskip("websockets.sync.client", reason="a client is needed to connect")
    world = lively()
    served = Served(world, "127.0.0.1:0", Pace(1e6))
    try:
        execute(world, steps=20, company=served)
        with client.connect(served.url, subprotocols=["foxglove.sdk.v1"], proxy=None) as line:
            channels = {}
            while "/foxglove/bodies" not in channels:
                told = json.loads(line.recv(timeout=5))
                channels |= {one["topic"]: one for one in told.get("channels", [])}
            channel = channels["/foxglove/bodies"]
            assert (channel["encoding"], channel["schemaName"]) == ("json", "foxglove.SceneUpdate")
            wanted = {"op": "subscribe", "subscriptions": [{"id": 7, "channelId": channel["id"]}]}
            line.send(json.dumps(wanted))
            while isinstance(data := line.recv(timeout=5), str):
                pass
            assert {one["id"] for one in json.loads(data[13:])["entities"]} == {body.name for body in world}
    finally:
        served.leave()


def test_the_end_tells_how_the_checks_came_out():
    pytest.importorskip("foxglove", reason="the extra foxglove is not installed")
    world = cbsim.load("crash", duration=1.0)
    served = Served(world, "127.0.0.1:0", Pace(1e6))
    told = []
    live = served.listeners[-1]
    live._hand_on = told.append
    try:
        outcome = execute(world, company=served)
    finally:
        served.leave()
    said = [json.loads(shown.data) for shown in told if shown.topic == "/foxglove/log"]
    checks = [one for one in said if one["name"] in {check.name for check in outcome.checks}]
    assert [(one["name"], one["message"].startswith("passed")) for one in checks] == [
        (check.name, check.passed) for check in outcome.checks
    ]
