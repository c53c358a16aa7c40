"""The page in one file: needs nothing from elsewhere, is small, and shows in a browser what the Storage says."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import numpy as np
import pytest

from cbsim import multibody as mb
from cbsim.multibody import gallery
from cbsim.view3d.export import page_of
from cbsim.view3d.scene import Scene

POSE = "name => { const p = cbsim.pose(name); return [...p.position, ...p.orientation]; }"


def shaken(steps=60, **parameters):
    """A quadruped that falls a little, turning."""
    m = gallery.build("quadruped", height=0.5, **parameters)
    z = mb.get_maximal_state(m)
    z.reshape(-1, 13)[:, 3:6] += (0.8, 0.1, 0.0)
    return m, mb.simulate(m, steps, z)


@pytest.fixture(scope="module")
def run():
    return shaken()


@pytest.fixture(scope="module")
def written(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "quadruped.html"
    return mb.export_html(*run, path, show_contact=True, title="A quadruped")


def test_the_page_names_no_other_file_and_no_address(written):
    text = written.read_text()
    assert not re.search(r"https?:|//[a-z]+\.|src=|@import|href=\"(?!data:)", text)
    assert "default-src 'none'" in text
    script = re.search(r"<script>(.*)</script>", text, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text


def test_the_same_motion_gives_the_same_page(run, written, tmp_path):
    again = mb.export_html(*run, tmp_path / "again.html", show_contact=True, title="A quadruped")
    assert again.read_bytes() == written.read_bytes()


def test_ten_seconds_of_a_quadruped_are_less_than_two_megabytes(tmp_path):
    m, s = shaken(1000, spring=20.0, damper=0.5)
    assert mb.export_html(m, s, tmp_path / "page.html").stat().st_size < 1_000_000


def test_equal_surfaces_are_kept_once(tmp_path):
    one, many = (
        mb.export_html(gallery.build("chain", links=n), None, tmp_path / "page.html").stat().st_size for n in (1, 200)
    )
    assert many - one < 200 * 400  # names and places, not vertices


def test_names_cannot_break_out_of_the_page():
    origin, body = mb.Origin(), mb.Box(1, 1, 1, mass=1.0).body(name="</script><script>alert(1)</script>")
    scene = mb.build_robot(mb.Mechanism(origin, [body], [mb.Floating(origin, body)])).scene
    text = page_of(scene, '<b>&"title"{{scene}}')
    assert text.count("<script") == 2
    assert "&lt;b&gt;&amp;" in text
    data = json.loads(re.search(r'application/json">(.*?)</script>', text, re.DOTALL).group(1))
    assert data["frames"] == [f"robot/{body.name}"]


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(mb.ModelError, match=r"export_html: '.*' cannot be written: No such file or directory"):
        mb.export_html(gallery.build("pendulum"), None, tmp_path / "none" / "page.html")


@pytest.mark.slow
def test_the_page_shows_every_node_where_the_storage_has_it_and_turns_evenly_between(run, written, opened):
    m, s = run
    scene = mb.build_robot(m).scene
    mean = 0.5 * (s.x.min(0) + s.x.max(0))
    with opened(written.as_uri(), offline=True) as page:
        assert page.evaluate("cbsim.ready")
        assert page.evaluate("cbsim.frames") == list(scene.frames)
        np.testing.assert_array_equal(page.evaluate("cbsim.times"), m.timestep * np.arange(len(s)))
        for k in (0, 1, 17, len(s) - 1):
            page.evaluate("k => cbsim.seek(k)", k)
            for i in (0, 3, 12):
                seen = np.array(page.evaluate(POSE, scene.frames[i]))
                single = np.float32(s.x[k, i] - mean[i]).astype(float) + mean[i]
                np.testing.assert_allclose(seen[:3], single, atol=1e-15)
                np.testing.assert_allclose(seen[:3], s.x[k, i], atol=2.0**-24 * np.ptp(s.x[:, i], axis=0).max())
                np.testing.assert_array_equal(seen[3:], np.float32(s.q[k, i]))
        track = mb.visualize(m, s, html=written.with_name("other.html")).scene.tracks["robot"]
        time = 20.3 * m.timestep
        page.evaluate("t => cbsim.show(t)", time)
        x, q = track.sample([time])
        np.testing.assert_allclose(page.evaluate(POSE, scene.frames[3]), [*x[0, 3], *q[0, 3]], atol=1e-6)
        assert not page.said


@pytest.mark.slow
def test_the_page_is_played_scrubbed_and_stepped_by_hand(written, opened):
    with opened(written.as_uri(), offline=True) as page:
        page.evaluate("cbsim.ready")
        shown = lambda: page.evaluate("+document.getElementById('scrub').value")  # noqa: E731
        assert page.locator("#play").get_attribute("aria-label") == "Play"  # at rest: motion is not wanted here
        assert page.locator("#play").text_content() == "▶"
        for key, frame in (("End", 59), ("ArrowLeft", 58), ("Shift+ArrowLeft", 48), ("Home", 0), ("ArrowRight", 1)):
            page.keyboard.press(key)
            page.wait_for_function("k => +document.getElementById('scrub').value === k", arg=frame)
        page.locator("#scrub").fill("30")
        page.wait_for_function("() => document.getElementById('clock').textContent.startsWith('0.30 / 0.59 s · 31/60')")
        page.locator("#speed").select_option("0.25")
        page.keyboard.press("d")
        page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
        page.locator("#play").click()
        page.wait_for_function("() => +document.getElementById('scrub').value !== 30")
        page.locator("#play").click()
        at = shown()
        page.wait_for_timeout(100)
        assert shown() == at
        assert not page.said


@pytest.mark.slow
def test_what_is_under_the_pointer_is_named_and_stands_where_it_is_drawn(run, written, opened):
    _, s = run
    with opened(written.as_uri(), offline=True) as page:
        page.evaluate("cbsim.ready")
        page.evaluate("cbsim.seek(5)")
        x, y = page.evaluate("p => cbsim.project(p)", s.x[5, 0].tolist())
        page.mouse.move(x, y)
        page.wait_for_function("() => !document.getElementById('tip').hidden")
        lines = page.locator("#tip").text_content().splitlines()
        assert lines[0] == "robot/trunk"
        np.testing.assert_allclose([float(c) for c in lines[1].split()[:3]], s.x[5, 0], atol=6e-4)
        page.mouse.move(5, 300)
        page.wait_for_function("() => document.getElementById('tip').hidden")
        assert not page.said


@pytest.mark.slow
def test_a_coloured_body_is_seen_where_the_camera_projects_it(tmp_path, opened):
    ball = gallery.build("sphere")
    path = mb.export_html(ball, None, tmp_path / "page.html", color=(1, 0, 0, 1))
    with opened(path.as_uri(), offline=True) as page:
        page.evaluate("cbsim.ready")
        pixels = pixels_of(page)
        red = (pixels[..., 0] > 2 * pixels[..., 1].astype(int) + 40).nonzero()
        expected = page.evaluate("p => cbsim.project(p)", ball.bodies[0].state.x2.tolist())
        np.testing.assert_allclose([red[1].mean(), red[0].mean()], expected, atol=8.0)  # lit from one side
        assert not page.said


LIT = {
    "directional": {"direction": (0, 0, -1)},
    "point": {"position": (0, 0, 3)},
    "spot": {"position": (0, 0, 3), "direction": (0, 0, -1)},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LIT)
def test_a_lamp_lights_the_side_that_it_shines_at_in_its_color(kind, tmp_path, opened):
    """A white ball, seen from the side: red from above, black below; black all over where a spot shines elsewhere."""
    ball = gallery.build("sphere")
    centre = np.array(ball.bodies[0].state.x2)
    brightness = []
    for away in (False, True) if kind == "spot" else (False,):
        vis = mb.Visualizer()
        mb.set_light(vis, ambient=0.0, fill=0.0, point_x=0.0, point_x_shadow=False)
        mb.set_camera(vis, cam_pos=centre + np.array([4.0, 0.0, 0.0]), look_at=centre)
        where = {key: value + centre if key == "position" else value for key, value in LIT[kind].items()}
        mb.set_lamp(vis, kind, color=(1, 0, 0), **(where | ({"direction": (0, 0, 1)} if away else {})))
        path = mb.export_html(ball, None, tmp_path / "page.html", vis=vis, color=(1, 1, 1, 1))
        with opened(path.as_uri(), offline=True) as page:
            page.evaluate("cbsim.ready")
            radius = ball.bodies[0].shape.r
            spots = [page.evaluate("p => cbsim.project(p)", [*centre[:2], centre[2] + up]) for up in (0.7 * radius, 0)]
            pixels = pixels_of(page).astype(int)
            top, middle = (pixels[round(y), round(x)] for x, y in spots)
            low = pixels[round(2 * spots[1][1] - spots[0][1]), round(spots[1][0])]
            assert top[1] < 10
            assert low.max() < 10
            assert middle[0] <= top[0]
            brightness.append(top[0])
            assert not page.said
    assert brightness[0] > 150
    assert max(brightness[1:], default=0) < 10


def test_the_page_projects_before_its_first_animation_frame(run, tmp_path, opened):
    path = mb.export_html(*run, tmp_path / "page.html")
    with opened("about:blank", offline=True) as page:
        page.add_init_script("window.requestAnimationFrame = () => 0")
        page.goto(path.as_uri())
        page.evaluate("cbsim.ready")
        assert page.evaluate("cbsim.project(cbsim.pose(cbsim.frames[0]).position)")


def pixels_of(page):
    import io

    import pygame

    return np.swapaxes(pygame.surfarray.array3d(pygame.image.load(io.BytesIO(page.screenshot()))), 0, 1)


@pytest.mark.slow
def test_camera_toggles_and_a_scene_with_everything_in_it_draw_without_complaint(run, tmp_path, opened):
    vis = mb.Visualizer()
    mb.set_surface(
        vis, lambda x, y: -0.2 + 0.02 * np.sin(5 * x) * y, xlims=(-2, 2), ylims=(-2, 2), n=30, color=(0, 1, 0, 0.4)
    )
    mb.set_arrow(vis, (0, 0, 0.6), (0.3, 0, 0.2))
    mb.set_background(vis, top_color=(0.2, 0.1, 0.3), bottom_color=(0, 0, 0))
    mb.set_light(vis, direction="Negative", point_x_shadow=False)
    mb.set_floor(vis, x=4, y=4, normal=(0.1, 0, 1), imagename=picture(tmp_path), axis=True)
    mb.set_camera(vis, zoom=1.5, follow=True)
    path = mb.export_html(*run, tmp_path / "page.html", vis=vis, show_joint=True, show_frame=True, show_contact=True)
    with opened(path.as_uri(), offline=True, dark=True, size=(420, 700)) as page:
        page.evaluate("cbsim.ready")
        for button in page.locator("#toggles button").all():
            button.click()
        page.mouse.move(200, 300)
        page.mouse.down()
        page.mouse.move(260, 340)
        page.mouse.up()
        page.mouse.wheel(0, 300)
        page.keyboard.press("r")
        page.evaluate("cbsim.seek(40)")
        assert page.locator("#labels span").count() > 3
        assert np.ptp(pixels_of(page)[200:500, 50:370].reshape(-1, 3), axis=0).min() > 30
        assert not page.said


def picture(folder):
    import pygame

    surface = pygame.Surface((8, 8))
    surface.fill((200, 180, 150))
    surface.fill((90, 80, 60), (0, 0, 4, 4))
    pygame.image.save(surface, folder / "tile.png")
    return folder / "tile.png"


@pytest.mark.slow
def test_an_empty_scene_is_a_page_too(tmp_path, opened):
    path = tmp_path / "page.html"
    path.write_text(page_of(Scene(), "nothing"))
    with opened(path.as_uri(), offline=True) as page:
        assert page.evaluate("cbsim.ready")
        assert not page.said


COVERED = """() => {
  const parts = ['header', '#toggles', '#player > *', '#help'].flatMap((s) => [...document.querySelectorAll(s)]);
  const boxes = parts.map((e) => [e.id || e.tagName, e.getBoundingClientRect()]).filter(([, r]) => r.width);
  const apart = (a, b) => a.right < b.left + 0.5 || a.bottom < b.top + 0.5;
  const meet = (a, b) => !apart(a, b) && !apart(b, a);
  const out = boxes.filter(([, r]) => r.left < 0 || r.top < 0 || r.right > innerWidth || r.bottom > innerHeight);
  const covered = ([n, a], i) => boxes.slice(i + 1).filter(([, b]) => meet(a, b)).map(([o]) => `${n} ${o}`);
  return [...out.map(([n]) => n), ...boxes.flatMap(covered)];
}"""


@pytest.mark.slow
@pytest.mark.parametrize("size", [(360, 640), (700, 400), (1280, 800)])
def test_nothing_on_the_page_covers_anything_else_or_leaves_it(written, opened, size):
    with opened(written.as_uri(), offline=True, size=size) as page:
        page.evaluate("cbsim.ready")
        page.keyboard.press("?")
        page.wait_for_function("() => !document.getElementById('help').hidden")
        assert page.evaluate(COVERED) == []
        assert not page.said
