"""People compiled: their bodies, and where they cross roads."""
