"""The viser page: opened and closed, played, and the same in the browser as in the Storage."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from urllib.request import urlopen

import numpy as np
import pytest

from cbsim import multibody as mb
from cbsim.errors import UsageError
from cbsim.multibody import gallery

WORLD = """name => { const m = window.__viserMutable, at = m.nodeRefFromName[name], root = m.nodeRefFromName[''];
  const inverse = root.matrixWorld.clone().invert().multiply(at.matrixWorld);
  const p = at.position.clone(), q = at.quaternion.clone();
  inverse.decompose(p, q, at.scale.clone());
  return [p.x, p.y, p.z, q.w, q.x, q.y, q.z]; }"""


@pytest.fixture
def viser():
    return pytest.importorskip("viser", reason="the extra view3d is not installed")


@pytest.fixture
def swing(viser):
    m = gallery.build("pendulum", angle=1.0)
    s = mb.simulate(m, 30)
    with mb.visualize(m, s, port=0, verbose=False) as vis:
        yield vis, s


def test_without_viser_the_message_names_the_extra_and_what_does_without(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(
        UsageError, match=r"needs the extra 'view3d' \(viser is missing\): pip install 'cbsim\[view3d\]'"
    ):
        mb.visualize(gallery.build("pendulum"))
    with pytest.raises(UsageError, match="the page is not open"):
        mb.Visualizer().wait()


def test_viser_is_not_loaded_before_a_page_is_opened():
    code = "import sys, cbsim.multibody as mb; mb.Visualizer(); assert not {'viser', 'trimesh'} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_page_is_served_to_this_machine_alone_until_it_is_closed(viser, capsys):
    before = {thread.name for thread in threading.enumerate()}
    vis = mb.visualize(gallery.build("pendulum"), port=0, verbose=False)
    url = vis.open()
    assert vis.is_open
    assert urlopen(url).status == 200
    assert vis.live.server.get_host() == "127.0.0.1"
    vis.close()
    assert not vis.is_open
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(url.rsplit(":", 1)[1]))) != 0
    assert "cbsim player" not in {thread.name for thread in threading.enumerate()} - before
    assert not capsys.readouterr().out


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"host": "no.such.host.invalid"}, "no page at 'no.such.host.invalid': "),
        ({"host": "192.0.2.1"}, "no page at '192.0.2.1': "),
        ({"port": 70000}, "port is 70000, expected 0 to 65535"),
    ],
)
def test_a_place_where_no_page_can_be_is_told(viser, where, message):
    with pytest.raises(UsageError, match=message):
        mb.Visualizer().open(verbose=False, **where)


def test_a_port_in_use_is_passed_over(viser):
    with mb.Visualizer() as one, mb.Visualizer() as other:
        first = int(one.open(port=0, verbose=False).rsplit(":", 1)[1])
        assert int(other.open(port=first, verbose=False).rsplit(":", 1)[1]) > first


def test_the_player_shows_nodes_goes_on_with_time_and_starts_again(swing):
    vis, s = swing
    player = vis.live.player
    (frame,) = vis.live._frames.values()
    player.show(7)
    np.testing.assert_array_equal(frame.position, s.x[7, 0])
    np.testing.assert_array_equal(frame.wxyz, s.q[7, 0])
    player._playing.set()  # time is ours here, not the clock's
    player._closed.set()
    player._thread.join()
    player._closed.clear()
    player.advance(0.025)
    assert player.frame == 9
    player.advance(0.21)
    assert player.frame == 1  # 0.305 s of 0.29 s
    player.loops.value = False
    player.advance(9.0)
    assert (player.frame, player.is_playing) == (29, False)
    player.play()
    assert (player.frame, player.is_playing, player.button.label) == (0, True, "Pause")
    player.show(99)
    assert player.frame == 29


def test_time_goes_on_by_itself_while_it_plays(swing):
    vis, _ = swing
    moved = threading.Event()
    player = vis.live.player
    show = player.move
    player.move = lambda x, q: (show(x, q), moved.set())
    player.play()
    assert moved.wait(10.0)
    player.play(False)


def test_what_is_drawn_later_appears_and_what_is_removed_goes(swing):
    vis, _ = swing
    live = vis.live
    rod = live._solids["robot/rod/shape_1"]
    mb.set_arrow(vis, (0, 0, 0), (0, 0, 1))
    mb.set_surface(vis, lambda x, y: 0 * x * y, n=3)
    assert {"arrow", "surface"} < set(live._solids)
    assert live._solids["robot/rod/shape_1"] is rod  # what is the same is not sent again
    vis.remove("arrow")
    assert "arrow" not in live._solids
    other = gallery.build("slider")
    mb.visualize(other, vis=vis, name="other")
    assert list(live._frames) == ["robot/rod", "other/box"]
    assert np.shape(live.player.x) == (30, 2, 3)
    vis.remove("robot")
    assert list(live._frames) == ["other/box"]
    assert not live.player.slider.visible


def test_all_that_surrounds_a_robot_can_be_shown(viser, tmp_path):
    import pygame

    pygame.image.save(pygame.Surface((4, 4)), tmp_path / "tile.png")
    with mb.Visualizer() as vis:
        vis.open(port=0, verbose=False)
        mb.set_floor(vis, x=3, y=2, imagename=tmp_path / "tile.png", axis=True)
        mb.set_floor(vis, grid=False, color=(0.5, 0.5, 0.5, 0.5))
        mb.set_light(vis, direction="Negative")
        for kind in ("point", "spot", "directional"):
            mb.set_lamp(vis, kind, position=(0, 1, 2), direction=(0, 1, -1), color=(1, 0.5, 0), name=kind)
        assert len(vis.live._lamps) == 3
        vis.remove("spot")
        assert len(vis.live._lamps) == 2
        mb.set_background(vis)
        mb.set_camera(vis, cam_pos=(1, 2, 3))
        np.testing.assert_allclose(vis.live.server.initial_camera.position, (1, 2, 3))
        vis.remove("floor")
        assert not vis.live._floor


@pytest.mark.slow
def test_the_page_in_a_browser_has_the_bodies_where_the_storage_has_them(viser, opened):
    m = gallery.build("quadruped", height=0.5)
    s = mb.simulate(m, 40)
    with (
        mb.visualize(m, s, port=0, verbose=False, show_contact=True, show_joint=True) as vis,
        opened(vis.open()) as page,
    ):
        page.wait_for_function(
            "name => window.__viserMutable?.nodeRefFromName[name]", arg="/robot/RL_calf/shape_1", timeout=60_000
        )
        for k in (0, 13, 39):
            vis.live.player.show(k)
            page.wait_for_function(
                "([name, z]) => Math.abs(window.__viserMutable.nodeRefFromName[name].position.z - z) < 1e-6",
                arg=["/robot/trunk", float(np.float32(s.x[k, 0, 2]))],
            )
            page.wait_for_timeout(200)  # the page draws, and with it come the matrices
            for i, body in enumerate(m.bodies):
                seen = np.array(page.evaluate(WORLD, f"/robot/{body.name}"))
                np.testing.assert_allclose(seen[:3], s.x[k, i], atol=2e-6)
                np.testing.assert_allclose(abs(seen[3:] @ s.q[k, i]), 1.0, atol=1e-6)
        (client,) = vis.live.server.get_clients().values()
        vis.live.player.show(0)
        at = client.camera.position.copy()
        mb.set_camera(vis, follow=True)
        vis.live.player.show(39)
        np.testing.assert_allclose(client.camera.position - at, s.x[39, 0] - s.x[0, 0], atol=1e-6)
        mb.set_camera(vis, cam_pos=(2.0, 1.0, 1.0), look_at=(0.0, 0.0, 0.5))
        np.testing.assert_allclose([client.camera.position, client.camera.look_at], [(2.0, 1.0, 1.0), (0.0, 0.0, 0.5)])
        page.get_by_role("button", name="+1", exact=True).click()
        page.get_by_role("button", name="−10", exact=True).click()
        page.wait_for_function(
            "([name, z]) => Math.abs(window.__viserMutable.nodeRefFromName[name].position.z - z) < 1e-6",
            arg=["/robot/trunk", float(np.float32(s.x[29, 0, 2]))],
        )
        page.get_by_role("button", name="Play", exact=True).click()
        page.get_by_role("button", name="Pause", exact=True).wait_for()
        assert vis.live.player.is_playing
        assert not [line for line in page.said if not line.startswith("ws")]
