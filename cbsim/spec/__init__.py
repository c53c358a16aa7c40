"""Specs: contents of files as frozen dataclasses, without numba, shapely, input or output."""
