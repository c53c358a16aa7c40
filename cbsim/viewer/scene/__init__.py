"""What the viewer shows: the static scene, and its motion in time from a network, a recording or a live run."""
