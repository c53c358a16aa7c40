"""Geometry: poses, shapes, polylines, the local plane; independent of roads, vehicles and files."""
