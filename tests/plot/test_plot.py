"""What is plotted is what was recorded; files are the same each time; what cannot be drawn is refused in words."""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import cbsim
from cbsim.errors import UsageError
from cbsim.plot import KINDS, PlotRequest, data_of, figure_of, write_plot
from cbsim.plot.backend import settings
from cbsim.plot.labels import LabelPlacer
from cbsim.plot.map_background import extent_of, scale_length
from cbsim.plot.tracks import MOST, NEAR, runs_of
from cbsim.recording.recording import Recording

SCENARIO = """
network: four_way_stop
mission: four_way_stop
duration: 6
add:
  - name: Eye
    kind: autonomous
    size: [1.7, 3.68, 2.16]
    at: {waypoint: 3.2.1, station: 3}
    sensors: [velodyne]
  - name: $Tr_u$ck
    kind: dynamic
    size: [2.5, 8, 3]
    at: {waypoint: 3.2.1}
    position_offset: [0, -24, 0]
    script: [{speed: 12, distance: 60, angle: 4}]
  - {name: Barrel, shape: cylinder, size: [0.6, 0.6, 1], at: {waypoint: 3.2.3, offset: -3}}
"""


LITERAL = """\
network: four_way_stop
mission: four_way_stop
duration: 25
add:
  - name: CajunBot
    kind: autonomous
    size: [1.7, 3.68, 2.16]
    at: 3.2.1
  - name: Pickup
    kind: dynamic
    size: [2, 5.3, 1.9]
    at: 1.1.1
    goals: [{waypoint: 1.1.6, speed: 10, pause: 2}, {waypoint: 3.1.1, speed: 8}, {waypoint: 3.1.6, speed: 10}]
  - name: Sedan
    kind: dynamic
    size: [1.8, 4.6, 1.45]
    at: 2.1.1
    goals: [{waypoint: 2.1.1, speed: 10, pause: 4}, {waypoint: 2.1.6, speed: 10, pause: 2}, {waypoint: 3.1.4, speed: 5}]
  - name: Bus
    kind: dynamic
    size: [2.5, 9, 3]
    at: 4.2.1
    goals: [{waypoint: 4.2.1, speed: 10, pause: 8}, {waypoint: 4.2.6, speed: 10, pause: 2}, {waypoint: 2.2.1, speed: 6}]
  - {name: Barrel, shape: cylinder, size: [0.6, 0.6, 1.1], at: {waypoint: 1.1.5, offset: -2.8}}
"""


