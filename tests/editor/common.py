"""Texts that the editor's tests work on, in many hands: tabs, comments, quotes, CR LF, one line, namespaces."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from cbsim.editor.documents.edits import Addition, Edit
from cbsim.spec.objects import (
    Controller,
    Goal,
    Kind,
    MeshFile,
    SensorMount,
    ShapeKind,
    Steering,
    TrafficObject,
    Triple,
    Wheels,
)
from cbsim.spec.road import PointId
from cbsim.units import DEGREE

PLAIN = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- a file by hand -->
<object_file>
  <name>Default</name>
  <object type="autonomous" shape="box">
    <!-- type="autonomous" | "dynamic" | "static" -->
    <name>CajunBot</name>
    <start_position segment="1" lane="1" waypoint="1"/>
    <position_offset x="0" y="0" z="0"/>
    <orientation_offset x="0" y="0" z="0"/>
    <size x="1.7" y="3.68" z="2.16"/>
    <wheels type="1" radius="0.38" width="0.20"/><!-- skid=0, conventional=1 -->
    <steering throttle_rate="2" lever_rate="0.5"/>
    <sensor conf="onboard/scan_gp_driver_0.conf" description=""/>
    <sensor conf="onboard/scan_gp_driver_2.conf" description=""/>
  </object>

  <object type="dynamic" shape="box">
    <name>Traffic</name>
    <start_position segment="3" lane="1" waypoint="1"/>
    <position_offset x="0" y="0" z="0"/>
    <orientation_offset x="0" y="0" z="0"/>
    <size x="2" y="4" z="1.5"/>
    <initial_pause>0</initial_pause>
    <goal speed="2.00" pause="0" segment="3" lane="1" waypoint="2"/> <!-- slowly -->
    <goal speed="3" pause="0" segment="3" lane="1"/>
  </object>

  <object type="static" shape="box">
    <name>Box</name>
    <start_position segment="2" lane="1" waypoint="1"/>
    <position_offset x="0" y="0" z="0"/>
    <orientation_offset x="0" y="0" z="0"/>
    <size x="1.2" y="1.4" z="1.2"/>
  </object>
</object_file>
<!-- the end -->
"""

ODD = """\
<?xml version='1.0' encoding='ISO-8859-1'?>\r
<!DOCTYPE object_file>\r
<cb:object_file xmlns:cb='urn:cb' cb:note="kept">\r
\t<cb:name><![CDATA[B\u00e9b\u00e9]]></cb:name>\r
\t<cb:object shape='cylinder' colour='red' type = 'static'><!-- a > b -->\r
\t\t<cb:size z='2' x=' 1.50 ' y='1.5' />\r
\t\t<cb:name>Pole <!-- lamp --> A</cb:name>\r
\t\t<cb:note x='1'>hands off</cb:note>\r
\t</cb:object>\r
\t<cb:object type='mesh' drivable='yes'><cb:vertices path='base'>v.txt</cb:vertices>\
<cb:indices path='base'>i.txt</cb:indices><cb:name/></cb:object>\r
\t<cb:object type='dynamic' shape='box' controller='manual' mass='900'\r
\t\tid='7'>\r
\t\t<cb:name>Van</cb:name><cb:start_position segment='1' lane='1' waypoint='2' />\r
\t\t<cb:position_offset x='+1e-1' y='.5'></cb:position_offset>\r
\t\t<cb:size x='2' y='5' z='2' />\r
\t\t<cb:goal waypoint='1' lane='2' segment='1' pause='0.0' speed='4.470400' colour="green"/>\r
\t</cb:object>\r
</cb:object_file>"""

LONE = '<object type="static" shape="box"><name>B</name><size x="1" y="1" z="1"/></object>'

RECORDS = """\
3 // number of objects
0 // object type: dyn_sim = 0; dyn_no_sim = 1; static = 2
0 // controller: sensor = 0; manual = 1, script = 2, waypoint = 3
1 // object id num: must be unique
0 // shape: box = 0, sphere = 1, cylinder = 2, wheel = 3
1 2 3
0 // pos x
0 // pos y
0 // pos z
1.7 // size x
3.68 // size y
2.16 // size z
0 // orient x
0 // orient y
0 // orient z
1 // wheel type: 0 = skid; conventional = 1;
0.38 // wheel radius
0.20 // wheel width
2 // throttle rate
0.5 // lever rate
1 // number of sensors
0
onboard/scan_gp_driver_0.conf
\u00a0
2 // object type = static
6 // unique object id
0 // shape = box
  4.5.6   // position
0 // xpos
0 // ypos
0 // zpos
1.2 // xsize
1.2 // ysize
1.2 // zsize
0 // xrotation
0 // yrotation
0 // zrotation

1 // object type = dyn_no_sim
2 // object is scripted, so this is num of waypoints to follow
5 // speed
0 // pause
1 1 1 // waypoint
// between two waypoints
6 // speed
0 // pause
1 1 2 // waypoint
7 // unique object id
0 // shape = box
7 8 9 // start position
0 // xpos
0 // ypos
0 // zpos
2 // xsize
4 // ysize
1 // zsize
0 // xrotation
0 // yrotation
0 // zrotation
"""

BARE = "2\r1\r2\r1\r5\r0\r10\r90\r4\r1\r0 0 0\r1\r2\r0\r1\r1\r1\r0\r0\r0\r\r3\ra.txt\rshare//b.txt // indices\r1 1 1"

