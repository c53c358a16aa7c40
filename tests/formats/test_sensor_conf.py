"""Sensor conf files: the grammar, the key table, the default models, consistency, files of other systems."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.formats import sensor_conf
from cbsim.formats.sensor_conf.keys import KEYS
from cbsim.spec.objects import Triple
from cbsim.spec.sensor import SensorConf
from cbsim.spec.sensor_models import SENSOR_MODELS
from tests.common import shared, shared_files
from tests.formats.object_texts import codes, read_with


def read(text, path="onboard/unit_7.conf"):
    return read_with(sensor_conf, text, path)


def degrees(*angles):
    return pytest.approx([math.radians(angle) for angle in angles])


def view(conf):
    return [conf.start_angle, conf.end_angle]


# --- the grammar -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "line", ["pitch = -8", "pitch=-8", "pitch: -8", "PITCH -8", "\tpitch\t-8 # deg", "pitch -8 // deg", "pitch -8 ;"]
)
def test_separators_case_and_comments_do_not_matter(line):
    conf, problems = read(line)
    assert (conf.pitch, problems) == (pytest.approx(math.radians(-8)), [])


def test_comment_signs_inside_a_value_survive():
    conf, _ = read("port = /dev/ttyS0\nlog = a//b#c;d // comment\n")
    assert conf.settings == (("port", "/dev/ttyS0"), ("log", "a//b#c;d"))


def test_sections_are_accepted_and_ignored():
    conf, problems = read("[laser]\nrate = 20\n[mount] ; here\nyaw = 90\n")
    assert (conf.rate, conf.yaw, problems) == (20.0, pytest.approx(math.pi / 2), [])


@pytest.mark.parametrize("value", ["0 1.9 0.6", "0, 1.9, 0.6", "0,1.9 ,0.6", "[0 1.9 0.6]"])
def test_lists_are_split_at_commas_and_blanks(value):
    conf, problems = read(f"position = {value}")
    assert (conf.position, problems) == (Triple(0.0, 1.9, 0.6), [])


def test_last_of_a_repeated_key_counts_with_a_warning():
    conf, problems = read("rate = 10\nrate = 20\n")
    assert (conf.rate, codes(problems), problems[0].also.line) == (20.0, [(2, "W707")], 1)


def test_unknown_keys_are_kept_verbatim():
    conf, problems = read("rate 10\nPort   /dev/tty S0, 1\nbaud: 500000\n")
    assert conf.settings == (("rate", "10"), ("port", "/dev/tty S0, 1"), ("baud", "500000"))
    assert codes(problems, "EWI") == [(2, "I706"), (3, "I706")]


def test_misspelt_key_gets_a_suggestion():
    _, problems = read("rate 10\nresolutoin 1\n")
    assert problems[0].hint == "did you mean 'resolution'?"


@pytest.mark.parametrize("text", ["", "\n# nothing\n"])
def test_empty_file_gives_all_defaults_and_a_warning(text):
    conf, problems = read(text)
    assert conf == replace(SensorConf(), identifier=7)
    assert codes(problems) == [(1, "W718")]


# --- the key table ---------------------------------------------------------------------------------------------------
def test_every_field_has_its_key():
    text = """
        type radar\nmodel generic\nid 3\nname front bumper, left\nenabled 0\nstart_angle -45\nend_angle 45
        resolution 0.5\nmin_range 1\nmax_range 50\nrange_resolution 0.01\nrate 20\nlayers 2\nvertical_fov 4
        position 1 2 3\norigin rear_axle\nroll 1\npitch 2\nyaw 3\nupside_down 1\nrange_sigma 0.1\nangle_sigma 0.2
        dropout 0.05\nno_return nan\nlatency 0.02\nscan_time 0.01
    """
    conf, problems = read(text)
    assert codes(problems, "EWI") == []
    assert (conf.type, conf.identifier, conf.name, conf.enabled) == ("radar", 3, "front bumper, left", False)
    assert view(conf) == degrees(-45, 45)
    assert (conf.beams, list(conf.layer_pitches)) == (181, degrees(-2, 2))
    assert (conf.min_range, conf.max_range, conf.range_resolution, conf.rate) == (1.0, 50.0, 0.01, 20.0)
    assert (conf.position, conf.origin, conf.upside_down) == (Triple(1.0, 2.0, 3.0), "rear_axle", True)
    assert [conf.roll, conf.pitch, conf.yaw, conf.angle_sigma] == degrees(1, 2, 3, 0.2)
    assert (conf.range_sigma, conf.dropout, conf.no_return) == (0.1, 0.05, "nan")
    assert (conf.latency, conf.scan_time) == (0.02, 0.01)


def test_identifier_comes_from_the_file_name_unless_given():
    assert [read("rate 1", path)[0].identifier for path in ("a/scan_gp_driver_2.conf", "a/roof.conf")] == [2, None]
    assert read("id 5", "a/scan_gp_driver_2.conf")[0].identifier == 5


@pytest.mark.parametrize(("text", "expected"), [
    ("start_angle -50\nend_angle 70", (-50, 70)), ("fov 100", (-50, 50)), ("fov 100\ncenter_angle 30", (-20, 80)),
    ("center_angle 30", (-60, 120)), ("start_angle -50", (-50, 90)), ("end_angle 45", (-90, 45)),
    ("start_angle -90\nfov 270", (-90, 180)), ("end_angle 90\nfov 30", (60, 90)),
    ("start_angle -10\ncenter_angle 0", (-10, 10)), ("end_angle 10\ncenter_angle 0", (-10, 10)),
    ("angle_zero right\nstart_angle 0\nend_angle 180", (-90, 90)), ("angle_zero right\ncenter_angle 90", (-90, 90)),
    ("start_angle -90\nend_angle 90\nfov 180\ncenter_angle 0", (-90, 90)),
])  # fmt: skip
def test_field_of_view_comes_from_any_sufficient_keys(text, expected):
    conf, problems = read(text)
    assert (view(conf), codes(problems)) == (degrees(*expected), [])


@pytest.mark.parametrize(("text", "beams"), [
    ("resolution 1", 181), ("resolution 0.5", 361), ("samples 7", 7), ("fov 360\nresolution 1", 360),
    ("fov 360\nsamples 512", 512), ("samples 181\nresolution 1", 181), ("fov 100\nresolution 0.25", 401),
])  # fmt: skip
def test_beams_follow_from_resolution_or_samples(text, beams):
    conf, problems = read(text)
    assert (conf.beams, codes(problems)) == (beams, [])


def test_samples_win_over_a_resolution_that_disagrees():
    conf, problems = read("resolution 1\nsamples 100\n")
    assert (conf.beams, codes(problems)) == (100, [(2, "W713")])


def test_resolution_that_does_not_divide_the_view_warns():
    conf, problems = read("resolution 0.7\n")
    assert (conf.beams, codes(problems)) == (258, [(1, "W714")])


@pytest.mark.parametrize(("text", "pitches"), [
    ("layer_pitch 1 0 -1.5", (1, 0, -1.5)), ("layers 3\nvertical_fov 4", (-2, 0, 2)),
    ("layers 1\nvertical_fov 4", (0,)), ("model alasca_xt\nlayers 2", (-1.6, 1.6)),
])  # fmt: skip
def test_layers_are_listed_or_spread_around_level(text, pitches):
    conf, problems = read(text)
    assert (list(conf.layer_pitches), codes(problems)) == (degrees(*pitches), [])


@pytest.mark.parametrize("text", ["layers 3\nlayer_pitch 1 2", "rate 5\nlayers 4"])
def test_layers_that_disagree_or_coincide_warn(text):
    assert [code for _, code in codes(read(text)[1])] == ["W716"]


def test_scan_time_may_be_off_and_should_fit_the_rate():
    assert read("scan_time off")[0].scan_time == 0.0
    conf, problems = read("rate 10\nscan_time 0.2")
    assert (conf.scan_time, codes(problems)) == (0.0, [(2, "E721")])
    assert codes(read("scan_time 0.05\nrate 30")[1], "E") == [(2, "E721")]
    assert codes(read("rate 20\nscan_time 0.05")[1], "E") == []


def test_scan_time_is_taken_as_it_is():
    conf, problems = read("rate 10\nscan_time 0.1")
    assert (conf.scan_time, codes(problems)) == (0.1, [])


@pytest.mark.parametrize("kind", ["ladar", "radar", "objects", "gps", "ins", "odometry", "camera"])
def test_camera_alone_is_said_not_to_be_simulated(kind):
    assert codes(read(f"rate 5\ntype {kind}\n")[1]) == ([(2, "W723")] if kind == "camera" else [])
    assert codes(read(f"type {kind}\nenabled 0\n")[1]) == []


# --- noise and faults ------------------------------------------------------------------------------------------------
NOISE = """
    outage 1 2\noutage 5.5, 60\nfreeze 3 4\nblind -10 20\nblind 80 90\nrange_sigma_slope 0.001\nrange_bias -0.02
    false_returns 0.01\nbins 10 20 40\nbin_ratio 2\ndetection_rate 1 0.9 0.5\nradial_sigma 0.1\nradial_bias 0 -1 2
