"""Definitions of the messages of ROS 2 that are written, as in its repositories (common_interfaces, rcl_interfaces)."""

from __future__ import annotations

__all__ = ["DEFINITIONS"]

PARTS = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec\n",
    "builtin_interfaces/Duration": "int32 sec\nuint32 nanosec\n",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id\n",
    "std_msgs/ColorRGBA": "float32 r\nfloat32 g\nfloat32 b\nfloat32 a\n",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z\n",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z\n",
    "geometry_msgs/Quaternion": "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n",
    "geometry_msgs/Pose": "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation\n",
    "geometry_msgs/PoseWithCovariance": "geometry_msgs/Pose pose\nfloat64[36] covariance\n",
    "geometry_msgs/Twist": "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular\n",
    "geometry_msgs/TwistWithCovariance": "geometry_msgs/Twist twist\nfloat64[36] covariance\n",
    "geometry_msgs/Transform": "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation\n",
    "geometry_msgs/TransformStamped": "std_msgs/Header header\nstring child_frame_id\n"
    "geometry_msgs/Transform transform\n",
    "rosgraph_msgs/Clock": "builtin_interfaces/Time clock\n",
    "tf2_msgs/TFMessage": "geometry_msgs/TransformStamped[] transforms\n",
    "nav_msgs/Odometry": "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\n"
    "geometry_msgs/TwistWithCovariance twist\n",
    "sensor_msgs/LaserScan": "std_msgs/Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\n"
    "float32 time_increment\nfloat32 scan_time\nfloat32 range_min\nfloat32 range_max\nfloat32[] ranges\n"
    "float32[] intensities\n",
    "sensor_msgs/PointField": "uint8 INT8=1\nuint8 UINT8=2\nuint8 INT16=3\nuint8 UINT16=4\nuint8 INT32=5\n"
    "uint8 UINT32=6\nuint8 FLOAT32=7\nuint8 FLOAT64=8\nstring name\nuint32 offset\nuint8 datatype\nuint32 count\n",
    "sensor_msgs/PointCloud2": "std_msgs/Header header\nuint32 height\nuint32 width\n"
    "sensor_msgs/PointField[] fields\nbool is_bigendian\nuint32 point_step\nuint32 row_step\nuint8[] data\n"
    "bool is_dense\n",
    "sensor_msgs/CompressedImage": "std_msgs/Header header\nstring format\nuint8[] data\n",
    "visualization_msgs/UVCoordinate": "float32 u\nfloat32 v\n",
    "visualization_msgs/MeshFile": "string filename\nuint8[] data\n",
    "visualization_msgs/Marker": "int32 ARROW=0\nint32 CUBE=1\nint32 SPHERE=2\nint32 CYLINDER=3\nint32 LINE_STRIP=4\n"
    "int32 LINE_LIST=5\nint32 CUBE_LIST=6\nint32 SPHERE_LIST=7\nint32 POINTS=8\nint32 TEXT_VIEW_FACING=9\n"
    "int32 MESH_RESOURCE=10\nint32 TRIANGLE_LIST=11\nint32 ARROW_STRIP=12\nint32 ADD=0\nint32 MODIFY=0\n"
    "int32 DELETE=2\nint32 DELETEALL=3\nstd_msgs/Header header\nstring ns\nint32 id\nint32 type\nint32 action\n"
    "geometry_msgs/Pose pose\ngeometry_msgs/Vector3 scale\nstd_msgs/ColorRGBA color\n"
    "builtin_interfaces/Duration lifetime\nbool frame_locked\ngeometry_msgs/Point[] points\n"
    "std_msgs/ColorRGBA[] colors\nstring texture_resource\nsensor_msgs/CompressedImage texture\n"
    "visualization_msgs/UVCoordinate[] uv_coordinates\nstring text\nstring mesh_resource\n"
    "visualization_msgs/MeshFile mesh_file\nbool mesh_use_embedded_materials\n",
    "visualization_msgs/MarkerArray": "visualization_msgs/Marker[] markers\n",
}
WRITTEN = (
    "rosgraph_msgs/Clock",
    "tf2_msgs/TFMessage",
    "nav_msgs/Odometry",
    "sensor_msgs/LaserScan",
    "sensor_msgs/PointCloud2",
    "visualization_msgs/MarkerArray",
)


def _definition(name: str) -> str:
    """Text of a message and of all that it consists of, as a bag has it."""
    needed, found = [name], list[str]()
    while needed:
        part = needed.pop(0)
        if part in found:
            continue
        found.append(part)
        kinds = [line.split()[0].split("[")[0] for line in PARTS[part].splitlines()]
        needed += [kind for kind in kinds if kind in PARTS]
    separator = "=" * 80 + "\nMSG: "
    return PARTS[name] + "".join(f"{separator}{part}\n{PARTS[part]}" for part in found[1:])


DEFINITIONS = {name.replace("/", "/msg/"): _definition(name) for name in WRITTEN}
"""Name of a message such as ``nav_msgs/msg/Odometry`` → its definition."""
