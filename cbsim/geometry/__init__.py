"""Pure space: poses, shapes, polylines, the local plane. No word of roads, cars or files."""