"""
LISTED = """
    type objects\ntangential_sigma 0.2\ntangential_bias -0.1\nyaw_sigma 5\nyaw_bias -3\ncorrelation_time 2
    detection_time 1\nflip_rate 0.2\nflip_speed 0.5\nfalse_positives 0.3\nmin_visible 0.25\nvelocity_sigma 0.4
"""
PLACED = """
    type ins\nposition_sigma 0.1\naltitude_sigma 0.2\nposition_bias 1 -2 3\nposition_drift 0.5\nheading_drift 1
    yaw_rate_drift 0.1\ndrift_time 60\nposition_resolution 0.01\nvelocity_sigma 0.4\nheading_sigma 0.5
    yaw_rate_sigma 0.6\nheading_bias -7\nyaw_rate_bias 0.8\noutage_drift 0.9
"""


def test_every_field_of_noise_and_faults_has_its_key():
    conf, problems = read(NOISE)
    assert problems == []
    assert (conf.outages, conf.freezes) == (((1.0, 2.0), (5.5, 60.0)), ((3.0, 4.0),))
    assert [list(sector) for sector in conf.blind] == [degrees(-10, 20), degrees(80, 90)]
    assert (conf.range_sigma_slope, conf.range_bias, conf.false_returns) == (0.001, -0.02, 0.01)
    assert (conf.bins, conf.bin_ratio, conf.detection_rate) == ((10.0, 20.0, 40.0), 2.0, (1.0, 0.9, 0.5))
    assert (conf.radial_sigma, conf.radial_bias) == ((0.1,), (0.0, -1.0, 2.0))
    conf, problems = read(LISTED)
    assert problems == []
    assert (conf.tangential_sigma, conf.tangential_bias) == ((0.2,), (-0.1,))
    assert [*conf.yaw_sigma, *conf.yaw_bias] == degrees(5, -3)
    assert (conf.correlation_time, conf.detection_time, conf.flip_rate, conf.flip_speed) == (2.0, 1.0, 0.2, 0.5)
    assert (conf.false_positives, conf.min_visible, conf.velocity_sigma) == (0.3, 0.25, 0.4)
    conf, problems = read(PLACED)
    assert problems == []
    assert (conf.position_sigma, conf.altitude_sigma, conf.position_bias) == (0.1, 0.2, Triple(1.0, -2.0, 3.0))
    assert (conf.position_drift, conf.drift_time, conf.position_resolution) == (0.5, 60.0, 0.01)
    assert [conf.heading_drift, conf.yaw_rate_drift, conf.heading_sigma] == degrees(1, 0.1, 0.5)
    assert [conf.yaw_rate_sigma, conf.heading_bias, conf.yaw_rate_bias] == degrees(0.6, -7, 0.8)
    assert (conf.velocity_sigma, conf.outage_drift) == (0.4, 0.9)
    conf, problems = read("type odometry\nwheel_radius 0.35\nspeed_scale 1.02\nticks 100\n")
    assert (conf.wheel_radius, conf.speed_scale, conf.ticks, problems) == (0.35, 1.02, 100, [])


def test_wrong_window_among_right_ones_is_told_and_left_out():
    conf, problems = read("outage 1 2\noutage 4 3\noutage 5 6\n")
    assert (conf.outages, codes(problems)) == (((1.0, 2.0), (5.0, 6.0)), [(2, "E702")])
    assert "outage must end after it begins" in problems[0].message
    assert codes(read("freeze 0 61\n")[1]) == [(1, "E702")]


@pytest.mark.parametrize(("text", "code"), [
    ("bins 10 20\ndetection_rate 1 1 1", "E726"), ("detection_rate 1 0.5", "E726"), ("bins 20 10", "E702"),
    ("bins 5 5", "E702"), ("bins 0 5", "E702"), ("detection_rate 1.5", "E702"), ("radial_sigma -0.1", "E702"),
    ("false_returns 2", "E702"), ("range_sigma_slope -1", "E702"), ("blind 10", "E701"), ("blind 30 10", "E702"),
    ("blind 0 361", "E702"), ("outage 3", "E701"), ("outage 2 2", "E702"), ("outage -1 2", "E702"),
])  # fmt: skip
def test_impossible_noise_is_refused_and_leaves_the_default(text, code):
    conf, problems = read(text)
    assert codes(problems) == [(text.count("\n") + 1, code)]
    named = text.splitlines()[-1].split()[0]
    field = {"outage": "outages", "freeze": "freezes"}.get(named, named)
    assert getattr(conf, field) == getattr(SensorConf(), field)


@pytest.mark.parametrize(("text", "code"), [
    ("drift_time 0", "E702"), ("position_sigma -1", "E702"), ("heading_sigma 200", "E702"), ("ticks -1", "E702"),
    ("ticks 1.5", "E701"), ("wheel_radius -1", "E702"), ("speed_scale 0", "E702"), ("position_bias 1 2", "E701"),
    ("min_visible 1.1", "E702"), ("flip_rate -0.1", "E702"), ("false_positives 1000", "E702"),
])  # fmt: skip
def test_impossible_errors_of_other_sensors_are_refused(text, code):
    conf, problems = read(f"{text}\nenabled 0\n")
    assert codes(problems) == [(1, code)]
    assert getattr(conf, text.split()[0]) == getattr(SensorConf(), text.split()[0])


def test_key_that_means_nothing_to_the_type_of_sensor_is_said():
    _, problems = read("type gps\nrate 5\nticks 9\nposition_sigma 0.1\n")
    assert (codes(problems), problems[0].hint) == ([(3, "W728")], "it is for odometry")


@pytest.mark.parametrize(("text", "kind", "rate"), [("model cnav", "gps", 5.0), ("model rt3000", "ins", 100.0)])
def test_models_of_receivers_have_noise_of_their_own(text, kind, rate):
    conf, problems = read(text)
    assert (conf.type, conf.rate, problems) == (kind, rate, [])
    assert conf.position_sigma > 0.0
    assert read(f"{text}\nposition_sigma 7\n")[0].position_sigma == 7.0
    assert read(sensor_conf.write(conf))[0] == replace(conf, settings=(("model", conf.model),))


# --- default models --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("model", "beams", "layers", "rate", "ranges", "fov", "sigma"), [
    ("generic", 181, 1, 10.0, (0.0, 80.0), 180, 0.0), ("lms291", 181, 1, 75.0, (0.2, 80.0), 180, 0.01),
    ("alasca_xt", 961, 4, 12.5, (0.3, 200.0), 240, 0.05), ("ldlrs", 1081, 1, 10.0, (0.5, 50.0), 270, 0.03),
    ("hdl64", 2000, 64, 10.0, (0.9, 120.0), 360, 0.02), ("vorad", 7, 1, 15.0, (1.0, 107.0), 12, 0.0),
])  # fmt: skip
def test_model_gives_what_the_file_does_not_say(model, beams, layers, rate, ranges, fov, sigma):
    conf, problems = read(f"model = {model}")
    assert problems == []
    assert (conf.beams, len(conf.layer_pitches), conf.rate) == (beams, layers, rate)
    assert ((conf.min_range, conf.max_range), conf.range_sigma) == (ranges, sigma)
    assert view(conf) == degrees(-fov / 2, fov / 2)
    assert conf.type == ("radar" if model == "vorad" else "ladar")


def test_every_model_of_the_table_is_tested():
    assert set(SENSOR_MODELS) == {"generic", "lms291", "alasca_xt", "ldlrs", "hdl64", "vorad", "cnav", "rt3000"}


def test_layers_of_the_velodyne_reach_from_its_lowest_to_its_highest():
    conf, _ = read("model hdl64")
    assert [conf.layer_pitches[0], conf.layer_pitches[-1]] == degrees(-24.8, 2.0)


@pytest.mark.parametrize(("text", "rate", "fov", "beams"), [
    ("resolution 0.5", 37.5, 180, 361), ("resolution 0.25", 18.75, 100, 401), ("samples 361", 37.5, 180, 361),
    ("resolution 0.5\nrate 10", 10.0, 180, 361), ("resolution 0.25\nfov 180", 18.75, 180, 721),
])  # fmt: skip
def test_resolution_of_a_sick_chooses_its_rate_and_view(text, rate, fov, beams):
    conf, _ = read(f"{text}\nmodel lms291")  # explicit keys win, wherever they stand
    assert (conf.rate, conf.beams) == (rate, beams)
    assert view(conf) == degrees(-fov / 2, fov / 2)


def test_resolution_that_a_model_does_not_have_is_remarked():
    assert codes(read("model lms291\nresolution 2")[1], "EWI") == [(2, "I720")]


def test_native_sick_angles_are_suspected():
    _, problems = read("model lms291\nstart_angle 0\nend_angle 180\n")
    assert (codes(problems), problems[0].hint) == ([(3, "W712")], "if so, add 'angle_zero right'")
    assert codes(read("model generic\nstart_angle 0\nend_angle 180\n")[1]) == []


def test_unknown_model_warns_and_is_generic():
    conf, problems = read("model = lms219\n")
    assert (conf.model, codes(problems), problems[0].hint) == ("generic", [(1, "W705")], "did you mean 'lms291'?")


def test_unknown_type_warns_and_disables_the_sensor():
    conf, problems = read("type = sonar\n")
    assert (conf.enabled, codes(problems)) == (False, [(1, "W704")])
    assert read("type = lidar\n")[0].enabled


# --- numbers that are too small or too large --------------------------------------------------------------------------
@pytest.mark.parametrize(("line", "bounds"), [
    ("range_resolution 1e-320", "0, or at least 1e-06 and at most 1000 m"),
    ("range_resolution -1", "0, or at least 1e-06 and at most 1000 m"),
    ("latency 1e300", "at least 0 and at most 60 s"), ("range_sigma 1e308", "at least 0 and at most 1000 m"),
    ("max_range 1e308", "at least 0.001 and at most 100000 m"), ("min_range 1e308", "at least 0 and at most 100000 m"),
    ("max_range 1e-320", "at least 0.001 and at most 100000 m"), ("rate 1e6", "at least 0.001 and at most 10000 Hz"),
    ("scan_time 1e9", "at least 0 and at most 1000 s"), ("fov 1e-320", "at least 0.0001 and at most 360 deg"),
    ("position 0 0 1e9", "at least -1000 and at most 1000 m"),
])  # fmt: skip
def test_both_bounds_of_a_number_are_named(line, bounds):
    conf, problems = read(line)
    assert [p.code for p in problems if p.code[0] == "E"] == ["E702"]
    assert f"must be {bounds}, not" in next(p.message for p in problems if p.code == "E702")
    assert replace(conf, settings=()) == replace(read("yaw 0")[0], settings=())


@pytest.mark.parametrize("value", ["0", "0.0", "1e-6", "0.01", "1000"])
def test_range_resolution_may_be_nothing_or_a_length(value):
    conf, problems = read(f"range_resolution {value}")
    assert (conf.range_resolution, problems) == (float(value), [])


@pytest.mark.parametrize("name", sorted(KEYS))
@pytest.mark.parametrize("value", ["1e-320", "1e300", "-1e300", "1e9", "1e-9"])
def test_no_key_takes_an_absurd_number_into_a_scan(name, value):
    conf, problems = read(f"{name} {value}\n")
    assert conf.max_range <= 1e5
    assert conf.latency <= 60.0
    assert conf.range_sigma <= 1e3
    assert conf.range_resolution == 0.0 or conf.range_resolution >= 1e-6
    rays = conf.beams * len(conf.layer_pitches)
    assert rays * conf.rate <= 2e7 or codes(problems, "E")


def test_rays_per_second_are_bounded():
    assert codes(read("rate 10000\nsamples 100000\nlayers 40\nvertical_fov 9\n")[1], "E") == [(3, "E717")]
    assert codes(read("model hdl64\nrate 20\n")[1], "E") == []
    assert codes(read("samples 2000\nrate 10000\n")[1], "E") == []
    assert codes(read("samples 2001\nrate 10000\n")[1], "E") == [(2, "E717")]


# --- mistakes --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("line", "code"), [
    ("pitch = down", "E701"), ("pitch = 1 2", "E701"), ("pitch", "E709"), ("pitch =", "E709"), ("rate = 0", "E702"),
    ("rate = -5", "E702"), ("rate = nan", "E701"), ("rate = 1e999", "E702"), ("rate = 1_0", "E701"),
    ("samples = 1.5", "E701"), ("samples = 0", "E702"), ("samples = 1000000000", "E702"), ("resolution = 0", "E702"),
    ("min_range = -1", "E702"), ("dropout = 1.1", "E702"), ("range_sigma = -1", "E702"), ("latency = -1", "E702"),
    ("position = 1 2", "E701"), ("position = 1 2 x", "E701"), ("origin = roof", "E701"), ("no_return = 0", "E701"),
    ("enabled = maybe", "E701"), ("angle_zero = left", "E701"), ("layers = 0", "E702"), ("layer_pitch = 100", "E702"),
    ("fov = 361", "E702"), ("fov = 0", "E702"), ("id = -1", "E702"), ("max_range = 0", "E702"),
])  # fmt: skip
def test_impossible_values_are_refused_at_file_and_line(line, code):
    conf, problems = read(f"rate 10\n{line}\n".replace("rate 10", "yaw 0"))
    assert [(str(p.location), p.code) for p in problems if p.code[0] == "E"] == [("onboard/unit_7.conf:2", code)]
    assert sensor_conf.count(conf)["rate"] == 10.0


@pytest.mark.parametrize(("text", "code"), [
    ("start_angle 10\nend_angle -10", "E711"), ("start_angle 0\nend_angle 0", "E711"),
    ("start_angle -200\nend_angle 200", "E711"), ("start_angle -90\nend_angle 90\nfov 100", "E710"),
    ("start_angle -90\nend_angle 90\ncenter_angle 10", "E710"), ("min_range 5\nmax_range 5", "E715"),
    ("min_range 100", "E715"), ("samples 100000\nlayers 100\nvertical_fov 5", "E717"), ("resolution 0.0001", "E717"),
])  # fmt: skip
def test_contradictions_are_errors(text, code):
    assert [c for _, c in codes(read(text)[1], "E")] == [code]


@pytest.mark.parametrize("text", [
    "min_range 100\nmax_range 1e308", "start_angle 100\nend_angle x", "fov 10\nstart_angle 1e9\nend_angle 7",
    "fov 30.3\nresolution x", "layers 4\nvertical_fov x", "rate x\nscan_time 0.5",
])  # fmt: skip
def test_refused_value_is_not_held_against_another(text):
    found = [code for _, code in codes(read(text)[1])]
    assert len(found) == 1
    assert found[0] in ("E701", "E702")


def test_refused_value_that_is_given_again_is_compared():
    assert codes(read("min_range 100\nmax_range x\nmax_range 50")[1], "E") == [(2, "E701"), (3, "E715")]


def test_every_mistake_of_a_file_is_told():
    _, problems = read("rate 0\npitch x\norigin roof\nmin_range 9\nmax_range 8\nwhat is this = that?\n!!\n")
    assert codes(problems) == [(1, "E702"), (2, "E701"), (3, "E701"), (5, "E715"), (7, "W708")]


def test_line_that_is_no_setting_warns():
    assert codes(read("rate 10\n= 5\nhello\n")[1]) == [(2, "W708"), (3, "W708")]


def test_number_of_settings_is_bounded(monkeypatch):
    monkeypatch.setattr("cbsim.formats.sensor_conf.reader.SETTING_LIMIT", 3)
    assert codes(read("a 1\nb 2\nc 3\nd 4\n")[1], "E") == [(4, "E719")]


# --- files of other systems ------------------------------------------------------------------------------------------
PLAYER = """driver
(
  name "sicklms200"
  provides ["laser:0"]
  port "/dev/ttyS0"
  resolution 50   # here hundredths
  pose [0.1 0 0]
  samples 0
)
"""


def test_player_file_gives_warnings_with_lines_and_no_error():
    conf, problems = read(PLAYER)
    assert codes(problems, "E") == []
    assert {(2, "W708"), (8, "W702"), (9, "W708")} <= set(codes(problems))
    assert conf.settings[0] == ("name", '"sicklms200"')
    assert conf.name == "sicklms200"


@pytest.mark.parametrize(
    "text",
    [
        'driver\n(\n  name "stage"\n  model "marvin"\n)\nname\n(\n)\n',
        "definE sick_laser ranger\n(\n  fov 180\n)\n",
    ],
)
def test_what_is_kept_of_files_of_other_systems_is_written_and_read_as_it_is(text):
    conf, _ = read(text)
    again, problems = read(sensor_conf.write(conf))
    assert codes(problems, "E") == []
    assert again == conf


def test_bounds_on_memory_stay_errors_in_files_of_other_systems():
    assert codes(read("laser\n(\nsamples 100000\nlayers 1000\nvertical_fov 9\n)\n")[1], "E") == [(4, "E717")]


# --- writing ---------------------------------------------------------------------------------------------------------
TEXTS = {
    "type": st.sampled_from(["ladar", "radar", "camera"]), "model": st.sampled_from(sorted(SENSOR_MODELS)),
    "name": st.just("front unit, left"), "fov": st.integers(1, 36).map(lambda n: str(10 * n)),
    "start_angle": st.integers(-180, -1).map(str), "center_angle": st.just("5.0"), "resolution": st.just("0.50"),
    "rate": st.sampled_from(["12.50", "7"]), "position": st.just("0, 1.90 0.6"), "pitch": st.just("-8"),
    "layers": st.sampled_from(["1", "4"]), "port": st.just("/dev/ttyS0"), "max_range": st.just("50.00"),
}  # fmt: skip
CONFS = st.lists(st.sampled_from(sorted(TEXTS)), unique=True, min_size=1).flatmap(
    lambda keys: st.tuples(*(st.tuples(st.just(key), TEXTS[key]) for key in keys))
)


@given(CONFS)
def test_conf_reads_back_equal_and_keeps_its_settings(pairs):
    conf, _ = read("".join(f"{key}: {value}\n" for key, value in pairs))
    text = sensor_conf.write(conf)
    assert read(text)[0].settings == conf.settings
    assert replace(read(text)[0], settings=()) == replace(conf, settings=())


CHANGES = {
    "type": "radar", "model": "lms291", "identifier": 12, "name": "roof", "enabled": False, "beams": 99,
    "start_angle": math.radians(-45), "end_angle": math.radians(30.5), "layer_pitches": (math.radians(-1), 0.0),
    "min_range": 0.5, "max_range": 33.3, "range_resolution": 0.01, "rate": 12.5, "position": Triple(0.1, -2.0, 0.3),
    "origin": "center", "roll": math.radians(1.25), "pitch": math.radians(-8), "yaw": math.radians(90),
    "upside_down": True, "range_sigma": 0.02, "angle_sigma": math.radians(0.1), "dropout": 0.5, "no_return": "max",
    "latency": 0.1, "scan_time": 0.02, "outages": ((1.0, 2.5), (7.0, 8.0)), "freezes": ((0.5, 3.0),),
    "blind": ((math.radians(-20), math.radians(15)),), "range_sigma_slope": 0.01, "range_bias": -0.1,
    "false_returns": 0.02, "bins": (10.0, 20.0), "bin_ratio": 1.5, "detection_rate": (0.9,), "radial_sigma": (0.1,),
    "radial_bias": (-0.1,), "tangential_sigma": (0.2,), "tangential_bias": (0.3,), "yaw_sigma": (math.radians(5),),
    "yaw_bias": (math.radians(-2),), "correlation_time": 2.0, "detection_time": 3.0, "flip_rate": 0.1,
    "flip_speed": 0.4, "false_positives": 1.5, "min_visible": 0.3, "position_sigma": 0.2, "altitude_sigma": 0.4,
    "position_bias": Triple(1.0, 2.0, -3.0), "position_drift": 0.7, "heading_drift": math.radians(1),
    "yaw_rate_drift": math.radians(0.1), "drift_time": 60.0, "position_resolution": 0.01, "velocity_sigma": 0.3,
    "heading_sigma": math.radians(0.2), "yaw_rate_sigma": math.radians(0.1), "heading_bias": math.radians(-1),
    "yaw_rate_bias": math.radians(0.5), "outage_drift": 0.1, "wheel_radius": 0.35, "speed_scale": 1.01, "ticks": 48,
}  # fmt: skip


@pytest.mark.parametrize("field", sorted(CHANGES))
def test_changed_field_is_written_and_the_rest_stays(field):
    base, _ = read("fov 180\nresolution 0.5\nport /dev/ttyS0\nlayers 1\n")
    changed = replace(base, **{field: CHANGES[field]})
    again, problems = read(sensor_conf.write(changed))
    assert codes(problems, "E") == []
    assert replace(again, settings=()) == replace(changed, settings=())
    assert ("port", "/dev/ttyS0") in again.settings


def test_changes_cover_every_field():
    assert {*CHANGES, "settings", "location"} == set(SensorConf.__slots__)


def test_value_that_begins_like_a_comment_survives():
    conf, _ = read("tag =#1\nrate 5\n")
    assert read(sensor_conf.write(conf))[0] == conf


# --- hostile input and real files ------------------------------------------------------------------------------------
@given(st.binary(max_size=200))
def test_any_bytes_give_a_conf_or_located_problems(data):
    conf, problems = read(data)
    assert conf is not None
    assert all(p.location.line >= 1 for p in problems)


VALUES = ["", "0", "1", "-1", "90", "360", "1e-5", "1e9", "x", "1 2 3", "lms291", "hdl64", "off", "right", "0.25"]


@settings(max_examples=200)
@given(st.lists(st.tuples(st.sampled_from([*KEYS, "port", "(", "[x]"]), st.sampled_from(VALUES)), max_size=12))
def test_any_settings_give_a_sane_conf(pairs):
    conf, problems = read("\n".join(f"{key} {value}" for key, value in pairs))
    assert 0.0 <= conf.min_range < conf.max_range
    assert 0.0 < conf.end_angle - conf.start_angle <= 2 * math.pi + 1e-6
    assert conf.rate > 0.0
    assert conf.beams * len(conf.layer_pitches) <= 4_000_000 or codes(problems, "E")
    again, _ = read(sensor_conf.write(conf))
    assert replace(again, settings=()) == replace(conf, settings=())


def test_confs_of_the_examples_give_361_and_181_beams():
    confs = [read(p.read_bytes(), str(p)) for p in sorted(shared("examples_cajunbot", "onboard").iterdir())]
    assert [conf.beams for conf, _ in confs] == [361, 181]
    assert [codes(problems) for _, problems in confs] == [[], []]
    assert {("port", "/dev/ttyS0"), ("baud", "500000")} <= set(confs[0][0].settings)
    assert confs[1][0].pitch == pytest.approx(math.radians(-8))
    height, pitch = confs[1][0].position.z, confs[1][0].pitch
    assert height / math.sin(-pitch) == pytest.approx(15.09, abs=0.005)


@pytest.mark.parametrize("path", shared_files("sensor_conf_other"), ids=lambda p: p.name)
def test_confs_of_other_systems_give_warnings_and_defaults_but_no_error(path):
    conf, problems = read(path.read_bytes(), str(path))
    assert codes(problems, "E") == []
    assert codes(problems)
    assert conf.beams == 181
    assert read(sensor_conf.write(conf), str(path))[0] == conf
