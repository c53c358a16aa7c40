"""Serving a run: the same bits, the same messages to who connects late, and a word to who lacks the extra."""

from __future__ import annotations

import json
import socket
import sys

import pytest

import cbsim
from cbsim.errors import UsageError
from cbsim.evaluation.outcome import execute
from cbsim.foxglove.proxy import is_allowed_origin
from cbsim.foxglove.server import Served, address_of
from cbsim.simulation.pace import Pace
from tests.simulation.test_loop import lively


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
    with pytest.raises(UsageError, match="not an address"):
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
        assert execute(served.listeners[-1]._world, steps=20, observer=served).digest == alone.digest
    finally:
        served.close()


def test_who_connects_late_is_told_what_stands():
    pytest.importorskip("foxglove", reason="the extra foxglove is not installed")
    client = pytest.importorskip("websockets.sync.client", reason="a client is needed to connect")
    world = lively()
    served = Served(world, "127.0.0.1:0", Pace(1e6))
    try:
        execute(world, steps=20, observer=served)
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
        served.close()


@pytest.mark.parametrize(
    ("origin", "more", "may"),
    [
        (None, (), True),
        ("http://localhost:8080", (), True),
        ("http://127.0.0.1", (), True),
        ("http://[::1]:3000", (), True),
        ("https://app.foxglove.dev", (), True),
        ("file://", (), True),
        ("https://evil.example", (), False),
        ("http://app.foxglove.dev", (), False),
        ("https://foxglove.dev.evil.example", (), False),
        ("https://notfoxglove.dev", (), False),
        ("http://localhost.evil.example", (), False),
        ("null", (), False),
        ("http://[", (), False),
        ("https://evil.example", ("*",), True),
        ("https://lab.example", ("https://lab.example",), True),
    ],
)
def test_pages_of_other_sites_may_not_look(origin, more, may):
    assert is_allowed_origin(origin, more) is may


def test_handshake_of_another_site_is_refused_before_anything_is_told():
    pytest.importorskip("foxglove", reason="the extra foxglove is not installed")
    client = pytest.importorskip("websockets.sync.client", reason="a client is needed to connect")
    refused = pytest.importorskip("websockets.exceptions").InvalidStatus
    served = Served(lively(), "127.0.0.1:0", Pace(1e6), ["https://lab.example"])
    options = {"subprotocols": ["foxglove.sdk.v1"], "proxy": None}
    try:
        with pytest.raises(refused, match="403"):
            client.connect(served.url, origin="https://evil.example", **options)
        for origin in ("https://lab.example", "http://localhost:8080", None):
            with client.connect(served.url, origin=origin, **options) as line:
                assert json.loads(line.recv(timeout=5))["op"] == "serverInfo"
    finally:
        served.close()


def test_address_that_is_taken_is_told():
    pytest.importorskip("foxglove", reason="the extra foxglove is not installed")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"cannot serve at 127.0.0.1:{port}"):
            Served(lively(), f"127.0.0.1:{port}", Pace(1e6))


def test_the_end_tells_how_the_checks_came_out():
    pytest.importorskip("foxglove", reason="the extra foxglove is not installed")
    world = cbsim.load("crash", duration=1.0)
    served = Served(world, "127.0.0.1:0", Pace(1e6))
    told = []
    live = served.listeners[-1]
    live._hand_on = told.append
    try:
        outcome = execute(world, observer=served)
    finally:
        served.close()
    said = [json.loads(shown.data) for shown in told if shown.topic == "/foxglove/log"]
    checks = [one for one in said if one["name"] in {check.name for check in outcome.checks}]
    assert [(one["name"], one["message"].startswith("passed")) for one in checks] == [
        (check.name, check.passed) for check in outcome.checks
    ]