XML_TEXTS = {
    "plain": PLAIN.encode(),
    "odd": ODD.encode("latin-1"),
    "lone": LONE.encode(),
    "utf-16": PLAIN.replace("UTF-8", "UTF-16").encode("utf-16"),
    "one line": PLAIN.replace("\n", "").encode(),
    "empty": b"\xef\xbb\xbf<object_file/>",
    "nothing in it": b"<object_file>\n</object_file>\n",
}
RECORD_TEXTS = {
    "sample": RECORDS.encode(),
    "dos": RECORDS.replace("\n", "\r\n").encode("utf-8-sig"),
    "bare": BARE.encode(),
    "none": b"0\n",
}

lengths = st.integers(1, 2000).map(lambda k: k / 100)
offsets = st.one_of(st.just(0.0), st.integers(-2000, 2000).map(lambda k: k / 100))
angles = st.one_of(st.just(0.0), st.integers(-3599, 3599).map(lambda k: k / 10 * DEGREE))
points = st.builds(PointId, st.integers(1, 9), st.integers(1, 9), st.integers(1, 40))
names = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), min_size=1, max_size=8)
names = names.map(str.strip).filter(lambda text: text and all(c.isprintable() for c in text))
paths = st.sampled_from(["a.conf", "onboard/b.conf", "c d.conf"])


def goals(open_too: bool):
    number = st.integers(1, 40)
    last = st.one_of(st.none(), number) if open_too else number
    return st.builds(Goal, lengths, st.integers(0, 9).map(float), st.integers(1, 9), st.integers(1, 9), last)


def items(version: int):
    """New objects of every kind, as a version can hold them."""
    axes, size = st.builds(Triple, offsets, offsets, offsets), st.builds(Triple, lengths, lengths, lengths)
    turn = st.builds(Triple, angles, angles, angles)
    anchor = st.one_of(st.none(), points)
    mounts = st.builds(SensorMount, paths, st.just(0 if version == 1 else None))
    common = {"anchor": anchor, "position_offset": axes, "orientation_offset": turn, "size": size}
    bot = st.builds(
        TrafficObject, st.just(Kind.AUTONOMOUS), names, **common, controller=st.just(Controller.SENSOR),
        wheels=st.builds(Wheels, radius=lengths), steering=st.just(Steering()),
        sensors=st.lists(mounts, max_size=3).map(tuple),
    )  # fmt: skip
    traffic = st.builds(
        TrafficObject, st.just(Kind.DYNAMIC), names, **common, controller=st.just(Controller.WAYPOINT),
        goals=st.lists(goals(version == 2), max_size=4).map(tuple),
        initial_pause=st.just(0.0) if version == 1 else st.integers(0, 5).map(float),
    )  # fmt: skip
    static = st.builds(
        TrafficObject, st.just(Kind.STATIC), names, **common,
        shape=st.sampled_from([ShapeKind.BOX, ShapeKind.SPHERE, ShapeKind.CYLINDER]),
    )  # fmt: skip
    mesh = st.builds(
        TrafficObject, st.just(Kind.MESH), names, shape=st.just(ShapeKind.MESH), anchor=anchor,
        vertices=st.builds(MeshFile, paths), indices=st.builds(MeshFile, paths),
    )  # fmt: skip
    return st.one_of(bot, traffic, static, mesh)


def edits(objects, version: int):
    """Any edit of some objects that the version can hold."""
    choices = [st.lists(items(version).map(Addition), min_size=1, max_size=2).map(
        lambda added: Edit("add", added=tuple(named(one, objects, version, k) for k, one in enumerate(added)))
    )]  # fmt: skip
    if objects:
        rows = st.integers(0, len(objects) - 1)
        choices.append(
            rows.flatmap(lambda row: changes(objects[row], version).map(lambda item: Edit("change", {row: item})))
        )
        choices.append(st.sets(rows, min_size=1).map(lambda gone: Edit("remove", removed=frozenset(gone))))
        choices.append(rows.flatmap(lambda row: changes(objects[row], version).map(
            lambda item: Edit("copy", added=(named(Addition(item, row), objects, version, 0),))
        )))  # fmt: skip
    return st.one_of(choices)


def named(addition, objects, version, k):
    """Give a new object an id of its own where the version needs one."""
    if version == 2 or addition.item.kind is Kind.MESH:
        return addition
    free = max([item.identifier or 0 for item in objects], default=0) + 1 + k
    return addition._replace(item=replace(addition.item, identifier=free))


def changes(item: TrafficObject, version: int):
    """What an object may become by one step of work."""
    triple = st.builds(Triple, offsets, offsets, offsets)
    found = [st.builds(lambda point: replace(item, anchor=point), st.one_of(st.none(), points))]
    if item.kind is not Kind.MESH or version == 2:
        found += [st.builds(lambda p: replace(item, position_offset=p), triple)]
        found += [st.builds(lambda a: replace(item, orientation_offset=item.orientation_offset._replace(z=a)), angles)]
    if version == 2:
        found.append(st.builds(lambda name: replace(item, name=name), names))
    if item.kind is not Kind.MESH:
        found.append(st.builds(lambda x: replace(item, size=item.size._replace(x=x)), lengths))
    if item.kind is Kind.AUTONOMOUS:
        mounts = st.builds(SensorMount, paths, st.just(0 if version == 1 else None))
        found.append(st.builds(lambda more: replace(item, sensors=tuple(more)), mixed(item.sensors, mounts)))
    if item.kind is Kind.DYNAMIC:
        found.append(
            st.builds(
                lambda more: replace(item, goals=tuple(more), script=(), controller=Controller.WAYPOINT),
                mixed(item.goals, goals(version == 2)),
            )
        )
    return st.one_of(found)


def mixed(there, new):
    """Some entries of a list, and new ones between them."""
    some = st.one_of(st.sampled_from(there), new) if there else new
    return st.lists(some, max_size=6)
