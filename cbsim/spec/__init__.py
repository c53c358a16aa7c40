"""What a file may say, as frozen dataclasses: no numba, no shapely, no input or output."""
