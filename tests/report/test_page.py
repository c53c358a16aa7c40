"""The page: one file that asks for nothing, sound HTML, and in a browser what the recording says."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import escape

import numpy as np
import pytest

import cbsim
from cbsim.palette import KINDS
from cbsim.recording.drawings import DrawingRow
from cbsim.recording.recording import Recording
from cbsim.report import page_of, write_report
from cbsim.report.data import run_of
from cbsim.report.frames import Motion
from cbsim.report.tables import command
from cbsim.spec.drawing import Line
from tests.report.pages import Outline, data_of

ARM = """<robot name="arm">
<link name="base"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size="0.5 0.3 0.2"/></geometry></visual></link>
<link name="rod"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size="0.1 0.1 0.5"/></geometry></visual></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="1 0 0"/></joint></robot>"""
SHOWN = "() => document.getElementById('clock').textContent"


def test_the_page_names_no_other_file_and_no_address(page):
    assert not re.search(r"https?:|//[a-z]+\.|src=|@import|href=\"(?!data:|#)", page)
    assert "default-src 'none'" in page


def test_the_same_recording_gives_the_same_page(hit, page):
    assert page_of([run_of(Recording.open(hit))]) == page


@pytest.mark.parametrize("count", [1, 2])
def test_elements_are_nested_named_and_labelled(run, other, count):
    found = Outline(page_of([run, run_of(Recording.open(other))][:count]))
    assert not found.wrong
    ids = [attributes["id"] for _, attributes, _ in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes, _ in found.elements:
        for key in ("aria-labelledby", "aria-describedby", "for"):
            assert set(attributes.get(key, "").split()) <= set(ids)
    assert [len(found.all(tag)) for tag in ("main", "header", "h1", "title")] == [1, 1, 1, 1]
    assert found.all("html")[0]["lang"] == "en"
    assert all(button.get("type") == "button" for button in found.all("button"))
    for tag, attributes, above in found.elements:
        if tag in {"input", "select"}:
            assert "aria-label" in attributes or "label" in above
        if tag == "section":
            assert "aria-labelledby" in attributes
        if tag == "th":
            assert attributes["scope"] in {"row", "col"}


def test_every_check_stands_in_the_page_with_its_time_even_without_scripts(run, page):
    for event in run.events:
        assert escape(event.message) in page
        assert f'data-time="{event.time!r}"' in page
    assert "✗ fail" in page
    assert f"{sum(event.passed for event in run.events)} of 4 checks passed" in page


def test_names_cannot_break_out_of_the_page(tmp_path):
    path = tmp_path / "sly.yaml"
    path.write_text("duration: 1\nadd:\n  - {name: '</script><b>&', kind: static, position: [1, 2, 0]}\n")
    text = page_of([run_of(cbsim.run(cbsim.load(path)))], "{{data}}<i>")
    assert text.count("<script") == 2
    assert not Outline(text).wrong
    assert "<b>&" not in text
    assert data_of(text)[0]["runs"][0]["bodies"][0]["name"] == "</script><b>&"


def test_the_command_to_run_again_gives_the_same_digest(folder, run):
    words = command(run).split()
    assert words[:2] == ["cbsim", "run"]
    again = cbsim.run(cbsim.load(words[2], seed=int(words[words.index("--seed") + 1])))
    assert run_of(again).digest == run.digest


def test_two_runs_on_different_networks_are_told_apart(run):
    merge = run_of(cbsim.run(cbsim.load("merge"), duration=0.5))
    assert "on different networks" in page_of([run, merge])
    assert "on different networks" not in page_of([run, run])


NETWORK = """RNDF_name bare
num_segments 1
num_zones 0
segment 1
num_lanes 1
lane 1.1
num_waypoints 2
1.1.1 34.000000 -117.000000
1.1.2 34.001000 -117.000000
end_lane
end_segment
end_file
"""


def test_a_network_without_checkpoints_stops_and_exits_has_a_page(tmp_path):
    (tmp_path / "bare.rndf").write_text(NETWORK)
    (tmp_path / "bare.yaml").write_text("network: bare.rndf\nadd: [{name: Bot, kind: autonomous, at: 1.1.1}]\n")
    path = write_report(cbsim.run(cbsim.load(tmp_path / "bare.yaml"), duration=0.2), tmp_path / "bare.html")
    road = data_of(path.read_text())[0]["road"]
    assert [lane["name"] for lane in road["lanes"]] == ["1.1"]
    assert road["stops"] == []
    assert road["checkpoints"]["texts"] == []


def test_bodies_of_a_model_are_no_danger_to_each_other(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    found = run_of(cbsim.run(cbsim.load(path), duration=0.2))
    assert {body.kind for body in found.bodies} == {"model"}
    assert all(np.isnan(body.values["ttc"]).all() for body in found.plotted)


@pytest.mark.slow
def test_ten_minutes_of_forty_cars_are_less_than_five_megabytes(tmp_path):
    rng = np.random.default_rng(7)
    cars = []
    for k in range(40):
        speeds, ways, turns = rng.uniform(2, 15, 60), rng.uniform(20, 200, 60), rng.uniform(0, 360, 60)
        script = [
            {"speed": float(v), "distance": float(d), "angle": float(a)}
            for v, d, a in zip(speeds, ways, turns, strict=True)
        ]
        kind = "autonomous" if k < 12 else "dynamic"
        place = [40 * k, 0, 0]
        cars.append({"name": f"Car {k}", "kind": kind, "size": [1.8, 4.5, 1.5], "position": place, "script": script})
    path = tmp_path / "long.yaml"
    path.write_text(json.dumps({"duration": 600, "add": cars}))  # YAML too
    recording = cbsim.run(cbsim.load(path))
    page = write_report(recording, tmp_path / "long.html")
    assert len(recording) == 12001
    assert page.stat().st_size <= 5_000_000
    data, _ = data_of(page.read_text())
    assert data["runs"][0]["steps"]["count"] >= 3000


@pytest.mark.slow
def test_a_page_of_a_hundred_cars_that_never_go_straight_drops_frames_to_stay_below_five_megabytes(run):
    rng, count, cars = np.random.default_rng(1), 12001, 100

    def wander():
        turned = 0.05 * np.cumsum(np.convolve(rng.normal(0.0, 0.3, count), np.full(40, 0.025), "same"))
        way = 0.05 * (10.0 + np.convolve(rng.normal(0.0, 4.0, count), np.full(100, 0.1), "same"))
        return Motion(np.cumsum(-np.sin(turned) * way), np.cumsum(np.cos(turned) * way), turned)

    motions = {k: wander() for k in range(cars)}
    header = replace(run.header, moving=list(range(cars)), objects=run.header.objects[:1] * cars)
    bodies = [run.bodies[0]] * cars
    long = replace(run, header=header, steps=np.arange(count), motions=motions, bodies=bodies, plotted=[], events=[])
    text = page_of([long])
    assert len(text.encode()) <= 5_000_000
    assert data_of(text)[0]["runs"][0]["steps"]["count"] >= count // 2
    lost = re.search(r"bodies go straight, at most (\d\.\d{3}) m", text).group(1)
    assert 0.0 < float(lost) < 0.5


@pytest.mark.slow
def test_in_a_browser_bodies_are_where_the_recording_has_them_and_nothing_is_asked_for(hit, page, folder, opened):
    path = folder / "page.html"
    path.write_text(page)
    recording = Recording.open(hit)
    with opened(path.as_uri(), offline=True, size=(1280, 800)) as tab:
        assert tab.evaluate("cbsim.ready")
        for k in (0, 41, 100, 240):
            tab.evaluate("t => cbsim.show(t)", recording.times[k])
            for name in recording.names:
                x, y, turned = tab.evaluate("name => cbsim.pose(name)", name)
                np.testing.assert_allclose([x, y], recording.positions(name)[k, :2], atol=0.5e-3 + 1e-9)
                assert np.cos(turned - recording.headings(name)[k]) > 1.0 - 1e-8
        middle = tab.evaluate("t => { cbsim.show(t); return cbsim.pose('Truck'); }", 0.5 * sum(recording.times[40:42]))
        np.testing.assert_allclose(middle[:2], recording.positions("Truck")[40:42, :2].mean(axis=0), atol=1e-3)
        assert not tab.said


@pytest.mark.slow
def test_in_a_browser_it_is_scrubbed_played_and_clicked(page, folder, opened, run):
    path = folder / "page.html"
    path.write_text(page)
    with opened(path.as_uri(), offline=True, size=(1280, 800)) as tab:
        tab.evaluate("cbsim.ready")
        clock = lambda: tab.evaluate(SHOWN)  # noqa: E731
        first = next(event for event in run.events if not event.passed)
        tab.wait_for_function(f"() => document.getElementById('clock').textContent === '{first.time:.2f} / 12.00 s'")
        tab.locator("#view").focus()
        keys = {"End": 12.0, "ArrowLeft": 11.95, "Shift+ArrowLeft": 10.95, "Home": 0.0, "ArrowRight": 0.05}
        for key, time in keys.items():
            tab.keyboard.press(key)
            tab.wait_for_function(f"() => document.getElementById('clock').textContent === '{time:.2f} / 12.00 s'")
        tab.locator("#scrub").fill("100")
        tab.wait_for_function("() => document.getElementById('clock').textContent.startsWith('5.00')")
        tab.locator("#view").focus()
        tab.keyboard.press("Space")
        tab.wait_for_function("() => !document.getElementById('clock').textContent.startsWith('5.00')")
        tab.keyboard.press("Space")
        assert tab.locator("#play").get_attribute("aria-label") == "Play"
        tab.locator(".jump").first.click()
        hit = run.events[0]
        tab.wait_for_function(f"() => document.getElementById('clock').textContent.startsWith('{hit.time:.2f}')")
        assert tab.locator("figcaption").first.text_content().startswith("Speed [m/s]")
        box, (x, y) = tab.locator("#view").bounding_box(), tab.evaluate("p => cbsim.project(...p)", list(hit.place))
        np.testing.assert_allclose([x, y], [box["width"] / 2, box["height"] / 2], atol=3.0)
        tab.keyboard.press("Tab")
        tab.evaluate("cbsim.show(0)")
        tab.mouse.click(box["x"] + x + 1, box["y"] + y + 1)  # the event itself leads there too
        tab.wait_for_function(f"() => document.getElementById('clock').textContent.startsWith('{hit.time:.2f}')")
        tab.mouse.move(box["x"] + x + 1, box["y"] + y + 2)
        tab.wait_for_function("() => !document.getElementById('tip').hidden")
        plot = tab.locator("figure canvas").first.bounding_box()
        tab.mouse.click(plot["x"] + 44 + (plot["width"] - 52) / 2, plot["y"] + 40)
        tab.wait_for_function("() => document.getElementById('clock').textContent.startsWith('6.0')")
        tab.get_by_label("Follow").select_option(label="Truck")
        tab.wait_for_function("() => cbsim.page.replay.follow !== null")
        tab.get_by_role("button", name="Show all").click()
        assert clock().endswith("/ 12.00 s")
        assert not tab.said


@pytest.mark.slow
def test_in_a_browser_a_failed_run_opens_at_its_first_failure_with_both_bodies_in_the_picture(
    page, folder, opened, run
):
    path = folder / "page.html"
    path.write_text(page)
    first = min((event for event in run.events if event.passed is False), key=lambda event: event.time)
    with opened(path.as_uri(), offline=True, size=(1280, 800)) as tab:
        tab.evaluate("cbsim.ready")
        tab.wait_for_function(f"() => document.getElementById('clock').textContent.startsWith('{first.time:.2f} /')")
        box = tab.locator("#view").bounding_box()
        assert tab.evaluate("cbsim.page.replay.scale") * 60.0 > box["width"]  # [pixels/m]: near
        for name, half in (("CajunBot", 2.1), ("Truck", 4.2)):  # half of their diagonals [m]
            x, y, _ = tab.evaluate("name => cbsim.pose(name)", name)
            for corner in ([x - half, y - half], [x + half, y + half]):
                left, top = tab.evaluate("p => cbsim.project(...p)", corner)
                assert 0.0 < left < box["width"]
                assert 0.0 < top < box["height"]
        assert not tab.said


PAINTED = """() => {
  const canvas = document.getElementById('view'), [x, y] = cbsim.project(...cbsim.pose('Truck').slice(0, 2));
  const ratio = canvas.width / canvas.clientWidth, pen = canvas.getContext('2d');
  return [...pen.getImageData(x * ratio, y * ratio, 1, 1).data];
}"""


@pytest.mark.slow
def test_in_a_browser_the_truck_is_painted_where_it_is(page, folder, opened):
    path = folder / "page.html"
    path.write_text(page)
    with opened(path.as_uri(), offline=True, size=(1280, 800)) as tab:
        tab.evaluate("cbsim.ready")
        tab.evaluate("() => { const r = cbsim.page.replay; r.scale = 12; r.names = false; r.trail = 0; }")
        for time in (0.5, 4.0):
            tab.evaluate("t => { cbsim.page.replay.centre = [0, 0]; cbsim.show(t); }", time)
            tab.evaluate("() => { cbsim.page.replay.centre = cbsim.pose('Truck').slice(0, 2); cbsim.page.draw(); }")
            assert tab.evaluate(PAINTED) == [*KINDS["dynamic"].fill, 255]
        assert not tab.said


@pytest.mark.slow
@pytest.mark.parametrize("size", [(400, 800), (1400, 900)])
def test_in_a_browser_two_runs_are_overlaid_and_nothing_is_wider_than_the_page(run, other, folder, opened, size):
    path = folder / "both.html"
    path.write_text(page_of([run, run_of(Recording.open(other))]))
    with opened(path.as_uri(), offline=True, size=size) as tab:
        tab.evaluate("cbsim.ready")
        tab.evaluate("cbsim.show(1.0)")
        first, second = (tab.evaluate("run => cbsim.pose('CajunBot', run)", k) for k in (0, 1))
        assert 5.9 < np.hypot(second[0] - first[0], second[1] - first[1]) < 6.1
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert not tab.said


@pytest.mark.slow
def test_in_a_browser_the_line_that_the_planner_shows_is_painted_until_it_is_switched_off(run, folder, opened):
    assert run.drawings, "the pilot shows where it goes"
    path = folder / "thinking.html"
    row = DrawingRow(0, (Line([(0.0, 0.0), (0.0, 500.0), (500.0, 500.0)], width=40.0, colour=(1, 2, 3)),))
    path.write_text(page_of([replace(run, drawings=[row])]))
    count = """() => { cbsim.page.draw(); const view = document.getElementById('view'), pen = view.getContext('2d');
        const { data } = pen.getImageData(0, 0, view.width, view.height); let found = 0;
        for (let i = 0; i < data.length; i += 4) found += data[i] === 1 && data[i + 1] === 2 && data[i + 2] === 3;
        return found; }"""
    with opened(path.as_uri(), offline=True, size=(1280, 800)) as tab:
        tab.evaluate("cbsim.ready")
        tab.evaluate("() => { cbsim.page.replay.centre = [0, 250]; cbsim.page.replay.scale = 0.5; cbsim.show(3.0); }")
        assert tab.evaluate(count) > 4000
        tab.locator("#annotations").uncheck()
        assert tab.evaluate(count) == 0
        assert not tab.said


@pytest.mark.slow
def test_in_a_browser_a_model_tilts_as_recorded_and_is_seen_from_the_side(tmp_path, opened):
    (tmp_path / "arm.urdf").write_text(ARM)
    recording = cbsim.run(cbsim.load(tmp_path / "arm.urdf"), duration=1.0)
    write_report(recording, tmp_path / "arm.html")
    with opened((tmp_path / "arm.html").as_uri(), offline=True, size=(1280, 800)) as tab:
        tab.evaluate("cbsim.ready")
        tab.evaluate("cbsim.show(0.5)")
        for row, name in enumerate(recording.names):
            height, turn = tab.evaluate("row => cbsim.page.runs[0].tilt(row, 0.5)", row)
            place, recorded = recording.positions(name)[50], recording.orientations(name)[50]
            assert height == pytest.approx(place[2], abs=1e-3)
            assert abs(np.dot(turn, recorded)) > 1.0 - 1e-6
        assert tab.locator("#view").get_attribute("aria-label") == "Replay seen from above, north up"
        tab.locator("#from").select_option("east")
        assert tab.locator("#view").get_attribute("aria-label") == "Replay seen from the east"
        seen = tab.evaluate(
            """green => { cbsim.page.draw(); const view = document.getElementById('view');
            const { data } = view.getContext('2d').getImageData(0, 0, view.width, view.height); let found = 0;
            for (let i = 0; i < data.length; i += 4) found += green.every((one, k) => data[i + k] === one);
            return found; }""",
            list(KINDS["model"].fill),
        )
        area = seen / tab.evaluate("cbsim.page.replay.scale") ** 2
        assert 0.04 < area < 0.09, "a box of 0.3 x 0.2 m and a rod of 0.1 x 0.5 m through it, less their edges"
        assert not tab.said
