"""Loading, stepping, recording, replay."""