@pytest.fixture(scope="module")
def traffic(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plot")
    path = folder / "traffic.mcap"
    (folder / "literal.yaml").write_text(LITERAL)
    cbsim.run(cbsim.load(folder / "literal.yaml"), duration=25.0).save(path)
    return path


@pytest.fixture(scope="module")
def sensed(tmp_path_factory):
    path = tmp_path_factory.mktemp("plot") / "sensed.mcap"
    cbsim.run(cbsim.load("sensors"), duration=2.0).save(path)
    return path


@pytest.fixture
def library():
    return pytest.importorskip("matplotlib")


@pytest.mark.parametrize(("begin", "end"), [(0.0, np.inf), (4.0, 9.0)])
def test_trajectories_are_the_recorded_places_within_the_time(traffic, begin, end):
    recording = Recording.open(traffic)
    ((_, drawn),) = data_of([recording], request=PlotRequest(begin=begin, end=end)).items()
    kept = (recording.times >= begin - 1e-9) & (recording.times <= end + 1e-9)
    assert len(drawn) > 1
    for name, rows in drawn.items():
        np.testing.assert_array_equal(rows[:, 0], recording.times[kept])
        np.testing.assert_array_equal(rows[:, 1:], recording.positions(name)[kept, :2])


def test_profiles_are_the_recorded_speeds_and_integrate_to_the_way(traffic):
    recording = Recording.open(traffic)
    (drawn,) = data_of([recording], "speed").values()
    for name, rows in drawn.items():
        time, way, speed, acceleration, _ = rows.T
        np.testing.assert_array_equal(speed, recording.speeds(name))
        assert np.isnan(acceleration[0])
        np.testing.assert_allclose(acceleration[1:] * np.diff(time), np.diff(speed), rtol=1e-9, atol=1e-12)
        assert way[0] == 0.0
        assert (np.diff(way) >= 0.0).all()
        step = np.linalg.norm(np.diff(recording.positions(name), axis=0), axis=1)
        np.testing.assert_allclose(way[-1], step.sum(), rtol=1e-12)


def test_the_way_begins_with_the_time_that_is_shown_but_goals_are_those_of_the_whole_run(traffic):
    recording = Recording.open(traffic)
    (whole,), (late,) = runs_of([recording], PlotRequest()), runs_of([recording], PlotRequest(begin=10.0))
    for one, other in zip(whole.tracks, late.tracks, strict=True):
        first = int(np.searchsorted(one.times, other.times[0]))
        assert other.distance[0] == 0.0
        assert [row + first for row in other.reached] == [row for row in one.reached if row >= first]
    assert any(len(one.reached) > 1 for one in whole.tracks)


def test_goals_are_reached_where_the_object_is_next_to_them(traffic):
    recording = Recording.open(traffic)
    (run,) = runs_of([recording], PlotRequest(objects=("Pickup",)))
    track = run.tracks[0]
    assert list(track.reached) == sorted(track.reached)
    stops = [row for row in track.reached if track.speeds[row] == 0.0]
    assert stops, "the pickup pauses at the stop line, which is a goal"
    line = min(float(np.linalg.norm(track.places[stops[-1]] - stop.mean(axis=0))) for stop in run.road.stops)
    assert line < NEAR + 0.5


def test_outlines_have_the_size_of_the_body_and_stand_around_its_centre(traffic):
    (run,) = runs_of([Recording.open(traffic)], PlotRequest())
    for track in run.tracks:
        corners = track.outline(len(track.times) // 2)
        centre = track.places[len(track.times) // 2]
        np.testing.assert_allclose(corners.mean(axis=0), centre, atol=1e-9)
        sides = np.linalg.norm(np.diff(corners, axis=0), axis=1)
        np.testing.assert_allclose(sorted(sides)[0], track.body.size[0], rtol=1e-9)
        ahead = np.array([-np.sin(track.headings[0]), np.cos(track.headings[0])])
        first = track.outline(0) - track.places[0]
        np.testing.assert_allclose(np.ptp(first @ ahead), track.body.size[1], rtol=1e-9)


def test_scans_are_the_recorded_returns_in_either_frame(sensed):
    recording = Recording.open(sensed)
    key = recording.header.sensors[0]["key"]
    wished = recording.scans(key)[7]
    ((_, world),) = data_of([recording], "scan", PlotRequest(at=(wished.time,), sensor=key))["scan"].items()
    np.testing.assert_array_equal(world, wished.points[wished.returned][:, :2])
    ((_, local),) = data_of([recording], "scan", PlotRequest(at=(wished.time,), sensor=key, frame="sensor"))[
        "scan"
    ].items()
    assert local.shape == world.shape
    reach = (wished.directions[..., :2] ** 2).sum(axis=-1)[wished.returned] ** 0.5 * wished.ranges[wished.returned]
    np.testing.assert_allclose(np.linalg.norm(local, axis=1), reach, rtol=1e-12)
    ((name, every),) = data_of([recording], "scan", PlotRequest(sensor=key))["scan"].items()
    assert len(every) == sum(int(scan.returned.sum()) for scan in recording.scans(key))
    assert f"{len(recording.scans(key))} scans" in name


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
@pytest.mark.parametrize("kind", list(KINDS))
def test_the_same_recording_gives_the_same_bytes(library, sensed, tmp_path, kind, suffix):
    for name in ("one", "two"):
        with library.rc_context({"font.size": 20.0 if name == "two" else 5.0}):  # the user's settings do not matter
            write_plot(Recording.open(sensed), tmp_path / f"{name}.{suffix}", kind)
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()


def test_lines_of_the_figure_are_the_data(library, traffic):
    recording = Recording.open(traffic)
    with settings():
        drawn = figure_of(runs_of([recording], PlotRequest()), "trajectories")
    (axes,) = drawn.axes
    lines = [line.get_xydata() for line in axes.lines]
    for name in ("Pickup", "Sedan", "Bus"):
        place = recording.positions(name)[:, :2]
        assert any(line.shape == place.shape and (line == place).all() for line in lines), name
    assert axes.get_aspect() == 1.0


def test_text_stays_text_and_odd_names_are_written_as_they_are(library, tmp_path):
    path = tmp_path / "odd.yaml"
    path.write_text(SCENARIO.replace("    sensors: [velodyne]\n", ""))
    recording = cbsim.run(cbsim.load(path))
    write_plot([recording, recording], tmp_path / "odd.svg", "speed", PlotRequest(title="_ 5 < 6 \x01", style="bw"))
    text = (tmp_path / "odd.svg").read_text()
    importlib.import_module("xml.etree.ElementTree").fromstring(text)
    assert ">$Tr_u$ck, " in text
    assert "acceleration [m/s²]" in text
    assert "5 &lt; 6 �" in text


@pytest.mark.parametrize("style", ["colour", "bw"])
def test_lines_of_one_figure_look_different(library, traffic, style):
    recording = Recording.open(traffic)
    from cbsim.plot.style import line_styles_of

    styles = [line_style for _, _, line_style in line_styles_of(runs_of([recording, recording], PlotRequest()), style)]
    assert len({(line_style.colour, line_style.dash) for line_style in styles}) == len(styles) == 6
    assert len({line_style.name for line_style in styles}) == 6


@pytest.mark.parametrize(("style", "runs"), [("colour", 1), ("colour", 2), ("bw", 1)])
def test_as_many_lines_as_are_drawn_unasked_differ(style, runs):
    from cbsim.plot.style import _line_style

    styles = [_line_style(one, number, MOST, runs, style, "") for one in range(MOST) for number in range(runs)]
    assert len({(line_style.colour, line_style.dash) for line_style in styles}) == MOST * runs


def test_models_are_drawn_too(library, tmp_path):
    recording = cbsim.run(cbsim.load("crash_dummy"), duration=0.3)
    ((_, drawn),) = data_of([recording], "speed").items()
    assert 0 < len(drawn) <= MOST
    for name, rows in drawn.items():
        if name in recording.bodies:
            np.testing.assert_array_equal(rows[:, 2], np.linalg.norm(recording.velocities(name), axis=1))
    assert write_plot(recording, tmp_path / "model.svg")[0].tracks


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        (PlotRequest(objects=("Pikup",)), "speed", "did you mean 'Pickup'?"),
        (PlotRequest(begin=5.0, end=5.0), "speed", "there is no time"),
        (PlotRequest(begin=900.0), "speed", "there is 0 s to 25 s"),
        (PlotRequest(style="gray"), "speed", "there is colour, bw"),
        (PlotRequest(size=(1.0, 50.0)), "speed", "from 20 to 2000 mm"),
        (PlotRequest(at=(float("nan"),)), "speed", "no time"),
        (PlotRequest(at=(30.0,)), "trajectories", "at 30 s nothing is shown; there is 0 s to 25 s"),
        (PlotRequest(at=(3.0,), begin=5.0, end=6.0), "trajectories", "there is 5 s to 6 s"),
        (PlotRequest(), "sped", "did you mean 'speed'?"),
        (PlotRequest(sensor="Bus/eye"), "scan", "no laser 'Bus/eye'"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(traffic, options, kind, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        data_of([Recording.open(traffic)], kind, options)


def test_without_matplotlib_the_message_says_how_to_install_it(traffic, tmp_path, monkeypatch):
    for name in [one for one in sys.modules if one.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip install 'cbsim\[report\]'"):
        write_plot(Recording.open(traffic), tmp_path / "x.svg")
    assert not (tmp_path / "x.svg").exists()


def test_a_figure_too_small_for_its_labels_is_refused(library, traffic, tmp_path):
    with pytest.raises(UsageError, match="20 x 20 mm are too small"):
        write_plot(Recording.open(traffic), tmp_path / "x.png", "speed", PlotRequest(size=(20.0, 20.0)))


def test_names_in_the_legend_stay_within_the_figure(library, traffic):
    recording = Recording.open(traffic)
    with settings():
        drawn = figure_of(runs_of([recording, recording], PlotRequest()), "speed", PlotRequest(size=(88.0, 100.0)))
        drawn.draw_without_rendering()
        boxes = [text.get_window_extent() for text in drawn.legends[0].get_texts()]
    assert min(box.x0 for box in boxes) > 0.0
    assert max(box.x1 for box in boxes) < drawn.bbox.width


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e300])
@pytest.mark.parametrize("kind", ["trajectories", "speed"])
def test_a_run_that_went_wrong_is_drawn_as_far_as_it_can_be(library, traffic, tmp_path, monkeypatch, kind, wrong):
    def batches(recording, old=Recording.batches):
        for batch in old(recording):
            motion = batch.motion.copy()
            motion[-3:, 0, :10] = wrong
            yield replace(batch, motion=motion)

    monkeypatch.setattr(Recording, "batches", batches)
    write_plot(Recording.open(traffic), tmp_path / "x.svg", kind)
    assert "<svg" in (tmp_path / "x.svg").read_text()


def test_a_recording_without_files_has_no_road_but_its_lines(library, traffic, tmp_path):
    recording = Recording.open(traffic)
    recording.sources = {}
    (run,) = write_plot(recording, tmp_path / "x.svg")
    assert run.road is None
    np.testing.assert_array_equal(run.tracks[0].places, recording.positions(run.tracks[0].body.name)[:, :2])


def test_a_file_of_another_kind_is_refused(traffic, tmp_path):
    with pytest.raises(UsageError, match=r"ends in \.svg, \.pdf, \.png"):
        write_plot(Recording.open(traffic), tmp_path / "x.jpg")


@pytest.mark.parametrize("most", [0.011, 0.3, 1.0, 4.99, 5.0, 777.0, 1e6])
def test_scale_bars_are_round_and_no_longer_than_asked_and_more_than_two_fifths_of_it(most):
    length = scale_length(most)
    assert 0.4 * most <= length <= most * (1.0 + 1e-9)
    assert f"{length:.0e}"[0] in "125"


def test_extents_hold_all_points_whatever_is_not_finite():
    points = np.random.default_rng(3).normal(size=(50, 2)) * [300.0, 5.0]
    points[7] = np.nan
    left, right, bottom, top = extent_of(points, (160.0, 120.0))
    known = np.delete(points, 7, axis=0)
    assert left < known[:, 0].min()
    assert right > known[:, 0].max()
    assert bottom < known[:, 1].min()
    assert top > known[:, 1].max()


@pytest.mark.parametrize("among_cars", [False, True])
def test_accelerations_of_models_are_shown_whole_and_jumps_of_traffic_are_cut(library, tmp_path, among_cars):
    scenario = tmp_path / "cart.yaml"
    car = "add: [{name: Car, kind: dynamic, position: [50, 0, 0], script: [{speed: 9, distance: 60, angle: 0}]}]\n"
    fast = "{friction_law: coulomb, friction: 9, gravity: 40, joystick1.y: -1}"
    cart = f"{{file: models/cart.jm, position: [0, 0, 0], settings: {fast}}}"
    scenario.write_text(f"duration: 1\nmodels: [{cart}]\n{car if among_cars else ''}")
    (run,) = runs = runs_of([cbsim.run(cbsim.load(scenario))], PlotRequest())
    least, most = figure_of(runs, "speed", PlotRequest()).axes[2].get_ylim()
    steepest = max(np.nanmax(np.abs(track.accelerations)) for track in run.tracks)
    assert steepest > 12.0
    assert max(-least, most) == 12.0 if among_cars else max(-least, most) >= steepest


def test_times_of_bodies_that_are_close_do_not_stand_over_each_other(library, tmp_path):
    scenario = tmp_path / "close.yaml"
    way = "kind: dynamic, script: [{speed: 3, distance: 60, angle: 0}]"
    cars = "".join(f"  - {{name: Car {k}, position: [{2.5 * k}, {0.4 * k}, 0], {way}}}\n" for k in range(5))
    scenario.write_text(f"duration: 4\nadd:\n{cars}")
    recording = cbsim.run(cbsim.load(scenario))
    options = PlotRequest(at=(0.0, 1.0, 1.5, 2.0, 3.0))
    drawn = figure_of(runs_of([recording], options), "trajectories", options)
    drawn.canvas.draw()
    told = [text for text in drawn.axes[0].texts if text.get_text().endswith(" s")]
    assert len(told) == 25
    for text in told:
        text.get_window_extent()  # puts it in its place
    boxes = [library.text.Text.get_window_extent(text) for text in told]  # without the lines that lead there
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[k + 1 :])


@pytest.mark.parametrize(("kind", "first"), [("trajectories", 1), ("scan", 6)])
def test_numbers_of_checkpoints_that_are_close_do_not_stand_over_each_other(library, tmp_path, kind, first):
    network = tmp_path / "spots.rndf"
    places = "".join(f"1.1.{k} 30.0 {-90.0 + 4e-5 * k:.6f}\ncheckpoint 1.1.{k} {k}\n" for k in range(1, 9))
    network.write_text(f"RNDF_name spots\nnum_segments 1\nnum_zones 0\nsegment 1\nnum_lanes 1\nlane 1.1\n"
                       f"num_waypoints 8\n{places}end_lane\nend_segment\nend_file\n")  # fmt: skip
    scenario = tmp_path / "spots.yaml"
    sensor = "sensors: [cajunbot/onboard/scan_gp_driver_0.conf]"
    bot = f"{{name: Bot, kind: autonomous, controller: manual, at: 1.1.8, {sensor}}}"
    car = "{name: Car, kind: dynamic, at: 1.1.1, script: [{speed: 5, distance: 200, angle: -90}]}"
    scenario.write_text(f"network: spots.rndf\nduration: 40\nadd:\n  - {bot}\n  - {car}\n")
    recording = cbsim.run(cbsim.load(scenario))
    options = PlotRequest(frame="world") if kind == "scan" else PlotRequest()
    drawn = figure_of(runs_of([recording], options), kind, options)
    drawn.canvas.draw()
    told = [text for text in drawn.axes[0].texts if text.get_text().isdigit()]
    assert [text.get_text() for text in told] == [str(k) for k in range(first, 9)]
    for text in told:
        text.get_window_extent()  # puts it in its place
    boxes = [library.text.Text.get_window_extent(text) for text in told]
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[k + 1 :])


def test_a_label_that_is_nearer_to_another_outline_has_a_line_to_its_own():
    """Two bodies side by side, 0.1 m between them: what stands in that gap or over both could be of either."""
    told = []
    axes = SimpleNamespace(annotate=lambda text, *_, **how: told.append((text, how["arrowprops"])))
    square = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)])
    near, far = (square + np.array([x, 0.0]) for x in (2.1, 40.0))
    labels = LabelPlacer((0.0, 50.0, -20.0, 20.0), (200.0, 160.0), [square, near, far])
    for text, corners in (("0 s", square), ("1 s", near), ("2 s", far)):
        labels.put(axes, text, corners, "black")
    leads = {text: line is not None for text, line in told}
    assert leads == {"0 s": True, "1 s": False, "2 s": False}
    assert told[0][1]["color"] == "black"
