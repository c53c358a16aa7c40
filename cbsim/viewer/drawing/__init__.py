"""Means of drawing: cameras, a canvas, batches of lines, layout and rendering of text."""
