"""Sensors: World and Snapshot to readings, one file per sensor."""
